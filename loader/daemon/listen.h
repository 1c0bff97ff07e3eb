/*
 * listen.h - the daemon's socket.
 *
 * systemd's (LISTEN_FDS, see sd_listen_fds(3)), or one that we make: then a
 * file that a killed daemon left is replaced, and ours goes at the end.
 */
#ifndef SYMLOADER_DAEMON_LISTEN_H
#define SYMLOADER_DAEMON_LISTEN_H

#include <sys/un.h>

#include "base/error.h"
#include "common/options.h"

typedef struct {
    int fd;
    bool is_ours;
    char path[sizeof(((struct sockaddr_un *) 0)->sun_path)];
} listen_t;

sym_status_t listen_open(listen_t *l, const options_t *options,
                         sym_error_t *err);
void listen_close(listen_t *l);

#endif
