/*
 * bucket.h - puts a file into a bucket: the requests, and what their answers
 * mean.
 *
 * Workers of nginx have the connections and the keys, so they send the requests
 * (OBJECT in docs/formats/loader-protocol.md), one after the other.  This code
 * only decides on the next one.  For each path: HEAD; if the object has to be
 * written, PUT, or an upload in parts; HEAD again, which must find what was
 * written.  An upload in parts that fails is aborted.
 *
 * Other machines may write to the bucket, too.  So an object is only replaced if
 * it is the one that was compared with the file.  The condition of the request is
 * its ETag, or that the path has no object.  Otherwise is_changed is set, and the owner
 * reads the object that is there now.
 */
#ifndef SYMLOADER_DAEMON_BUCKET_H
#define SYMLOADER_DAEMON_BUCKET_H

#include "base/md5.h"
#include "daemon/placer.h"
#include "protocol/message.h"

/* An ETag without its quotes; S3's have at most 38 characters. */
#define BUCKET_ETAG 96

typedef enum {
    BUCKET_LOOK,
    BUCKET_WRITE,
    BUCKET_BEGIN,
    BUCKET_PART,
    BUCKET_COMPLETE,
    BUCKET_ABORT,
    BUCKET_CHECK,  /* the object was written */
    BUCKET_REMOVE, /* other bytes than ours were written */
    BUCKET_ENDED
} bucket_state_t;

/* Whether the object at the first path was compared with the file. */
typedef enum {
    BUCKET_NOT_READ, /* it was not */
    BUCKET_ABSENT,   /* there was none */
    BUCKET_READ,     /* it was, and it is the one with the ETag, if known */
    BUCKET_ANY       /* the file replaces any */
} bucket_knows_t;

typedef struct {
    placer_job_t *job; /* the file and its paths; NULL: nothing to free */
    uint64_t part_bytes;
    size_t n_parts;                /* 1: the file is put at once */
    uint8_t (*md5)[SYM_MD5_BYTES]; /* digest of each part */
    char (*etags)[BUCKET_ETAG];    /* ETag of each part that was put */
    char expected[BUCKET_ETAG];    /* the ETag of an object with our bytes */

    bucket_knows_t knows;
    const char *read; /* READ: its ETag, or "" */

    bucket_state_t state;
    unsigned path;
    size_t part;
    char upload_id[SYM_RPC_SOURCE_MAX + 1];
    char etag[BUCKET_ETAG]; /* ETag of the written object; "": unknown */
    char there
        [BUCKET_ETAG]; /* ETag of the object that HEAD found; "": unknown */
    bool has_there;    /* HEAD found an object */
    bool is_plain;     /* the server knows no conditions: requests have none */
    bool is_repeated;  /* perhaps an earlier attempt has joined the parts */
    bool is_kept_out;  /* a better object stays at the last path: this one does
                          not get another path of its module */
    bool is_sent;      /* an object at the first path was written, perhaps */
    unsigned n_races;  /* conditions that were false */
    bool is_changed;  /* the object at the first path is not the expected one */
    int list_fd;      /* the parts, for COMPLETE; -1: none */
    char reason[256]; /* "": it has not failed */
} bucket_t;

/*
 * Prepares the job for PLACER_DIGEST, which must be done before the first
 * request.  Files of more than `part_bytes` are put in parts.  `read` must outlive
 * it.  False: no memory.
 */
bool bucket_begin(bucket_t *b, placer_job_t *job, uint64_t part_bytes,
                  bucket_knows_t knows, const char *read);

/* The next request, without its ticket and scope; *fd is its descriptor, or -1.
 * False: it has ended, b->reason says how.  job->is_same: the object at the first
 * path had the same bytes. */
bool bucket_request(bucket_t *b, sym_rpc_message_t *m, int *fd);

/* The answer to that request.  NULL: the worker is gone. */
void bucket_reply(bucket_t *b, const sym_rpc_message_t *reply);

/* May run twice. */
void bucket_free(bucket_t *b);

#endif
