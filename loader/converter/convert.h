/*
 * convert.h - the converter: the only process that parses symbol files.
 *
 * The loader starts itself again as `symloader --converter MEMORY EXPANDED
 * THREADS ARCHIVES` (the first two in bytes, the last 1 or 0) with a socket as
 * descriptor CONVERTER_FD and nothing else open.  The converter starts its
 * threads (thread_pool.h), locks itself in (sandbox.h) and turns one file after
 * another into extents until its loader ends it or goes away; `serve` gives
 * each just one (driver/pool.h).  Its memory contains neither the store's
 * mapping nor other data of the loader: it is a fresh program image, or, for
 * the first one of a short command, a fork from before the loader did anything
 * (converter_fork() in driver/spawn.h).
 */
#ifndef SYMLOADER_CONVERTER_CONVERT_H
#define SYMLOADER_CONVERTER_CONVERT_H

#include "common/converter_protocol.h"

/* Runs as the main program; returns the exit code. */
int convert_main(char *const arguments[CONVERT_ARGUMENTS]);

/* Reports to the loader, at the other end of fd, why it cannot convert. */
void convert_refuse(int fd, const char *why);

#endif
