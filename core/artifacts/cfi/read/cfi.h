/*
 * cfi.h - looks up unwind rules in an artifact of kind `cfi`, and follows them.
 *
 * Addresses are relative to the module's image base.  The reader sees the
 * artifact as numbered extents that its caller owns, and trusts none of their
 * bytes.  Whatever they contain, each call returns a result or a status in
 * bounded time, and reads only inside the extents.  It allocates nothing.
 * Views live as long as the extents stay mapped.
 */
#ifndef SYM_ARTIFACTS_CFI_READ_CFI_H
#define SYM_ARTIFACTS_CFI_READ_CFI_H

#include <stdbool.h>

#include "artifacts/cfi/rules.h"
#include "artifacts/extent_reader.h"
#include "base/str.h"

/* Only the reader looks inside, except at arch and the counts. */
typedef struct {
    sym_extent_reader_t in;
    sym_unwind_arch_t arch;
    uint32_t flags; /* SYM_CFI_FLAG_* */
    uint32_t n_pages, pages_ref;
    uint32_t n_rules, rules_ref;
    uint32_t name_ref;
    uint64_t n_rows;
} sym_cfi_t;

/* Memory of the thread's process.  False: it is not known.  size: 1, 2, 4 or
 * 8; the bytes are in the processor's order. */
typedef struct {
    bool (*read)(void *ctx, uint64_t address, unsigned size, uint64_t *value);
    void *ctx;
} sym_unwind_memory_t;

/* SYM_VERSION: an unknown version; SYM_DAMAGED: invalid bytes, which any other
 * call may report, too. */
sym_status_t sym_cfi_open(sym_cfi_t *c, sym_extent_get_pt get, void *ctx,
                          sym_error_t *err);

/* Gives the reader a table of n_extents zeroed entries in which it caches
 * extents, so that it gets each only once.  The extents must stay where they
 * are. */
void sym_cfi_remember(sym_cfi_t *c, sym_extent_view_t *table);

/* The debug file that the file names, or "". */
sym_str_t sym_cfi_debug_file(const sym_cfi_t *c);

/* The rules at an address.  SYM_NOT_FOUND: there are none. */
sym_status_t sym_cfi_lookup(const sym_cfi_t *c, uint32_t address,
                            sym_cfi_rules_t *rules);

/*
 * The registers of a frame's caller.  address: the frame's instruction; of frames
 * that are not interrupted, the return address less 1.
 *
 * SYM_OK: caller->valid has a bit for each register that is known.  Without one
 * for the program counter the frame is the outermost.
 * SYM_NOT_FOUND: there are no rules for the address.
 * SYM_UNSUPPORTED: they need a register whose value is not known, or belong to
 * another architecture.
 * SYM_TRUNCATED: they need memory that is not known.
 * SYM_MALFORMED, SYM_LIMIT: their program fails, or does not end.
 * SYM_DAMAGED: the artifact is invalid.
 * After a failure err->what says why; *caller is then undefined.
 */
sym_status_t sym_cfi_unwind(const sym_cfi_t *c, uint32_t address,
                            const sym_unwind_registers_t *registers,
                            const sym_unwind_memory_t *memory,
                            sym_unwind_registers_t *caller, sym_error_t *err);

/* The same with rules that were looked up.  flags: of the artifact. */
sym_status_t sym_cfi_follow(const sym_cfi_rules_t *rules, uint32_t flags,
                            const sym_unwind_registers_t *registers,
                            const sym_unwind_memory_t *memory,
                            sym_unwind_registers_t *caller, sym_error_t *err);

/* A row: rules from `address` up to the next row's. */
typedef struct {
    uint32_t address;
    uint32_t rule; /* number of its rules; 0: none */
} sym_cfi_row_t;

/* Rows of a page, from 0 on; *n <= SYM_CFI_PAGE_ROWS.  SYM_NOT_FOUND: there is
 * no such page. */
sym_status_t sym_cfi_page(const sym_cfi_t *c, uint32_t number,
                          sym_cfi_row_t rows[SYM_CFI_PAGE_ROWS], uint32_t *n);

/* Rules by number, from 1 on. */
sym_status_t sym_cfi_rules(const sym_cfi_t *c, uint32_t number,
                           sym_cfi_rules_t *rules);

/* Reads the whole artifact, and checks order, bounds and counts. */
sym_status_t sym_cfi_check(const sym_cfi_t *c, sym_error_t *err);

#endif
