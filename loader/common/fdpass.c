#include "common/fdpass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

bool
fdpass_send(int socket, struct iovec *iov, size_t n_iov, int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct msghdr mh = { .msg_iov = iov, .msg_iovlen = n_iov };
    ssize_t n;

    if (fd >= 0) {
        struct cmsghdr *c;

        mh.msg_control = control.bytes;
        mh.msg_controllen = sizeof(control.bytes);
        c = CMSG_FIRSTHDR(&mh);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof(int));
    }

    do {
        n = sendmsg(socket, &mh, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);

    return n >= 0;
}
