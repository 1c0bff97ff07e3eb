/*
 * js_stack.h - `symloader symbolicate`: JavaScript stacks in text form, with
 * scripts and their maps from a folder.
 */
#ifndef SYMLOADER_CLI_JS_STACK_H
#define SYMLOADER_CLI_JS_STACK_H

#include "common/options.h"

/* Whether a line of the text is a stack frame of Chrome, Firefox, Safari or
 * Node. */
bool js_stack_is(sym_str_t text);

/* Writes the text.  Frames with a map get their original position; all other
 * text is unchanged.  Returns the exit code. */
int js_stack_run(const options_t *options, sym_str_t text);

#endif
