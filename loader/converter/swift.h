/*
 * swift.h - the demangler of Swift: a library of its own, found at run time.
 *
 * It is C++ of the Swift project, and hostile names can crash it, keep it busy
 * or use up memory.  So it runs in the converter only, and the loader, which is
 * told when it begins and when it has ended, converts a file again without it if
 * the converter dies between.  docs/use/sentry.md says where it comes from.
 */
#ifndef SYMLOADER_CONVERTER_SWIFT_H
#define SYMLOADER_CONVERTER_SWIFT_H

#include "artifacts/symcache/write/writer.h"

typedef struct swift_s swift_t;

/* Before the sandbox: it maps code.  path: of the library, "" without one, or
 * CONVERT_SWIFT_OFF.  NULL: out of memory. */
swift_t *swift_load(const char *path);

/* A new file. */
void swift_begin(swift_t *swift, bool is_without);

/* Gives the names of Swift of a symcache the texts that are shown.  *n_mangled:
 * how many cannot have one. */
void swift_show(swift_t *swift, sym_writer_t *writer, uint64_t *n_mangled);

#endif
