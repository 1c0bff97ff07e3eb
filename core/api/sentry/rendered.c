#include "api/sentry/sentry.h"

#include "symbolicate/cache/answers.h"

/* Frames with more levels or longer heads are written without the cache. */
#define LEVELS_MAX 32
#define HEAD_MAX 1024

#define RENDERED_MAX SYM_ANSWER_CACHE_TEXT_MAX

/* Room for the rest of a level: "sym_addr", and the comma before the level. */
#define REST_MAX 64

/*
 * Format of a frame's texts: the address of its function, then the levels, the
 * innermost first, each preceded by its length.  Numbers are in the machine's
 * byte order.
 */
typedef uint32_t addr_t;
typedef uint16_t level_len_t;

_Static_assert(HEAD_MAX + RENDERED_MAX + REST_MAX <= SYM_OUT_NEED_MAX,
               "a level fits a window");
_Static_assert(RENDERED_MAX <= UINT16_MAX, "and its length the texts");


static bool
render_level(sentry_t *s, const sentry_place_t *place,
             const sym_answer_t *answer, uint32_t level, sym_out_t *out)
{
    char *start = out->pos;
    sym_str_t path;
    level_len_t len;

    if (!sentry_path_of(s, place, &answer->levels[level], &path)
        || !sym_out_room(out, sizeof(len)))
    {
        return false;
    }

    out->pos += sizeof(len);
    sentry_write_names(s->answer, place->need, answer, level, out);
    sentry_write_path(path, answer->levels[level].line, out);
    sym_out_raw(out, SYM_STR("}"));

    len = (level_len_t) ((size_t) (out->pos - start) - sizeof(len));
    memcpy(start, &len, sizeof(len));
    return !out->failed;
}


static bool
render(sentry_t *s, const sentry_place_t *place, const sym_answer_t *answer,
       sym_out_t *out)
{
    const addr_t addr = answer->function_addr;

    memcpy(out->pos, &addr, sizeof(addr));
    out->pos += sizeof(addr);

    for (uint32_t level = 0; level < answer->n_levels; level++) {
        if (!render_level(s, place, answer, level, out)) {
            return false;
        }
    }

    return true;
}


bool
sentry_render(sentry_t *s, const sentry_place_t *place, sym_str_t *text,
              uint32_t *budget)
{
    sentry_answer_t *a = s->answer;
    sym_answer_t answer = { 0 };
    sym_out_t out;

    if (sym_resolver_recall(a->resolver, place->question, text)) {
        return true;
    }

    if (a->rendered == NULL) {
        a->rendered = sym_arena_alloc(s->base.arena, RENDERED_MAX);
        if (a->rendered == NULL) {
            return false;
        }
    }

    (void) sym_resolver_answer(a->resolver, place->question, &answer);
    out = sym_out_fixed(a->rendered, RENDERED_MAX);
    if (!sentry_is_named(&answer) || answer.n_levels > LEVELS_MAX
        || !render(s, place, &answer, &out))
    {
        return false;
    }

    sym_resolver_charge(a->resolver, budget);
    sym_resolver_keep(a->resolver, place->question, a->rendered, out.before,
                      &out);
    *text = sym_str(a->rendered, (size_t) (out.pos - a->rendered));
    return true;
}


/* Finds the levels in the text, and returns their number. */
static uint32_t
find_levels(sym_str_t text, addr_t *addr, sym_str_t levels[LEVELS_MAX])
{
    const char *p = text.data, *end = p + text.len;
    uint32_t n = 0;

    memcpy(addr, p, sizeof(*addr));
    p += sizeof(*addr);

    while (p < end && n < LEVELS_MAX) {
        level_len_t len;

        memcpy(&len, p, sizeof(len));
        p += sizeof(len);
        levels[n++] = sym_str(p, len);
        p += len;
    }

    return n;
}


static void
write_level(sentry_answer_t *a, sym_str_t head, const uint64_t *sym_addr,
            sym_str_t level, sym_out_t *out)
{
    sentry_write_comma(a, out);
    if (!sym_out_room(out, head.len + level.len + REST_MAX)) {
        return;
    }

    memcpy(out->pos, head.data, head.len);
    out->pos += head.len;
    if (sym_addr != NULL) {
        sym_out_raw(out, SYM_STR(", \"sym_addr\": "));
        sym_out_hex_string(out, *sym_addr);
    }
    memcpy(out->pos, level.data, level.len);
    out->pos += level.len;
}


bool
sentry_write_rendered(sentry_t *s, uint32_t index, const sentry_frame_t *frame,
                      const sentry_place_t *place, sym_str_t text,
                      sym_out_t *out)
{
    char buffer[HEAD_MAX];
    sym_out_t head = sym_out_fixed(buffer, sizeof(buffer));
    sym_str_t levels[LEVELS_MAX], written;
    uint64_t sym_addr;
    addr_t addr;
    uint32_t n = find_levels(text, &addr, levels);

    sentry_write_head(s, index, frame, place, &head);
    if (head.failed) {
        return false;
    }

    written = sym_str(buffer, (size_t) (head.pos - buffer));
    sym_addr = s->request.modules[place->module].addr + addr;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t level = s->request.is_caller_first ? n - 1 - i : i;

        write_level(s->answer, written, level + 1 == n ? &sym_addr : NULL,
                    levels[level], out);
    }

    return true;
}
