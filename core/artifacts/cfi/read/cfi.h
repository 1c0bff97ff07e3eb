/*
 * cfi.h - looks up unwind rules in an artifact of kind `cfi`, and applies them.
 *
 * Addresses are relative to the module's image base.  The reader sees the
 * artifact as numbered extents that its caller owns, and trusts none of their
 * bytes.  For any contents, each call returns a result or a status in bounded
 * time, and reads only inside the extents.  It allocates nothing.  Views live
 * as long as the extents stay mapped.
 */
#ifndef SYM_ARTIFACTS_CFI_READ_CFI_H
#define SYM_ARTIFACTS_CFI_READ_CFI_H

#include <stdbool.h>

#include "artifacts/cfi/rules.h"
#include "artifacts/extent_reader.h"
#include "base/str.h"

/* Only the reader uses the members, except arch and the counts. */
typedef struct {
    sym_extent_reader_t in;
    sym_unwind_arch_t arch;
    uint32_t flags; /* SYM_CFI_FLAG_* */
    uint32_t n_pages, pages_ref;
    uint32_t n_rules, rules_ref;
    uint32_t name_ref;
    uint64_t n_rows;
} sym_cfi_t;

/* Reads memory of the thread's process.  size: 1, 2, 4 or 8.  The bytes are in
 * the processor's order.  False: they are unknown. */
typedef struct {
    bool (*read)(void *ctx, uint64_t address, unsigned size, uint64_t *value);
    void *ctx;
} sym_unwind_memory_t;

/* SYM_VERSION: the version is unknown.  SYM_DAMAGED: bytes are invalid; any
 * other call may also return this. */
sym_status_t sym_cfi_open(sym_cfi_t *c, sym_extent_get_pt get, void *ctx,
                          sym_error_t *err);

/* Gives the reader a table of n_extents zeroed entries to cache extents in, so
 * that it gets each only once.  The extents must not move. */
void sym_cfi_remember(sym_cfi_t *c, sym_extent_view_t *table);

/* The name of the debug file, as recorded in the file; perhaps with its folders;
 * or "". */
sym_str_t sym_cfi_debug_file(const sym_cfi_t *c);

/* The rules at an address.  SYM_NOT_FOUND: there are none. */
sym_status_t sym_cfi_lookup(const sym_cfi_t *c, uint32_t address,
                            sym_cfi_rules_t *rules);

/*
 * The registers of a frame's caller.  address: the frame's instruction, or,
 * unless the frame was interrupted, the return address less 1.
 *
 * SYM_OK: caller->valid has a bit for each known register.  If the program
 * counter is unknown, the frame is the outermost.  SYM_NOT_FOUND: there are no
 * rules for the address.  SYM_UNSUPPORTED: the rules need a register whose
 * value is unknown, or belong to another architecture.  SYM_TRUNCATED: they
 * need memory that is unknown.  SYM_MALFORMED, SYM_LIMIT: their program fails,
 * or does not end.  SYM_DAMAGED: the artifact is invalid.  After a failure
 * err->what is the reason, and *caller is undefined.
 */
sym_status_t sym_cfi_unwind(const sym_cfi_t *c, uint32_t address,
                            const sym_unwind_registers_t *registers,
                            const sym_unwind_memory_t *memory,
                            sym_unwind_registers_t *caller, sym_error_t *err);

/* Does the same with rules that were looked up.  flags: those of the
 * artifact. */
sym_status_t sym_cfi_follow(const sym_cfi_rules_t *rules, uint32_t flags,
                            const sym_unwind_registers_t *registers,
                            const sym_unwind_memory_t *memory,
                            sym_unwind_registers_t *caller, sym_error_t *err);

/* A row: the rules from `address` up to the next row's address. */
typedef struct {
    uint32_t address;
    uint32_t rule; /* number of the rules; 0: none */
} sym_cfi_row_t;

/* The rows of a page; pages count from 0.  *n <= SYM_CFI_PAGE_ROWS.
 * SYM_NOT_FOUND: there is no such page. */
sym_status_t sym_cfi_page(const sym_cfi_t *c, uint32_t number,
                          sym_cfi_row_t rows[SYM_CFI_PAGE_ROWS], uint32_t *n);

/* Gets rules by number, from 1 on. */
sym_status_t sym_cfi_rules(const sym_cfi_t *c, uint32_t number,
                           sym_cfi_rules_t *rules);

/* Reads the complete artifact, and checks order, bounds and counts. */
sym_status_t sym_cfi_check(const sym_cfi_t *c, sym_error_t *err);

#endif
