/*
 * message.h - messages between workers of nginx and the loader.
 *
 * Only reads and writes bytes; the caller owns the sockets.  One message is one
 * packet of a SOCK_SEQPACKET socket, so its bounds need no parsing, and it can
 * carry a descriptor.  docs/formats/loader-protocol.md describes the
 * conversation and each message byte by byte.
 *
 * Views in a message point into the packet that it was read from.
 */
#ifndef SYM_PROTOCOL_MESSAGE_H
#define SYM_PROTOCOL_MESSAGE_H

#include "base/error.h"
#include "object/module_key.h"
#include "base/str.h"
#include "store/store.h"
#include "object/object_id.h"
#include "protocol/outcomes.h"

/* A peer of another version is refused. */
#define SYM_RPC_VERSION 12

/* No message is longer. */
#define SYM_RPC_MAX 8192

/* Limits of texts in a message; longer ones are cut when written. */
#define SYM_RPC_TEXT_MAX 4096 /* STATS; the rest are sentences */
#define SYM_RPC_REASON_MAX 512
#define SYM_RPC_SOURCE_MAX 1024

/* In WANT; longer paths are not requested. */
#define SYM_RPC_PATH_MAX 2048

/* In INGEST; longer ones are left out. */
#define SYM_RPC_REFERENCE_MAX 2048

typedef enum {
    /* messages of a client */
    SYM_RPC_HELLO = 1,  /* version; begins so in every version */
    SYM_RPC_ENSURE,     /* ticket, flags, kind, scope, rules, reference: I need
                            this artifact of this object at this source */
    SYM_RPC_CANCEL,     /* ticket: no more; gives an election back */
    SYM_RPC_INGEST,     /* ticket, ttl, offset, length, source, outcomes,
                            reference; and a descriptor: a file was fetched */
    SYM_RPC_NONE,       /* ticket, state, ttl, text, outcomes: no file was
                            fetched */
    SYM_RPC_MORE,       /* ticket, length, places: the lease is too small */
    SYM_RPC_INVALIDATE, /* ticket, key: remove its records; without a name:
                           those of all modules found by the id; with the scope
                           SYM_SCOPE_ALL: of every source */
    SYM_RPC_STAT,       /* ticket */
    SYM_RPC_DEPOSIT,    /* ticket, flags, offset, length, text, source; and a
                           descriptor: a file for which no client waits; text:
                           its path on its web site, or "" */
    SYM_RPC_CHANGED,  /* ticket, scope, source: a file of the source was written
                        or removed; its path is `source` or a part of that
                        after a slash */
    SYM_RPC_GIVEN,    /* ticket, flags, length; and a descriptor, if there is
                        such a file: answers WANT */
    SYM_RPC_MISSED,   /* flags, requests (offset), frames (length), key, text,
                        source, kind, code id: a module missing in answers */
    SYM_RPC_LISTEN,   /* flags, offset, text: I have a webhook; and the outcome
                        of the ARRIVED with this number */
    SYM_RPC_ABANDON,  /* ticket, flags: whether requests are still waiting for
                        it */
    SYM_RPC_UPLOAD,   /* ticket, flags, offset, length, text, source, rules,
                        scope; and a descriptor: files for the folder of a
                        source; text: their path; source: whose they are */
    SYM_RPC_ASSEMBLE, /* ticket, source, rules, scope, chunks: a file whose
                         chunks were uploaded; source: its path */
    SYM_RPC_MAKE, /* ticket, kind, offset, length, limit, text, source; and a
                        descriptor: make a file of this file for a client.  kind:
                        a sym_make_t; text: the section, or the debug id */

    /* messages of the loader */
    SYM_RPC_WELCOME = 64, /* version */
    SYM_RPC_READY,        /* ticket, flags: the module is in the store */
    SYM_RPC_NEGATIVE,     /* ticket, state, ttl, text: it is not */
    SYM_RPC_FETCH,        /* ticket, length, places, kind, reference: you are
                             elected; length of the lease; kind and reference:
                             of a companion, which is at any source */
    SYM_RPC_DONE,         /* ticket, flags, key, text, kind: to INVALIDATE,
                             CHANGED, DEPOSIT, MAKE; and a descriptor, with
                             SYM_RPC_MADE */
    SYM_RPC_STATS,        /* ticket, text: lines "name value" */
    SYM_RPC_REFUSED,      /* text: unknown protocol; ends the connection */
    SYM_RPC_WANT,         /* ticket, want: a companion of a DEPOSIT's file */
    SYM_RPC_NOTE,         /* ticket, text: a note for users about the file */
    SYM_RPC_ARRIVED =
        74,         /* offset: its number; text: modules that have arrived, as
                        JSON; answered by LISTEN */
    SYM_RPC_RECLAIM /* ticket: a request needs the lease of this abandoned
                        download; answered by CANCEL */
} sym_rpc_type_t;

/* flags of ENSURE */
#define SYM_RPC_ALL_PLACES 1u /* every place is tried, code files first */

/* flags of DEPOSIT */
#define SYM_RPC_FORCE 1u
#define SYM_RPC_ASK_ME 2u /* the client understands WANT and NOTE */
#define SYM_RPC_REPORT                                                         \
    4u /* a crash upload: its report is appended to the file,
                             which is open for writing; the text of DONE is its
                             length */

/* Digests in ASSEMBLE: of the file, then of its chunks, 20 bytes each. */
#define SYM_RPC_CHUNK_BYTES 20
#define SYM_RPC_CHUNKS_MAX 300

/* Bytes of a chunk, 8 MiB as Sentry has it, and of the file made of them. */
#define SYM_RPC_CHUNK_LENGTH_MAX 8388608
#define SYM_RPC_FILE_LENGTH_MAX 2147483648

/* flags of UPLOAD: what the body is.  A report is appended to it, as for a crash
 * upload. */
#define SYM_RPC_FORM 1u      /* multipart/form-data; each part is a file */
#define SYM_RPC_ARCHIVE 2u   /* a zip has several files */
#define SYM_RPC_MOZILLA 4u   /* names in the zip must be those of Tecken */
#define SYM_RPC_TRY 8u       /* the client may upload try symbols, and */
#define SYM_RPC_ONLY_TRY 16u /* nothing else */
#define SYM_RPC_CHUNKED 32u  /* parts of files, named by their SHA-1 */
#define SYM_RPC_SYMBFILE 64u /* text: FILEID/KIND/PART/PARTS */

/* flags of GIVEN */
#define SYM_RPC_THERE 1u /* a descriptor is attached */
#define SYM_RPC_BY_ID 2u /* the file's name has the build id */

/* flags of MISSED: sym_object_type_t, and sym_module_state_t (0: not settled in
 * time) in the next byte */
#define SYM_RPC_STATE_SHIFT 8

/* flags of ABANDON */
#define SYM_RPC_ADOPTED 1u /* a request is waiting for it again */

/* flags of LISTEN */
#define SYM_RPC_DELIVERED 1u /* not set: delivery failed, text says why */

/* flags of READY */
#define SYM_RPC_POOR 1u /* symbols only: another source may have better */

/* flags of DONE */
#define SYM_RPC_DID 1u     /* something was removed; was stored */
#define SYM_RPC_KEPT 2u    /* the stored one is better, or a later file's */
#define SYM_RPC_ANOTHER 4u /* DONE follows for another module of the file */

#define SYM_RPC_MADE                                                           \
    16u /* a descriptor is attached: the file that was made; text:
                            its length */

#define SYM_RPC_HAS_RULES 32u /* with SYM_RPC_MADE: unwind rules are in it */

#define SYM_RPC_NOTHING 8u /* the file is sound, but has no symbols for us */

/* Lifetime of a negative outcome in seconds, by kind. */
typedef struct {
    uint32_t absent, malformed, failed;
} sym_rpc_ttl_t;

/* Companions that workers fetch. */
#define SYM_RPC_SUPPLEMENT 1u /* dwz's */
#define SYM_RPC_UUID_MAP 4u
#define SYM_RPC_SYMBOL_MAP 5u
#define SYM_RPC_LINE_MAP 6u

/* Another file that a debug file needs, as it names it: name may be a path,
 * relative to dir; id is a build id (bytes). */
typedef struct {
    uint32_t kind;    /* docs/formats/loader-protocol.md, section 4 */
    uint32_t attempt; /* number of unsuitable files of that kind so far */
    sym_str_t name, dir, id;
} sym_rpc_companion_t;

/* One structure for all types: unused fields are zero. */
typedef struct {
    sym_rpc_type_t type;
    uint32_t ticket; /* chosen by the client; repeated in answers */
    uint32_t version;
    uint32_t flags;
    sym_module_state_t state; /* not READY */
    sym_rpc_ttl_t ttl;        /* in NEGATIVE: for `state`, the time left */
    uint64_t offset, length;  /* bytes */
    uint64_t limit;           /* most bytes of a made file */
    uint64_t places; /* numbers in the plan, a bit each: to be tried; in MORE
                        that of the large file */
    sym_module_key_t key;
    uint32_t kind;       /* sym_kind_t of the artifact; 0: SYM_KIND_SYMCACHE; in
                           DONE a bit, 1 << kind, for each that was removed */
    sym_str_t text;      /* a reason; lines of statistics */
    sym_str_t source;    /* origin of the bytes: a URL or path */
    sym_str_t chunks;    /* see SYM_RPC_CHUNK_BYTES */
    sym_str_t outcomes;  /* outcomes.h: one for each place that was tried */
    sym_str_t reference; /* URL of its source map, from a script's header */
    sym_source_rules_t rules; /* those of the plan; files: types to ask for */
    sym_object_ref_t ref;
    sym_rpc_companion_t want;
} sym_rpc_message_t;

/* Writes m as a packet; returns the length. */
size_t sym_rpc_write(const sym_rpc_message_t *m, uint8_t out[SYM_RPC_MAX]);

/*
 * SYM_MALFORMED, SYM_TRUNCATED: not a message of this protocol.  The reference and
 * outcomes are valid.  The key has a name (except in INVALIDATE and DONE) and a
 * canonical id.  In
 * INVALIDATE it may have only a code id.
 */
sym_status_t sym_rpc_read(const uint8_t *packet, size_t len,
                          sym_rpc_message_t *m, sym_error_t *err);

#endif
