#include "source.h"

#include <errno.h>
#include <unistd.h>


void
source_start(source_t *s, int fd, uint64_t length)
{
    s->fd = fd;
    s->read_bytes = 0;
    s->most_bytes = length;
    s->offset = 0;
    s->left = 0;
}


sym_status_t
source_fill(source_t *s, size_t want, sym_error_t *err)
{
    size_t have = 0;
    ssize_t n = 1;

    if (s->left > 0) {
        return SYM_OK;
    }

    while (n > 0 && have < want && s->read_bytes < s->most_bytes) {
        uint64_t most = s->most_bytes - s->read_bytes;
        size_t room = SOURCE_PIECE_BYTES - have;

        n = read(s->fd, s->piece + have, most < room ? (size_t) most : room);

        if (n < 0 && errno == EINTR) {
            n = 1;
            continue;
        }

        if (n < 0) {
            err->offset = s->read_bytes;
            return sym_fail_sys(err, SYM_IO, "cannot read the file", errno);
        }

        have += (size_t) n;
        s->read_bytes += (size_t) n;
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
