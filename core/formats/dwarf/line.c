#include "formats/dwarf/line.h"

#include <stdlib.h>

#include "formats/dwarf/constants.h"
#include "formats/dwarf/grow.h"

/* The rows of the current sequence, in one of the two tables. */
typedef struct {
    sym_dw_rows_t *rows;
    size_t first;
    bool is_unsorted; /* some row has a lower address than the one before */
} table_t;

/* The registers of the state machine (6.2.2) that are needed, and the current
 * sequence. */
typedef struct {
    sym_dw_lines_t *l;
    const sym_dwarf_input_t *in;

    uint64_t addr;
    uint64_t line; /* may wrap, because only 32 bits are kept */
    uint64_t file;
    uint32_t op_index;
    bool is_stmt;

    bool is_dead;  /* the sequence belongs to dropped code */
    bool has_stmt; /* a row with is_stmt was kept */
    table_t all, statements;

    sym_dw_special_t special[256];
} machine_t;


void
sym_dw_lines_free(sym_dw_lines_t *l)
{
    free(l->dirs);
    free(l->files);
    free(l->rows.items);
    free(l->statements.items);
    free(l->sequences);
    *l = (sym_dw_lines_t){ 0 };
}


static void
reset(machine_t *m)
{
    m->addr = 0;
    m->line = 1;
    m->file = 1;
    m->op_index = 0;
    m->is_stmt = m->l->default_is_stmt;
    m->is_dead = false;
    m->has_stmt = false;
    m->all = (table_t){ .rows = &m->l->rows, .first = m->l->rows.n };
    m->statements =
        (table_t){ .rows = &m->l->statements, .first = m->l->statements.n };
}


/* --- rows --- */

static inline bool
is_begun(const table_t *t)
{
    return t->rows->n > t->first;
}


static inline sym_dw_row_t *
last_row(const table_t *t)
{
    return &t->rows->items[t->rows->n - 1];
}


static bool
add_row(table_t *t, sym_dw_bytes_t *b, sym_dw_row_t row)
{
    sym_dw_rows_t *rows = t->rows;

    if (rows->n >= SYM_DWARF_ROWS_MAX) {
        sym_cursor_fail(&b->c, SYM_LIMIT, "too many rows in a line table");
        return false;
    }

    if (!SYM_DW_ROOM(rows->items, rows->n, rows->size)) {
        sym_cursor_fail(&b->c, SYM_NOMEM, "no memory for a line table");
        return false;
    }

    if (is_begun(t) && row.addr < last_row(t)->addr) {
        t->is_unsorted = true;
    }

    rows->items[rows->n++] = row;
    return true;
}


static uint32_t
index_of(uint64_t file)
{
    return file < SYM_DW_NO_FILE ? (uint32_t) file : SYM_DW_NO_FILE;
}


/* False: rows at this address are dropped. */
static inline bool
relative(const machine_t *m, uint32_t *addr)
{
    uint64_t relative = m->addr - m->in->image_base;

    *addr = (uint32_t) relative;
    return m->addr != 0 && relative <= UINT32_MAX;
}


/*
 * For atos only statements begin a line.  Rows between them, often with line 0,
 * belong to the statement before.  Rows before the first statement are kept.
 * The first of several rows at one address wins.
 */
static void
put_statement(machine_t *m, sym_dw_bytes_t *b, sym_dw_row_t row)
{
    table_t *t = &m->statements;
    bool is_first = m->is_stmt && !m->has_stmt;

    if (!m->is_stmt && m->has_stmt) {
        return;
    }

    m->has_stmt = m->is_stmt;

    if (!is_begun(t) || last_row(t)->addr != row.addr) {
        (void) add_row(t, b, row);
    } else if (is_first) {
        *last_row(t) = row;
    }
}


static inline void
put_row(machine_t *m, sym_dw_bytes_t *b)
{
    table_t *t = &m->all;
    sym_dw_row_t row = { .line = (uint32_t) m->line,
                         .file = index_of(m->file) };

    if (m->is_dead || !relative(m, &row.addr)) {
        return;
    }

    if (is_begun(t) && last_row(t)->addr == row.addr) {
        *last_row(t) = row; /* the last row of an address wins */
    } else {
        (void) add_row(t, b, row);
    }

    if (m->in->has_statements) {
        put_statement(m, b, row);
    }
}


typedef struct {
    uint64_t key; /* key: address, then position */
    sym_dw_row_t row;
} keyed_t;


static int
compare_keys(const void *a, const void *b)
{
    const keyed_t *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}


/* Sorts the sequence's rows, and keeps the first or the last row of each
 * address. */
static bool
sort_rows(table_t *t, bool is_last)
{
    size_t n = t->rows->n - t->first, kept = 0;
    sym_dw_row_t *rows;
    keyed_t *keyed;

    if (!t->is_unsorted) {
        return true;
    }

    rows = t->rows->items + t->first;
    keyed = malloc(n * sizeof(*keyed));
    if (keyed == NULL) {
        return false;
    }

    for (size_t i = 0; i < n; i++) {
        keyed[i] = (keyed_t){ (uint64_t) rows[i].addr << 32 | i, rows[i] };
    }

    qsort(keyed, n, sizeof(*keyed), compare_keys);

    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || rows[kept - 1].addr != keyed[i].row.addr) {
            rows[kept++] = keyed[i].row;
        } else if (is_last) {
            rows[kept - 1] = keyed[i].row;
        }
    }

    t->rows->n = t->first + kept;
    free(keyed);
    return true;
}


static void
drop_rows(machine_t *m)
{
    m->l->rows.n = m->all.first;
    m->l->statements.n = m->statements.first;
}


static void
end_sequence(machine_t *m, sym_dw_bytes_t *b)
{
    sym_dw_lines_t *l = m->l;
    sym_dw_sequence_t s = { 0 };

    l->end_line = (uint32_t) m->line;
    l->end_file = index_of(m->file);

    if (!relative(m, &s.high)) {
        s.high = UINT32_MAX; /* the sequence runs out of the kept address
                                range */
    }

    if (m->is_dead || !is_begun(&m->all)
        || l->rows.items[m->all.first].addr >= s.high)
    {
        drop_rows(m);
        return;
    }

    if (!sort_rows(&m->all, true) || !sort_rows(&m->statements, false)
        || !SYM_DW_ROOM(l->sequences, l->n_sequences, l->sequences_size))
    {
        sym_cursor_fail(&b->c, SYM_NOMEM, "no memory for a line table");
        return;
    }

    s.low = l->rows.items[m->all.first].addr;
    s.first = (uint32_t) m->all.first;
    s.end = (uint32_t) l->rows.n;
    s.first_statement = (uint32_t) m->statements.first;
    s.end_statement = (uint32_t) l->statements.n;
    l->sequences[l->n_sequences++] = s;
}


/* --- opcodes --- */

static inline void
advance(machine_t *m, uint64_t operations)
{
    const sym_dw_lines_t *l = m->l;

    if (l->max_ops == 1) {
        m->addr += operations * l->min_inst_length;
        return;
    }

    /* 6.2.5.1: an instruction may contain several operations */
    operations += m->op_index;
    m->addr += operations / l->max_ops * l->min_inst_length;
    m->op_index = (uint32_t) (operations % l->max_ops);
}


/* Linkers replace addresses of dropped code by these. */
static bool
is_tombstone(uint64_t addr, unsigned size)
{
    uint64_t ones = UINT64_MAX >> (64 - 8 * size);

    return addr == 0 || addr == ones || addr == ones - 1;
}


static void
set_address(machine_t *m, sym_dw_bytes_t *operand)
{
    size_t size = sym_dw_left(operand);

    if (size != 1 && size != 2 && size != 4 && size != 8) {
        sym_cursor_fail(&operand->c, SYM_MALFORMED, "address of an odd size");
        return;
    }

    m->addr = sym_dw_number(operand, (unsigned) size);
    m->op_index = 0;
    m->is_dead = is_tombstone(m->addr, (unsigned) size);
}


static void
define_file(machine_t *m, sym_dw_bytes_t *operand)
{
    sym_dw_lines_t *l = m->l;
    sym_dw_file_t file = { .name = sym_dwarf_resolve(m->in,
                                                     sym_dw_string(operand)) };

    file.dir = sym_dw_uleb(operand);

    if (!SYM_DW_ROOM(l->files, l->n_files, l->files_size)) {
        sym_cursor_fail(&operand->c, SYM_NOMEM, "no memory for a file table");
        return;
    }

    l->files[l->n_files++] = file;
}


static void
run_extended(machine_t *m, sym_dw_bytes_t *b)
{
    sym_dw_bytes_t operand = *b;

    operand.c = sym_take(&b->c, sym_dw_uleb(b));
    if (sym_dw_left(&operand) == 0) {
        return; /* an unknown opcode, perhaps padding */
    }

    switch (sym_dw_u8(&operand)) {
    case DW_LNE_end_sequence:
        end_sequence(m, b);
        reset(m);
        break;
    case DW_LNE_set_address:
        set_address(m, &operand);
        break;
    case DW_LNE_define_file:
        define_file(m, &operand);
        break;
    default:
        break; /* discriminators, and unknown opcodes */
    }
}


static void
run_standard(machine_t *m, sym_dw_bytes_t *b, uint8_t opcode)
{
    switch (opcode) {
    case DW_LNS_copy:
        put_row(m, b);
        break;
    case DW_LNS_advance_pc:
        advance(m, sym_dw_uleb(b));
        break;
    case DW_LNS_advance_line:
        m->line += (uint64_t) sym_dw_sleb(b);
        break;
    case DW_LNS_set_file:
        m->file = sym_dw_uleb(b);
        break;
    case DW_LNS_negate_stmt:
        m->is_stmt = !m->is_stmt;
        break;
    case DW_LNS_const_add_pc:
        advance(m, (uint64_t) (255 - m->l->opcode_base) / m->l->line_range);
        break;
    case DW_LNS_fixed_advance_pc:
        m->addr += sym_dw_u16(b);
        m->op_index = 0;
        break;
    default:
        for (unsigned i = 0; i < m->l->lengths[opcode]; i++) {
            sym_dw_pass_uleb(b);
        }
    }
}


static void
run(machine_t *m, sym_dw_bytes_t *b)
{
    const uint8_t opcode_base = m->l->opcode_base;
    const bool is_simple = m->l->max_ops == 1;

    while (sym_dw_left(b) != 0) {
        uint8_t opcode = *b->c.pos++;

        if (opcode >= opcode_base) {
            if (is_simple) {
                m->addr += m->special[opcode].addr;
            } else {
                advance(m,
                        (uint64_t) (opcode - opcode_base) / m->l->line_range);
            }
            m->line += (uint64_t) (int64_t) m->special[opcode].line;
            put_row(m, b);
        } else if (opcode == 0) {
            run_extended(m, b);
        } else {
            run_standard(m, b, opcode);
        }
    }
}


/* --- header --- */

static void
split_specials(machine_t *m)
{
    const sym_dw_lines_t *l = m->l;

    for (int opcode = l->opcode_base; opcode < 256; opcode++) {
        int adjusted = opcode - l->opcode_base;

        m->special[opcode] =
            (sym_dw_special_t){ l->line_base + adjusted % l->line_range,
                                (uint32_t) (adjusted / l->line_range)
                                    * l->min_inst_length };
    }
}


static bool
read_numbers(sym_dw_lines_t *l, sym_dw_bytes_t *b)
{
    l->min_inst_length = sym_dw_u8(b);
    l->max_ops = l->version >= 4 ? sym_dw_u8(b) : 1;
    l->default_is_stmt = sym_dw_u8(b) != 0;
    l->line_base = (int8_t) sym_dw_u8(b);
    l->line_range = sym_dw_u8(b);
    l->opcode_base = sym_dw_u8(b);

    if (!sym_ok(&b->c)) {
        return false;
    }

    if (l->max_ops == 0) {
        l->max_ops = 1; /* some assemblers write 0 for 1 */
    }

    /* 6.2.5.1: every special opcode is divided by line_range */
    if (l->line_range == 0 || l->opcode_base == 0) {
        sym_cursor_fail(&b->c, SYM_MALFORMED, "line_range or opcode_base is 0");
        return false;
    }

    for (unsigned i = 1; i < l->opcode_base; i++) {
        l->lengths[i] = sym_dw_u8(b);
    }

    return sym_ok(&b->c);
}


/* Reads the header and returns a cursor at the first opcode.  `b` is the unit
 * without its length. */
static bool
read_header(sym_dw_lines_t *l, const sym_dwarf_input_t *in, sym_dw_bytes_t *b)
{
    sym_dw_bytes_t header = *b;
    uint16_t version = sym_dw_u16(b);

    if (!sym_ok(&b->c)) {
        return false;
    }

    if (version < 2 || version > 5) {
        sym_cursor_fail(&b->c, SYM_UNSUPPORTED, "version of a line table");
        return false;
    }

    l->version = (uint8_t) version;
    if (version >= 5) {
        sym_dw_skip(b, 2); /* the sizes of addresses and segment selectors */
    }

    header.c = sym_take(&b->c, sym_dw_number(b, l->offset_size));
    return sym_ok(&b->c) && read_numbers(l, &header)
           && sym_dw_file_table_read(l, in, &header);
}


static int
compare_sequences(const void *a, const void *b)
{
    const sym_dw_sequence_t *x = a, *y = b;

    if (x->high != y->high) {
        return x->high < y->high ? -1 : 1;
    }

    return x->first < y->first ? -1 : x->first > y->first;
}


sym_status_t
sym_dw_lines_read(sym_dw_lines_t *l, const sym_dwarf_input_t *in,
                  uint64_t offset, sym_error_t *err)
{
    machine_t m = { .l = l, .in = in };
    bool is_swapped =
        in->is_big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    sym_dw_bytes_t b = sym_dw_bytes_at(in->sections.line, ".debug_line", offset,
                                       is_swapped, err);
    sym_dw_bytes_t unit;

    l->rows.n = l->statements.n = l->n_sequences = 0;
    l->n_dirs = l->n_files = 0;
    l->end_line = 0;
    l->end_file = SYM_DW_NO_FILE;

    if (!sym_dw_unit_bytes(&b, &unit, &l->offset_size)) {
        return err->status;
    }

    l->bytes = sym_dw_left(&unit);
    if (!read_header(l, in, &unit)) {
        return err->status;
    }

    split_specials(&m);
    reset(&m);
    run(&m, &unit);
    drop_rows(&m); /* a sequence that has no end is dropped */

    if (l->n_sequences != 0) {
        qsort(l->sequences, l->n_sequences, sizeof(*l->sequences),
              compare_sequences);
    }

    return err->status;
}
