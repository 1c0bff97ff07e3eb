/*
 * A request body of any bytes, through both readers, answered from an empty
 * store.  For any size of slices, both must give the same message or the same
 * answer; the answer to a bulk body must be that to each of its lines.  The
 * first byte selects version, limits, and the size of slices and windows.
 */
#include <stdlib.h>

#include "api/tecken/tecken.h"

#define ARENA_MAX ((size_t) 256 << 20)
#define WINDOW_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    char *text;
    size_t len, cap;
    char *window;
    size_t size;
} sink_t;

typedef struct {
    unsigned version;
    bool debug;
    bool bulk;
    sym_request_limits_t limits;
    uint32_t budget;
    size_t window;
} shape_t;

typedef struct {
    sym_status_t status;
    sink_t sink; /* answer or message */
    sym_request_stats_t stats;
} fetch_result_t;


static double
no_time(void)
{
    return 0;
}


static void
keep(sink_t *s, const char *data, size_t len)
{
    if (len > s->cap - s->len) {
        s->cap = 2 * (s->len + len);
        s->text = realloc(s->text, s->cap);
        if (s->text == NULL) {
            abort();
        }
    }

    if (len != 0) {
        memcpy(s->text + s->len, data, len);
    }
    s->len += len;
}


static void
take_window(sym_out_t *out, sink_t *s)
{
    if (s->window != NULL) {
        keep(s, s->window, (size_t) (out->pos - s->window));
        free(s->window);
        s->window = NULL;
    }
    out->pos = out->end = NULL;
}


static bool
more(sym_out_t *out, size_t need)
{
    sink_t *s = out->ctx;
    size_t size = need > s->size ? need : s->size;

    if (need > SYM_OUT_NEED_MAX) {
        abort();
    }

    take_window(out, s);
    s->window = malloc(size);
    out->pos = s->window;
    out->end = s->window + size;
    return s->window != NULL;
}


static sym_status_t
answer(sym_request_t *t, const shape_t *shape, sink_t *sink)
{
    static const sym_view_t view = { .now_s = 1 };
    sym_out_t out = { .more = more, .ctx = sink };
    sym_status_t rc;

    sink->size = shape->window;

    do {
        rc = sym_request_answer(t, &view, &out, shape->budget);
    } while (rc == SYM_AGAIN);

    take_window(&out, sink);
    return rc;
}


static fetch_result_t
run(const shape_t *shape, sym_str_t body, bool general)
{
    const sym_tecken_options_t options = { .version = shape->version,
                                           .debug = shape->debug,
                                           .bulk = shape->bulk,
                                           .common.limits = shape->limits,
                                           .common.now_s = no_time };
    fetch_result_t o = { SYM_NOMEM, { 0 }, { 0 } };
    sym_arena_t arena;
    sym_request_t *t;

    sym_arena_init(&arena, ARENA_MAX);
    t = sym_tecken_create(&arena, &options, body);
    if (t == NULL) {
        abort();
    }

    do {
        o.status = general ? sym_tecken_parse_general(t)
                           : sym_request_parse(t, shape->budget);
    } while (o.status == SYM_AGAIN);

    if (o.status == SYM_OK) {
        o.status = answer(t, shape, &o.sink);
    } else {
        keep(&o.sink, sym_request_message(t).data, sym_request_message(t).len);
    }

    o.stats = *sym_request_stats(t);
    sym_arena_drop(&arena);
    return o;
}


static void
compare(const fetch_result_t *a, const fetch_result_t *b)
{
    if (a->status != b->status || a->sink.len != b->sink.len
        || (a->sink.len != 0
            && memcmp(a->sink.text, b->sink.text, a->sink.len) != 0))
    {
        abort();
    }

    if (a->status == SYM_OK
        && (a->stats.jobs != b->stats.jobs || a->stats.stacks != b->stats.stacks
            || a->stats.frames != b->stats.frames
            || a->stats.modules != b->stats.modules
            || a->stats.missing != b->stats.missing))
    {
        abort();
    }
}


/* {"title": MESSAGE} */
static void
say(sink_t *to, const sink_t *message)
{
    sink_t title = { .size = WINDOW_MAX };
    sym_out_t out = { .more = more, .ctx = &title };

    sym_out_raw(&out, SYM_STR("{\"title\": "));
    sym_out_string(&out, sym_str(message->text, message->len));
    sym_out_raw(&out, SYM_STR("}"));
    take_window(&out, &title);
    keep(to, title.text, title.len);
    free(title.text);
}


/* Answers the lines one by one. */
static fetch_result_t
run_lines(const shape_t *shape, sym_str_t body)
{
    fetch_result_t all = { .status = SYM_OK };

    while (body.len != 0) {
        const char *end = memchr(body.data, '\n', body.len);
        size_t len = end != NULL ? (size_t) (end - body.data) : body.len;
        fetch_result_t one;

        if (len != 0 && strspn(body.data, " \t\r") < len) {
            one = run(shape, sym_str(body.data, len), true);
            if (one.status == SYM_OK) {
                keep(&all.sink, one.sink.text, one.sink.len);
            } else {
                say(&all.sink, &one.sink);
            }
            keep(&all.sink, "\n", 1);
            free(one.sink.text);
        }

        len += end != NULL;
        body = sym_str(body.data + len, body.len - len);
    }

    return all;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t budgets[] = { UINT32_MAX, 1, 2, 7 };
    static const sym_request_limits_t limits[] = { { 0 }, { 2, 3, 5, 2 } };
    shape_t shape, whole;
    fetch_result_t ours, judge;
    char *body;

    if (size == 0) {
        return 0;
    }

    shape = (shape_t){ .version = (data[0] & 1) != 0 ? 4 : 5,
                       .debug = (data[0] & 2) != 0,
                       .bulk = (data[0] & 64) != 0,
                       .limits = limits[data[0] >> 2 & 1],
                       .budget = budgets[data[0] >> 3 & 3],
                       .window = (data[0] & 32) != 0 ? 1 : WINDOW_MAX };
    whole = shape;
    whole.budget = UINT32_MAX;
    whole.window = WINDOW_MAX;

    if (shape.bulk) {
        shape.version = whole.version = 5;
        shape.debug = whole.debug = whole.bulk = false;
    }

    /* a block of its own: a sanitizer sees every byte past it */
    body = malloc(size);
    if (body == NULL) {
        return 0;
    }
    memcpy(body, data + 1, size - 1);
    body[size - 1] = '\0'; /* for strspn() */

    ours = run(&shape, sym_str(body, size - 1), false);
    judge = shape.bulk ? run_lines(&whole, sym_str(body, size - 1))
                       : run(&whole, sym_str(body, size - 1), true);
    if (shape.bulk) {
        judge.stats = ours.stats;
    }
    compare(&ours, &judge);

    free(body);
    free(ours.sink.text);
    free(judge.sink.text);
    return 0;
}
