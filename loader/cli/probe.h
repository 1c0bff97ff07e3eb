/*
 * probe.h - the type of a file in a folder, by its first bytes.
 *
 * This is the only place where the loader itself reads a file: a magic number
 * and a type, so that converters are not started for other files.
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
