#include "daemon/upload_state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
send_request(upload_t *u, sym_rpc_message_t *m, int fd)
{
    m->type = SYM_RPC_OBJECT;
    m->ticket = u->ticket;
    m->key.scope = u->folder->source;
    if (u->client != NULL) {
        client_send_with(u->client, m, fd);
    }
}


/* --- the file that is put --- */

static bool
has_path(const placer_job_t *job, const char *path)
{
    for (unsigned i = 0; i < job->n_paths; i++) {
        if (strcmp(job->paths[i], path) == 0) {
            return true;
        }
    }

    return false;
}


/* Files that have a path in common are put in the order in which the store decided
 * between them, so that the last one stays. */
static bool
must_wait(const upload_t *u)
{
    const upload_t *other;

    for (other = u->all->first; other != NULL; other = other->next) {
        bool is_before = (other->asks == UPLOAD_ASKS_TURN
                          || other->asks == UPLOAD_ASKS_TO_PUT)
                         && other->turn < u->turn;

        if (!is_before || other->folder != u->folder) {
            continue;
        }

        for (unsigned i = 0; i < u->job.n_paths; i++) {
            if (has_path(&other->job, u->job.paths[i])) {
                return true;
            }
        }
    }

    return false;
}


/* Attempts to put a file, if another machine puts others of the same module. */
#define COMPARISONS_MAX 4

static void
put_next(upload_t *u)
{
    sym_rpc_message_t m;
    int fd;

    if (bucket_request(&u->bucket, &m, &fd)) {
        u->asks = UPLOAD_ASKS_TO_PUT;
        send_request(u, &m, fd);
        return;
    }

    u->asks = UPLOAD_ASKS_NOTHING;
    if (u->bucket.is_changed && ++u->n_old < COMPARISONS_MAX) {
        bucket_free(&u->bucket);
        upload_compare(u);
        return;
    }

    (void) snprintf(u->why, sizeof(u->why), "%s",
                    u->bucket.is_changed
                        ? "others put files of this module at the same time"
                        : u->bucket.reason);
    bucket_free(&u->bucket);
    upload_placed(u);
}


/* Ranges of a symbfile, scripts and maps replace whatever is there. */
static bucket_knows_t
knows(const upload_t *u)
{
    bool is_any = u->parts != 0 || u->is_newest;

    return is_any             ? BUCKET_ANY
           : !u->has_old_read ? BUCKET_NOT_READ
           : u->is_old_absent ? BUCKET_ABSENT
                              : BUCKET_READ;
}


void
upload_bucket_put(upload_t *u)
{
    u->job.is_same = false;
    if (!bucket_begin(&u->bucket, &u->job, u->part_bytes, knows(u),
                      u->old_etag)) {
        bucket_free(&u->bucket);
        (void) snprintf(u->why, sizeof(u->why), "out of memory");
        upload_placed(u);
        return;
    }

    u->asks = UPLOAD_ASKS_TURN;
    u->turn = ++u->all->turns;
    placer_add(u->all->placer, &u->job);
}


void
upload_bucket_digested(upload_t *u)
{
    if (u->job.error != 0) {
        u->asks = UPLOAD_ASKS_NOTHING;
        bucket_free(&u->bucket);
        upload_placed(u);
    } else {
        u->is_digested = true;
    }
}


/* --- the object that is there --- */

void
upload_bucket_read(upload_t *u)
{
    sym_rpc_message_t m = { .kind = SYM_RPC_OBJECT_READ,
                            .text = sym_cstr(u->job.paths[0]),
                            .limit = SYM_RPC_FILE_LENGTH_MAX };

    u->old_fd = placer_temporary(u->folder->fd);
    if (u->old_fd < 0) {
        upload_old_failed(u, "no descriptor for the file that is there");
        return;
    }

    u->asks = UPLOAD_ASKS_TO_READ;
    send_request(u, &m, u->old_fd);
}


static void
was_read(upload_t *u, const sym_rpc_message_t *reply)
{
    int fd = u->old_fd;
    char why[CONVERSION_REASON_MAX];

    u->old_fd = -1;
    u->old_etag[0] = '\0';
    u->has_old_read =
        reply != NULL && (reply->flags & (SYM_RPC_DID | SYM_RPC_NOTHING)) != 0;
    u->is_old_absent = u->has_old_read && (reply->flags & SYM_RPC_NOTHING) != 0;
    if (reply != NULL && reply->source.len < sizeof(u->old_etag)) {
        (void) snprintf(u->old_etag, sizeof(u->old_etag), "%.*s",
                        (int) reply->source.len, reply->source.data);
    }

    if (reply != NULL && (reply->flags & SYM_RPC_DID) != 0) {
        upload_begin_old(u, fd, reply->length);
    } else if (reply != NULL && (reply->flags & SYM_RPC_NOTHING) != 0) {
        upload_begin_old(u, -1, 0);
    } else {
        (void) snprintf(why, sizeof(why), "cannot look into the bucket: %.*s",
                        reply != NULL ? (int) reply->text.len : 0,
                        reply != NULL ? reply->text.data : "");
        upload_old_failed(u, why);
    }
    close(fd);
}


void
upload_bucket_look(upload_t *u, const char *path)
{
    sym_rpc_message_t m = { .kind = SYM_RPC_OBJECT_LOOK,
                            .text = sym_cstr(path) };

    u->asks = UPLOAD_ASKS_TO_LOOK;
    send_request(u, &m, -1);
}


/* --- answers --- */

static void
replied(upload_t *u, const sym_rpc_message_t *reply)
{
    upload_asks_t asked = u->asks;

    u->asks = UPLOAD_ASKS_NOTHING;
    switch (asked) {
    case UPLOAD_ASKS_TO_PUT:
        bucket_reply(&u->bucket, reply);
        put_next(u);
        break;
    case UPLOAD_ASKS_TO_READ:
        was_read(u, reply);
        break;
    default:
        upload_note_looked(u, reply);
        break;
    }
}


static bool
is_asking(const upload_t *u)
{
    return u->asks == UPLOAD_ASKS_TO_PUT || u->asks == UPLOAD_ASKS_TO_READ
           || u->asks == UPLOAD_ASKS_TO_LOOK;
}


void
upload_reply(uploads_t *all, client_t *client, const sym_rpc_message_t *m)
{
    for (upload_t *u = all->first; u != NULL; u = u->next) {
        if (u->client == client && u->ticket == m->ticket && is_asking(u)) {
            replied(u, m);
            return;
        }
    }
}


bool
upload_bucket_is_lost(const upload_t *u)
{
    return u->client == NULL && is_asking(u);
}


/* One that can go on; NULL: none. */
static upload_t *
next_ready(const uploads_t *all)
{
    for (upload_t *u = all->first; u != NULL; u = u->next) {
        if (upload_bucket_is_lost(u)
            || (u->asks == UPLOAD_ASKS_TURN && u->is_digested && !must_wait(u)))
        {
            return u;
        }
    }

    return NULL;
}


void
uploads_buckets_turn(uploads_t *all)
{
    upload_t *u;

    while ((u = next_ready(all)) != NULL) {
        if (u->asks == UPLOAD_ASKS_TURN) {
            u->is_digested = false;
            put_next(u);
        } else {
            replied(u, NULL);
        }
    }
}
