#include "cli/probe.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"
#include "formats/packed/package.h"

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
    char head[PEEK_BYTES] = { 0 };

    return sym_format_is_module(
        sym_str(head, probe_read(path, head, sizeof(head))));
}


bool
probe_is_cabinet(const char *path)
{
    char head[4];

    return probe_read(path, head, sizeof(head)) == sizeof(head)
           && memcmp(head, "MSCF", sizeof(head)) == 0;
}


/* An Android package, which is a zip, has the same ending as Alpine's. */
static bool
is_gzip(sym_str_t head)
{
    return sym_str_starts(head, SYM_STR("\x1f\x8b"));
}


bool
probe_is_package(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char bytes[PEEK_BYTES];
    sym_str_t head = sym_str(bytes, probe_read(path, bytes, sizeof(bytes)));

    return sym_package_is(head)
           || (sym_str_ends_nocase(sym_cstr(name), SYM_STR(".apk"))
               && is_gzip(head))
           || (head.len != 0 && strstr(name, ".pkg.tar") != NULL);
}
