/*
 * package_index.h - the list of packages in a repository.
 *
 * Sources: "DebianRepository/Format" (wiki.debian.org), section "'Packages'
 * Indices", and deb822(5); repo-add(8) and alpm's desc files; "Apk spec"
 * (wiki.alpinelinux.org), section "APKINDEX Format"; createrepo_c(8), whose
 * files are repomd.xml and primary.xml.  The first bytes show which one it is.
 *
 * The unpacked bytes come in pieces from a callback.  Memory is fixed, except
 * for expat: it keeps one tag, and each name of an element once.
 */
#ifndef SYM_FORMATS_PACKED_PACKAGE_INDEX_H
#define SYM_FORMATS_PACKED_PACKAGE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sha256.h"
#include "base/str.h"
#include "formats/packed/pieces.h"

#define SYM_PACKAGE_NAME 256
#define SYM_PACKAGE_PATH 1024

/* The first piece shows the format if it has this many bytes, or is the last
 * one. */
#define SYM_PACKAGE_INDEX_SNIFF 512

/* Where an entry is from: its path begins at ... */
typedef enum {
    SYM_PACKAGE_DEBIAN,  /* the repository */
    SYM_PACKAGE_ARCH,    /* the folder of the index */
    SYM_PACKAGE_ALPINE,  /* the same */
    SYM_PACKAGE_RPM,     /* the folder that has the folder `repodata` */
    SYM_PACKAGE_RPM_LIST /* the same; it is no package, but another index */
} sym_package_from_t;

/* A package.  A field that is absent or too long is "". */
typedef struct {
    sym_package_from_t from;
    char name[SYM_PACKAGE_NAME];
    char path[SYM_PACKAGE_PATH];
    char size[24]; /* decimal */

    /* SHA-256 of the package, in hexadecimal digits.  Alpine: "Q1" and the SHA-1
     * of its first part, in base 64; it identifies the package. */
    char digest[SYM_SHA256_HEX_LEN + 1];
} sym_package_entry_t;

/* Takes an entry, valid until it returns. */
typedef void (*sym_package_sink_pt)(void *ctx,
                                    const sym_package_entry_t *entry);

/* Reads an index to its end.  Entries before a failure have been passed on. */
sym_status_t sym_package_index_read(sym_pieces_more_pt more, void *from,
                                    sym_package_sink_pt sink, void *ctx,
                                    sym_error_t *err);

typedef struct {
    uint64_t size_bytes;
    uint8_t digest[SYM_SHA256_LEN];
    uint8_t digest_len; /* SYM_SHA256_LEN, unless it is from Alpine */
} sym_package_content_t;

/* Checks an entry, which may come from a process that is not trusted: name and
 * path have only visible characters, and the path stays below where it begins.
 * Returns NULL and fills *content, or what is wrong. */
const char *sym_package_entry_check(const sym_package_entry_t *entry,
                                    sym_package_content_t *content);

/* Copies a value; one that does not fit is not cut, because that would be
 * another value, but is "". */
void sym_package_keep(char *to, size_t size, sym_str_t value);

#endif
