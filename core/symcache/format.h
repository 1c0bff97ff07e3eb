/*
 * format.h - numbers that the writer and the reader of symcaches share.
 *
 * The layout itself is in docs/symcache.md, byte by byte.
 */
#ifndef SYM_SYMCACHE_FORMAT_H
#define SYM_SYMCACHE_FORMAT_H

#include <stdint.h>

/* Goes up with every change that an older reader would misread. */
#define SYM_SYMCACHE_VERSION 1

/*
 * Bytes of an extent.  The store adds a checksum of 4 bytes to each, which
 * makes 65,520: 16 pages less LMDB's page header (docs/design.md, 3).
 */
#define SYM_EXTENT_MAX 65516

/* Longer names are cut (at a character) and counted: they must fit an extent
 * with room to spare. */
#define SYM_NAME_BYTES_MAX 32768

/* Inlined calls nested deeper than this are dropped and counted. */
#define SYM_INLINE_DEPTH_MAX 500

/* How much a module's symbols tell, poorest first. */
enum {
    SYM_QUALITY_EMPTY = 0, /* no symbol at all */
    SYM_QUALITY_PUBLICS,
    SYM_QUALITY_FUNCTIONS,
    SYM_QUALITY_LINES,
    SYM_QUALITY_INLINES
};

/* Source language of a function. */
enum {
    SYM_LANG_UNKNOWN = 0,
    SYM_LANG_C,
    SYM_LANG_CPP,
    SYM_LANG_D,
    SYM_LANG_GO,
    SYM_LANG_OBJC,
    SYM_LANG_OBJCPP,
    SYM_LANG_RUST,
    SYM_LANG_SWIFT,
    SYM_LANG_CSHARP,
    SYM_LANG_VISUALBASIC,
    SYM_LANG_FSHARP
};

/* "empty", "publics", "functions", "lines", "lines and inlines" */
const char *sym_quality_name(unsigned quality);

#endif
