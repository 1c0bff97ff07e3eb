/*
 * unwind.h - the unwind rules of exception tables ("x64 exception handling",
 * "ARM64 exception handling").
 *
 * Codes describe each instruction of a prolog, so each address of a prolog has
 * its own rules.  On arm64 this is also true for epilogs.  Entries that cannot
 * be read are left out and counted.
 */
#ifndef SYM_FORMATS_PE_UNWIND_H
#define SYM_FORMATS_PE_UNWIND_H

#include "artifacts/cfi/write/cfi_writer.h"
#include "formats/pe/functions.h"

/* Limit on the codes that run for all functions together, because functions may
 * share codes. */
typedef struct {
    const sym_pe_t *pe;
    sym_cfi_writer_t *w;
    uint64_t work_left;
    uint64_t broken; /* functions */
} sym_pe_unwind_t;

/* Both pass on the rules of a function.  False: the function's data are
 * broken. */
bool sym_pe_unwind_x64(sym_pe_unwind_t *u, const sym_pe_function_t *f);
bool sym_pe_unwind_arm64(sym_pe_unwind_t *u, const sym_pe_function_t *f);

/* Reads the complete table. */
sym_status_t sym_pe_unwind(sym_pe_t *pe, sym_cfi_writer_t *w, uint64_t *broken,
                           sym_error_t *err);

#endif
