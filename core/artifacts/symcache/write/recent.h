/*
 * recent.h - finds text that a name shares with a recent one.
 *
 * Names of templates, of members of one class and of files in one folder have
 * long parts in common, and equal text has equal tokens.  So tokens of the
 * earlier name are copied, which is faster than a dictionary lookup for each
 * token.  A ring contains the texts of recent names.  A table maps the 16 bytes
 * after a token to their last position.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_RECENT_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_RECENT_H

#include "base/str.h"
#include "artifacts/symcache/format.h"

/* Least number of equal bytes. */
#define SYM_RECENT_MIN ((size_t) 16)

/* A ring of four times the size finds 5 % more, but exceeds the L1 cache. */
#define SYM_RECENT_BYTES ((size_t) 64 << 10)
#define SYM_RECENT_PLACE_BITS 12

typedef struct {
    uint64_t text;      /* offset in the text of all names */
    uint64_t packed:48; /* offset of its first token */
    uint64_t left:16;   /* bytes up to the end of its name; 0: empty */
} sym_recent_place_t;

_Static_assert(SYM_PART_BYTES_MAX <= UINT16_MAX, "a name's bytes fit `left`");

/* If names have little in common, most searches fail.  Each success allows this
 * many more searches. */
#define SYM_RECENT_REWARD 16
#define SYM_RECENT_CREDIT_MAX 256

/* All zeros at first. */
typedef struct {
    uint64_t end;    /* offset of the next name */
    unsigned credit; /* 0: searches only at the starts of names */
    sym_recent_place_t places[1 << SYM_RECENT_PLACE_BITS];
    uint8_t texts[SYM_RECENT_BYTES];
} sym_recent_t;

typedef struct {
    size_t packed;
    size_t common; /* number of equal bytes; 0: none */
    bool is_whole; /* both names end after them */
} sym_recent_match_t;

/* Begins a name of at most SYM_PART_BYTES_MAX bytes. */
void sym_recent_add(sym_recent_t *r, sym_str_t name);

/*
 * Finds an earlier position that shares text with the last `left` bytes of the
 * name, at least SYM_RECENT_MIN.  The tokens of the earlier text have been
 * written.  The first token of these bytes will be at `packed`.
 */
sym_recent_match_t sym_recent_find(sym_recent_t *r, size_t left, size_t packed);

#endif
