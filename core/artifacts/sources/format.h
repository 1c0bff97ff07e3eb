/*
 * format.h - the artifact `sources`: paths and source code of an object.
 *
 * docs/formats/sources.md describes it byte by byte; the names here are its
 * names.  Numbers are little endian on every host.
 */
#ifndef SYM_ARTIFACTS_SOURCES_FORMAT_H
#define SYM_ARTIFACTS_SOURCES_FORMAT_H

#include <stdint.h>

#include "artifacts/extents.h"
#include "base/little.h"
#include "base/str.h"

/* Increases with every change that an older reader would misread. */
#define SYM_SOURCES_VERSION 1

#define SYM_SOURCES_MAGIC 0x534d5953u /* "SYMS" */

/* The header, at the beginning of extent 0. */
#define SYM_SOURCES_HEADER_BYTES 64

/* Records of tables (artifacts/extents.h). */
#define SYM_SOURCES_FILE_BYTES 32
#define SYM_SOURCES_BLOCK_BYTES 16
#define SYM_SOURCES_LINK_BYTES 16

/* Bytes of text in a block.  The last block of a file contains the rest. */
#define SYM_SOURCES_BLOCK_TEXT 32768

/* Limits that reader and writer share. */
#define SYM_SOURCES_FILES_MAX (UINT32_C(1) << 22)
#define SYM_SOURCES_BLOCKS_MAX (UINT32_C(1) << 24)
#define SYM_SOURCES_PATH_MAX 4096
#define SYM_SOURCES_LINKS_MAX 1024
#define SYM_SOURCES_URL_MAX 8192 /* bytes of a URL made by a link */

/* A path or URL of a file. */
/* Limits on name and size of a source file that is loaded by itself. */
#define SYM_SOURCES_TEXT_NAME "text"
#define SYM_SOURCES_ALONE_MAX ((size_t) 16 << 20)

#define SYM_SOURCES_URL 1 /* flag of a record: the name is a URL, not a path */

/* Flag of a link: the pattern is a prefix of paths, not one path. */
#define SYM_SOURCES_PREFIX 1

/* Qualities.  Version 1 has no links and no quality. */
#define SYM_SOURCES_UNRATED 0
#define SYM_SOURCES_LINKS 1 /* only links */
#define SYM_SOURCES_TEXTS 2

static inline uint8_t
sym_sources_fold(char c)
{
    return c == '\\' ? '/' : (uint8_t) c;
}


/* Order of paths: by bytes, with '\' as '/', because a file's path may have
 * either. */
static inline int
sym_sources_compare(sym_str_t a, sym_str_t b)
{
    size_t len = a.len < b.len ? a.len : b.len;

    for (size_t i = 0; i < len; i++) {
        int order = sym_sources_fold(a.data[i]) - sym_sources_fold(b.data[i]);

        if (order != 0) {
            return order;
        }
    }

    return (a.len > b.len) - (a.len < b.len);
}


static inline uint64_t
sym_sources_newlines(sym_str_t text)
{
    uint64_t n = 0;

    while (text.len > 0) {
        const char *found = memchr(text.data, '\n', text.len);
        size_t skip;

        if (found == NULL) {
            break;
        }

        n++;
        skip = (size_t) (found + 1 - text.data);
        text = sym_str(text.data + skip, text.len - skip);
    }

    return n;
}

#endif
