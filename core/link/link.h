/*
 * link.h - what workers of nginx and the loader say to each other.
 *
 * Bytes of the messages only; sockets are the caller's.  One message is one
 * packet of a SOCK_SEQPACKET socket, so its bounds need no parsing and a
 * descriptor can travel with it.  docs/loader-protocol.md describes the
 * conversation and each message byte by byte.
 *
 * Views in a message that was read lie in the packet it was read from.
 */
#ifndef SYM_LINK_LINK_H
#define SYM_LINK_LINK_H

#include "base/error.h"
#include "base/module_key.h"
#include "base/str.h"
#include "store/store.h"

#define SYM_LINK_VERSION 2

/* No message is longer. */
#define SYM_LINK_MAX 8192

/* Texts in a message; what is longer is cut when it is written. */
#define SYM_LINK_TEXT_MAX 4096 /* STATS; the rest are sentences */
#define SYM_LINK_REASON_MAX 512
#define SYM_LINK_SOURCE_MAX 1024
#define SYM_LINK_ATTEMPTS_MAX 2048

/* Of WANT; what is longer is not asked for. */
#define SYM_LINK_PATH_MAX 2048
#define SYM_LINK_BUILD_ID_MAX 64

typedef enum {
    /* a client says */
    SYM_LINK_HELLO = 1,  /* version */
    SYM_LINK_ENSURE,     /* ticket, key: I need this module of this source; the
                            id may be a spelling (module_key.h) */
    SYM_LINK_CANCEL,     /* ticket: no more; gives an election back */
    SYM_LINK_INGEST,     /* ticket, ttl, offset, length, source, attempts; and
                            a descriptor: what was fetched */
    SYM_LINK_NONE,       /* ticket, state, ttl, text, attempts: nothing was */
    SYM_LINK_MORE,       /* ticket, length: the lease is too small */
    SYM_LINK_INVALIDATE, /* ticket, key: forget what is known of it; without a
                            name: of all that the id finds; with the
                            scope SYM_SCOPE_ALL: of every source */
    SYM_LINK_STAT,       /* ticket */
    SYM_LINK_DEPOSIT,    /* ticket, flags, offset, length, source; and a
                            descriptor: a file nobody waits for */
    SYM_LINK_OFFER,      /* as INGEST, but there may be better elsewhere: if it
                            is poor, FETCH comes again */
    SYM_LINK_GIVEN,      /* ticket, flags, length; and a descriptor, if there is
                            such a file: answers WANT */

    /* the loader answers */
    SYM_LINK_WELCOME = 64, /* version */
    SYM_LINK_READY,        /* ticket, flags: the module is in the store */
    SYM_LINK_NEGATIVE,     /* ticket, state, ttl, text: it is not */
    SYM_LINK_FETCH,        /* ticket, length: you are elected; the lease */
    SYM_LINK_DONE,    /* ticket, flags, key, text: to INVALIDATE, DEPOSIT */
    SYM_LINK_STATS,   /* ticket, text: lines "name value" */
    SYM_LINK_REFUSED, /* text: not our protocol; the end */
    SYM_LINK_WANT,    /* ticket, want: a file that goes with a DEPOSIT's */
    SYM_LINK_NOTE,    /* ticket, text: what people should know of the file */
    SYM_LINK_ALSO     /* ticket, length, want: a file that goes with what was
                         fetched is to be fetched too; answered as FETCH is */
} sym_link_type_t;

/* flags of DEPOSIT */
#define SYM_LINK_FORCE 1u
#define SYM_LINK_ASK_ME 2u /* the client understands WANT and NOTE */

/* flags of GIVEN */
#define SYM_LINK_THERE 1u /* a descriptor comes along */
#define SYM_LINK_BY_ID 2u /* the file's name has the build id */
#define SYM_LINK_ABLE 4u  /* the client understands ALSO; answers no WANT */

/* flags of READY */
#define SYM_LINK_POOR 1u /* symbols alone: another source may have better */

/* flags of DONE */
#define SYM_LINK_DID 1u  /* something was removed; was stored */
#define SYM_LINK_KEPT 2u /* what the store has is better, or a later file's */
#define SYM_LINK_ANOTHER 4u /* DONE follows for a further module of the file */

#define SYM_LINK_NOTHING 8u /* the file is sound, but has no symbols for us */

/* Seconds that a negative outcome counts, by kind. */
typedef struct {
    uint32_t absent, malformed, failed;
} sym_link_ttl_t;

/* Which file a debug file needs besides, in that file's words: name may be a
 * path, dir is what it counts from, id is a build id (bytes). */
typedef struct {
    uint32_t kind;    /* docs/loader-protocol.md, section 4 */
    uint32_t attempt; /* files of that kind that were of no use */
    sym_str_t name, dir, id;
} sym_link_want_t;

/* One for all types: a field that a type has not is zero. */
typedef struct {
    sym_link_type_t type;
    uint32_t ticket; /* chosen by the client; the answers carry it */
    uint32_t version;
    uint32_t flags;
    sym_module_state_t state; /* not READY */
    sym_link_ttl_t ttl;       /* in NEGATIVE: the one of `state` is what is
                                 left of it */
    uint64_t offset, length;  /* bytes */
    sym_module_key_t key;
    sym_str_t text;     /* a reason; lines of statistics */
    sym_str_t source;   /* where the bytes came from: a URL or path */
    sym_str_t attempts; /* docs/store.md, section 2 */
    sym_link_want_t want;
} sym_link_message_t;

/* Writes m as a packet; its length. */
size_t sym_link_write(const sym_link_message_t *m, uint8_t out[SYM_LINK_MAX]);

/*
 * SYM_MALFORMED, SYM_TRUNCATED: no message of ours.  A key that was read has a
 * name (but for INVALIDATE, DONE) and an id that fit the store.
 */
sym_status_t sym_link_read(const uint8_t *packet, size_t len,
                           sym_link_message_t *m, sym_error_t *err);

/* "ENSURE", for logs; "?" for none of ours. */
const char *sym_link_name(sym_link_type_t type);

#endif
