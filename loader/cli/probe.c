#include "cli/probe.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"

/* Enough for the headers up to the field with the file's type. */
#define PEEK_BYTES 64


size_t
probe_read(const char *path, void *head, size_t size)
{
    /* it may have become a pipe since it was found */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t n;

    if (fd < 0) {
        return 0;
    }

    n = pread(fd, head, size, 0);
    close(fd);
    return n > 0 ? (size_t) n : 0;
}


bool
probe_is_module(const char *path)
{
    uint8_t head[PEEK_BYTES] = { 0 };
    size_t n = probe_read(path, head, sizeof(head));
    const sym_format_t *format = sym_format_of(sym_format_find(head, n));

    return format != NULL && format->is_wanted != NULL
           && format->is_wanted(head, n);
}


bool
probe_is_cabinet(const char *path)
{
    char head[4];

    return probe_read(path, head, sizeof(head)) == sizeof(head)
           && memcmp(head, "MSCF", sizeof(head)) == 0;
}
