#include "formats/breakpad/records.h"

#include "base/hex.h"
#include "object/module_key.h"

/*
 * Names that today's server accepts (specs 3.5), and others that Breakpad's own
 * dumpers write.  Any other name means that the file is not a symbol file.
 */
static bool
is_architecture(sym_str_t arch)
{
    static const char *const names[] = {
        "x86",   "i386",    "x86_64",  "x86_64h",     "amd64",
        "ppc",   "ppc64",   "mips",    "mips64",      "aarch64",
        "riscv", "riscv32", "riscv64", "loongarch64", "s390",
        "s390x", "sparc",   "sparcv9", "wasm32",      "unknown",
    };
    char lower[16];

    if (arch.len >= sizeof(lower)) {
        return false;
    }

    for (size_t i = 0; i < arch.len; i++) {
        char c = arch.data[i];

        lower[i] = (char) (c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }

    arch.data = lower;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (sym_str_eq(arch, sym_cstr(names[i]))) {
            return true;
        }
    }

    return sym_str_starts(arch, SYM_STR("arm")); /* arm64e, armv7s, ... */
}


sym_module_record_t
sym_read_module(sym_fields_t *f)
{
    sym_module_record_t r;
    char canonical[SYM_ID_MAX];

    r.os = sym_fields_word(f);
    if (r.os.len == 0) {
        sym_fields_fail(f, "operating system is missing", f->end);
    }

    r.arch = sym_fields_word(f);
    if (r.arch.len == 0) {
        sym_fields_fail(f, "architecture is missing", f->end);
    } else if (!is_architecture(r.arch)) {
        sym_fields_fail(f, "unknown architecture", r.arch.data);
    }

    r.id = sym_fields_word(f);
    if (r.id.len == 0) {
        sym_fields_fail(f, "debug id is missing", f->end);
    } else if (sym_debug_id_canonical(r.id, canonical) == 0) {
        sym_fields_fail(f, "invalid debug id", r.id.data);
    }

    r.name = sym_fields_rest(f);
    return r;
}


bool
sym_read_code_id(sym_fields_t *f, sym_code_id_record_t *r)
{
    if (!sym_str_eq(sym_fields_word(f), SYM_STR("CODE_ID"))) {
        return false;
    }

    r->code_id = sym_fields_word(f);
    r->code_file = sym_fields_rest(f);
    return r->code_id.len != 0;
}


sym_file_record_t
sym_read_file(sym_fields_t *f)
{
    sym_file_record_t r;

    r.number = sym_fields_dec(f, SYM_DEC_FIELD("file number"));
    r.name = sym_fields_rest(f);
    return r;
}


/* "12 name" or "-1 name": a file's number before the name, as in 2021. */
static bool
read_origin_file(sym_fields_t *f, sym_origin_record_t *r)
{
    sym_fields_t ahead = *f;
    sym_str_t word = sym_fields_word(&ahead), digits = word;
    bool negative = word.len > 1 && word.data[0] == '-';

    if (negative) {
        digits = sym_str(word.data + 1, word.len - 1);
    }

    if (!sym_dec_read(digits, &r->file) || ahead.pos == ahead.end) {
        return false;
    }

    if (negative) {
        r->file = UINT64_MAX;
    }

    *f = ahead;
    return true;
}


sym_origin_record_t
sym_read_origin(sym_fields_t *f)
{
    sym_origin_record_t r = { 0 };

    r.number = sym_fields_dec(f, SYM_DEC_FIELD("origin number"));
    r.has_file = read_origin_file(f, &r);
    r.name = sym_fields_rest(f);

    if (r.name.len == 0) {
        sym_fields_fail(f, "name is missing", f->end);
    }

    return r;
}


static sym_str_t
symbol_name(sym_fields_t *f)
{
    sym_str_t name = sym_fields_rest(f);

    return name.len != 0 ? name : SYM_STR("<unknown>");
}


sym_symbol_record_t
sym_read_func(sym_fields_t *f)
{
    sym_symbol_record_t r;

    (void) sym_fields_flag(f, 'm');
    r.addr = sym_fields_hex(f, SYM_HEX_FIELD("address"));
    r.size = sym_fields_hex(f, SYM_HEX_FIELD("size"));
    (void) sym_fields_hex(f, SYM_HEX_FIELD("parameter size"));
    r.name = symbol_name(f);
    return r;
}


sym_symbol_record_t
sym_read_public(sym_fields_t *f)
{
    sym_symbol_record_t r = { 0 };

    (void) sym_fields_flag(f, 'm');
    r.addr = sym_fields_hex(f, SYM_HEX_FIELD("address"));
    (void) sym_fields_hex(f, SYM_HEX_FIELD("parameter size"));
    r.name = symbol_name(f);
    return r;
}


sym_inline_record_t
sym_read_inline(sym_fields_t *f)
{
    /* Breakpad distinguishes the forms in the same way: an address and a size
     * are a pair */
    bool has_call_file = sym_fields_count(f) % 2 == 0;
    sym_inline_record_t r = { .has_call_file = has_call_file };

    r.depth = sym_fields_dec(f, SYM_DEC_FIELD("depth"));
    r.call_line = sym_fields_dec(f, SYM_DEC_FIELD("call line"));
    if (has_call_file) {
        r.call_file = sym_fields_dec(f, SYM_DEC_FIELD("call file"));
    }
    r.origin = sym_fields_dec(f, SYM_DEC_FIELD("origin number"));

    if (f->pos == f->end) {
        sym_fields_fail(f, "address is missing", f->end);
    }

    return r;
}


bool
sym_read_inline_range(sym_fields_t *f, uint64_t *addr, uint64_t *size)
{
    if (f->pos == f->end) {
        return false;
    }

    *addr = sym_fields_hex(f, SYM_HEX_FIELD("address"));
    *size = sym_fields_hex(f, SYM_HEX_FIELD("size"));
    return sym_fields_ok(f);
}


sym_line_record_t
sym_read_line(sym_fields_t *f)
{
    sym_line_record_t r;
    bool negative;

    r.addr = sym_fields_hex(f, SYM_HEX_FIELD("address"));
    r.size = sym_fields_hex(f, SYM_HEX_FIELD("size"));

    /* some compilers wrote -1 for "none" */
    negative = sym_fields_minus(f);
    r.line = sym_fields_dec(f, SYM_DEC_FIELD("line number"));
    r.line = negative ? 0 : r.line;

    r.file = sym_fields_dec(f, SYM_DEC_FIELD("file number"));
    sym_fields_end(f, "text after the file number");
    return r;
}
