/*
 * serve.h - the daemon, for its own files.
 *
 * One thread, one loop around one ppoll(): clients, converters, time (serve.c).
 * Messages: on_message.c.  Outcomes of submitted files: results.c.
 */
#ifndef SYMLOADER_DAEMON_SERVE_H
#define SYMLOADER_DAEMON_SERVE_H

#include <poll.h>
#include <signal.h>

#include "common/log_limiter.h"
#include "daemon/expiry.h"
#include "daemon/heal.h"
#include "daemon/listen.h"
#include "daemon/missing.h"
#include "daemon/negatives.h"
#include "daemon/share.h"
#include "daemon/supplement.h"
#include "daemon/upload.h"

typedef struct {
    const options_t *options;
    sym_store_t *store;
    listen_t listener;
    bool is_deaf; /* it could not be opened; `broken` has the reason */
    inflights_t inflights;
    conversions_t conversions;
    supplements_t supplements;
    negatives_t negatives;
    heal_t heal;
    expiry_t expiry;
    missing_t missing;
    uploads_t uploads;
    shares_t shares;
    sigset_t waiting_mask;

    client_t *clients;
    unsigned n_clients;
    uint64_t next_serial;
    struct pollfd *polls;
    size_t n_polls;

    int64_t now, tick_at;
    int64_t accept_at; /* no client is accepted before this time */
    uint64_t invalidations, unusable_shares;
    log_limiter_t store_log, converter_log, accept_log;
    const char *bad_folder; /* an upload folder that cannot be used */
    sym_error_t broken;     /* set if the store has failed, and the daemon must
                               end */
} serve_t;

/* Handles a message with its descriptor or -1, which the daemon now owns. */
void serve_message(serve_t *s, client_t *client, const sym_rpc_message_t *m,
                   int fd);

/* Called when an upload contained an artifact: clients that wait for it get it,
 * and other searches for the module begin again.  owner: serve_t. */
void serve_arrived(void *owner, const store_upload_t *artifact);
void serve_placed(void *owner);

/* Called when an upload replaced the file at a path: requests get the new one. */
void serve_changed(void *owner, sym_str_t source, sym_str_t path);

/* Callbacks for the conversions of a serve_t. */
extern const conversion_events_t serve_conversion_events;

/* Logs a failure of the store; the daemon ends if it is damaged.  owner:
 * serve_t. */
void serve_store_failed(void *owner, const sym_error_t *err);

#endif
