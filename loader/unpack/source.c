#include "unpack/source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>


void
source_start(source_t *s, int fd, uint64_t length)
{
    s->fd = fd;
    s->more = NULL;
    s->read_bytes = 0;
    s->most_bytes = length;
    s->offset = 0;
    s->left = 0;
}


void
source_start_from(source_t *s, source_more_pt more, void *from,
                  const char *head, size_t len)
{
    source_start(s, -1, UINT64_MAX);
    s->more = more;
    s->from = from;
    memcpy(s->piece, head, len);
    s->read_bytes = len;
    s->pos = s->piece;
    s->left = len;
}


/* *n 0: the end. */
static sym_status_t
read_some(source_t *s, char *to, size_t room, size_t *n, sym_error_t *err)
{
    ssize_t rc;

    *n = 0;

    if (s->more != NULL) {
        return s->more(s->from, to, room, n, err);
    }

    do {
        rc = read(s->fd, to, room);
    } while (rc < 0 && errno == EINTR);

    if (rc < 0) {
        err->offset = s->read_bytes;
        return sym_fail_sys(err, SYM_IO, "cannot read the file", errno);
    }

    *n = (size_t) rc;
    return SYM_OK;
}


sym_status_t
source_fill(source_t *s, size_t want, sym_error_t *err)
{
    size_t piece = s->read_bytes == 0 ? SOURCE_FIRST_BYTES : SOURCE_PIECE_BYTES;
    size_t have = 0, n = 1;

    if (s->left > 0) {
        return SYM_OK;
    }

    while (n > 0 && have < want && s->read_bytes < s->most_bytes) {
        uint64_t most = s->most_bytes - s->read_bytes;
        size_t room = piece - have;

        if (read_some(s, s->piece + have, most < room ? (size_t) most : room,
                      &n, err)
            != SYM_OK)
        {
            return err->status;
        }

        have += n;
        s->read_bytes += n;
    }

    s->pos = s->piece;
    s->left = have;
    return SYM_OK;
}


void
source_take(source_t *s, size_t n)
{
    s->pos += n;
    s->left -= n;
    s->offset += n;
}


sym_status_t
source_fail(const source_t *s, const char *section, sym_status_t status,
            const char *what, sym_error_t *err)
{
    if (err->status == SYM_OK) {
        err->section = section;
        err->offset = s->offset;
    }

    return sym_fail(err, status, what);
}
