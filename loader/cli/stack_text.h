/*
 * stack_text.h - prints an answer of Sentry's native API as readable text.
 */
#ifndef SYMLOADER_CLI_STACK_TEXT_H
#define SYMLOADER_CLI_STACK_TEXT_H

#include <jansson.h>

#include "cli/output.h"

/* Whether frames refer to the module although its symbols are missing. */
bool stack_text_lacks_symbols(const json_t *module);

/* Writes the stacks in order, then the modules without symbols.  Unexpected
 * values are omitted. */
void stack_text_print(const json_t *answer, output_t *out);

/* Lists the modules without symbols. */
void stack_text_print_lacking(const json_t *modules, output_t *out);

/* A call is inlined into the next frame if both come from the same frame of the
 * request. */
bool stack_text_is_inlined(const json_t *frames, size_t i);

#endif
