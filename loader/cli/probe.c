#include "cli/probe.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"

/* More than the headers take up to what tells a file's type. */
#define PEEK_BYTES 64


static size_t
read_head(const char *path, uint8_t head[PEEK_BYTES])
{
    /* it may have become a pipe meanwhile */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t n;

    if (fd < 0) {
        return 0;
    }

    n = pread(fd, head, PEEK_BYTES, 0);
    close(fd);
    return n > 0 ? (size_t) n : 0;
}


bool
probe_is_module(const char *path)
{
    uint8_t head[PEEK_BYTES] = { 0 };
    size_t n = read_head(path, head);
    const sym_format_t *format = sym_format_of(sym_format_find(head, n));

    return format != NULL && format->is_wanted != NULL
           && format->is_wanted(head, n);
}
