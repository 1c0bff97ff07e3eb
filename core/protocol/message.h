/*
 * message.h - what workers of nginx and the loader say to each other.
 *
 * Bytes of the messages only; sockets are the caller's.  One message is one
 * packet of a SOCK_SEQPACKET socket, so its bounds need no parsing and a
 * descriptor can travel with it.  docs/formats/loader-protocol.md describes the
 * conversation and each message byte by byte.
 *
 * Views in a message that was read lie in the packet it was read from.
 */
#ifndef SYM_PROTOCOL_MESSAGE_H
#define SYM_PROTOCOL_MESSAGE_H

#include "base/error.h"
#include "object/module_key.h"
#include "base/str.h"
#include "store/store.h"
#include "object/object_id.h"
#include "object/variant.h"

/* A peer of another version is refused. */
#define SYM_RPC_VERSION 4

/* No message is longer. */
#define SYM_RPC_MAX 8192

/* Texts in a message; what is longer is cut when it is written. */
#define SYM_RPC_TEXT_MAX 4096 /* STATS; the rest are sentences */
#define SYM_RPC_REASON_MAX 512
#define SYM_RPC_SOURCE_MAX 1024
#define SYM_RPC_ATTEMPTS_MAX 2048

/* Of WANT; what is longer is not asked for. */
#define SYM_RPC_PATH_MAX 2048

typedef enum {
    /* a client says */
    SYM_RPC_HELLO = 1,  /* version; begins so in every version */
    SYM_RPC_ENSURE,     /* ticket, key, kind, code id, variant: I need this
                            module of this source; the id may be a spelling
                            (module_key.h) */
    SYM_RPC_CANCEL,     /* ticket: no more; gives an election back */
    SYM_RPC_INGEST,     /* ticket, ttl, offset, length, source, attempts; and
                            a descriptor: what was fetched */
    SYM_RPC_NONE,       /* ticket, state, ttl, text, attempts: nothing was */
    SYM_RPC_MORE,       /* ticket, length: the lease is too small */
    SYM_RPC_INVALIDATE, /* ticket, key: forget what is known of it; without a
                            name: of all that the id finds; with the
                            scope SYM_SCOPE_ALL: of every source */
    SYM_RPC_STAT,       /* ticket */
    SYM_RPC_DEPOSIT,    /* ticket, flags, offset, length, source; and a
                            descriptor: a file nobody waits for */
    SYM_RPC_OFFER,      /* as INGEST, with features: there may be better
                            elsewhere, so if it is poor, FETCH comes again */
    SYM_RPC_GIVEN,      /* ticket, flags, length; and a descriptor, if there is
                            such a file: answers WANT */
    SYM_RPC_MISSED,     /* flags, requests (offset), frames (length), key, text,
                            source, kind, code id: requests did not get it */
    SYM_RPC_LISTEN,  /* flags, offset, text: I have a webhook; and what became
                            of the ARRIVED of this number */
    SYM_RPC_ABANDON, /* ticket, flags: whether requests still wait for it */

    /* the loader answers */
    SYM_RPC_WELCOME = 64, /* version */
    SYM_RPC_READY,        /* ticket, flags: the module is in the store */
    SYM_RPC_NEGATIVE,     /* ticket, state, ttl, text: it is not */
    SYM_RPC_FETCH,        /* ticket, length, features: you are elected; the
                              lease */
    SYM_RPC_DONE,         /* ticket, flags, key, text, kind: to INVALIDATE,
                            DEPOSIT */
    SYM_RPC_STATS,        /* ticket, text: lines "name value" */
    SYM_RPC_REFUSED,      /* text: not our protocol; the end */
    SYM_RPC_WANT,         /* ticket, want: a file that goes with a DEPOSIT's */
    SYM_RPC_NOTE,    /* ticket, text: what people should know of the file */
    SYM_RPC_ALSO,    /* ticket, length, want: a file that goes with what was
                         fetched is to be fetched too; answered as FETCH is */
    SYM_RPC_ARRIVED, /* offset: its number; text: modules that have come, JSON;
                       answered by LISTEN */
    SYM_RPC_RECLAIM  /* ticket: a request waits for the lease of this abandoned
                        download; answered by CANCEL */
} sym_rpc_type_t;

/* features of OFFER: what the next FETCH is to be */
/* it tells what the file was; one that is sound but has no symbols is no
 * malformed one */
#define SYM_RPC_RATE 1u
#define SYM_RPC_GO_ON 2u /* it comes, however good the file is */

/* features of FETCH: what the file was that the client offered before; and
 * SYM_FEATURE_* (artifacts/kinds.h) */
#define SYM_RPC_RATED 1u
#define SYM_RPC_MALFORMED 2u

/* flags of DEPOSIT */
#define SYM_RPC_FORCE 1u
#define SYM_RPC_ASK_ME 2u /* the client understands WANT and NOTE */

/* flags of GIVEN */
#define SYM_RPC_THERE 1u /* a descriptor comes along */
#define SYM_RPC_BY_ID 2u /* the file's name has the build id */

/* flags of MISSED: sym_object_type_t, and sym_module_state_t (0: not settled in
 * time) in the next byte */
#define SYM_RPC_STATE_SHIFT 8

/* flags of ABANDON */
#define SYM_RPC_ADOPTED 1u /* a request waits for it again */

/* flags of LISTEN */
#define SYM_RPC_DELIVERED 1u /* not set: it failed, text says why */

/* flags of READY */
#define SYM_RPC_POOR 1u /* symbols alone: another source may have better */

/* flags of DONE */
#define SYM_RPC_DID 1u     /* something was removed; was stored */
#define SYM_RPC_KEPT 2u    /* what the store has is better, or a later file's */
#define SYM_RPC_ANOTHER 4u /* DONE follows for a further module of the file */

#define SYM_RPC_NOTHING 8u /* the file is sound, but has no symbols for us */

/* Seconds that a negative outcome counts, by kind. */
typedef struct {
    uint32_t absent, malformed, failed;
} sym_rpc_ttl_t;

/* Companions that workers fetch. */
#define SYM_RPC_SUPPLEMENT 1u /* dwz's */
#define SYM_RPC_UUID_MAP 4u
#define SYM_RPC_SYMBOL_MAP 5u
#define SYM_RPC_LINE_MAP 6u

/* Which file a debug file needs besides, in that file's words: name may be a
 * path, dir is what it counts from, id is a build id (bytes). */
typedef struct {
    uint32_t kind;    /* docs/formats/loader-protocol.md, section 4 */
    uint32_t attempt; /* files of that kind that were of no use */
    sym_str_t name, dir, id;
} sym_rpc_companion_t;

/* One for all types: a field that a type has not is zero. */
typedef struct {
    sym_rpc_type_t type;
    uint32_t ticket; /* chosen by the client; the answers carry it */
    uint32_t version;
    uint32_t features;
    uint32_t flags;
    sym_module_state_t state; /* not READY */
    sym_rpc_ttl_t ttl;        /* in NEGATIVE: the one of `state` is what is
                                 left of it */
    uint64_t offset, length;  /* bytes */
    sym_module_key_t key;
    uint32_t kind;      /* sym_kind_t of the artifact; 0: SYM_KIND_SYMCACHE; in
                           DONE a bit, 1 << kind, for each that was removed */
    sym_str_t text;     /* a reason; lines of statistics */
    sym_str_t source;   /* where the bytes came from: a URL or path */
    sym_str_t attempts; /* docs/formats/store.md, section 2 */
    sym_rpc_companion_t want;
} sym_rpc_message_t;

/* Writes m as a packet; its length. */
size_t sym_rpc_write(const sym_rpc_message_t *m, uint8_t out[SYM_RPC_MAX]);

/*
 * SYM_MALFORMED, SYM_TRUNCATED: no message of ours.  A key that was read has a
 * name (but for INVALIDATE, DONE) and an id that fit the store; in INVALIDATE it
 * may have nothing but a code id.
 */
sym_status_t sym_rpc_read(const uint8_t *packet, size_t len,
                          sym_rpc_message_t *m, sym_error_t *err);

#endif
