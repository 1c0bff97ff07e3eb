/*
 * js_stack.h - `symloader symbolicate`: the text of a stack of JavaScript, with
 * scripts and their maps out of a folder.
 */
#ifndef SYMLOADER_CLI_JS_STACK_H
#define SYMLOADER_CLI_JS_STACK_H

#include "common/options.h"

/* Whether a line of the text is a frame as Chrome, Firefox, Safari or Node writes
 * it. */
bool js_stack_is(sym_str_t text);

/* Writes the text with the frames that a map is found for in their original form,
 * and all else as it is.  Returns the exit code. */
int js_stack_run(const options_t *options, sym_str_t text);

#endif
