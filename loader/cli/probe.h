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
 * True if a format (formats/format.h) wants the file loaded; false also if it
 * cannot be read.
 */
bool probe_is_module(const char *path);

#endif
