/*
 * probe.h - what a file that is met in a folder is, by its first bytes.
 *
 * The one look that the loader itself takes at a file: a magic number and a
 * type, so that no converter is bothered with what is none of its business.
 */
#ifndef SYMLOADER_CLI_PROBE_H
#define SYMLOADER_CLI_PROBE_H

#include <stdbool.h>

/*
 * True for executables, libraries and debug files in ELF or Mach-O; false for
 * object files and core dumps, whose addresses mean nothing, for all other
 * files, and if it cannot be read.
 */
bool probe_is_module(const char *path);

#endif
