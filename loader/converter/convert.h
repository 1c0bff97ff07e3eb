/*
 * convert.h - the converter: the only process that parses symbol files.
 *
 * The loader starts itself again as `symloader --converter MEMORY EXPANDED
 * THREADS ARCHIVES` (the first two in bytes, the last 1 or 0) with a socket as descriptor CONVERTER_FD and
 * nothing else open.  The converter starts its threads (thread_pool.h), locks itself in
 * (sandbox.h) and turns one file after another into extents until its loader
 * ends it or goes away; `serve` gives each just one (driver/pool.h).  Neither the
 * store's mapping nor anything else that the loader has met is in its memory: it
 * is a fresh program image, or, the first one of a short command, a fork from
 * before the loader did anything (converter_fork() in driver/spawn.h).
 */
#ifndef SYMLOADER_CONVERTER_CONVERT_H
#define SYMLOADER_CONVERTER_CONVERT_H

#include "common/converter_protocol.h"

/* Never returns to the command line: what it gives is the exit code. */
int convert_main(char *const arguments[CONVERT_ARGUMENTS]);

/* Tells the loader, at the other end of fd, why it converts nothing. */
void convert_refuse(int fd, const char *why);

#endif
