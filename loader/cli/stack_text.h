/*
 * stack_text.h - an answer of Sentry's native API as text for people.
 */
#ifndef SYMLOADER_CLI_STACK_TEXT_H
#define SYMLOADER_CLI_STACK_TEXT_H

#include <jansson.h>

#include "cli/output.h"

/* Whether frames refer to the module and its symbols are missing. */
bool stack_text_lacks_symbols(const json_t *module);

/* Writes the stacks in order, then the modules without symbols.  Unexpected
 * values are left out. */
void stack_text_print(const json_t *answer, output_t *out);

#endif
