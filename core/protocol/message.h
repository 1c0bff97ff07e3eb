/*
 * message.h - messages between workers of nginx and the loader.
 *
 * These functions only read and write bytes; the caller owns the sockets.  A
 * message is one packet of a SOCK_SEQPACKET socket, so its length need not be
 * parsed, and it can carry a file descriptor.  docs/formats/loader-protocol.md
 * describes the conversation and each message byte by byte.
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
#define SYM_RPC_VERSION 19

/* Maximum length of a message. */
#define SYM_RPC_MAX 8192

/* Maximum lengths of texts in a message; longer ones are cut when written. */
#define SYM_RPC_TEXT_MAX 4096 /* for STATS; the other texts are sentences */
#define SYM_RPC_REASON_MAX 512
#define SYM_RPC_SOURCE_MAX 1024

/* In WANT; longer paths are not requested. */
#define SYM_RPC_PATH_MAX 2048

/* In INGEST; longer ones are omitted. */
#define SYM_RPC_REFERENCE_MAX 2048

typedef enum {
    /* messages from clients */
    SYM_RPC_HELLO = 1,  /* version; begins like this in every version */
    SYM_RPC_ENSURE,     /* ticket, flags, kind, scope, rules, reference:
                           requests this artifact of the object at this
                           source */
    SYM_RPC_CANCEL,     /* ticket: ends the request; gives an election back; the
                           file of a SHARE is closed */
    SYM_RPC_INGEST,     /* ticket, flags, ttl, offset, length, source, outcomes,
                           reference; descriptor: a file was fetched */
    SYM_RPC_NONE,       /* ticket, state, ttl, text, outcomes: no file was
                            fetched */
    SYM_RPC_MORE,       /* ticket, length, places: requests a larger lease;
                           places 0: for another node's artifact */
    SYM_RPC_INVALIDATE, /* ticket, key: remove its records; without a name:
                           those of all modules with the id; with the scope
                           SYM_SCOPE_ALL: those of every source */
    SYM_RPC_STAT,       /* ticket */
    SYM_RPC_DEPOSIT,    /* ticket, flags, offset, length, text, source;
                           descriptor: a file for which no client waits; text:
                           its path on its web site, or "" */
    SYM_RPC_CHANGED, /* ticket, scope, source: a file of the source was written
                         or removed; its path is `source`, or the part of
                         `source` after one of its slashes.  The loader sends it,
                         too, with the ticket of an UPLOAD or ASSEMBLE, for each
                         path that it has written */
    SYM_RPC_GIVEN, /* ticket, flags, offset, length; a descriptor if the file exists:
                         the answer to WANT */
    SYM_RPC_MISSED,  /* flags, requests (offset), frames (length), key, text,
                         source, kind, code id: a module that is missing in
                         answers */
    SYM_RPC_LISTEN,  /* flags, offset, text: this client has a webhook; also
                         the outcome of the ARRIVED with this number */
    SYM_RPC_ABANDON, /* ticket, flags: whether requests are still waiting for
                        it */
    SYM_RPC_UPLOAD,  /* ticket, flags, offset, length, limit, text, source,
                         rules, scope; descriptor: files for the folder of a
                         source; text: their path; source: who sent them; limit:
                         the source is a bucket, and its parts have this size;
                         0: it is a folder */
    SYM_RPC_ASSEMBLE, /* ticket, flags, limit, text, source, rules, scope, chunks:
                         make a file from uploaded chunks; text: its debug id as
                         the client wrote it, or ""; source: its path;
                         limit: as in UPLOAD; flags: 0 or SYM_RPC_SCRIPTS */
    SYM_RPC_MAKE,     /* ticket, kind, offset, length, limit, text, source;
                         descriptor: make another file from this one for a
                         client.  kind: a sym_make_t; text: the section, or the
                         debug id */
    SYM_RPC_REPLY,    /* ticket, flags, length, text, source: the answer to
                         OBJECT */
    SYM_RPC_SHARE,    /* ticket, source, kind, rules, scope, reference: make a
                         file of the object's artifacts of this kind, or of all
                         kinds (0); source: the path of the file that they must
                         have been made from */
    SYM_RPC_FOR_PEER, /* ticket: another node waits for this artifact; the loader
                         also sends it, to the client that fetches */

    /* messages from the loader */
    SYM_RPC_WELCOME = 64, /* version */
    SYM_RPC_READY,        /* ticket, flags: the module is in the store */
    SYM_RPC_NEGATIVE,     /* ticket, state, ttl, text: the module is not in the
                             store */
    SYM_RPC_FETCH,        /* ticket, flags, length, places, kind, reference: you
                             are elected to fetch; length: of the lease; kind and
                             reference: of a companion, which may be at any
                             source */
    SYM_RPC_DONE,         /* ticket, flags, key, text, kind: the answer to
                             INVALIDATE, CHANGED, DEPOSIT, MAKE, SHARE; a
                             descriptor with SYM_RPC_MADE */
    SYM_RPC_STATS,        /* ticket, text: lines "name value" */
    SYM_RPC_REFUSED,      /* text: unknown protocol; ends the connection */
    SYM_RPC_WANT,         /* ticket, want: requests a companion of a DEPOSIT's
                             file */
    SYM_RPC_NOTE,         /* ticket, text: a note for users about the file */
    SYM_RPC_ARRIVED =
        74,          /* offset: number of this message; text: modules that have
                        arrived, as JSON; LISTEN is the answer */
    SYM_RPC_RECLAIM, /* ticket: a request needs the lease of this abandoned
                        download; CANCEL is the answer */
    SYM_RPC_OBJECT   /* ticket, offset, length, limit, scope, text, source,
                        reference, kind; descriptor for some kinds: a request to
                        the bucket of an UPLOAD.  kind: a sym_rpc_object_t;
                        text: the path; source: the id of a multipart upload;
                        reference: MD5 of the body, 16 bytes.  The condition of
                        WRITE is in source, that of COMPLETE in reference: the
                        ETag that the object must have, "*": it must not exist,
                        "": any */
} sym_rpc_type_t;

/* Requests to a bucket.  The REPLY has the flag SYM_RPC_DID, or SYM_RPC_NOTHING if
 * there is no such object, or a text: why it failed. */
typedef enum {
    SYM_RPC_OBJECT_LOOK,     /* HEAD: length, and its ETag as source */
    SYM_RPC_OBJECT_READ,     /* GET: its bytes are written to the descriptor's
                                file; at most `limit` */
    SYM_RPC_OBJECT_WRITE,    /* PUT of a range of the descriptor's file: the
                                ETag as source */
    SYM_RPC_OBJECT_REMOVE,   /* DELETE */
    SYM_RPC_OBJECT_BEGIN,    /* multipart upload: its id as source */
    SYM_RPC_OBJECT_PART,     /* number `limit`: as WRITE */
    SYM_RPC_OBJECT_COMPLETE, /* the descriptor's file lists the parts */
    SYM_RPC_OBJECT_ABORT
} sym_rpc_object_t;

#define SYM_RPC_OBJECTS (SYM_RPC_OBJECT_ABORT + 1)

/* Limits of S3: parts of an upload, and bytes of all but the last. */
#define SYM_RPC_PARTS_MAX 10000
#define SYM_RPC_PART_LENGTH_MIN 5242880

/* flags of ENSURE */
#define SYM_RPC_ALL_PLACES 1u /* try every place, code files first */

/* flags of INGEST */
#define SYM_RPC_SHARED 1u /* the file has artifacts, made by other nodes */

/* flags of FETCH: why the shared artifacts of a place are not wanted */
#define SYM_RPC_UNUSABLE 1u
#define SYM_RPC_LACKING                                                        \
    2u /* they are sound, but the requested one is not there */

/* flags of DEPOSIT */
#define SYM_RPC_FORCE 1u
#define SYM_RPC_ASK_ME 2u /* the client understands WANT and NOTE */
#define SYM_RPC_REPORT                                                         \
    4u /* a crash upload: its report is appended to the file, which is open for
          writing; `text` of DONE is the report's length */

/* Digests in ASSEMBLE, 20 bytes each: of the file, then of its chunks. */
#define SYM_RPC_CHUNK_BYTES 20
#define SYM_RPC_CHUNKS_MAX 300

/* Maximum size of a chunk (8 MiB, as in Sentry), and of a file made from
 * chunks. */
#define SYM_RPC_CHUNK_LENGTH_MAX 8388608
#define SYM_RPC_FILE_LENGTH_MAX 2147483648

/* flags of UPLOAD: the type of the body.  A report is appended to it, as for a
 * crash upload. */
#define SYM_RPC_FORM 1u      /* multipart/form-data; each part is a file */
#define SYM_RPC_ARCHIVE 2u   /* the zip contains several files */
#define SYM_RPC_MOZILLA 4u   /* names in the zip must be like Tecken's */
#define SYM_RPC_TRY 8u       /* the client may upload try symbols ... */
#define SYM_RPC_ONLY_TRY 16u /* ... and nothing else */
#define SYM_RPC_CHUNKED 32u  /* parts of files, named by their SHA-1 */
#define SYM_RPC_SYMBFILE 64u /* text is FILEID/KIND/PART/PARTS */
#define SYM_RPC_SCRIPTS 128u /* a bundle of scripts, source maps and sources */
#define SYM_RPC_SESSION 256u /* text is that of uploads/session.h */
#define SYM_RPC_EMPTY 512u /* with SYM_RPC_SESSION: no descriptor is attached */

/* flags of GIVEN */
#define SYM_RPC_THERE 1u /* a descriptor is attached */
#define SYM_RPC_BY_ID 2u /* the file's name has the build id */

/* flags of MISSED: sym_object_type_t; in the next byte sym_module_state_t (0:
 * not settled in time) */
#define SYM_RPC_STATE_SHIFT 8

/* flags of ABANDON */
#define SYM_RPC_ADOPTED 1u /* a request is waiting for the download again */

/* flags of LISTEN */
#define SYM_RPC_DELIVERED 1u /* if not set: it failed, text has the reason */

/* flags of READY */
#define SYM_RPC_POOR 1u /* symbols only; another source may have better */

/* flags of DONE */
#define SYM_RPC_DID 1u     /* a record was removed, or a file was stored */
#define SYM_RPC_KEPT 2u    /* a better or later module is stored */
#define SYM_RPC_ANOTHER 4u /* another DONE follows, for another module */

#define SYM_RPC_MADE                                                           \
    16u /* a descriptor of the new file is attached; text: its length */

#define SYM_RPC_HAS_RULES 32u /* with SYM_RPC_MADE: it contains unwind rules */

#define SYM_RPC_NOTHING 8u /* a valid file without usable symbols */

/* Flags of REPLY: the ETag of an encrypted part, which is no MD5; the condition
 * was false; the bucket does not know conditions. */
#define SYM_RPC_OPAQUE 16u
#define SYM_RPC_CHANGED_MEANWHILE 32u
#define SYM_RPC_NO_CONDITIONS 64u

/* Lifetime of a negative result in seconds, by kind. */
typedef struct {
    uint32_t absent, malformed, failed;
} sym_rpc_ttl_t;

/* Companions that workers fetch. */
#define SYM_RPC_SUPPLEMENT 1u /* dwz's */
#define SYM_RPC_UUID_MAP 4u
#define SYM_RPC_SYMBOL_MAP 5u
#define SYM_RPC_LINE_MAP 6u

/* Another file that a debug file needs and refers to.  name may be a path,
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
    sym_rpc_ttl_t ttl;        /* in NEGATIVE: the time left for `state` */
    uint64_t offset, length;  /* bytes */
    uint64_t limit;           /* maximum size of the file to make; other
                                 uses: see above */
    uint64_t places; /* places as bits, by their number in the plan: those to
                        try; in MORE: that of the large file */
    sym_module_key_t key;
    uint32_t kind;       /* sym_kind_t of the artifact; 0: SYM_KIND_SYMCACHE; in
                            DONE: a bit, 1 << kind, for each removed artifact */
    sym_str_t text;      /* a reason, or lines of statistics */
    sym_str_t source;    /* origin of the bytes: a URL or path */
    sym_str_t chunks;    /* see SYM_RPC_CHUNK_BYTES */
    sym_str_t outcomes;  /* outcomes.h: one for each place that was tried */
    sym_str_t reference; /* URL of a script's source map, from an HTTP header */
    sym_source_rules_t rules; /* rules of the plan; rules.files: types to search
                                 for */
    sym_object_ref_t ref;
    sym_rpc_companion_t want;
} sym_rpc_message_t;

/* Writes m as a packet; returns its length. */
size_t sym_rpc_write(const sym_rpc_message_t *m, uint8_t out[SYM_RPC_MAX]);

/*
 * Reads a packet.  SYM_MALFORMED, SYM_TRUNCATED: not a message of this
 * protocol.  If it succeeds, the reference and outcomes are valid, and the key
 * has a name (except in INVALIDATE and DONE) and a canonical id.  In
 * INVALIDATE, it may have only a code id.
 */
sym_status_t sym_rpc_read(const uint8_t *packet, size_t len,
                          sym_rpc_message_t *m, sym_error_t *err);

#endif
