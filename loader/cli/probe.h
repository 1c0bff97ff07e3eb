/*
 * probe.h - the type of a file in a folder, by its first bytes.
 *
 * This is the only place where the loader itself reads files: a magic number
 * and a type, so that it need not start a converter for other files; and
 * pointers (pointer.h).
 */
#ifndef SYMLOADER_CLI_PROBE_H
#define SYMLOADER_CLI_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the first bytes of a file; returns 0 if it is empty, or cannot be
 * read. */
size_t probe_read(const char *path, void *head, size_t size);

/*
 * Whether a format (formats/format.h) can read the file; false also if the file
 * is unreadable.
 */
bool probe_is_module(const char *path);

/* Whether the file is a deb, RPM, Alpine or Arch package.  The latter two are
 * tars, which are recognized by the ending of their names. */
bool probe_is_package(const char *path);

/* "MSCF" ([MS-CAB], section 2.1). */
bool probe_is_cabinet(const char *path);

#endif
