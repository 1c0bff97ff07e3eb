/*
 * convert.h - the converter: the only process that parses symbol files.
 *
 * The loader starts its own program again as `symloader --converter MEMORY
 * EXPANDED THREADS ARCHIVES SWIFT CALLS` (the first two in bytes, ARCHIVES and CALLS
 * 1 or 0; see converter_limits_t).  Only a
 * socket is open, as descriptor CONVERTER_FD.  The converter starts its threads
 * (thread_pool.h) and enters the sandbox (sandbox.h).  Then it converts one
 * file after another to extents, until its loader ends it or ends itself;
 * `serve` uses each converter for only one file (driver/pool.h).  Its memory
 * contains neither the store's mapping nor other data of the loader, because it
 * is a new program image.  The first converter of a short command is instead a
 * fork from before the loader did anything (converter_fork() in
 * driver/spawn.h).
 */
#ifndef SYMLOADER_CONVERTER_CONVERT_H
#define SYMLOADER_CONVERTER_CONVERT_H

#include "common/converter_protocol.h"

/* Runs as the main program; returns the exit code. */
int convert_main(char *const arguments[CONVERT_ARGUMENTS]);

/* Reports to the loader, at the other end of fd, why the converter cannot
 * work. */
void convert_refuse(int fd, const char *why);

#endif
