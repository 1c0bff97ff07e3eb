/*
 * jvm_stack.h - `symloader symbolicate --server`: a stack trace of Java or Android
 * as text.
 *
 * The server has the mappings; lines "mapping UUID" of the text say which count.
 */
#ifndef SYMLOADER_CLI_JVM_STACK_H
#define SYMLOADER_CLI_JVM_STACK_H

#include "base/str.h"
#include "common/options.h"

/* Whether a line of the text is a frame of Java. */
bool jvm_stack_is(sym_str_t text);

/* Writes the text with original classes, methods and lines; everything else is
 * unchanged.  Returns the exit code. */
int jvm_stack_run(const options_t *options, sym_str_t text);

#endif
