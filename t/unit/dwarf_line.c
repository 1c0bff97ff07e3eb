/*
 * Line programs (DWARF 5, 6.2) of every version, width and byte order, written
 * by hand, and the rows, sequences and paths that they give.
 */
#include "formats/dwarf/line.h"
#include "dwarf_kit.h"
#include "tap.h"

static sym_dw_lines_t lines;


static sym_dwarf_input_t
input(const kit_t *k)
{
    return (sym_dwarf_input_t){ .sections = kit_sections(k),
                                .is_big_endian = k->is_big };
}


/* "1000-1020: 1000 5 1, 1004 6 2;" for each sequence */
static const char *
describe(void)
{
    static char out[4096];
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < lines.n_sequences; i++) {
        const sym_dw_sequence_t *s = &lines.sequences[i];

        n += (size_t) snprintf(out + n, sizeof(out) - n,
                               "%s%x-%x:", i > 0 ? " " : "", s->low, s->high);
        for (uint32_t r = s->first; r < s->end; r++) {
            const sym_dw_row_t *row = &lines.rows.items[r];

            n += (size_t) snprintf(out + n, sizeof(out) - n, "%s %x %u %u",
                                   r > s->first ? "," : "", row->addr,
                                   row->line, row->file);
        }
        for (uint32_t r = s->first_statement; r < s->end_statement; r++) {
            const sym_dw_row_t *row = &lines.statements.items[r];

            n += (size_t) snprintf(out + n, sizeof(out) - n, "%s %x %u %u",
                                   r > s->first_statement ? "," : ", atos:",
                                   row->addr, row->line, row->file);
        }
        n += (size_t) snprintf(out + n, sizeof(out) - n, ";");
    }

    return out;
}


static void
is_lines(const sym_dwarf_input_t *in, const char *want, const char *name)
{
    sym_error_t err = { 0 };

    is_status(sym_dw_lines_read(&lines, in, 0, &err), SYM_OK, &err, name);
    is_str(sym_cstr(describe()), want, name);
}


static void
is_path(uint64_t file, const char *comp_dir, const char *want)
{
    sym_buffer_t path = { 0 };

    (void) sym_dw_file_path(&lines, file, sym_cstr(comp_dir), &path);
    is_str(sym_str((const char *) path.data, path.len), want, "path");
    sym_buffer_free(&path);
}


#define OP(k, opcode) put((k), &(k)->line, (opcode), 1)

/* 6.2.5.1: opcode = line - line_base + line_range * address + opcode_base */
#define SPECIAL(line, insts) ((line) + 3 + 12 * (insts) + 13)

static void
test_opcodes(uint8_t version, uint8_t offset_size, uint8_t addr_size,
             bool is_big)
{
    kit_t k = { .is_big = is_big,
                .version = version,
                .offset_size = offset_size,
                .addr_size = addr_size };
    sym_dwarf_input_t in;
    size_t header, start = open_lines(&k, &header);
    char name[64];

    (void) snprintf(name, sizeof(name), "version %u, %u, %u, %s", version,
                    offset_size, addr_size, is_big ? "big" : "little");

    set_address(&k, 0x1000);
    OP(&k, SPECIAL(4, 0));  /* 1000 line 5 */
    OP(&k, SPECIAL(-2, 3)); /* 1006 line 3 */
    OP(&k, DW_LNS_set_file);
    uleb(&k.line, 2);
    OP(&k, DW_LNS_advance_line);
    sleb(&k.line, 40);
    OP(&k, DW_LNS_const_add_pc); /* (255 - 13) / 12 = 20 instructions */
    OP(&k, DW_LNS_copy);         /* 102e line 43 */
    OP(&k, DW_LNS_fixed_advance_pc);
    put(&k, &k.line, 0x101, 2); /* 112f */
    OP(&k, DW_LNS_set_column);
    uleb(&k.line, 300);
    OP(&k, DW_LNS_set_basic_block);
    OP(&k, DW_LNS_set_prologue_end);
    OP(&k, DW_LNS_set_epilogue_begin);
    OP(&k, DW_LNS_set_isa);
    uleb(&k.line, 1);
    OP(&k, 0); /* a discriminator */
    uleb(&k.line, 2);
    OP(&k, DW_LNE_set_discriminator);
    uleb(&k.line, 9);
    OP(&k, 0); /* operations that no reader knows */
    uleb(&k.line, 3);
    OP(&k, 0x80);
    put(&k, &k.line, 0xffff, 2);
    OP(&k, DW_LNS_copy);
    end_sequence(&k, 0x10);
    close_length(&k, &k.line, start);

    in = input(&k);
    is_lines(&in, "1000-113f: 1000 5 1, 1006 3 1, 102e 43 2, 112f 43 2;", name);
    is_path(1, "/src", "/src/a.c");
    is_path(2, "/src", "/src/inc/b.h");
    is_path(2, "", "inc/b.h");
    is_path(3, "/src", "");
    is_path(version < 5 ? UINT64_MAX : 0, "/src",
            version < 5 ? "" : "/src/a.c");
}


static kit_t
simple(void)
{
    return (kit_t){ .version = 4, .offset_size = 4, .addr_size = 8 };
}


/* Several operations share an instruction. */
static void
test_vliw(void)
{
    kit_t k = simple();
    sym_dwarf_input_t in;
    size_t header, start = open_lines(&k, &header);

    k.line.data[header + 1] = 3; /* max_ops */
    set_address(&k, 0x1000);
    OP(&k, SPECIAL(1, 0)); /* 1000, operation 0 */
    OP(&k, SPECIAL(1, 4)); /* 4 operations: 1002, operation 1 */
    OP(&k, SPECIAL(1, 2)); /* operation 3: 1004, operation 0 */
    OP(&k, DW_LNS_advance_pc);
    uleb(&k.line, 7); /* 1008, operation 1 */
    OP(&k, DW_LNS_copy);
    end_sequence(&k, 12); /* 6 operations: 100c */
    close_length(&k, &k.line, start);

    in = input(&k);
    is_lines(&in, "1000-100c: 1000 2 1, 1002 3 1, 1004 4 1, 1008 4 1;",
             "operations of an instruction");
}


/* Sequences of code that the linker dropped, and empty ones. */
static void
test_dropped(void)
{
    static const uint64_t tombs[] = { 0, UINT64_MAX, UINT64_MAX - 1 };
    kit_t k = simple();
    sym_dwarf_input_t in;
    size_t header, start = open_lines(&k, &header);

    for (size_t i = 0; i < 3; i++) {
        set_address(&k, tombs[i]);
        OP(&k, SPECIAL(1, 0));
        OP(&k, SPECIAL(1, 4));
        end_sequence(&k, 8);
    }

    set_address(&k, 0x3000);
    OP(&k, SPECIAL(1, 0));
    end_sequence(&k, 8);
    set_address(&k, 0x2000);
    OP(&k, SPECIAL(2, 0));
    end_sequence(&k, 0); /* covers nothing */
    set_address(&k, 0x1000);
    OP(&k, SPECIAL(3, 0));
    end_sequence(&k, 8);
    set_address(&k, 0x9000);
    OP(&k, SPECIAL(3, 0)); /* has no end */
    close_length(&k, &k.line, start);

    in = input(&k);
    is_lines(&in, "1000-1008: 1000 4 1; 3000-3008: 3000 2 1;",
             "sequences in order, without dropped ones");

    in.image_base = 0x1000;
    is_lines(&in, "0-8: 0 4 1; 2000-2008: 2000 2 1;", "from the image's base");

    in.image_base = 0x1004;
    is_lines(&in, "1ffc-2004: 1ffc 2 1;", "below the base");
}


static void
test_order(void)
{
    kit_t k = simple();
    sym_dwarf_input_t in;
    size_t header, start = open_lines(&k, &header);

    set_address(&k, 0x1008);
    OP(&k, SPECIAL(4, 0));
    set_address(&k, 0x1004);
    OP(&k, SPECIAL(1, 0));
    OP(&k, SPECIAL(1, 2)); /* again 1008 */
    OP(&k, SPECIAL(1, 0)); /* and again */
    end_sequence(&k, 8);
    close_length(&k, &k.line, start);

    in = input(&k);
    is_lines(&in, "1004-1010: 1004 6 1, 1008 8 1;",
             "out of order; the last row of an address counts");

    in.has_statements = true;
    is_lines(&in, "1004-1010: 1004 6 1, 1008 8 1, atos: 1004 6 1, 1008 5 1;",
             "atos: the first row counts");
}


/* The example of atos: 2fc8e8 L46 stmt, 2fc908 L48 stmt, 2fc920 L0, 2fc928 L48,
 * 2fc934 L49 stmt. */
static void
test_statements(void)
{
    kit_t k = simple();
    sym_dwarf_input_t in;
    size_t header, start = open_lines(&k, &header);

    set_address(&k, 0x2fc8e8);
    OP(&k, DW_LNS_advance_line);
    sleb(&k.line, 45);
    OP(&k, DW_LNS_copy);
    OP(&k, SPECIAL(2, 16));
    OP(&k, DW_LNS_negate_stmt);
    OP(&k, DW_LNS_advance_line);
    sleb(&k.line, -48);
    OP(&k, SPECIAL(0, 12));
    OP(&k, DW_LNS_advance_line);
    sleb(&k.line, 48);
    OP(&k, SPECIAL(0, 4));
    OP(&k, DW_LNS_negate_stmt);
    OP(&k, SPECIAL(1, 6));
    end_sequence(&k, 4);

    /* nothing is a statement at first: the flag is set explicitly */
    set_address(&k, 0x400000);
    OP(&k, DW_LNS_negate_stmt);
    OP(&k, SPECIAL(8, 0));
    OP(&k, DW_LNS_negate_stmt);
    OP(&k, SPECIAL(1, 0)); /* the first statement at the same address */
    OP(&k, SPECIAL(1, 2));
    end_sequence(&k, 4);
    close_length(&k, &k.line, start);

    in = input(&k);
    is_lines(&in,
             "2fc8e8-2fc938: 2fc8e8 46 1, 2fc908 48 1, 2fc920 0 1,"
             " 2fc928 48 1, 2fc934 49 1; 400000-400008: 400000 10 1,"
             " 400004 11 1;",
             "all rows");

    in.has_statements = true;
    is_lines(&in,
             "2fc8e8-2fc938: 2fc8e8 46 1, 2fc908 48 1, 2fc920 0 1,"
             " 2fc928 48 1, 2fc934 49 1,"
             " atos: 2fc8e8 46 1, 2fc908 48 1, 2fc934 49 1;"
             " 400000-400008: 400000 10 1, 400004 11 1,"
             " atos: 400000 10 1, 400004 11 1;",
             "and statements only");
}


/* Every prefix of a program is refused or gives the sequences before the
 * cut. */
static void
test_cuts(uint8_t version)
{
    kit_t k = { .version = version, .offset_size = 4, .addr_size = 8 };
    size_t header, start = open_lines(&k, &header), wrong = 0;

    set_address(&k, 0x1000);
    OP(&k, SPECIAL(4, 0));
    end_sequence(&k, 0x10);
    close_length(&k, &k.line, start);

    for (size_t len = 0; len < k.line.n; len++) {
        sym_dwarf_input_t in = input(&k);
        sym_error_t err = { 0 };

        in.sections.line.len = len;
        wrong += sym_dw_lines_read(&lines, &in, 0, &err) != SYM_TRUNCATED
                 || lines.n_sequences != 0;
    }
    is_u64(wrong, 0, "cut at any byte");

    /* the unit is complete, but its length is too short */
    wrong = 0;
    for (size_t len = start; len < k.line.n; len++) {
        size_t n = k.line.n;
        sym_error_t err = { 0 };
        sym_dwarf_input_t in;

        k.line.n = len;
        close_length(&k, &k.line, start);
        in = input(&k);
        (void) sym_dw_lines_read(&lines, &in, 0, &err);
        wrong += lines.n_sequences != 0;
        k.line.n = n;
    }
    is_u64(wrong, 0, "a unit that ends too soon");
}


static void
test_bad_headers(void)
{
    kit_t k = simple();
    sym_error_t err = { 0 };
    sym_dwarf_input_t in;
    size_t header, start = open_lines(&k, &header);

    close_length(&k, &k.line, start);
    k.line.data[header + 4] = 0; /* line_range */
    in = input(&k);
    is_status(sym_dw_lines_read(&lines, &in, 0, &err), SYM_MALFORMED, &err,
              "line_range 0");

    err = (sym_error_t){ 0 };
    k.line.data[4] = 6; /* version */
    is_status(sym_dw_lines_read(&lines, &in, 0, &err), SYM_UNSUPPORTED, &err,
              "version 6");

    err = (sym_error_t){ 0 };
    is_status(sym_dw_lines_read(&lines, &in, 4096, &err), SYM_MALFORMED, &err,
              "no such program");
}


int
main(void)
{
    for (uint8_t version = 2; version <= 5; version++) {
        for (uint8_t bits = 0; bits < 8; bits++) {
            test_opcodes(version, bits & 1 ? 8 : 4, bits & 2 ? 8 : 4,
                         (bits & 4) != 0);
        }
    }

    test_vliw();
    test_dropped();
    test_order();
    test_statements();
    test_cuts(2);
    test_cuts(5);
    test_bad_headers();
    sym_dw_lines_free(&lines);
    return done_testing();
}
