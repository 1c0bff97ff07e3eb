/*
 * fdpass.h - sends a message with a descriptor over a unix socket.
 */
#ifndef SYMLOADER_COMMON_FDPASS_H
#define SYMLOADER_COMMON_FDPASS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* fd -1: no descriptor.  False: errno has the reason, but it is never EINTR. */
bool fdpass_send(int socket, struct iovec *iov, size_t n_iov, int fd);

#endif
