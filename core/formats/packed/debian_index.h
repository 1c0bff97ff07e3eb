/*
 * debian_index.h - the list of packages in a repository of Debian.
 *
 * Sources: "DebianRepository/Format" (wiki.debian.org), section "'Packages'
 * Indices", and deb822(5).  An index has a paragraph of fields for each
 * package; an empty line ends it.  The bytes are taken in pieces of any size,
 * and lines may have any length: those of Build-Ids do.  Memory is fixed.
 */
#ifndef SYM_FORMATS_PACKED_DEBIAN_INDEX_H
#define SYM_FORMATS_PACKED_DEBIAN_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sha256.h"
#include "base/str.h"

#define SYM_DEBIAN_NAME 256
#define SYM_DEBIAN_PATH 1024

/* A package.  A field that is absent or too long is "". */
typedef struct {
    char name[SYM_DEBIAN_NAME];
    char path[SYM_DEBIAN_PATH]; /* below the repository's root */
    char size[24];              /* decimal */
    char sha256[SYM_SHA256_HEX_LEN + 1];
} sym_debian_entry_t;

typedef struct {
    sym_debian_entry_t entry;
    bool has_fields, is_taken;
    size_t len; /* of the line */
    char line[SYM_DEBIAN_PATH + 32];
} sym_debian_index_t;

/* Zeros are the initial state.  Takes the next entry from *bytes and advances
 * it.  False: *bytes is used up; after the last piece sym_debian_index_end()
 * takes the last entry, which may have no empty line. */
bool sym_debian_index_next(sym_debian_index_t *index, sym_str_t *bytes);
bool sym_debian_index_end(sym_debian_index_t *index);

typedef struct {
    uint64_t size_bytes;
    sym_sha256_t sha256;
} sym_debian_content_t;

/* Checks an entry, which may come from a process that is not trusted: name and
 * path have only visible characters, and the path stays below the root.
 * Returns NULL and fills *content, or what is wrong. */
const char *sym_debian_entry_check(const sym_debian_entry_t *entry,
                                   sym_debian_content_t *content);

#endif
