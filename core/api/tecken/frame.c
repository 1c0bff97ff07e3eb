#include "api/tecken/answer.h"

#include "base/hex.h"

/* Room for the parts of a frame that have a known size: keys and numbers. */
#define PARTS_MAX 160

/* Enough bytes for most frames: only a text within one output buffer can be
 * cached. */
#define FOUND_ROOM 2048

#define PUT(p, text) put((p), (text), sizeof(text) - 1)

static inline char *
put(char *p, const char *text, size_t len)
{
    memcpy(p, text, len);
    return p + len;
}


/* --- module names --- */

static bool
no_more(sym_out_t *out, size_t need)
{
    (void) out;
    (void) need;
    return false;
}


/* Makes before + name + after in the arena, with name escaped for JSON. */
static bool
make_text(sym_arena_t *arena, sym_str_t before, sym_str_t name, sym_str_t after,
          sym_str_t *text)
{
    /* a byte becomes at most \u0000, and the writer of escapes requires room
     * for two of them */
    size_t size = before.len + 6 * name.len + 12 + after.len;
    char *start = sym_arena_alloc(arena, size);
    sym_out_t out = { .more = no_more };

    if (start == NULL) {
        return false;
    }

    out.pos = start;
    out.end = start + size;
    sym_out_raw(&out, before);
    sym_out_escaped(&out, name);
    sym_out_raw(&out, after);
    *text = sym_str(start, (size_t) (out.pos - start));
    return true;
}


/* Makes the text of a module, with its name from the store, or as sent. */
static bool
show(sym_tecken_t *t, shown_t *shown, sym_str_t name)
{
    const sym_resolver_t *resolver = t->answer->resolver;

    if (shown->is_found && sym_resolver_name(resolver, shown->module).len != 0)
    {
        name = sym_resolver_name(resolver, shown->module);
    }

    if (name.len == 0) {
        name = SYM_STR("<unknown>");
    }

    return t->version == 5
               ? make_text(t->base.arena, SYM_STR(", \"module\": \""), name,
                           SYM_STR("\", \"module_offset\": \""), &shown->text)
               : make_text(t->base.arena, SYM_STR(" (in "), name,
                           SYM_STR(")\""), &shown->text);
}


/* Returns the text of a frame's module; data NULL: no memory. */
static inline sym_str_t
module_text(sym_tecken_t *t, shown_t *shown)
{
    const answer_t *a = t->answer;
    const pair_t *pairs = t->request.pairs.items;

    if (shown->text.data == NULL
        && !show(t, shown,
                 shown != &a->unknown ? pairs[shown - a->shown].name
                                      : SYM_STR("")))
    {
        return sym_str(NULL, 0);
    }

    return shown->text;
}


/* --- offsets --- */

/* Writes numbers of any size, like 0x1f. */
static void
write_offset(const request_t *q, frame_t frame, sym_out_t *out)
{
    const uint64_t *wide = q->wide.items;
    const sym_str_t *texts = q->texts.items;
    uint64_t offset = frame.value;

    switch (frame_kind(frame)) {
    case FRAME_MINUS:
        sym_out_raw(out, SYM_STR("-0x1"));
        return;
    case FRAME_TEXT:
        sym_out_raw(out, texts[frame.value]);
        return;
    case FRAME_WIDE:
        offset = wide[frame.value];
        break;
    case FRAME_PLAIN:
    case FRAME_WHOLE:
        break;
    }

    if (sym_out_room(out, PARTS_MAX)) {
        out->pos = PUT(out->pos, "0x");
        out->pos = sym_hex_write(out->pos, offset);
    }
}


/* --- v5 --- */

/* Writes , "file": "..", "line": 1; omits the line if the file is unknown. */
static void
write_place(sym_resolver_t *resolver, uint32_t module, const sym_level_t *level,
            sym_out_t *out)
{
    if (level->file == SYM_NO_REF || !sym_out_room(out, PARTS_MAX)) {
        return;
    }

    out->pos = PUT(out->pos, ", \"file\": \"");
    sym_resolver_write(resolver, module, level->file, out);

    if (!sym_out_room(out, PARTS_MAX)) {
        return;
    }

    *out->pos++ = '"';
    if (level->line != 0) {
        out->pos = PUT(out->pos, ", \"line\": ");
        out->pos = sym_dec_write(out->pos, level->line);
    }
}


/* Returns false if demangling used up the budget, or out is full; more levels
 * are left. */
static bool
write_inlines(answer_t *a, uint32_t module, const sym_answer_t *answer,
              sym_out_t *out, uint32_t *budget)
{
    for (; a->level + 1 < answer->n_levels; a->level++) {
        const sym_level_t *level = &answer->levels[a->level];

        sym_resolver_charge(a->resolver, budget);
        if (*budget == 0 || out->is_full) {
            return false;
        }

        sym_out_raw(out, a->level == 0
                             ? SYM_STR(", \"inlines\": [{\"function\": \"")
                             : SYM_STR(", {\"function\": \""));
        sym_resolver_write_name(a->resolver, module, answer, a->level, out);
        sym_out_raw(out, SYM_STR("\""));
        write_place(a->resolver, module, level, out);
        sym_out_raw(out, SYM_STR("}"));
    }

    if (answer->n_levels > 1) {
        sym_out_raw(out, SYM_STR("]"));
    }

    return true;
}


static void
write_function(sym_resolver_t *resolver, uint32_t module, uint32_t addr,
               const sym_answer_t *answer, sym_out_t *out)
{
    const sym_level_t *function = &answer->levels[answer->n_levels - 1];

    sym_out_raw(out, SYM_STR(", \"function\": \""));
    sym_resolver_write_name(resolver, module, answer, answer->n_levels - 1,
                            out);

    if (!sym_out_room(out, PARTS_MAX)) {
        return;
    }

    out->pos = PUT(out->pos, "\", \"function_offset\": \"0x");
    out->pos = sym_hex_write(out->pos, addr - answer->function_addr);
    *out->pos++ = '"';

    write_place(resolver, module, function, out);
}


/* Writes the store's result for the next lookup, which may be empty.  False:
 * the budget was spent before the end. */
static bool
write_found(answer_t *a, uint32_t module, uint32_t addr, sym_out_t *out,
            uint32_t *budget)
{
    sym_answer_t answer;

    sym_resolver_answer(a->resolver, a->next_question, &answer);
    if (answer.n_levels != 0) {
        if (!a->is_begun) {
            write_function(a->resolver, module, addr, &answer, out);
        }

        a->is_begun = !write_inlines(a, module, &answer, out, budget);
        if (a->is_begun) {
            return false;
        }
        sym_resolver_charge(a->resolver, budget);
    }

    a->is_begun = false;
    return true;
}


/* Writes from the offset to the brace.  This text depends only on module and
 * offset, so it is cached.  Returns like write_found(). */
static bool
write_asked(sym_tecken_t *t, frame_t frame, uint32_t module, sym_out_t *out,
            uint32_t *budget)
{
    answer_t *a = t->answer;
    uint32_t question = a->next_question;
    uint64_t before = 0;
    char *start = NULL;

    if (!a->is_begun) {
        if (sym_resolver_repeat(a->resolver, question, out)
            || !sym_out_room(out, FOUND_ROOM))
        {
            a->next_question++;
            return true;
        }

        start = out->pos;
        before = out->before;
        a->level = 0;
        write_offset(&t->request, frame, out);
        sym_out_raw(out, SYM_STR("\""));
    }

    if (!write_found(a, module, frame.value, out, budget)) {
        return false;
    }

    sym_out_raw(out, SYM_STR("}"));

    /* in one go */
    if (start != NULL) {
        sym_resolver_keep(a->resolver, question, start, before, out);
    }

    a->next_question++;
    return true;
}


static sym_status_t
begin_v5(sym_tecken_t *t, shown_t *shown, sym_out_t *out)
{
    sym_str_t module = module_text(t, shown);

    if (module.data == NULL) {
        return SYM_NOMEM;
    }

    if (sym_out_room(out, PARTS_MAX)) {
        out->pos = PUT(out->pos, "{\"frame\": ");
        out->pos = sym_dec_write(out->pos, t->answer->number);
        sym_out_raw(out, module);
    }

    return SYM_OK;
}


static sym_status_t
frame_v5(sym_tecken_t *t, frame_t frame, sym_out_t *out, uint32_t *budget)
{
    answer_t *a = t->answer;
    shown_t *shown = &a->unknown;
    bool asks = answer_asks(a, &t->request, frame, &shown);

    if (!a->is_begun && begin_v5(t, shown, out) != SYM_OK) {
        return SYM_NOMEM;
    }

    if (a->is_begun && !asks) {
        a->is_begun = false; /* the module was removed before the frame was
                                complete */
        sym_out_raw(out, a->level != 0 ? SYM_STR("]}") : SYM_STR("}"));
        return SYM_OK;
    }

    if (asks) {
        return write_asked(t, frame, shown->module, out, budget) ? SYM_OK
                                                                 : SYM_AGAIN;
    }

    write_offset(&t->request, frame, out);
    sym_out_raw(out, SYM_STR("\"}"));
    return SYM_OK;
}


/* --- v4 --- */

static sym_status_t
frame_v4(sym_tecken_t *t, frame_t frame, sym_out_t *out, uint32_t *budget)
{
    answer_t *a = t->answer;
    const sym_str_t *texts = t->request.texts.items;
    sym_answer_t answer = { 0 };
    shown_t *shown = &a->unknown;
    bool asks = answer_asks(a, &t->request, frame, &shown);
    sym_str_t module = module_text(t, shown);

    /* the older server repeated offsets that it could not read */
    if (frame_kind(frame) == FRAME_WHOLE) {
        sym_out_string(out, texts[frame.value]);
        return SYM_OK;
    }

    if (module.data == NULL) {
        return SYM_NOMEM;
    }

    if (asks) {
        sym_resolver_answer(a->resolver, a->next_question++, &answer);
    }

    sym_out_raw(out, SYM_STR("\""));
    if (answer.n_levels != 0) {
        sym_resolver_write_name(a->resolver, shown->module, &answer,
                                answer.n_levels - 1, out);
        sym_resolver_charge(a->resolver, budget);
    } else {
        write_offset(&t->request, frame, out);
    }
    sym_out_raw(out, module);
    return SYM_OK;
}


sym_status_t
answer_frame(sym_tecken_t *t, frame_t frame, sym_out_t *out, uint32_t *budget)
{
    return t->version == 5 ? frame_v5(t, frame, out, budget)
                           : frame_v4(t, frame, out, budget);
}
