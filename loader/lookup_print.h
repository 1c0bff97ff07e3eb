/*
 * lookup_print.h - one answer of `symloader lookup`.
 *
 * As llvm-symbolizer prints it, or with the keys of the HTTP interface (v5).
 */
#ifndef SYMLOADER_LOOKUP_PRINT_H
#define SYMLOADER_LOOKUP_PRINT_H

#include "texts.h"

void lookup_print_text(output_t *out, texts_t *texts, module_t *m,
                       const sym_answer_t *answer);
void lookup_print_json(output_t *out, texts_t *texts, module_t *m,
                       uint64_t addr, const sym_answer_t *answer);

#endif
