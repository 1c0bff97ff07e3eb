/*
 * retrace.h - `symloader symbolicate`: a stack trace of Java or Android as text,
 * with the mapping that --symbols names.
 */
#ifndef SYMLOADER_CLI_RETRACE_H
#define SYMLOADER_CLI_RETRACE_H

#include "common/options.h"

/* Whether a line of the text is a frame. */
bool retrace_is(sym_str_t text);

/* Writes the text with the original names and lines.  Returns the exit code. */
int retrace_text(const options_t *options, sym_str_t text);

#endif
