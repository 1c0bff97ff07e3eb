/*
 * swift.h - Swift names in a symcache that is being written.
 *
 * No Swift demangler may run in a worker, where names are shown: the only one
 * is a foreign library, and hostile names can crash it.  So the converter
 * demangles all Swift names when the file has been read
 * (sym_writer_show_swift()), and the symcache has both names.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_SWIFT_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_SWIFT_H

#include "base/buffer.h"
#include "base/str.h"

typedef struct {
    sym_buffer_t noted; /* u32 id, the name, a NUL, of each */
    uint64_t n;         /* Swift 4 and later */
} sym_swift_names_t;

/* Judged by its prefix, like the demangler does. */
bool sym_is_swift_name_inside(sym_str_t name);

static inline bool
sym_is_swift_name(sym_str_t name)
{
    return name.len >= 2
           && (name.data[0] == '$' || name.data[0] == '_'
               || name.data[0] == '@')
           && sym_is_swift_name_inside(name);
}


/* False: out of memory.  A name that is too long stays as it is. */
bool sym_swift_names_note(sym_swift_names_t *names, sym_str_t name,
                          uint32_t id);

void sym_swift_names_free(sym_swift_names_t *names);

#endif
