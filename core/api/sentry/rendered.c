#include "api/sentry/sentry.h"

#include "base/hex.h"
#include "symbolicate/cache/answers.h"

/* Frames with more levels, or with longer texts in front of these, are written
 * without the cache. */
#define LEVELS_MAX 32
#define HEAD_MAX 1024

#define RENDERED_MAX SYM_ANSWER_CACHE_TEXT_MAX

/* "sym_addr", the comma and the braces of a level. */
#define REST_MAX 64

_Static_assert(HEAD_MAX + RENDERED_MAX + REST_MAX <= SYM_OUT_NEED_MAX,
               "a level fits a window");


static bool
render_level(sentry_t *s, const sentry_place_t *place,
             const sym_answer_t *answer, uint32_t level, sym_out_t *out)
{
    sym_str_t path;

    if (!sentry_path_of(s, place, &answer->levels[level], &path)) {
        return false;
    }

    sentry_write_names(s->answer, place->need, answer, level, out);
    sentry_write_path(path, answer->levels[level].line, out);
    sym_out_raw(out, SYM_STR("\n"));
    return !out->failed;
}


static bool
render(sentry_t *s, const sentry_place_t *place, const sym_answer_t *answer,
       sym_out_t *out)
{
    if (sym_out_room(out, REST_MAX)) {
        out->pos = sym_hex_write(out->pos, answer->function_addr);
        *out->pos++ = '\n';
    }

    for (uint32_t level = 0; level < answer->n_levels; level++) {
        if (!render_level(s, place, answer, level, out)) {
            return false;
        }
    }

    return !out->failed;
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


/* What stands before the next line feed, which goes with it. */
static sym_str_t
next_line(sym_str_t *rest)
{
    const char *end = memchr(rest->data, '\n', rest->len);
    sym_str_t line;

    if (end == NULL) {
        end = rest->data + rest->len - 1; /* no writer of ours made it */
    }

    line = sym_str(rest->data, (size_t) (end - rest->data));
    *rest = sym_str(end + 1, rest->len - line.len - 1);
    return line;
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
    sym_out_raw(out, level);
    sym_out_raw(out, SYM_STR("}"));
}


bool
sentry_write_rendered(sentry_t *s, uint32_t index, const sentry_frame_t *frame,
                      const sentry_place_t *place, sym_str_t text,
                      sym_out_t *out)
{
    char buffer[HEAD_MAX];
    sym_out_t head = sym_out_fixed(buffer, sizeof(buffer));
    sym_str_t levels[LEVELS_MAX], written;
    uint64_t sym_addr = 0;
    uint32_t n = 0;

    sentry_write_head(s, index, frame, place, &head);
    if (head.failed) {
        return false;
    }

    written = sym_str(buffer, (size_t) (head.pos - buffer));
    (void) sym_hex_read(next_line(&text), &sym_addr);
    sym_addr += s->request.modules[place->module].addr;

    while (text.len != 0 && n < LEVELS_MAX) {
        levels[n++] = next_line(&text);
    }

    for (uint32_t i = 0; i < n; i++) {
        uint32_t level = s->request.is_caller_first ? n - 1 - i : i;

        write_level(s->answer, written, level + 1 == n ? &sym_addr : NULL,
                    levels[level], out);
    }

    return true;
}
