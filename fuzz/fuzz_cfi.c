/*
 * Unwind rules: each reader of them, the artifact, and the evaluator.  The
 * first byte of the input selects the reader, the second the processor.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "artifacts/cfi/read/cfi.h"
#include "artifacts/cfi/write/cfi_writer.h"
#include "check.h"
#include "convert.h"
#include "extents.h"
#include "formats/breakpad/stack.h"
#include "formats/formats.h"
#include "formats/unwind/compact.h"
#include "formats/unwind/exidx.h"
#include "formats/unwind/expression.h"
#include "formats/unwind/frames.h"
#include "formats/unwind/postfix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Limit on rows whose rules are evaluated. */
#define FOLLOWED_MAX 200

static const sym_unwind_arch_t archs[] = {
    SYM_UNWIND_X86_64, SYM_UNWIND_X86,     SYM_UNWIND_ARM64,
    SYM_UNWIND_ARM,    SYM_UNWIND_RISCV64, SYM_UNWIND_MIPS,
};


/* --- the artifact --- */

/* Some memory is unknown. */
static bool
read_memory(void *ctx, uint64_t address, unsigned size, uint64_t *value)
{
    (void) ctx;
    (void) size;
    *value = address * 0x9e3779b97f4a7c15u;
    return address % 64 != 0;
}


static void
follow(const sym_cfi_t *c, uint32_t address)
{
    const sym_unwind_memory_t memory = { read_memory, NULL };
    sym_unwind_registers_t r = { .arch = c->arch,
                                 .valid = (UINT64_C(1) << SYM_UNWIND_REGISTERS)
                                          - 1 },
                           caller;
    sym_error_t err = { 0 };

    for (unsigned i = 0; i < SYM_UNWIND_REGISTERS; i++) {
        r.value[i] = 0x1000 + 8 * i;
    }

    if (sym_cfi_unwind(c, address, &r, &memory, &caller, &err) == SYM_OK) {
        check(caller.arch == c->arch && err.status == SYM_OK);
        check((caller.valid >> SYM_UNWIND_REGISTERS) == 0);
    } else {
        check(err.what != NULL);
    }
}


static void
read_artifact(input_t *in, bool is_ours)
{
    sym_cfi_row_t rows[SYM_CFI_PAGE_ROWS];
    unsigned left = FOLLOWED_MAX;
    sym_error_t err = { 0 };
    sym_cfi_t c;
    uint32_t n;

    if (sym_cfi_open(&c, get, in, &err) != SYM_OK) {
        check(!is_ours);
        return;
    }

    check(sym_cfi_check(&c, &err) == SYM_OK || !is_ours);

    for (uint32_t page = 0;
         left > 0 && sym_cfi_page(&c, page, rows, &n) == SYM_OK; page++)
    {
        for (uint32_t i = 0; i < n && left > 0; i++, left--) {
            follow(&c, rows[i].address);
        }
    }

    follow(&c, UINT32_MAX);
}


static void
finish(sym_cfi_writer_t *w, sym_error_t *err)
{
    input_t made = { .n = 0 };
    sym_writer_stats_t stats;

    if (err->status == SYM_OK
        && sym_cfi_finish(w, SYM_STR("a.pdb"), take_extent, &made, &stats)
               == SYM_OK)
    {
        check(made.n == stats.extents);
        read_artifact(&made, true);
    }

    drop_extents(&made);
    sym_cfi_writer_free(w);
}


/* --- the readers --- */

static void
read_frames(const uint8_t *data, size_t size, sym_unwind_arch_t arch,
            bool is_eh)
{
    const sym_frames_input_t in = {
        .bytes = { (const char *) data, size },
        .address = 0x2000,
        .arch = arch,
        .is_eh = is_eh,
        .is_64bit = sym_unwind_arch(arch)->word_bytes == 8,
    };
    sym_frames_stats_t stats = { 0 };
    sym_error_t err = { 0 };
    sym_cfi_writer_t *w = sym_cfi_writer_create(arch, 0, size, &err);

    (void) sym_frames_read(&in, w, &stats, &err);
    check(stats.broken == 0 || stats.first_broken.what != NULL);
    finish(w, &err);
}


/* The second half are the instructions. */
static void
read_compact(const uint8_t *data, size_t size, sym_unwind_arch_t arch)
{
    const sym_compact_input_t in = {
        .bytes = { (const char *) data, size },
        .arch = arch,
        .text = { (const char *) data + size / 2, size - size / 2 },
        .text_address = 0x100,
    };
    sym_error_t broken = { 0 }, err = { 0 };
    sym_cfi_writer_t *w = sym_cfi_writer_create(arch, 0, size, &err);

    (void) sym_compact_read(&in, w, &broken, &err);
    finish(w, &err);
}


/* The second half is the table that entries refer to. */
static void
read_exidx(const uint8_t *data, size_t size)
{
    const sym_exidx_input_t in = {
        .index = { { (const char *) data, size / 2 }, 0x1000 },
        .table = { { (const char *) data + size / 2, size - size / 2 },
                   0x1000 + size / 2 },
        .code_end = 0x9000,
    };
    sym_error_t err = { 0 };
    sym_cfi_writer_t *w = sym_cfi_writer_create(SYM_UNWIND_ARM, 0, size, &err);
    uint64_t broken = 0;

    (void) sym_exidx_read(&in, w, &broken, &err);
    finish(w, &err);
}


static void
read_stack(const uint8_t *data, size_t size, sym_unwind_arch_t arch)
{
    const char *p = (const char *) data, *end = p + size;
    sym_error_t err = { 0 };
    sym_cfi_writer_t *w = sym_cfi_writer_create(arch, 0, size, &err);
    sym_stack_t s;

    sym_stack_init(&s, w, arch, &err);
    while (p < end && err.status == SYM_OK) {
        const char *stop = memchr(p, '\n', (size_t) (end - p));

        stop = stop != NULL ? stop : end;
        (void) sym_stack_line(&s, sym_str(p, (size_t) (stop - p)));
        p = stop < end ? stop + 1 : end;
    }

    if (err.status == SYM_OK) {
        (void) sym_stack_end(&s);
    }

    sym_stack_free(&s);
    finish(w, &err);
}


/* A program compiled from the input. */
static void
read_program(const uint8_t *data, size_t size, sym_unwind_arch_t arch,
             bool is_expression)
{
    const sym_frame_sizes_t sizes = { 4, 8, 12 };
    sym_cfi_rules_t rules = { .program = { "", 0 } };
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(data, size, "expression", &err);
    sym_cfi_writer_t *w = sym_cfi_writer_create(arch, 0, size, &err);
    sym_buffer_t code = { 0 };
    uint32_t number;
    bool is_read = is_expression
                       ? sym_expression_compile(
                           c, sym_unwind_arch(arch)->word_bytes, &code)
                       : sym_postfix_program(sym_str((const char *) data, size),
                                             &sizes, &code);

    if (is_read) {
        if (is_expression) {
            rules.cfa = (sym_cfi_rule_t){
                .how = SYM_CFI_VALUE,
                .program = { (const char *) code.data, code.len },
            };
        } else {
            rules.program = sym_str((const char *) code.data, code.len);
        }

        if (sym_cfi_writer_rules(w, &rules, &number) == SYM_OK) {
            (void) sym_cfi_writer_range(w, 16, 32, number);
        }
    }

    sym_buffer_free(&code);

    /* too long for a rule */
    if (err.status != SYM_OK) {
        sym_cfi_writer_free(w);
        return;
    }

    finish(w, &err);
}


/* --- files --- */

static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    input_t made = { .n = 0 };
    sym_writer_stats_t stats;
    sym_status_t rc = output->finish(output->writer, output->info, take_extent,
                                     &made, &stats, err);

    (void) ctx;
    check(output->kind == SYM_KIND_CFI);
    if (rc == SYM_OK) {
        read_artifact(&made, true);
    }

    drop_extents(&made);
    return rc;
}


/* Exception tables, and frame data of PDBs, in their files. */
static void
read_file(const uint8_t *data, size_t size)
{
    const sym_format_services_t services = { .unpacked_max = 200000,
                                             .companion = no_companion,
                                             .note = note_nothing };
    const sym_format_file_t f = { .data = { (const char *) data, size },
                                  .services = &services,
                                  .kinds = 1u << SYM_KIND_CFI,
                                  .put = put };
    const sym_conversion_format_t format = sym_format_find(data, size);
    sym_error_t err = { 0 };

    if (format == SYM_CONVERSION_pe || format == SYM_CONVERSION_pdb) {
        (void) sym_format_of(format)->convert(&f, 0, &err);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_unwind_arch_t arch;
    uint8_t *copy;
    input_t in;

    if (size < 3) {
        return 0;
    }

    /* a block of its own, so that a sanitizer sees reads past the end */
    arch = archs[data[1] % (sizeof(archs) / sizeof(archs[0]))];
    copy = malloc(size - 2);
    check(copy != NULL);
    memcpy(copy, data + 2, size - 2);
    size -= 2;

    switch (data[0] % 8) {
    case 0:
        read_stack(copy, size, arch);
        break;
    case 1:
    case 2:
        read_frames(copy, size, arch, data[0] % 8 == 1);
        break;
    case 3:
        if (arch == SYM_UNWIND_ARM) {
            read_exidx(copy, size);
        } else {
            read_compact(copy, size, arch);
        }
        break;
    case 4:
        read_program(copy, size, SYM_UNWIND_X86, false);
        break;
    case 5:
        read_program(copy, size, arch, true);
        break;
    case 6:
        in = cut(copy, size);
        read_artifact(&in, false);
        break;
    default:
        read_file(copy, size);
    }

    free(copy);
    return 0;
}
