#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/options.h"

static bool
write_all(output_t *out, const char *p, size_t len)
{
    while (len > 0 && out->sys_errno == 0) {
        ssize_t n = write(out->fd, p, len);

        if (n >= 0) {
            p += n;
            len -= (size_t) n;

        } else if (errno != EINTR) {
            out->sys_errno = errno;
        }
    }

    return out->sys_errno == 0;
}


/* Doubles the buffer, because nothing may be written while a snapshot is open.
 * A stream is written out instead; then there is enough room. */
static bool
more(sym_out_t *json, size_t need)
{
    output_t *out = json->ctx;
    size_t used = (size_t) (out->json.pos - out->buffer);
    size_t size = (size_t) (json->end - out->buffer);
    char *grown;

    if (out->is_stream) {
        return output_flush(out);
    }

    while (size - used < need) {
        if (size > SIZE_MAX / 2) {
            return false;
        }

        size *= 2;
    }

    grown = realloc(out->buffer, size);

    if (grown == NULL) {
        return false;
    }

    out->buffer = grown;
    json->before++; /* a new window over the same bytes */
    json->pos = grown + used;
    json->end = grown + size;
    return true;
}


output_t *
output_create(void)
{
    output_t *out = malloc(sizeof(*out));
    char *buffer = malloc(SYM_OUT_NEED_MAX);

    if (out == NULL || buffer == NULL) {
        fprintf(stderr, "symloader: out of memory\n");
        free(out);
        free(buffer);
        return NULL;
    }

    out->fd = STDOUT_FILENO;
    out->is_stream = false;
    out->sys_errno = 0;
    out->buffer = buffer;
    out->json = (sym_out_t){ .pos = buffer,
                             .end = buffer + SYM_OUT_NEED_MAX,
                             .more = more,
                             .ctx = out };
    return out;
}


output_t *
output_create_stream(int fd)
{
    output_t *out = output_create();

    if (out != NULL) {
        out->fd = fd;
        output_stream(out);
    }

    return out;
}


void
output_stream(output_t *out)
{
    out->is_stream = true;
}


bool
output_flush(output_t *out)
{
    size_t len = (size_t) (out->json.pos - out->buffer);

    if (out->json.failed && out->sys_errno == 0) {
        out->sys_errno = ENOMEM;
    }

    out->json.before += len;
    out->json.pos = out->buffer;
    return write_all(out, out->buffer, len);
}


int
output_end(output_t *out, int code)
{
    int failure;

    output_flush(out);
    failure = out->sys_errno;
    free(out->buffer);
    free(out);

    if (failure == 0 || failure == EPIPE) {
        return code;
    }

    fprintf(stderr, "symloader: cannot write the output: %s\n",
            strerror(failure));
    return EXIT_OUTPUT;
}
