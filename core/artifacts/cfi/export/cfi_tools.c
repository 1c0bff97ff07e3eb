/*
 * cfi_tools.c - kind `cfi` in commands: the rules of each range of addresses.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "artifacts/cfi/export/program.h"
#include "artifacts/cfi/read/cfi.h"
#include "artifacts/export/tools.h"
#include "base/hex.h"

typedef struct {
    const sym_cfi_t *cfi;
    sym_out_t *out;
    sym_cfi_rules_t rules;
    sym_cfi_row_t open; /* the row's end is the next row's address */
    bool is_breakpad;
    uint64_t n_lost; /* rows that Breakpad's text cannot express */
} writer_t;


/* "NAME: RULE", as in STACK CFI. */
static void
put_named(writer_t *w, const char *name, const sym_cfi_rule_t *rule)
{
    sym_out_printf(w->out, " %s: ", name);
    sym_cfi_put_rule(w->cfi->arch, rule, w->out);
}


static void
put_rules(writer_t *w)
{
    const sym_unwind_arch_row_t *arch = sym_unwind_arch(w->cfi->arch);
    const sym_cfi_rules_t *r = &w->rules;

    if (r->program.len != 0) {
        sym_out_printf(
            w->out, " parameters: %" PRIu32 " program: ", r->parameter_bytes);
        sym_cfi_put_program(w->cfi->arch, r->program, w->out);
        return;
    }

    sym_out_raw(w->out, r->is_signal && !w->is_breakpad ? SYM_STR(" signal")
                                                        : SYM_STR(""));
    put_named(w, ".cfa", &r->cfa);
    if ((r->has >> arch->pc & 1) != 0) {
        put_named(w, ".ra", &r->rule[arch->pc]);
    }

    for (unsigned i = 0; i < SYM_UNWIND_REGISTERS; i++) {
        if ((r->has >> i & 1) != 0 && i != arch->pc && arch->names[i] != NULL) {
            put_named(w, arch->names[i], &r->rule[i]);
        }
    }
}


/* Programs contain operations that STACK CFI does not have, and programs of x86
 * assign to registers. */
static bool
has_program(const sym_cfi_rules_t *r)
{
    bool is_so = r->program.len != 0 || r->cfa.program.len != 0;

    for (unsigned i = 0; i < SYM_UNWIND_REGISTERS; i++) {
        is_so |= (r->has >> i & 1) != 0 && r->rule[i].program.len != 0;
    }

    return is_so;
}


/* Writes a program of x86 as type 4 (frame data). */
static void
put_windows(writer_t *w, uint32_t end)
{
    const sym_cfi_rules_t *r = &w->rules;

    sym_out_printf(
        w->out, "STACK WIN 4 %" PRIx32 " %" PRIx32 " 0 0 %" PRIx32 " 0 0 0 1 ",
        w->open.address, end - w->open.address, r->parameter_bytes);
    sym_cfi_put_windows(r->program, w->out);
    sym_out_raw(w->out, SYM_STR("\n"));
}


/* Writes the open row, which ends at `end`. */
static sym_status_t
put_row(writer_t *w, uint32_t end)
{
    sym_status_t rc;

    if (w->open.rule == 0) {
        return SYM_OK;
    }

    rc = sym_cfi_rules(w->cfi, w->open.rule, &w->rules);
    if (rc == SYM_OK && w->is_breakpad && sym_cfi_is_windows(w->rules.program))
    {
        put_windows(w, end);
    } else if (rc == SYM_OK && w->is_breakpad && has_program(&w->rules)) {
        w->n_lost++;
    } else if (rc == SYM_OK) {
        sym_out_raw(w->out,
                    w->is_breakpad ? SYM_STR("STACK CFI INIT ") : SYM_STR(""));
        sym_out_printf(w->out, "%" PRIx32 " %" PRIx32, w->open.address,
                       end - w->open.address);
        put_rules(w);
        sym_out_raw(w->out, SYM_STR("\n"));
    }

    return rc;
}


static sym_status_t
put_rows(writer_t *w)
{
    sym_cfi_row_t rows[SYM_CFI_PAGE_ROWS];
    sym_status_t rc = SYM_OK;
    uint32_t n;

    for (uint32_t page = 0; rc == SYM_OK && page < w->cfi->n_pages; page++) {
        rc = sym_cfi_page(w->cfi, page, rows, &n);

        for (uint32_t i = 0; rc == SYM_OK && i < n && !w->out->failed; i++) {
            rc = put_row(w, rows[i].address);
            w->open = rows[i];
        }
    }

    return rc == SYM_OK ? put_row(w, UINT32_MAX) : rc;
}


enum { TEXT, BREAKPAD };

static const char *const formats[] = { "cfi", "breakpad", NULL };

static sym_status_t
dump(const sym_extent_source_t *extents, const sym_dump_t *how, unsigned format,
     sym_out_t *out, sym_error_t *err)
{
    sym_cfi_t c;
    writer_t w = { .cfi = &c, .out = out, .is_breakpad = format == BREAKPAD };
    sym_status_t rc = sym_cfi_open(&c, extents->get, extents->ctx, err);
    char lost[24];

    if (rc != SYM_OK) {
        return rc;
    }

    rc = put_rows(&w);

    if (w.n_lost != 0) {
        how->remark(
            how->ctx, "rows left out, because their rules are programs:",
            sym_str(lost, (size_t) (sym_dec_write(lost, w.n_lost) - lost)));
    }

    return rc == SYM_OK ? rc : sym_fail(err, rc, "the cfi is damaged");
}


static bool
is_question(sym_str_t text)
{
    uint64_t address;

    return sym_hex_read(text, &address) && address <= UINT32_MAX;
}


static sym_status_t
lookup(const sym_extent_source_t *extents, sym_str_t text, bool is_json,
       sym_out_t *out, sym_error_t *err)
{
    sym_cfi_t c;
    writer_t w = { .cfi = &c, .out = out };
    uint64_t address = 0;
    sym_status_t rc = sym_cfi_open(&c, extents->get, extents->ctx, err);

    if (rc == SYM_OK) {
        rc = sym_hex_read(text, &address)
                 ? sym_cfi_lookup(&c, (uint32_t) address, &w.rules)
                 : SYM_NOT_FOUND;
    }

    sym_out_raw(out, is_json ? SYM_STR("{\"rules\": \"") : SYM_STR(""));
    if (rc == SYM_OK) {
        put_rules(&w);
    } else {
        sym_out_raw(out, is_json ? SYM_STR("") : SYM_STR("??"));
    }

    sym_out_raw(out, is_json ? SYM_STR("\"}\n") : SYM_STR("\n"));
    return rc == SYM_DAMAGED ? sym_fail(err, rc, "the cfi is damaged") : rc;
}


const sym_kind_tools_t sym_cfi_tools = {
    .kind = SYM_KIND_CFI,
    .formats = formats,
    .dump = dump,
    .question = "ADDRESS, like 1a2b",
    .is_question = is_question,
    .lookup = lookup,
};
