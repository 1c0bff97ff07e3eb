/*
 * functions.h - the exception table: where functions begin and end.
 *
 * It has each function that touches the stack, and what unwinds it.  Here only
 * the bounds are read; `unwind` is where an unwinder goes on.
 */
#ifndef SYM_FORMATS_PE_FUNCTIONS_H
#define SYM_FORMATS_PE_FUNCTIONS_H

#include "formats/pe/pe.h"

typedef struct {
    uint32_t begin, end; /* RVAs, end > begin */
    uint32_t root;   /* begin of the function that this is a part of: its own,
                            or that of the chain's end */
    uint32_t unwind; /* the second word of an ARM entry, the third of an
                            x64 one */
} sym_pe_function_t;

typedef struct {
    const sym_pe_function_t *items; /* by begin, each once */
    size_t n;
} sym_pe_functions_t;

/* Read at the first call; lives until sym_pe_close().  A processor without such
 * a table has n 0; an entry that makes no sense is left out. */
sym_status_t sym_pe_functions(sym_pe_t *pe, sym_pe_functions_t *out,
                              sym_error_t *err);

/* The last one that begins at an RVA or before, or NULL. */
const sym_pe_function_t *sym_pe_function_before(const sym_pe_functions_t *f,
                                                uint32_t rva);

#endif
