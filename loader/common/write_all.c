#include "common/write_all.h"

#include <errno.h>
#include <unistd.h>

bool
write_all_at(int fd, const void *data, size_t len, uint64_t at)
{
    const char *p = data;

    while (len != 0) {
        ssize_t n = pwrite(fd, p, len, (off_t) at);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        if (n > 0) {
            p += n;
            len -= (size_t) n;
            at += (uint64_t) n;
        }
    }

    return true;
}
