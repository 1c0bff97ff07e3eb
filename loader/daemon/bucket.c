#include "daemon/bucket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digits.h"
#include "common/write_all.h"

/* A part in the list of COMPLETE, without its ETag. */
#define LISTED_MAX 96

/* Attempts to write an object that others write at the same time. */
#define RACES_MAX 5

bool
bucket_begin(bucket_t *b, placer_job_t *job, uint64_t part_bytes,
             bucket_knows_t knows, const char *read)
{
    uint64_t least = (job->length + SYM_RPC_PARTS_MAX - 1) / SYM_RPC_PARTS_MAX;

    *b = (bucket_t){ .job = job, .knows = knows, .read = read, .list_fd = -1 };
    b->part_bytes = part_bytes > least ? part_bytes : least;
    b->n_parts =
        job->length <= b->part_bytes
            ? 1
            : (size_t) ((job->length + b->part_bytes - 1) / b->part_bytes);
    b->md5 = calloc(b->n_parts, sizeof(*b->md5));
    b->etags = calloc(b->n_parts, sizeof(*b->etags));
    job->kind = PLACER_DIGEST;
    job->md5 = b->md5;
    job->part_bytes = b->part_bytes;
    return b->md5 != NULL && b->etags != NULL;
}


static void
fail(bucket_t *b, const char *what, sym_str_t why)
{
    if (b->reason[0] == '\0') {
        (void) snprintf(b->reason, sizeof(b->reason), "%s%s%.*s", what,
                        why.len != 0 ? ": " : "", (int) why.len, why.data);
    }
}


/* --- ETags --- */

/* S3 names an object by the MD5 of its bytes, one of several parts by the MD5 of
 * their MD5s and their number. */
static void
write_joined(const bucket_t *b, sym_md5_t *parts, char out[BUCKET_ETAG])
{
    uint8_t all[SYM_MD5_BYTES];
    size_t len;

    sym_md5_end(parts, all);
    len = sym_digits_write_lower(all, SYM_MD5_BYTES, out);
    (void) snprintf(out + len, BUCKET_ETAG - len, "-%zu", b->n_parts);
}


static void
expect_etag(bucket_t *b)
{
    sym_md5_t md5;
    size_t len;

    if (b->n_parts == 1) {
        len = sym_digits_write_lower(b->md5[0], SYM_MD5_BYTES, b->expected);
        b->expected[len] = '\0';
        return;
    }

    sym_md5_begin(&md5);
    sym_md5_add(&md5, b->md5, b->n_parts * sizeof(*b->md5));
    write_joined(b, &md5, b->expected);
}


/* Encrypted parts have other ETags, and are joined to one in the same way.  False:
 * the ETags of the parts are no digests. */
static bool
is_joined(const bucket_t *b, sym_str_t etag)
{
    uint8_t digest[SYM_MD5_BYTES];
    char joined[BUCKET_ETAG];
    sym_md5_t md5;

    sym_md5_begin(&md5);
    for (size_t i = 0; i < b->n_parts; i++) {
        if (strlen(b->etags[i]) != (size_t) 2 * SYM_MD5_BYTES
            || !sym_digits_read(b->etags[i], SYM_MD5_BYTES, digest))
        {
            return false;
        }
        sym_md5_add(&md5, digest, sizeof(digest));
    }

    write_joined(b, &md5, joined);
    return sym_str_eq(etag, sym_cstr(joined));
}


/* ETags of encrypted objects, and those of other servers, may be anything. */
static bool
contradicts(const sym_rpc_message_t *r, const uint8_t md5[SYM_MD5_BYTES])
{
    uint8_t is[SYM_MD5_BYTES];
    char text[2 * SYM_MD5_BYTES + 1];

    if ((r->flags & SYM_RPC_OPAQUE) != 0
        || r->source.len != (size_t) 2 * SYM_MD5_BYTES)
    {
        return false;
    }

    memcpy(text, r->source.data, r->source.len);
    text[r->source.len] = '\0';
    return sym_digits_read(text, SYM_MD5_BYTES, is)
           && memcmp(is, md5, sizeof(is)) != 0;
}


/* False: it would not be safe in the list of COMPLETE. */
static bool
keep_etag(sym_str_t etag, char to[BUCKET_ETAG])
{
    if (etag.len >= BUCKET_ETAG) {
        return false;
    }

    for (size_t i = 0; i < etag.len; i++) {
        char c = etag.data[i];

        if (c <= ' ' || c > '~' || strchr("\"&<>", c) != NULL) {
            return false;
        }
    }

    if (etag.len != 0) {
        memcpy(to, etag.data, etag.len);
    }
    to[etag.len] = '\0';
    return true;
}


/* --- requests --- */

static bool
list_parts(bucket_t *b)
{
    size_t size = b->n_parts * (LISTED_MAX + BUCKET_ETAG) + LISTED_MAX, len;
    char *text = malloc(size);
    bool is_ok;

    if (text == NULL) {
        return false;
    }

    len = (size_t) snprintf(text, size, "<CompleteMultipartUpload>");
    for (size_t i = 0; i < b->n_parts; i++) {
        len += (size_t) snprintf(text + len, size - len,
                                 "<Part><PartNumber>%zu</PartNumber>"
                                 "<ETag>\"%s\"</ETag></Part>",
                                 i + 1, b->etags[i]);
    }
    len +=
        (size_t) snprintf(text + len, size - len, "</CompleteMultipartUpload>");

    b->list_fd = placer_temporary(b->job->folder);
    is_ok = b->list_fd >= 0 && write_all_at(b->list_fd, text, len, 0);
    free(text);
    return is_ok;
}


static uint64_t
bytes_of_part(const bucket_t *b, size_t part)
{
    uint64_t left = b->job->length - part * b->part_bytes;

    return left < b->part_bytes ? left : b->part_bytes;
}


static void
add_bytes(const bucket_t *b, size_t part, sym_rpc_message_t *m, int *fd)
{
    *fd = b->job->fd;
    m->offset = b->job->at + part * b->part_bytes;
    m->length = bytes_of_part(b, part);
    m->reference = sym_str((const char *) b->md5[part], SYM_MD5_BYTES);
}


/* Without an ETag, the object may be replaced by chance. */
static sym_str_t
condition(const bucket_t *b)
{
    return b->is_plain     ? SYM_STR("")
           : !b->has_there ? SYM_STR("*")
                           : sym_cstr(b->there);
}


bool
bucket_request(bucket_t *b, sym_rpc_message_t *m, int *fd)
{
    static const sym_rpc_object_t kinds[] = {
        [BUCKET_LOOK] = SYM_RPC_OBJECT_LOOK,
        [BUCKET_WRITE] = SYM_RPC_OBJECT_WRITE,
        [BUCKET_BEGIN] = SYM_RPC_OBJECT_BEGIN,
        [BUCKET_PART] = SYM_RPC_OBJECT_PART,
        [BUCKET_COMPLETE] = SYM_RPC_OBJECT_COMPLETE,
        [BUCKET_ABORT] = SYM_RPC_OBJECT_ABORT,
        [BUCKET_CHECK] = SYM_RPC_OBJECT_LOOK,
        [BUCKET_REMOVE] = SYM_RPC_OBJECT_REMOVE,
    };

    if (b->state == BUCKET_COMPLETE && !list_parts(b)) {
        fail(b, "cannot write the list of parts", sym_cstr(strerror(errno)));
        b->state = BUCKET_ABORT;
    }

    if (b->state == BUCKET_ENDED) {
        return false;
    }

    if (b->expected[0] == '\0') {
        expect_etag(b);
    }

    *fd = -1;
    *m = (sym_rpc_message_t){ .type = SYM_RPC_OBJECT,
                              .kind = kinds[b->state],
                              .text = sym_cstr(b->job->paths[b->path]),
                              .source = sym_cstr(b->upload_id) };
    if (b->state == BUCKET_WRITE) {
        add_bytes(b, 0, m, fd);
        m->source = condition(b);
    } else if (b->state == BUCKET_PART) {
        add_bytes(b, b->part, m, fd);
        m->limit = b->part + 1;
    } else if (b->state == BUCKET_COMPLETE) {
        *fd = b->list_fd;
        m->length = (uint64_t) lseek(b->list_fd, 0, SEEK_END);
        m->reference = condition(b);
    }

    return true;
}


/* --- answers --- */

static void
drop_list(bucket_t *b)
{
    if (b->list_fd >= 0) {
        close(b->list_fd);
        b->list_fd = -1;
    }
}


static void
next_path(bucket_t *b)
{
    b->path++;
    b->is_repeated = false;
    b->state = b->path < b->job->n_paths ? BUCKET_LOOK : BUCKET_ENDED;
}


/* Whether the file may not replace the object, because that may be better. */
static bool
is_unexpected(const bucket_t *b)
{
    if (b->path != 0 || b->knows == BUCKET_ANY) {
        return false;
    }

    return b->knows != BUCKET_READ
           || (b->there[0] != '\0' && b->read[0] != '\0'
               && strcmp(b->there, b->read) != 0);
}


static void
looked(bucket_t *b, const sym_rpc_message_t *r)
{
    bool is_there = (r->flags & SYM_RPC_DID) != 0;
    bool is_same = is_there && r->length == b->job->length
                   && sym_str_eq(r->source, sym_cstr(b->expected));
    bool is_shadow = !is_there && b->is_kept_out && b->job->is_alias[b->path];

    b->has_there = is_there;
    b->there[0] = '\0';
    (void) keep_etag(is_there ? r->source : SYM_STR(""), b->there);

    if (!is_there && (r->flags & SYM_RPC_NOTHING) == 0) {
        fail(b, "cannot look into the bucket", r->text);
        b->state = BUCKET_ENDED;
        return;
    }

    b->job->is_same |= is_same && b->path == 0 && !b->is_sent;
    b->is_kept_out = is_there && !is_same && !b->job->replaces;
    if (is_same || is_shadow || b->is_kept_out || (is_there && b->job->is_same))
    {
        next_path(b);
    } else if (is_there && is_unexpected(b)) {
        b->is_changed = true;
        b->state = BUCKET_ENDED;
    } else {
        b->state = b->n_parts == 1 ? BUCKET_WRITE : BUCKET_BEGIN;
    }
}


/* The object was not written because of its condition: another one was there, or
 * the server knows no conditions.  Looks again.  False: it has another reason. */
static bool
is_again(bucket_t *b, const sym_rpc_message_t *r)
{
    bool is_race = (r->flags & SYM_RPC_CHANGED_MEANWHILE) != 0;

    if (!is_race && (b->is_plain || (r->flags & SYM_RPC_NO_CONDITIONS) == 0)) {
        return false;
    }

    if (is_race && ++b->n_races >= RACES_MAX) {
        return false;
    }

    b->is_plain |= !is_race;
    b->state = BUCKET_LOOK;
    return true;
}


static void
written(bucket_t *b, const sym_rpc_message_t *r)
{
    b->is_sent |= b->path == 0;
    if (is_again(b, r)) {
        return;
    }

    b->state = BUCKET_ENDED;
    if ((r->flags & SYM_RPC_DID) == 0) {
        fail(b, "the bucket does not take the file", r->text);
    } else if (contradicts(r, b->md5[0]) || !keep_etag(r->source, b->etag)) {
        fail(b, "the bucket has other bytes than were sent: their ETag is",
             r->source);
        b->state = BUCKET_REMOVE;
    } else {
        b->state = BUCKET_CHECK;
    }
}


static void
begun(bucket_t *b, const sym_rpc_message_t *r)
{
    if ((r->flags & SYM_RPC_DID) == 0 || r->source.len == 0) {
        fail(b, "the bucket begins no upload in parts", r->text);
        b->state = BUCKET_ENDED;
        return;
    }

    memcpy(b->upload_id, r->source.data, r->source.len);
    b->upload_id[r->source.len] = '\0';
    b->part = 0;
    b->state = BUCKET_PART;
}


static void
part_written(bucket_t *b, const sym_rpc_message_t *r)
{
    if ((r->flags & SYM_RPC_DID) == 0) {
        fail(b, "the bucket does not take a part of the file", r->text);
        b->state = BUCKET_ABORT;
    } else if (r->source.len == 0 || contradicts(r, b->md5[b->part])
               || !keep_etag(r->source, b->etags[b->part]))
    {
        fail(b, "the bucket has another part than was sent: its ETag is",
             r->source);
        b->state = BUCKET_ABORT;
    } else if (++b->part == b->n_parts) {
        b->state = BUCKET_COMPLETE;
    }
}


static void
completed(bucket_t *b, const sym_rpc_message_t *r)
{
    drop_list(b);
    b->is_sent |= b->path == 0;
    b->is_repeated = (r->flags & SYM_RPC_NOTHING) != 0;
    if ((r->flags & SYM_RPC_DID) != 0 || b->is_repeated) {
        b->etag[0] = '\0'; /* an ETag of unknown form */
        b->upload_id[0] = '\0';
        b->state = BUCKET_CHECK;
    } else if (is_again(b, r)) {
        b->state = (r->flags & SYM_RPC_CHANGED_MEANWHILE) != 0
                       ? BUCKET_ABORT
                       : BUCKET_COMPLETE;
    } else {
        fail(b, "the bucket does not join the parts", r->text);
        b->state = BUCKET_ABORT;
    }
}


/* Another program may have replaced the object meanwhile; that one stays. */
static void
checked(bucket_t *b, const sym_rpc_message_t *r)
{
    bool is_unsure = b->is_repeated && !is_joined(b, r->source);
    bool is_other = is_unsure
                    || (b->etag[0] != '\0' && r->source.len != 0
                        && !sym_str_eq(r->source, sym_cstr(b->etag)));

    /* The upload in parts did not exist any more.  Either an earlier attempt has
     * joined the parts, and its answer was lost, or somebody has aborted it.  An
     * object with another ETag may be of somebody else: the file is sent again. */
    if (is_unsure && ++b->n_races < RACES_MAX) {
        b->is_repeated = false;
        b->state = BUCKET_LOOK;
        return;
    }

    if ((r->flags & SYM_RPC_DID) != 0 && !is_other
        && r->length == b->job->length) {
        next_path(b);
        return;
    }

    /* without an ETag nothing tells whose object it is */
    b->state = (r->flags & SYM_RPC_DID) != 0 && !is_other && b->etag[0] != '\0'
                   ? BUCKET_REMOVE
                   : BUCKET_ENDED;
    fail(b,
         (r->flags & SYM_RPC_NOTHING) != 0
             ? "the bucket took the file, but does not have it"
         : (r->flags & SYM_RPC_DID) != 0
             ? "the bucket took the file, but has another one"
             : "cannot look into the bucket",
         r->text);
}


/* An upload in parts that has begun is aborted by a worker; without one, a rule
 * of the bucket removes its parts. */
static void
lost(bucket_t *b)
{
    drop_list(b);
    fail(b, "the worker has gone", SYM_STR(""));
    b->state = BUCKET_ENDED;
}


void
bucket_reply(bucket_t *b, const sym_rpc_message_t *reply)
{
    if (reply == NULL) {
        lost(b);
        return;
    }

    switch (b->state) {
    case BUCKET_LOOK:
        looked(b, reply);
        break;
    case BUCKET_WRITE:
        written(b, reply);
        break;
    case BUCKET_BEGIN:
        begun(b, reply);
        break;
    case BUCKET_PART:
        part_written(b, reply);
        break;
    case BUCKET_COMPLETE:
        completed(b, reply);
        break;
    case BUCKET_CHECK:
        checked(b, reply);
        break;
    default: /* ABORT, REMOVE: the reason is known, or it was a race */
        b->state = b->reason[0] == '\0' ? BUCKET_LOOK : BUCKET_ENDED;
        b->upload_id[0] = '\0';
        break;
    }
}


void
bucket_free(bucket_t *b)
{
    if (b->job == NULL) {
        return;
    }

    drop_list(b);
    free(b->md5);
    free(b->etags);
    *b = (bucket_t){ .list_fd = -1 };
}
