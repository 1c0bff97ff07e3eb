#include "api/atos/line.h"

#include "base/hex.h"

#define NUMBER_ROOM 20


bool
sym_atos_inline_read(sym_str_t word, sym_atos_inline_t *mode)
{
    static const char *const words[] = {
        [SYM_ATOS_OUTER] = "outer",
        [SYM_ATOS_DECL] = "decl",
        [SYM_ATOS_LINE] = "line",
        [SYM_ATOS_ALL] = "all",
    };

    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (sym_str_eq(word, sym_cstr(words[i]))) {
            *mode = (sym_atos_inline_t) i;
            return true;
        }
    }

    return false;
}


/* --- levels --- */

static uint32_t
n_places(const sym_atos_style_t *style, const sym_answer_t *answer)
{
    if (answer->n_levels == 0) {
        return 0;
    }

    return style->mode == SYM_ATOS_ALL ? answer->n_levels : 1;
}


/* Returns the level with the i-th shown file and line. */
static const sym_level_t *
place(const sym_atos_style_t *style, const sym_answer_t *answer, uint32_t i)
{
    switch (style->mode) {
    case SYM_ATOS_DECL:
        return &answer->levels[answer->n_levels > 1 ? 1 : 0];
    case SYM_ATOS_LINE:
        return &answer->levels[0];
    case SYM_ATOS_ALL:
        return &answer->levels[i];
    default: /* SYM_ATOS_OUTER */
        return &answer->levels[answer->n_levels - 1];
    }
}


/* Returns the level with the i-th shown name. */
static uint32_t
named(const sym_atos_style_t *style, const sym_answer_t *answer, uint32_t i)
{
    switch (style->mode) {
    case SYM_ATOS_DECL:
        return 0;
    case SYM_ATOS_ALL:
        return i;
    default: /* SYM_ATOS_OUTER, SYM_ATOS_LINE */
        return answer->n_levels - 1;
    }
}


sym_str_t
sym_atos_status(const sym_atos_style_t *style, const sym_atos_frame_t *frame)
{
    if (frame->is_missing) {
        return SYM_STR("missing");
    }

    if (frame->answer.n_levels == 0) {
        return SYM_STR("gap");
    }

    return place(style, &frame->answer, 0)->file != SYM_NO_REF
               ? SYM_STR("dwarf")
               : SYM_STR("symbol_table");
}


/* --- texts --- */

static sym_str_t
read_text(const sym_atos_style_t *style, sym_string_ref_t ref)
{
    return ref == SYM_NO_REF ? SYM_STR("") : style->read(style->ctx, ref);
}


/* The name as in the source code; "" is never a name. */
static sym_str_t
function_name(const sym_atos_style_t *style, const sym_answer_t *answer,
              uint32_t i)
{
    uint32_t level = named(style, answer, i);
    sym_str_t name = read_text(style, answer->levels[level].name);

    name = style->show(style->ctx, name, sym_answer_lang(answer, level));
    return name.len != 0 ? name : SYM_STR("???");
}


static sym_str_t
file_name(const sym_atos_style_t *style, sym_string_ref_t ref)
{
    sym_str_t file = read_text(style, ref);
    size_t start = file.len;

    if (style->full_path) {
        return file;
    }

    while (start > 0 && file.data[start - 1] != '/'
           && file.data[start - 1] != '\\') {
        start--;
    }

    return sym_str(file.data + start, file.len - start);
}


/* A name with a newline would become two lines. */
static void
write_plain(sym_out_t *out, sym_str_t text)
{
    while (text.len > 0) {
        size_t len = 0;

        while (len < text.len && (uint8_t) text.data[len] >= ' '
               && text.data[len] != 0x7f)
        {
            len++;
        }

        sym_out_raw(out, sym_str(text.data, len));

        if (len < text.len) {
            sym_out_raw(out, SYM_STR("?"));
            len++;
        }

        text = sym_str(text.data + len, text.len - len);
    }
}


static void
write_text(const sym_atos_style_t *style, sym_str_t text, sym_out_t *out)
{
    if (style->is_json) {
        sym_out_escaped(out, text);
    } else {
        write_plain(out, text);
    }
}


static void
write_hex(uint64_t value, sym_out_t *out)
{
    char text[2 + NUMBER_ROOM] = "0x";
    const char *end = sym_hex_write(text + 2, value);

    sym_out_raw(out, sym_str(text, (size_t) (end - text)));
}


/* --- lines --- */

/* Distance of the looked-up address from the start of its function; for a
   return address, of the address itself. */
static uint64_t
function_offset(const sym_atos_frame_t *frame)
{
    return frame->offset - frame->answer.function_addr;
}


static void
write_line(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
           uint32_t i, sym_out_t *out)
{
    const sym_level_t *shown = place(style, &frame->answer, i);

    write_text(style, function_name(style, &frame->answer, i), out);
    sym_out_raw(out, SYM_STR(" (in "));
    write_text(style, frame->image, out);
    sym_out_raw(out, SYM_STR(") "));

    if (shown->file == SYM_NO_REF) {
        sym_out_raw(out, SYM_STR("+ "));
        sym_out_dec(out, function_offset(frame));
        return;
    }

    sym_out_raw(out, SYM_STR("("));
    write_text(style, file_name(style, shown->file), out);
    sym_out_raw(out, SYM_STR(":"));
    sym_out_dec(out, shown->line);
    sym_out_raw(out, SYM_STR(")"));
}


static void
write_unknown(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
              sym_out_t *out)
{
    if (frame->is_missing || frame->image.len == 0) {
        write_text(style, frame->address, out);
        return;
    }

    write_hex(frame->value, out);
    sym_out_raw(out, SYM_STR(" (in "));
    write_text(style, frame->image, out);
    sym_out_raw(out, SYM_STR(")"));
}


static bool
is_enough(const sym_atos_style_t *style)
{
    return style->is_enough != NULL && style->is_enough(style->ctx);
}


bool
sym_atos_lines(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
               uint32_t *next, sym_out_t *out)
{
    uint32_t n = n_places(style, &frame->answer);

    if (n == 0) {
        write_unknown(style, frame, out);
        return true;
    }

    while (*next < n) {
        if (*next != 0 && style->is_json) {
            sym_out_escaped(out, style->delimiter);
        } else if (*next != 0) {
            sym_out_raw(out, style->delimiter);
        }

        write_line(style, frame, (*next)++, out);

        if (*next < n && is_enough(style)) {
            return false;
        }
    }

    return true;
}


/* --- JSON --- */

static void
write_frame(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
            uint32_t i, sym_out_t *out)
{
    const sym_level_t *shown = place(style, &frame->answer, i);

    sym_out_raw(out, i == 0 ? SYM_STR("{\"function\": ")
                            : SYM_STR(", {\"function\": "));
    sym_out_string(out, function_name(style, &frame->answer, i));

    if (shown->file == SYM_NO_REF) {
        sym_out_raw(out, SYM_STR(", \"function_offset\": "));
        sym_out_hex_string(out, function_offset(frame));
    } else {
        sym_out_raw(out, SYM_STR(", \"file\": "));
        sym_out_string(out, file_name(style, shown->file));
        sym_out_raw(out, SYM_STR(", \"line\": "));
        sym_out_dec(out, shown->line);
    }

    sym_out_raw(out, SYM_STR("}"));
}


/* Writes up to the list of frames; false: stop for now. */
static bool
write_text_member(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
                  uint32_t *next, sym_out_t *out)
{
    if (*next == 0) {
        sym_out_raw(out, SYM_STR("\"status\": \""));
        sym_out_raw(out, sym_atos_status(style, frame));
        sym_out_raw(out, SYM_STR("\", \"text\": \""));
    }

    if (!sym_atos_lines(style, frame, next, out)) {
        return false;
    }

    sym_out_raw(out, SYM_STR("\", \"frames\": ["));
    return *next == 0 || !is_enough(style);
}


/* *next counts lines, then frames. */
bool
sym_atos_members(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
                 uint32_t *next, sym_out_t *out)
{
    uint32_t n = n_places(style, &frame->answer);

    if ((*next < n || n == 0) && !write_text_member(style, frame, next, out)) {
        return false;
    }

    while (*next < 2 * n) {
        write_frame(style, frame, (*next)++ - n, out);

        if (*next < 2 * n && is_enough(style)) {
            return false;
        }
    }

    sym_out_raw(out, SYM_STR("]"));
    return true;
}


void
sym_atos_head(const sym_atos_frame_t *frame, sym_out_t *out)
{
    sym_out_raw(out, SYM_STR("\"address\": "));
    sym_out_string(out, frame->address);

    if (frame->has_offset) {
        sym_out_raw(out, SYM_STR(", \"offset\": "));
        sym_out_hex_string(out, frame->offset);
    }
}
