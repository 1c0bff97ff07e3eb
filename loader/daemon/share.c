#include "daemon/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "common/write_all.h"
#include "store/artifact_head.h"

/* More are refused: the nodes that want them make their own. */
#define SHARES_MAX 64

/* Bytes of an artifact that a turn packs: some milliseconds. */
#define TURN_BYTES ((uint64_t) 512 * 1024)

/* Artifacts are packed once and read seldom, and a turn must be short. */
#define LEVEL 3

struct share_s {
    share_t *next;
    client_t *client; /* NULL: gone */
    uint32_t ticket;
    int fd;
    uint64_t written;
    bool is_joined; /* the client adds the object of the bucket to the file */
    uint64_t more;  /* bytes that it may add */
    ZSTD_CCtx *zstd;
    size_t n_out;
    char *out;
    unsigned n, part; /* parts; the next of them */
    uint32_t at;      /* its next extent */
    sym_shared_artifact_t parts[];
};


/* Frees all but the record of its bytes. */
static void
close_share(share_t *share)
{
    if (share->fd >= 0) {
        close(share->fd);
    }

    ZSTD_freeCCtx(share->zstd);
    free(share->out);
    share->fd = -1;
    share->zstd = NULL;
    share->out = NULL;
}


static void
free_share(share_t *share)
{
    close_share(share);
    free(share);
}


/* --- begin --- */

/* Finds the artifacts.  A file that is known to lack the one wanted kind counts:
 * other nodes need not look for it. */
static void
find_parts(sym_snapshot_t *snapshot, share_t *share, const sym_rpc_message_t *m)
{
    const sym_path_key_t path = { m->key.scope, m->source, m->ref.checksum };

    for (size_t i = 0; i < SYM_KINDS; i++) {
        sym_shared_artifact_t *part = &share->parts[share->n];
        sym_kind_t kind = sym_kinds[i]->kind;

        if ((m->kind == SYM_KIND_ALL || m->kind == kind)
            && sym_snapshot_shared(snapshot, &path, &m->ref, kind, part)
            && (m->kind == kind || part->extents != 0))
        {
            share->n++;
        }
    }
}


static bool
find(shares_t *s, share_t *share, const sym_rpc_message_t *m)
{
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };

    if (sym_snapshot_begin(s->store, &snapshot, &err) == SYM_OK) {
        find_parts(snapshot, share, m);
        sym_snapshot_end(snapshot);
    }

    return share->n != 0;
}


static bool
prepare(const shares_t *s, share_t *share)
{
    share->fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    share->n_out = ZSTD_CStreamOutSize();
    share->out = malloc(share->n_out);
    share->zstd = ZSTD_createCCtx();
    return share->fd >= 0 && share->out != NULL && share->zstd != NULL
           && !ZSTD_isError(ZSTD_CCtx_setParameter(
               share->zstd, ZSTD_c_compressionLevel, LEVEL))
           && !ZSTD_isError(
               ZSTD_CCtx_setParameter(share->zstd, ZSTD_c_checksumFlag, 1));
}


void
share_begin(shares_t *s, client_t *client, const sym_rpc_message_t *m)
{
    share_t *share =
        s->n < SHARES_MAX ? calloc(
            1, sizeof(*share) + SYM_KINDS * sizeof(sym_shared_artifact_t))
                          : NULL;

    if (share == NULL) {
        client_done(client, m, 0, SYM_STR("too many artifacts are shared now"));
        return;
    }

    share->fd = -1;
    share->client = client;
    share->ticket = m->ticket;
    share->is_joined = m->kind != SYM_KIND_ALL;

    if (!find(s, share, m)) {
        client_done(client, m, SYM_RPC_NOTHING, SYM_STR("no such artifacts"));
        free_share(share);
        return;
    }

    if (!prepare(s, share)) {
        client_done(client, m, 0, SYM_STR("cannot make a temporary file"));
        free_share(share);
        return;
    }

    *(s->last != NULL ? &s->last->next : &s->first) = share;
    s->last = share;
    s->n++;
}


/* --- a turn --- */

static bool
write_out(shares_t *s, share_t *share, const ZSTD_outBuffer *out)
{
    if (s->bytes + out->pos > s->room
        || !write_all_at(share->fd, out->dst, out->pos, share->written))
    {
        return false;
    }

    share->written += out->pos;
    s->bytes += out->pos;
    return true;
}


static bool
pack(shares_t *s, share_t *share, const void *data, size_t len,
     ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = { data, len, 0 };
    size_t left;

    do {
        ZSTD_outBuffer out = { share->out, share->n_out, 0 };

        left = ZSTD_compressStream2(share->zstd, &out, &in, how);
        if (ZSTD_isError(left) || !write_out(s, share, &out)) {
            return false;
        }
    } while (how == ZSTD_e_end ? left != 0 : in.pos < in.size);

    return true;
}


/* Packs extents of a part; *bytes: how many bytes the turn has packed. */
static bool
pack_part(shares_t *s, share_t *share, const sym_shared_artifact_t *part,
          sym_snapshot_t *snapshot, uint64_t *bytes)
{
    if (share->at == 0
        && !pack(s, share, part->head, part->n_head, ZSTD_e_continue))
    {
        return false;
    }

    for (; share->at < part->extents && *bytes < TURN_BYTES; share->at++) {
        char head[SYM_ARTIFACT_EXTENT_HEAD];
        const uint8_t *data;
        size_t len;

        if (sym_snapshot_extent_checked(snapshot, part->module_id, share->at,
                                        &data, &len)
            != SYM_OK)
        {
            return false;
        }

        sym_artifact_file_extent(data, len, head);
        if (!pack(s, share, head, sizeof(head), ZSTD_e_continue)
            || !pack(s, share, data, len, ZSTD_e_continue))
        {
            return false;
        }

        *bytes += len;
    }

    return true;
}


/* Packs some extents.  False: an artifact is gone or damaged, or there is no
 * room. */
static bool
pack_some(shares_t *s, share_t *share, sym_snapshot_t *snapshot)
{
    uint64_t bytes = 0;

    while (share->part < share->n && bytes < TURN_BYTES) {
        const sym_shared_artifact_t *part = &share->parts[share->part];

        if (!pack_part(s, share, part, snapshot, &bytes)) {
            return false;
        }

        if (share->at == part->extents) {
            share->part++;
            share->at = 0;
        }
    }

    return share->part < share->n || pack(s, share, NULL, 0, ZSTD_e_end);
}


static void
end(shares_t *s, share_t *share, bool is_made)
{
    sym_rpc_message_t m = { .type = SYM_RPC_DONE, .ticket = share->ticket };
    char text[64];

    if (is_made && share->is_joined && s->room > s->bytes) {
        share->more = (s->room - s->bytes) / 2;
        s->bytes += share->more;
    }

    (void) snprintf(text, sizeof(text), "%llu %llu",
                    (unsigned long long) share->written,
                    (unsigned long long) share->more);
    m.flags = is_made ? SYM_RPC_MADE : 0;
    m.text = is_made ? sym_cstr(text)
                     : SYM_STR("the artifacts could not be written to a file");
    client_send_with(share->client, &m, is_made ? share->fd : -1);
}


void
shares_turn(shares_t *s)
{
    share_t *share = s->first;
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };
    bool is_good = false;

    if (share == NULL) {
        return;
    }

    if (share->client != NULL
        && sym_snapshot_begin(s->store, &snapshot, &err) == SYM_OK)
    {
        is_good = pack_some(s, share, snapshot);
        sym_snapshot_end(snapshot);
        if (is_good && share->part < share->n) {
            return;
        }
    }

    if (share->client != NULL) {
        end(s, share, is_good);
    }

    s->first = share->next;
    s->last = s->first != NULL ? s->last : NULL;
    if (is_good) {
        close_share(share);
        share->next = s->sent;
        s->sent = share;
        return;
    }

    s->bytes -= share->written;
    s->n--;
    free_share(share);
}


/* ticket NULL: any. */
static void
forget_sent(shares_t *s, const client_t *client, const uint32_t *ticket)
{
    share_t **at = &s->sent, *share;

    while ((share = *at) != NULL) {
        if (share->client != client
            || (ticket != NULL && share->ticket != *ticket)) {
            at = &share->next;
            continue;
        }

        *at = share->next;
        s->bytes -= share->written + share->more;
        s->n--;
        free_share(share);
    }
}


void
shares_closed(shares_t *s, const client_t *client, uint32_t ticket)
{
    forget_sent(s, client, &ticket);
}


bool
shares_are_due(const shares_t *s)
{
    return s->first != NULL;
}


void
shares_leave(shares_t *s, const client_t *client)
{
    for (share_t *share = s->first; share != NULL; share = share->next) {
        if (share->client == client) {
            share->client = NULL;
        }
    }

    forget_sent(s, client, NULL);
}


static void
free_all(share_t *share)
{
    while (share != NULL) {
        share_t *next = share->next;

        free_share(share);
        share = next;
    }
}


void
shares_close(shares_t *s)
{
    free_all(s->first);
    free_all(s->sent);
}
