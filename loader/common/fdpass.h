/*
 * fdpass.h - a message over a unix socket, and a descriptor with it.
 */
#ifndef SYMLOADER_COMMON_FDPASS_H
#define SYMLOADER_COMMON_FDPASS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* fd -1: none goes along.  False: errno says why, EINTR never. */
bool fdpass_send(int socket, struct iovec *iov, size_t n_iov, int fd);

#endif
