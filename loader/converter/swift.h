/*
 * swift.h - the Swift demangler: a separate library, loaded at run time.
 *
 * It is C++ code of the Swift project, and hostile names can crash it, keep it
 * busy or use up memory.  So only the converter runs it.  The converter reports
 * when the demangler begins and ends; if it dies between, the loader converts
 * the file again without the demangler.  Origin of the library:
 * docs/use/sentry.md.
 */
#ifndef SYMLOADER_CONVERTER_SWIFT_H
#define SYMLOADER_CONVERTER_SWIFT_H

#include "artifacts/symcache/write/writer.h"

typedef struct swift_s swift_t;

/* Loads the library.  Call it before the sandbox is entered, because it maps
 * code.  path: of the library, "" for none, or CONVERT_SWIFT_OFF.  NULL: out of
 * memory. */
swift_t *swift_load(const char *path);

/* A new file. */
void swift_begin(swift_t *swift, bool is_without);

/* Adds shown names to a symcache's Swift names.  *n_mangled: number of names
 * without one. */
void swift_show(swift_t *swift, sym_writer_t *writer, uint64_t *n_mangled);

#endif
