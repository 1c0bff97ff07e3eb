/*
 * candidates.h - possible names of code: entries of the export table and of the
 * COFF symbol table.
 */
#ifndef SYM_FORMATS_PE_CANDIDATES_H
#define SYM_FORMATS_PE_CANDIDATES_H

#include "formats/pe/file.h"

/* Kinds in ascending order: the highest kind at an address wins. */
typedef enum {
    SYM_PE_UNNAMED,  /* no name: only ends the symbol before it */
    SYM_PE_FRAGMENT, /* a chained part of a function, which the compiler
                        moved elsewhere */
    SYM_PE_EXPORT,
    SYM_PE_LABEL,   /* COFF symbol without a function type */
    SYM_PE_FUNCTION /* COFF symbol with a function type */
} sym_pe_rank_t;

typedef struct {
    uint32_t rva;
    sym_pe_rank_t rank;
    sym_str_t name; /* "": no name */
} sym_pe_candidate_t;

typedef struct {
    sym_pe_candidate_t *items; /* malloc */
    size_t n, cap;
    uint64_t long_bytes; /* bytes of long names, see native/text.h */
    uint64_t n_skipped;  /* entries whose name or section is missing in the
                            file */
} sym_pe_candidates_t;

sym_status_t sym_pe_candidate_add(sym_pe_candidates_t *list,
                                  const sym_pe_candidate_t *candidate,
                                  sym_error_t *err);

/* Both add symbols of code.  They fail only when out of memory. */
sym_status_t sym_pe_read_exports(const sym_pe_t *pe, sym_pe_candidates_t *list,
                                 sym_error_t *err);
sym_status_t sym_pe_read_symtab(const sym_pe_t *pe, sym_pe_candidates_t *list,
                                sym_error_t *err);

#endif
