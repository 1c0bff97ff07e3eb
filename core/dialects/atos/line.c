#include "dialects/atos/line.h"

#include "base/hex.h"
#include "demangle/demangle.h"

#define NAME_STYLE                                                             \
    (SYM_DEMANGLE_PARAMS | SYM_DEMANGLE_RETURN | SYM_DEMANGLE_TIGHT)

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


/* --- what is shown --- */

static uint32_t
n_places(const sym_atos_style_t *style, const sym_answer_t *answer)
{
    if (answer->n_levels == 0) {
        return 0;
    }

    return style->mode == SYM_ATOS_ALL ? answer->n_levels : 1;
}


/* The i-th name with its file and line. */
static sym_level_t
place(const sym_atos_style_t *style, const sym_answer_t *answer, uint32_t i)
{
    const sym_level_t *function = &answer->levels[answer->n_levels - 1];
    sym_level_t shown;

    switch (style->mode) {
    case SYM_ATOS_DECL:
        shown = answer->levels[answer->n_levels > 1 ? 1 : 0];
        shown.name = answer->levels[0].name;
        return shown;
    case SYM_ATOS_LINE:
        shown = answer->levels[0];
        shown.name = function->name;
        return shown;
    case SYM_ATOS_ALL:
        return answer->levels[i];
    default: /* SYM_ATOS_OUTER */
        return *function;
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

    return place(style, &frame->answer, 0).file != SYM_NO_REF
               ? SYM_STR("dwarf")
               : SYM_STR("symbol_table");
}


/* --- texts --- */

static sym_str_t
read_text(const sym_atos_style_t *style, sym_string_ref_t ref, char *out)
{
    return ref == SYM_NO_REF ? SYM_STR("")
                             : sym_str(out, style->read(style->ctx, ref, out));
}


/* As programmers wrote it; "" is no name for anybody. */
static sym_str_t
function_name(const sym_atos_style_t *style, sym_string_ref_t ref, uint8_t lang)
{
    sym_str_t name = read_text(style, ref, style->name);
    size_t len =
        sym_demangle(name, lang, NAME_STYLE, style->file, SYM_ATOS_TEXT_ROOM);

    if (len != 0) {
        memcpy(style->name, style->file, len);
        name = sym_str(style->name, len);
    }

    return name.len != 0 ? name : SYM_STR("???");
}


static sym_str_t
file_name(const sym_atos_style_t *style, sym_string_ref_t ref)
{
    sym_str_t file = read_text(style, ref, style->file);
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


/* A name with a newline would be two lines. */
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

/* From the beginning of its function; of a return address the one itself. */
static uint64_t
function_offset(const sym_atos_frame_t *frame)
{
    return frame->offset - frame->answer.function_addr;
}


static void
write_line(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
           uint32_t i, sym_out_t *out)
{
    sym_level_t shown = place(style, &frame->answer, i);

    write_text(style, function_name(style, shown.name, frame->answer.lang),
               out);
    sym_out_raw(out, SYM_STR(" (in "));
    write_text(style, frame->image, out);
    sym_out_raw(out, SYM_STR(") "));

    if (shown.file == SYM_NO_REF) {
        sym_out_raw(out, SYM_STR("+ "));
        sym_out_dec(out, function_offset(frame));
        return;
    }

    sym_out_raw(out, SYM_STR("("));
    write_text(style, file_name(style, shown.file), out);
    sym_out_raw(out, SYM_STR(":"));
    sym_out_dec(out, shown.line);
    sym_out_raw(out, SYM_STR(")"));
}


void
sym_atos_lines(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
               sym_out_t *out)
{
    uint32_t n = n_places(style, &frame->answer);

    for (uint32_t i = 0; i < n; i++) {
        if (i != 0 && style->is_json) {
            sym_out_escaped(out, style->delimiter);
        } else if (i != 0) {
            sym_out_raw(out, style->delimiter);
        }

        write_line(style, frame, i, out);
    }

    if (n != 0) {
        return;
    }

    if (frame->is_missing || frame->image.len == 0) {
        write_text(style, frame->address, out);
        return;
    }

    write_hex(frame->value, out);
    sym_out_raw(out, SYM_STR(" (in "));
    write_text(style, frame->image, out);
    sym_out_raw(out, SYM_STR(")"));
}


/* --- JSON --- */

static void
write_frame(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
            uint32_t i, sym_out_t *out)
{
    sym_level_t shown = place(style, &frame->answer, i);

    sym_out_raw(out, i == 0 ? SYM_STR("{\"function\": ")
                            : SYM_STR(", {\"function\": "));
    sym_out_string(out, function_name(style, shown.name, frame->answer.lang));

    if (shown.file == SYM_NO_REF) {
        sym_out_raw(out, SYM_STR(", \"function_offset\": "));
        sym_out_hex_string(out, function_offset(frame));
    } else {
        sym_out_raw(out, SYM_STR(", \"file\": "));
        sym_out_string(out, file_name(style, shown.file));
        sym_out_raw(out, SYM_STR(", \"line\": "));
        sym_out_dec(out, shown.line);
    }

    sym_out_raw(out, SYM_STR("}"));
}


void
sym_atos_members(const sym_atos_style_t *style, const sym_atos_frame_t *frame,
                 sym_out_t *out)
{
    uint32_t n = n_places(style, &frame->answer);

    sym_out_raw(out, SYM_STR("\"status\": \""));
    sym_out_raw(out, sym_atos_status(style, frame));
    sym_out_raw(out, SYM_STR("\", \"text\": \""));
    sym_atos_lines(style, frame, out);
    sym_out_raw(out, SYM_STR("\", \"frames\": ["));

    for (uint32_t i = 0; i < n; i++) {
        write_frame(style, frame, i, out);
    }

    sym_out_raw(out, SYM_STR("]"));
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
