#include "formats/dwarf/constants.h"
#include "formats/dwarf/form.h"
#include "formats/dwarf/grow.h"
#include "formats/dwarf/line.h"
#include "formats/dwarf/text.h"

/* Fields of one entry: GCC and LLVM write up to five. */
#define FORMATS_MAX 16

typedef struct {
    uint64_t content;
    sym_dw_form_t form;
} format_t;


static bool
out_of_memory(sym_dw_bytes_t *b)
{
    sym_cursor_fail(&b->c, SYM_NOMEM, "no memory for a file table");
    return false;
}


static bool
add_dir(sym_dw_lines_t *l, const sym_dwarf_input_t *in, sym_dw_bytes_t *b,
        sym_str_t dir)
{
    if (!SYM_DW_ROOM(l->dirs, l->n_dirs, l->dirs_size)) {
        return out_of_memory(b);
    }

    l->dirs[l->n_dirs++] = sym_dwarf_resolve(in, dir);
    return true;
}


static bool
add_file(sym_dw_lines_t *l, const sym_dwarf_input_t *in, sym_dw_bytes_t *b,
         sym_dw_file_t file)
{
    if (!SYM_DW_ROOM(l->files, l->n_files, l->files_size)) {
        return out_of_memory(b);
    }

    file.name = sym_dwarf_resolve(in, file.name);
    l->files[l->n_files++] = file;
    return true;
}


/* DWARF 2 to 4: each list ends with an empty string. */
static bool
read_old_tables(sym_dw_lines_t *l, const sym_dwarf_input_t *in,
                sym_dw_bytes_t *b)
{
    for (;;) {
        sym_str_t dir = sym_dw_string(b);

        if (dir.len == 0) {
            break;
        }

        if (!add_dir(l, in, b, dir)) {
            return false;
        }
    }

    for (;;) {
        sym_dw_file_t file = { .name = sym_dw_string(b) };

        if (file.name.len == 0) {
            break;
        }

        file.dir = sym_dw_uleb(b);
        (void) sym_dw_uleb(b); /* time */
        (void) sym_dw_uleb(b); /* size */

        if (!add_file(l, in, b, file)) {
            return false;
        }
    }

    return sym_ok(&b->c);
}


/* Reads the format of the entries; returns the number of fields of an entry, or
   -1. */
static int
read_formats(sym_dw_bytes_t *b, sym_dw_shape_t shape,
             format_t formats[FORMATS_MAX])
{
    int n = sym_dw_u8(b);

    if (n > FORMATS_MAX) {
        sym_cursor_fail(&b->c, SYM_LIMIT, "too many fields of a file");
        return -1;
    }

    for (int i = 0; i < n; i++) {
        uint64_t form;

        formats[i].content = sym_dw_uleb(b);
        form = sym_dw_uleb(b);
        if (!sym_ok(&b->c)) {
            return -1;
        }

        if (!sym_dw_form(form, shape, &formats[i].form)
            || formats[i].form.read == SYM_DW_READ_CONST)
        {
            sym_cursor_fail(&b->c, SYM_UNSUPPORTED, "unknown form of a file");
            return -1;
        }
    }

    return n;
}


static sym_str_t
text_of(const sym_dwarf_input_t *in, sym_dw_value_t v)
{
    switch (v.class) {
    case SYM_DW_TEXT:
        return sym_dw_text_at(in->sections.line, v.u);
    case SYM_DW_LINE_STR:
        return sym_dw_text_at(in->sections.line_str, v.u);
    case SYM_DW_STR:
        return sym_dw_text_at(in->sections.str, v.u);
    case SYM_DW_ALT_STR:
        return sym_dw_text_at(in->alt != NULL ? in->alt->str : sym_str(NULL, 0),
                              v.u);
    default:
        return sym_str(NULL, 0);
    }
}


static sym_dw_file_t
read_entry(const sym_dwarf_input_t *in, sym_dw_bytes_t *b, sym_dw_shape_t shape,
           const format_t *formats, int n)
{
    sym_dw_file_t entry = { .name = sym_str("", 0) };

    for (int i = 0; i < n; i++) {
        sym_dw_value_t v = sym_dw_value(b, formats[i].form, shape);

        if (formats[i].content == DW_LNCT_path) {
            entry.name = text_of(in, v);
        } else if (formats[i].content == DW_LNCT_directory_index) {
            entry.dir = v.u;
        }
    }

    return entry;
}


static bool
read_new_table(sym_dw_lines_t *l, const sym_dwarf_input_t *in,
               sym_dw_bytes_t *b, bool is_dirs)
{
    /* file tables contain no addresses, so any address size will do */
    sym_dw_shape_t shape = { l->version, l->offset_size, 8 };
    format_t formats[FORMATS_MAX];
    int n = read_formats(b, shape, formats);
    uint64_t count = sym_dw_uleb(b);

    if (n < 0) {
        return false;
    }

    if (count > sym_dw_left(b) || (n == 0 && count != 0)) {
        sym_cursor_fail(&b->c, SYM_MALFORMED, "more files than bytes");
        return false;
    }

    for (uint64_t i = 0; i < count; i++) {
        sym_dw_file_t entry = read_entry(in, b, shape, formats, n);

        if (!sym_ok(&b->c)
            || !(is_dirs ? add_dir(l, in, b, entry.name)
                         : add_file(l, in, b, entry)))
        {
            return false;
        }
    }

    return sym_ok(&b->c);
}


bool
sym_dw_file_table_read(sym_dw_lines_t *l, const sym_dwarf_input_t *in,
                       sym_dw_bytes_t *b)
{
    l->n_dirs = l->n_files = 0;

    if (l->version < 5) {
        return read_old_tables(l, in, b);
    }

    return read_new_table(l, in, b, true) && read_new_table(l, in, b, false);
}


/* --- paths --- */

static bool
is_absolute(sym_str_t path)
{
    uint8_t c = path.len > 0 ? (uint8_t) path.data[0] : 0;
    uint8_t letter = c | 0x20;

    if (c == '/') {
        return true;
    }

    if (path.len >= 2 && c == '\\' && path.data[1] == '\\') {
        return true;
    }

    return path.len >= 3 && letter >= 'a' && letter <= 'z'
           && path.data[1] == ':'
           && (path.data[2] == '\\' || path.data[2] == '/');
}


static void
append(sym_buffer_t *path, sym_str_t part)
{
    if (part.len == 0) {
        return;
    }

    if (path->len != 0 && path->data[path->len - 1] == '/') {
        while (part.len != 0 && part.data[0] == '/') {
            part.data++;
            part.len--;
        }
    } else if (path->len != 0 && part.data[0] != '/') {
        sym_buffer_put(path, "/", 1);
    }

    sym_buffer_put(path, part.data, part.len);
}


/* The index of file number `file`, which counts from 1 before DWARF 5, then
 * from 0. */
static const sym_dw_file_t *
find_file(const sym_dw_lines_t *l, uint64_t file)
{
    uint64_t at = l->version < 5 ? file - 1 : file;

    return at < l->n_files ? &l->files[at] : NULL;
}


bool
sym_dw_file_path(const sym_dw_lines_t *l, uint64_t file, sym_str_t comp_dir,
                 sym_buffer_t *path)
{
    const sym_dw_file_t *f = find_file(l, file);
    uint64_t at;
    sym_str_t dir = { NULL, 0 };
    bool is_comp_dir;

    path->len = 0;
    if (f == NULL || f->name.data == NULL || f->name.len > SYM_PART_BYTES_MAX
        || comp_dir.len > SYM_PART_BYTES_MAX)
    {
        return false;
    }

    if (is_absolute(f->name)) {
        sym_buffer_put(path, f->name.data, f->name.len);
        return !path->failed;
    }

    /* in DWARF 5 directory 0 is the compilation directory itself */
    at = l->version < 5 ? f->dir - 1 : f->dir;
    if (at < l->n_dirs && l->dirs[at].len <= SYM_PART_BYTES_MAX) {
        dir = l->dirs[at];
    }

    is_comp_dir = l->version >= 5 && f->dir == 0;
    if (!is_comp_dir && !is_absolute(dir)) {
        append(path, comp_dir);
    }

    append(path, dir);
    append(path, f->name);
    return !path->failed;
}
