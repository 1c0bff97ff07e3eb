/*
 * candidates.h - what may name code: entries of the export table and of the COFF
 * symbol table.
 */
#ifndef SYM_FORMATS_PE_CANDIDATES_H
#define SYM_FORMATS_PE_CANDIDATES_H

#include "formats/pe/file.h"

/* Better ones are higher: of several at an address the best names it. */
typedef enum {
    SYM_PE_UNNAMED, /* only ends what goes before */
    SYM_PE_FRAGMENT,
    SYM_PE_EXPORT,
    SYM_PE_LABEL,   /* of the symbol table, not said to be a function */
    SYM_PE_FUNCTION /* ... said to be one */
} sym_pe_rank_t;

typedef struct {
    uint32_t rva;
    sym_pe_rank_t rank;
    sym_str_t name; /* "" of an unnamed one */
} sym_pe_candidate_t;

typedef struct {
    sym_pe_candidate_t *items; /* malloc */
    size_t n, cap;
    uint64_t long_bytes; /* of names, see native/text.h */
    uint64_t n_skipped;  /* names or sections that are not in the file */
} sym_pe_candidates_t;

sym_status_t sym_pe_candidate_add(sym_pe_candidates_t *list,
                                  const sym_pe_candidate_t *candidate,
                                  sym_error_t *err);

/* Those that lie in code.  Fail for want of memory only. */
sym_status_t sym_pe_read_exports(const sym_pe_t *pe, sym_pe_candidates_t *list,
                                 sym_error_t *err);
sym_status_t sym_pe_read_symtab(const sym_pe_t *pe, sym_pe_candidates_t *list,
                                sym_error_t *err);

#endif
