/*
 * lookup_print.h - one answer of `symloader lookup`.
 *
 * As llvm-symbolizer prints it, or with the keys of the HTTP interface (v5).
 */
#ifndef SYMLOADER_CLI_LOOKUP_PRINT_H
#define SYMLOADER_CLI_LOOKUP_PRINT_H

#include "cli/batch.h"
#include "cli/output.h"

/* What the texts of a batch must look like. */
string_cache_style_t lookup_print_style(bool is_json, bool is_mangled);

void lookup_print_text(output_t *out, const batch_answer_t *a);

/* module: its name. */
void lookup_print_json(output_t *out, const batch_answer_t *a,
                       sym_str_t module);

#endif
