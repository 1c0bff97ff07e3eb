/*
 * swift.h - Swift names in a symcache that is being written.
 *
 * The only Swift demangler is a foreign library that hostile names can crash.
 * So it must not run in a worker, where names are shown.  The converter
 * demangles all Swift names when the file has been read
 * (sym_writer_show_swift()), and the symcache contains both names.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_SWIFT_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_SWIFT_H

#include "base/buffer.h"
#include "base/str.h"

typedef struct {
    sym_buffer_t noted; /* for each: u32 id, the name, a NUL */
    uint64_t n;         /* names of Swift 4 and later */
} sym_swift_names_t;

/* Whether a name is Swift's, by its prefix, as in the demangler. */
bool sym_is_swift_name_inside(sym_str_t name);

static inline bool
sym_is_swift_name(sym_str_t name)
{
    return name.len >= 2
           && (name.data[0] == '$' || name.data[0] == '_'
               || name.data[0] == '@')
           && sym_is_swift_name_inside(name);
}


/* Adds a name if it is Swift's.  A name that is too long stays mangled.  False:
 * out of memory. */
bool sym_swift_names_note(sym_swift_names_t *names, sym_str_t name,
                          uint32_t id);

void sym_swift_names_free(sym_swift_names_t *names);

#endif
