/*
 * lookup_print.h - one answer of `symloader lookup`.
 *
 * The format is that of llvm-symbolizer, or JSON with the keys of the HTTP
 * interface (v5).
 */
#ifndef SYMLOADER_CLI_LOOKUP_PRINT_H
#define SYMLOADER_CLI_LOOKUP_PRINT_H

#include "cli/output.h"
#include "symbolicate/resolver.h"

/* Prints an answer for the resolver's module 0 to the output, which collects
 * it. */
void lookup_print_text(output_t *out, sym_resolver_t *r,
                       const sym_answer_t *answer);

/* Same in JSON, for an address in the module with this name. */
void lookup_print_json(output_t *out, sym_resolver_t *r,
                       const sym_answer_t *answer, sym_str_t module,
                       uint64_t addr);

#endif
