/*
 * lookup_print.h - one answer of `symloader lookup`.
 *
 * As llvm-symbolizer prints it, or with the keys of the HTTP interface (v5).
 */
#ifndef SYMLOADER_CLI_LOOKUP_PRINT_H
#define SYMLOADER_CLI_LOOKUP_PRINT_H

#include "cli/output.h"
#include "symbolicate/resolver.h"

/* Of the resolver's module 0.  The output gathers. */
void lookup_print_text(output_t *out, sym_resolver_t *r,
                       const sym_answer_t *answer);

/* The same in JSON, of an address in the module that is called so. */
void lookup_print_json(output_t *out, sym_resolver_t *r,
                       const sym_answer_t *answer, sym_str_t module,
                       uint64_t addr);

#endif
