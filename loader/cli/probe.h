/*
 * probe.h - the type of a file in a folder, by its first bytes.
 *
 * This is the only place where the loader itself reads a file: a magic number
 * and a type, so that no converter is started for other files; and pointers
 * (pointer.h).
 */
#ifndef SYMLOADER_CLI_PROBE_H
#define SYMLOADER_CLI_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the first bytes of a file; 0: it is empty, or cannot be read. */
size_t probe_read(const char *path, void *head, size_t size);

/*
 * True if a format (formats/format.h) wants the file loaded; false also if it
 * cannot be read.
 */
bool probe_is_module(const char *path);

/* [MS-CAB] 2.1: "MSCF" */
bool probe_is_cabinet(const char *path);

#endif
