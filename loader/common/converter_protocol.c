#include "common/converter_protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "common/fdpass.h"

typedef union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
} fd_control_t;

/* Sends a message with a descriptor, unless that is -1. */
static bool
send_with_fd(int fd, converter_type_t type, uint32_t number, const void *data,
             size_t len, int input_fd)
{
    converter_head_t head = { (uint32_t) type, number };
    struct iovec iov[2] = { { &head, sizeof(head) }, { (void *) data, len } };

    return fdpass_send(fd, iov, 2, input_fd);
}


bool
converter_send(int fd, converter_type_t type, uint32_t number, const void *data,
               size_t len)
{
    return send_with_fd(fd, type, number, data, len, -1);
}


bool
converter_send_job(int fd, int input_fd, const converter_job_t *job)
{
    return send_with_fd(fd, CONVERTER_JOB, 0, job, sizeof(*job), input_fd);
}


bool
converter_send_given(int fd, int input_fd, const converter_given_t *given)
{
    return send_with_fd(fd, CONVERTER_GIVEN, 0, given, sizeof(*given),
                        input_fd);
}


/* Whether a message of this type has this many bytes. */
static bool
length_fits(uint32_t type, size_t len)
{
    switch (type) {
    case CONVERTER_MODULE:
        return len == sizeof(converter_module_t);
    case CONVERTER_EXTENT:
        return len > 0 && len <= SYM_EXTENT_MAX;
    case CONVERTER_DONE:
        return len == sizeof(converter_done_t);
    case CONVERTER_FAILED:
        return len == sizeof(converter_failed_t);
    case CONVERTER_NOTE:
        return len == sizeof(converter_note_t);
    case CONVERTER_OBJECT:
        return len == sizeof(converter_object_t);
    case CONVERTER_WANT:
        return len == sizeof(sym_companion_t);
    case CONVERTER_MEMBER:
        return len == sizeof(converter_member_t);
    case CONVERTER_BYTES:
        return len > 0 && len <= SYM_EXTENT_MAX;
    case CONVERTER_NAMES:
    case CONVERTER_LISTED:
        return len == 0;
    default:
        return false;
    }
}


sym_status_t
converter_receive(int fd, int flags, converter_message_t *m)
{
    struct iovec iov[2] = { { &m->head, sizeof(m->head) },
                            { m->data.bytes, sizeof(m->data.bytes) } };
    struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2 };
    ssize_t n;

    do {
        n = recvmsg(fd, &mh, flags);
    } while (n < 0 && errno == EINTR);

    if (n < 0) {
        return errno == EAGAIN ? SYM_AGAIN : SYM_NOT_FOUND;
    }

    if (n == 0) {
        return SYM_NOT_FOUND;
    }

    if ((size_t) n < sizeof(m->head) || (mh.msg_flags & MSG_TRUNC)) {
        return SYM_MALFORMED;
    }

    m->len = (size_t) n - sizeof(m->head);
    return length_fits(m->head.type, m->len) ? SYM_OK : SYM_MALFORMED;
}


/* Receives a message with exactly this type and length; returns its descriptor,
   or -1. */
static int
receive_with_fd(int fd, converter_type_t type, void *data, size_t len)
{
    converter_head_t head;
    struct iovec iov[2] = { { &head, sizeof(head) }, { data, len } };
    fd_control_t control;
    struct msghdr mh = { .msg_iov = iov,
                         .msg_iovlen = 2,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes) };
    const struct cmsghdr *c;
    ssize_t n;
    int input_fd;

    do {
        n = recvmsg(fd, &mh, 0);
    } while (n < 0 && errno == EINTR);

    c = n == (ssize_t) (sizeof(head) + len) ? CMSG_FIRSTHDR(&mh) : NULL;

    if (c == NULL || head.type != (uint32_t) type || c->cmsg_type != SCM_RIGHTS)
    {
        return -1;
    }

    memcpy(&input_fd, CMSG_DATA(c), sizeof(int));
    return input_fd;
}


int
converter_receive_job(int fd, converter_job_t *job)
{
    return receive_with_fd(fd, CONVERTER_JOB, job, sizeof(*job));
}


int
converter_receive_given(int fd, converter_given_t *given)
{
    return receive_with_fd(fd, CONVERTER_GIVEN, given, sizeof(*given));
}
