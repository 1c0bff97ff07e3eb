/*
 * A packed file of any bytes, through everything that input.c calls.  The
 * output, or the error, must be the same for a regular file and a pipe, where
 * each read ends early.  The first byte is the size of the pieces.  No file may
 * expand beyond its limit.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unpack/input.h"

#define EXPANDED_MAX ((uint64_t) 4 << 20)

/* Packets and bytes that a socket holds without a reader. */
#define PACKETS_MAX 64
#define PACKETS_BYTES ((size_t) 64 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    sym_status_t status;
    const char *what;
    uint64_t bytes, sum;
} fetch_result_t;


/* FNV-1a */
static uint64_t
add(uint64_t sum, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        sum = (sum ^ (uint8_t) data[i]) * 0x100000001b3;
    }

    return sum;
}


static fetch_result_t
run(input_t *in, int fd, uint64_t file_bytes)
{
    fetch_result_t o = { SYM_OK, NULL, 0, 0 };
    sym_error_t err = { 0 };
    const char *data;
    size_t len;

    input_start(in, fd, UINT64_MAX);

    do {
        o.status = input_next(in, &data, &len, &err);

        if (o.status == SYM_OK) {
            o.bytes += len;
            o.sum = add(o.sum, data, len);
        }
    } while (o.status == SYM_OK && len > 0);

    /* a tar in it may be longer, but not beyond the limit */
    if (o.status != err.status
        || (err.offset > file_bytes && err.offset > EXPANDED_MAX)
        || (o.bytes > EXPANDED_MAX && o.bytes != file_bytes))
    {
        abort();
    }

    o.what = err.what;
    return o;
}


static fetch_result_t
run_whole(input_t *in, const uint8_t *data, size_t size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    fetch_result_t o;

    if (fd < 0 || write(fd, data, size) != (ssize_t) size
        || lseek(fd, 0, SEEK_SET) != 0)
    {
        abort();
    }

    o = run(in, fd, size);
    close(fd);
    return o;
}


/* Each packet is one read(). */
static fetch_result_t
run_pieces(input_t *in, const uint8_t *data, size_t size, size_t piece)
{
    int fds[2];
    fetch_result_t o;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) != 0) {
        abort();
    }

    for (size_t at = 0; at < size; at += piece) {
        size_t len = size - at < piece ? size - at : piece;

        if (send(fds[0], data + at, len, MSG_DONTWAIT) != (ssize_t) len) {
            abort();
        }
    }

    close(fds[0]);
    o = run(in, fds[1], size);
    close(fds[1]);
    return o;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static input_t *in; /* kept, as in the converter */
    fetch_result_t whole, pieces;
    size_t piece;

    if (in == NULL) {
        in = input_create(EXPANDED_MAX, true);
    }

    if (in == NULL || size < 2) {
        return 0;
    }

    piece = 1 + data[0];
    data++;
    size--;
    whole = run_whole(in, data, size);

    if (size > PACKETS_BYTES) {
        return 0;
    }

    if (piece < size / PACKETS_MAX + 1) {
        piece = size / PACKETS_MAX + 1;
    }

    pieces = run_pieces(in, data, size, piece);

    /* The amount of output before an error is unspecified, and so is which of
     * two errors a damaged file gets. */
    if ((whole.status == SYM_OK) != (pieces.status == SYM_OK)
        || (whole.status == SYM_OK
            && (whole.bytes != pieces.bytes || whole.sum != pieces.sum)))
    {
        abort();
    }

    return 0;
}
