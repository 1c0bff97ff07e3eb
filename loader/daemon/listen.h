/*
 * listen.h - the daemon's socket.
 *
 * Either systemd passes it (LISTEN_FDS, see sd_listen_fds(3)), or the daemon
 * creates it.  In the latter case, the file of a killed daemon is replaced, and
 * the daemon's own is removed at the end.
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
