/*
 * say.h - lines on standard output and standard error.
 *
 * Control characters in text from symbol files are replaced, so that they never
 * reach a terminal.
 */
#ifndef SYMLOADER_COMMON_SAY_H
#define SYMLOADER_COMMON_SAY_H

#include <stdint.h>

#include "base/str.h"

/* Formats "4.2 MiB", "17 B"; returns buf. */
#define OUTPUT_SIZE_TEXT 16
const char *output_size(uint64_t bytes, char buf[OUTPUT_SIZE_TEXT]);

/* Formats "2026-11-21T07:00:00Z", or "-" for 0; returns buf. */
#define OUTPUT_TIME_TEXT 24
const char *output_time(int64_t seconds, char buf[OUTPUT_TIME_TEXT]);

/* Prints a line to standard output at once; for commands without an
 * output_t. */
__attribute__((format(printf, 1, 2))) void say(const char *fmt, ...);

/* Prints "symloader: SUBJECT: ..." to stderr, in one write. */
__attribute__((format(printf, 2, 3))) void complain_about(const char *subject,
                                                          const char *fmt, ...);

#endif
