/*
 * recent.h - finds where a name goes on as a recent one did.
 *
 * Names of templates, of members of one class and of files of one folder have
 * long parts in common, and equal text is packed alike: the tokens of the
 * earlier name are copied, which takes less time than to find each of them in
 * the dictionary.  The texts of recent names are kept in a ring; a table tells
 * for the 16 bytes behind a token where they were met last.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_RECENT_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_RECENT_H

#include "base/str.h"
#include "artifacts/symcache/format.h"

/* Bytes that are alike at least. */
#define SYM_RECENT_MIN ((size_t) 16)

/* Rings of four times the size find 5 % more, and leave the nearest cache. */
#define SYM_RECENT_BYTES ((size_t) 64 << 10)
#define SYM_RECENT_PLACE_BITS 12

typedef struct {
    uint64_t text;      /* offset among all texts */
    uint64_t packed:48; /* offset of its first token */
    uint64_t left:16;   /* bytes up to the end of its name; 0: no place */
} sym_recent_place_t;

_Static_assert(SYM_PART_BYTES_MAX <= UINT16_MAX, "a name's bytes fit `left`");

/* Where names have little in common, most places are looked up in vain: each
 * one that is found pays for so many others. */
#define SYM_RECENT_REWARD 16
#define SYM_RECENT_CREDIT_MAX 256

/* All zero at first. */
typedef struct {
    uint64_t end;    /* offset of the next text */
    unsigned credit; /* 0: look at the beginnings of names only */
    sym_recent_place_t places[1 << SYM_RECENT_PLACE_BITS];
    uint8_t texts[SYM_RECENT_BYTES];
} sym_recent_t;

typedef struct {
    size_t packed;
    size_t common; /* bytes that are alike; 0: none were found */
    bool is_whole; /* both names end there */
} sym_recent_match_t;

/* A name of at most SYM_PART_BYTES_MAX bytes is packed next. */
void sym_recent_add(sym_recent_t *r, sym_str_t name);

/*
 * Finds what the last `left` bytes of that name, at least SYM_RECENT_MIN, have
 * in common with an earlier place, whose tokens are written.  Their own first
 * token will be at `packed`.
 */
sym_recent_match_t sym_recent_find(sym_recent_t *r, size_t left, size_t packed);

#endif
