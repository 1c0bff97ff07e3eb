/*
 * unwind.h - the unwind rules of exception tables ("x64 exception handling",
 * "ARM64 exception handling").
 *
 * Codes say what each instruction of a prolog does, so each address of a prolog
 * has its own rules; on arm64 those of an epilog as well.  Entries that cannot
 * be read are left out and counted.
 */
#ifndef SYM_FORMATS_PE_UNWIND_H
#define SYM_FORMATS_PE_UNWIND_H

#include "artifacts/cfi/write/cfi_writer.h"
#include "formats/pe/functions.h"

/* Codes that all functions together may run: they may share them. */
typedef struct {
    const sym_pe_t *pe;
    sym_cfi_writer_t *w;
    uint64_t work_left;
    uint64_t broken; /* functions */
} sym_pe_unwind_t;

/* Both pass on the rules of a function; false: it is broken. */
bool sym_pe_unwind_x64(sym_pe_unwind_t *u, const sym_pe_function_t *f);
bool sym_pe_unwind_arm64(sym_pe_unwind_t *u, const sym_pe_function_t *f);

/* Reads the whole table. */
sym_status_t sym_pe_unwind(sym_pe_t *pe, sym_cfi_writer_t *w, uint64_t *broken,
                           sym_error_t *err);

#endif
