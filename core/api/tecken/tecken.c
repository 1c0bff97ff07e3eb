#include "api/registry.h"
#include "api/tecken/answer.h"
#include "api/tecken/readers.h"

#include <strings.h>

/* Forms of this API's texts in the cache. */
enum { FORM_NONE, FORM_DEMANGLED, FORM_AS_KEPT };


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
    sym_status_t rc;

    if (t->text.data == NULL && !request_line(t, r->body)) {
        return SYM_NOMEM;
    }

    budget = budget == 0 ? 1 : budget;
    rc = direct_read(t, &budget);

    if (rc == SYM_UNSUPPORTED) {
        rc = general_read(t);
    }

    return rc == SYM_OK ? request_finish(t) : rc;
}


sym_status_t
sym_tecken_parse_general(sym_request_t *r)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
    sym_status_t rc = request_line(t, r->body) ? general_read(t) : SYM_NOMEM;

    return rc == SYM_OK ? request_finish(t) : rc;
}


static bool
is_blank(sym_str_t s)
{
    size_t i = 0;

    while (i < s.len
           && (s.data[i] == ' ' || s.data[i] == '\t' || s.data[i] == '\r'))
    {
        i++;
    }

    return i == s.len;
}


/* Takes the next line that is not blank; false: no such line is left. */
static bool
take_line(sym_str_t *left, sym_str_t *line)
{
    while (left->data != NULL) {
        *line = sym_str_cut(left, '\n');
        if (!is_blank(*line)) {
            return true;
        }
    }

    return false;
}


/* If a line is refused, its answer is the error. */
static sym_status_t
end_line(sym_tecken_t *t, sym_status_t rc)
{
    t->text.data = NULL;

    if (rc == SYM_MALFORMED || rc == SYM_LIMIT) {
        request_rewind(t);
        request_last_line(&t->request)->error = t->base.message;
        return SYM_OK;
    }

    return rc;
}


static sym_status_t
parse_bulk(sym_request_t *r, uint32_t budget)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
    sym_status_t rc = SYM_OK;
    sym_str_t line;

    if (!t->is_bulk) {
        t->is_bulk = true;
        t->left = r->body;
    }

    budget = budget == 0 ? 1 : budget;

    while (rc == SYM_OK) {
        if (budget == 0) {
            return SYM_AGAIN;
        }

        if (t->text.data == NULL) {
            if (!take_line(&t->left, &line)) {
                return request_finish(t);
            }
            if (!request_line(t, line)) {
                return SYM_NOMEM;
            }
        }

        rc = direct_read(t, &budget);
        if (rc == SYM_UNSUPPORTED) {
            /* uses up the rest of this turn */
            rc = general_read(t);
            budget = 0;
        }

        rc = rc == SYM_AGAIN ? rc : end_line(t, rc);
    }

    return rc;
}


/* Frames of a job refer to indexes in the job's memoryMap. */
static void
count_frames(const sym_request_t *r, uint32_t max, uint32_t *counts)
{
    const request_t *q = &((const sym_tecken_t *) r)->request;
    const job_t *jobs = q->jobs.items;
    const uint32_t *stacks = q->stacks.items, *entries = q->entries.items;
    const pair_t *pairs = q->pairs.items;
    uint32_t at = 0;

    for (uint32_t j = 0; j < q->jobs.n; j++) {
        for (uint32_t s = 0; s < jobs[j].n_stacks; s++) {
            uint32_t end = at + stacks[jobs[j].first_stack + s];

            for (; at < end && at < max; at++) {
                uint32_t place =
                    request_frame_at(q, at).place & FRAME_MODULE_MASK;

                if (place < jobs[j].n_entries) {
                    const pair_t *pair =
                        &pairs[entries[jobs[j].first_entry + place]];

                    if (pair->used != 0) {
                        counts[pair->used - 1]++;
                    }
                }
            }
        }
    }
}


#define OPS(reader)                                                            \
    .size = sizeof(sym_tecken_t), .parse = (reader), .begin = tecken_begin,    \
    .resume = tecken_resume, .count_frames = count_frames

static const sym_request_ops_t ops = { OPS(parse) };
static const sym_request_ops_t bulk_ops = { OPS(parse_bulk) };


static void
set(sym_request_t *r, unsigned version, bool has_debug)
{
    sym_tecken_t *t = (sym_tecken_t *) r;

    t->version = version;
    t->has_debug = has_debug;
    r->is_timed = has_debug;
    /* v4 writes only a name, which is not worth caching */
    r->form = version != 5                ? FORM_NONE
              : r->options->names != NULL ? FORM_DEMANGLED
                                          : FORM_AS_KEPT;
}


sym_request_t *
sym_tecken_create(sym_arena_t *arena, const sym_tecken_options_t *options,
                  sym_str_t body)
{
    sym_request_t *r = sym_request_create(
        arena, options->bulk ? &bulk_ops : &ops, &options->common, body);

    if (r != NULL) {
        set(r, options->version, options->debug);
    }

    return r;
}


static bool
is_word(sym_str_t s, const char *word)
{
    return s.len == strlen(word) && strncasecmp(s.data, word, s.len) == 0;
}


bool
sym_tecken_debug_wanted(unsigned version, sym_str_t header)
{
    /* the newer server accepts any value, even "0" and "false" */
    if (version != 4) {
        return header.len > 0;
    }

    return is_word(header, "1") || is_word(header, "true")
           || is_word(header, "yes");
}


static bool
init(sym_request_t *r, const sym_api_call_t *call, unsigned version)
{
    sym_str_t debug = call->header(call->ctx, "Debug");

    set(r, version,
        debug.data != NULL && sym_tecken_debug_wanted(version, debug));
    return true;
}


static bool
init_v4(sym_request_t *r, const sym_api_call_t *call)
{
    return init(r, call, 4);
}


static bool
init_v5(sym_request_t *r, const sym_api_call_t *call)
{
    return init(r, call, 5);
}


static bool
init_bulk(sym_request_t *r, const sym_api_call_t *call)
{
    (void) call;
    set(r, 5, false);
    return true;
}


#define ROUTE(path, n)                                                         \
    .suffix = (path), .version = #n, .methods = SYM_METHOD_POST, .ops = &ops,  \
    .init = init_v##n

#define BULK                                                                   \
    .version = "bulk", .methods = SYM_METHOD_POST, .ops = &bulk_ops,           \
    .init = init_bulk, .is_stream = true, .answer = "application/x-ndjson"

const sym_api_t sym_tecken_api = {
    .name = "tecken",
    .routes = { { ROUTE("/", 4), .is_root = true },
                { ROUTE("/symbolicate/v4", 4) },
                { ROUTE("/symbolicate/v5", 5) },
                { ROUTE("/v4", 4), .needs_base = true },
                { ROUTE("/v5", 5), .needs_base = true },
                { .suffix = "/symbolicate/bulk", BULK },
                { .suffix = "/bulk", .needs_base = true, BULK } },
    .answers = { "application/json" },
};
