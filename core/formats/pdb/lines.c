#include "formats/pdb/lines.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/cursor.h"
#include "formats/pdb/le.h"

/* CV_DebugSLinesHeader_t: offset, section, flags, size of the code. */
#define LINES_BYTES 12

/* CV_DebugSLinesFileBlockHeader_t: file, number of lines, size of the block. */
#define BLOCK_BYTES 12
#define LINE_BYTES 8
#define LINE_MASK 0x00ffffffu

/* Not lines: with these a debugger never, or always, steps into code (LLVM:
 * CodeView/Line.h, NeverStepInto, AlwaysStepInto). */
#define LINE_NEVER 0xf00f00u
#define LINE_ALWAYS 0xfeefeeu

/* CV_InlineeSourceLine: id, file, line.  The extended form adds a number of
 * files and these files. */
#define INLINEE_BYTES 12
#define INLINEES_MORE_FILES 1u

/* File checksum entry: name, size and kind of the checksum, the checksum. */
#define FILE_BYTES 6

void
sym_pdb_lines_free(sym_pdb_lines_t *l)
{
    free(l->lines);
    free(l->tables);
    free(l->inlinees);
    free(l->order);
    free(l->spare_lines);
    free(l->spare_tables);
    *l = (sym_pdb_lines_t){ 0 };
}


/* --- inlined functions --- */

static uint64_t
inlinee_key(uint32_t id, uint32_t file)
{
    return (uint64_t) id << 32 | file;
}


static bool
add_inlinees(sym_pdb_lines_t *l, sym_cursor_t *c)
{
    const bool has_more = sym_u32(c) == INLINEES_MORE_FILES;

    while (sym_ok(c) && sym_left(c) >= INLINEE_BYTES) {
        const uint8_t *at = c->pos;

        if (!SYM_ARRAY_ROOM(l->inlinees, l->n_inlinees + 1, l->inlinees_size)) {
            return false;
        }

        l->inlinees[l->n_inlinees++] = (sym_sort_item_t){
            inlinee_key(sym_le32(at), sym_le32(at + 4)),
            (uint32_t) (at - (const uint8_t *) l->c13.data)
        };
        (void) sym_take(c, INLINEE_BYTES);
        if (has_more) {
            (void) sym_take(c, (uint64_t) sym_u32(c) * 4);
        }
    }

    return true;
}


static bool
sort_inlinees(sym_pdb_lines_t *l)
{
    for (size_t i = 1; i < l->n_inlinees; i++) {
        if (l->inlinees[i - 1].key > l->inlinees[i].key) {
            return sym_sort(l->inlinees, l->n_inlinees);
        }
    }

    return true;
}


/* The last inlinee whose key is at most `key`; if there is none, the first.
 * The search has no branches, because they would be unpredictable. */
static const sym_sort_item_t *
inlinee_at(const sym_pdb_lines_t *l, uint64_t key)
{
    const sym_sort_item_t *found = l->inlinees;

    for (size_t n = l->n_inlinees; n > 1; n -= n / 2) {
        found += found[n / 2].key <= key ? n / 2 : 0;
    }

    return found;
}


bool
sym_pdb_lines_inlinee(const sym_pdb_lines_t *l, uint32_t id,
                      sym_pdb_inlinee_t *inlinee)
{
    const sym_sort_item_t *found = inlinee_at(l, inlinee_key(id, UINT32_MAX));

    if (l->n_inlinees == 0 || found->key >> 32 != id) {
        return false;
    }

    *inlinee = (sym_pdb_inlinee_t){
        .file = (uint32_t) found->key,
        .line = sym_le32(l->c13.data + found->at + 8),
        .has_namesakes = found > l->inlinees && found[-1].key >> 32 == id,
    };
    return true;
}


bool
sym_pdb_lines_inlinee_in(const sym_pdb_lines_t *l, uint32_t id, uint32_t file,
                         sym_pdb_inlinee_t *inlinee)
{
    const sym_sort_item_t *found = inlinee_at(l, inlinee_key(id, file));

    if (l->n_inlinees == 0 || found->key != inlinee_key(id, file)) {
        return false;
    }

    inlinee->file = file;
    inlinee->line = sym_le32(l->c13.data + found->at + 8);
    return true;
}


/* --- lines --- */

/* The last of several lines at one address wins.  A line equal to the line
 * before is dropped. */
static void
add_line(sym_pdb_lines_t *l, const sym_pdb_table_t *t, sym_pdb_line_t line)
{
    if (l->n_lines > t->first && l->lines[l->n_lines - 1].linked == line.linked)
    {
        l->n_lines--;
    }

    if (l->n_lines == t->first || l->lines[l->n_lines - 1].line != line.line
        || l->lines[l->n_lines - 1].file != line.file)
    {
        l->lines[l->n_lines++] = line;
    }
}


/* The lines of a file. */
static bool
add_block(sym_pdb_lines_t *l, const sym_pdb_table_t *t, sym_cursor_t *c)
{
    const uint32_t file = sym_u32(c), n = sym_u32(c), bytes = sym_u32(c);
    sym_cursor_t block =
        sym_take(c, bytes >= BLOCK_BYTES ? bytes - BLOCK_BYTES : UINT64_MAX);
    const uint8_t *at = block.pos;

    if (n > sym_left(&block) / LINE_BYTES) {
        sym_cursor_fail(c, SYM_MALFORMED, "more lines than the block");
    }

    if (!sym_ok(c)) {
        return true;
    }

    if (!SYM_ARRAY_ROOM(l->lines, l->n_lines + n, l->lines_size)) {
        return false;
    }

    for (; at != block.pos + (size_t) n * LINE_BYTES; at += LINE_BYTES) {
        const uint32_t line = sym_le32(at + 4) & LINE_MASK;

        if (line != LINE_NEVER && line != LINE_ALWAYS) {
            add_line(l, t,
                     (sym_pdb_line_t){ t->linked + sym_le32(at), line, file });
        }
    }

    return true;
}


/* Blocks of different files may interleave their addresses. */
static bool
sort_lines(sym_pdb_lines_t *l, const sym_pdb_table_t *t)
{
    const size_t n = l->n_lines - t->first;
    sym_pdb_line_t *lines = l->lines + t->first;
    size_t i = 1;

    while (i < n && lines[i - 1].linked < lines[i].linked) {
        i++;
    }

    if (i >= n) {
        return true;
    }

    if (!SYM_ARRAY_ROOM(l->order, 2 * n, l->order_size)
        || !SYM_ARRAY_ROOM(l->spare_lines, n, l->spare_lines_size))
    {
        return false;
    }

    for (i = 0; i < n; i++) {
        l->order[i] = (sym_sort_item_t){ lines[i].linked, (uint32_t) i };
        l->spare_lines[i] = lines[i];
    }

    sym_sort_with(l->order, n, l->order + n);

    l->n_lines = t->first;
    for (i = 0; i < n; i++) {
        add_line(l, t, l->spare_lines[l->order[i].at]);
    }

    return true;
}


static bool
add_table(sym_pdb_lines_t *l, const sym_pdb_addresses_t *addresses,
          sym_cursor_t *c)
{
    const uint32_t offset = sym_u32(c), section = sym_u16(c);
    uint32_t size;
    sym_pdb_table_t t = { .first = (uint32_t) l->n_lines };

    (void) sym_u16(c); /* flags: columns follow the lines */
    size = sym_u32(c);
    if (!sym_ok(c) || !sym_pdb_linked(addresses, section, offset, &t.linked)
        || size > UINT32_MAX - t.linked)
    {
        return true;
    }

    t.end = t.linked + size;
    while (sym_ok(c) && sym_left(c) >= BLOCK_BYTES) {
        if (!add_block(l, &t, c)) {
            return false;
        }
    }

    if (l->n_lines == t.first) {
        return true;
    }

    if (!sort_lines(l, &t)
        || !SYM_ARRAY_ROOM(l->tables, l->n_tables + 1, l->tables_size))
    {
        return false;
    }

    t.n = (uint32_t) (l->n_lines - t.first);
    l->tables[l->n_tables++] = t;
    return true;
}


static bool
order_tables(sym_pdb_lines_t *l)
{
    const size_t n = l->n_tables;

    if (!SYM_ARRAY_ROOM(l->order, 2 * n, l->order_size)
        || !SYM_ARRAY_ROOM(l->spare_tables, n, l->spare_tables_size))
    {
        return false;
    }

    for (size_t i = 0; i < n; i++) {
        l->order[i] = (sym_sort_item_t){ l->tables[i].linked, (uint32_t) i };
        l->spare_tables[i] = l->tables[i];
    }

    sym_sort_with(l->order, n, l->order + n);

    for (size_t i = 0; i < n; i++) {
        l->tables[i] = l->spare_tables[l->order[i].at];
    }

    return true;
}


static bool
sort_tables(sym_pdb_lines_t *l)
{
    sym_pdb_table_t *t = l->tables;
    size_t i = 1;

    while (i < l->n_tables && t[i - 1].linked <= t[i].linked) {
        i++;
    }

    if (i < l->n_tables && !order_tables(l)) {
        return false;
    }

    for (i = 0; i < l->n_tables; i++) {
        bool is_twin = i != 0 && t[i - 1].linked == t[i].linked;

        t[i].twin = is_twin ? t[i - 1].twin : (uint32_t) i;
        t[t[i].twin].twins++;
    }

    return true;
}


const sym_pdb_table_t *
sym_pdb_lines_find(sym_pdb_lines_t *l, uint32_t linked)
{
    size_t low = 0, high = l->n_tables;
    sym_pdb_table_t *first, *found;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->tables[middle].linked <= linked) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    if (low == 0) {
        return NULL;
    }

    first = &l->tables[l->tables[low - 1].twin];
    found = first + first->taken;
    first->taken += linked == first->linked && first->taken + 1 < first->twins;
    return linked < found->end ? found : NULL;
}


uint32_t
sym_pdb_lines_at(const sym_pdb_lines_t *l, const sym_pdb_table_t *table,
                 uint32_t linked)
{
    const sym_pdb_line_t *lines = l->lines + table->first;
    uint32_t at = 0;

    for (uint32_t n = table->n; n > 1; n -= n / 2) {
        at += lines[at + n / 2].linked <= linked ? n / 2 : 0;
    }

    return table->first + at;
}


/* --- files, and opening --- */

bool
sym_pdb_lines_file(const sym_pdb_lines_t *l, uint32_t file, uint32_t *name)
{
    if (l->files.len < FILE_BYTES || file > l->files.len - FILE_BYTES) {
        return false;
    }

    *name = sym_le32(l->files.data + file);
    return true;
}


/* False: there are no more subsections. */
static bool
next_subsection(sym_cursor_t *c, uint32_t *kind, sym_cursor_t *part)
{
    if (!sym_ok(c) || sym_left(c) < 8) {
        return false;
    }

    *kind = sym_u32(c);
    *part = sym_take(c, sym_u32(c));
    return sym_ok(c);
}


static sym_str_t
bytes_of(const sym_cursor_t *c)
{
    return sym_str((const char *) c->pos, sym_left(c));
}


sym_str_t
sym_pdb_subsection(sym_str_t c13, uint32_t kind)
{
    sym_error_t ignored = { 0 };
    sym_cursor_t c = sym_cursor(c13.data, c13.len, "C13 lines", &ignored), part;
    uint32_t found;

    while (next_subsection(&c, &found, &part)) {
        if (found == kind) {
            return bytes_of(&part);
        }
    }

    return SYM_STR("");
}


/* Replaces an error in the file, if there was one. */
static sym_status_t
no_memory(sym_error_t *err)
{
    *err = (sym_error_t){ 0 };
    return sym_fail(err, SYM_NOMEM, "no memory for lines");
}


static sym_status_t
read_subsections(sym_pdb_lines_t *l, const sym_pdb_addresses_t *addresses,
                 sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(l->c13.data, l->c13.len, "C13 lines", err),
                 part;
    bool has_memory = true;
    uint32_t kind;

    while (has_memory && next_subsection(&c, &kind, &part)) {
        switch (kind) {
        case SYM_PDB_LINES:
            has_memory = add_table(l, addresses, &part);
            break;
        case SYM_PDB_INLINEES:
            has_memory = add_inlinees(l, &part);
            break;
        case SYM_PDB_FILES:
            l->files = bytes_of(&part);
            break;
        case SYM_PDB_IMPORTS:
            l->imports = bytes_of(&part);
            break;
        default:
            break;
        }
    }

    return has_memory ? err->status : no_memory(err);
}


sym_status_t
sym_pdb_lines_read(sym_pdb_lines_t *l, sym_str_t c13,
                   const sym_pdb_addresses_t *addresses, sym_error_t *err)
{
    l->n_lines = l->n_tables = l->n_inlinees = 0;
    l->files = l->imports = SYM_STR("");
    l->c13 = c13;

    /* lines before an error are used */
    if (read_subsections(l, addresses, err) != SYM_NOMEM
        && !(sort_tables(l) && sort_inlinees(l)))
    {
        return no_memory(err);
    }

    return err->status;
}
