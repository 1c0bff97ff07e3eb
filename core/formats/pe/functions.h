/*
 * functions.h - the exception table: where functions begin and end ("PE
 * Format", The .pdata Section; "x64 exception handling"; "ARM64 exception
 * handling").
 *
 * The table contains every function that changes the stack pointer, with its
 * unwind data.  This reader needs only the bounds; `unwind` is for the
 * unwinder.
 */
#ifndef SYM_FORMATS_PE_FUNCTIONS_H
#define SYM_FORMATS_PE_FUNCTIONS_H

#include "formats/pe/pe.h"

typedef struct {
    uint32_t begin, end; /* RVAs, end > begin */
    uint32_t root;       /* begin of the function to which this part belongs,
                        found at the end of the chain; for a function its own
                        begin */
    uint32_t unwind;     /* the second word of an ARM entry, the third of an
                            x64 one */
} sym_pe_function_t;

typedef struct {
    const sym_pe_function_t *items; /* sorted by begin, each once */
    size_t n;
} sym_pe_functions_t;

/* The first call reads the table, which lives until sym_pe_close().  n is 0 for
 * processors without exception tables; invalid entries are omitted. */
sym_status_t sym_pe_functions(sym_pe_t *pe, sym_pe_functions_t *out,
                              sym_error_t *err);

/* The last function that begins at or before an RVA, or NULL. */
const sym_pe_function_t *sym_pe_function_before(const sym_pe_functions_t *f,
                                                uint32_t rva);

#endif
