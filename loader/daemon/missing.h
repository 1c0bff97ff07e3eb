/*
 * missing.h - the daemon's ledger of missing modules.
 *
 * Workers report modules that requests are missing (MISSED), and the ledger
 * records them (core/ledger).  This code scans the store for those that have
 * arrived since, whether fetched, loaded by hand, or stored before the daemon
 * started.  The file in the store's folder is replaced a few seconds after a
 * change.
 *
 * Arrivals are sent to clients with a webhook (ARRIVED, LISTEN), one batch at a
 * time, to one client: webhook.c.
 */
#ifndef SYMLOADER_DAEMON_MISSING_H
#define SYMLOADER_DAEMON_MISSING_H

#include "base/buffer.h"
#include "common/log_limiter.h"
#include "daemon/upload.h"
#include "ledger/write/table.h"

typedef struct {
    sym_store_t *store;
    const char *path;         /* path of the store's folder */
    const uploads_t *uploads; /* a module arrives when its file is placed */
    sym_ledger_t *ledger;
    size_t bytes;      /* maximum size of the ledger's file */
    bool is_used;      /* the file exists, or a note was received */
    bool has_room;     /* the leases have made room for the file */
    sym_buffer_t file; /* contents to write */
    int64_t write_at;  /* not before */
    bool is_late;      /* writing it failed */
    log_limiter_t log;

    /* scan for arrivals */
    bool has_news; /* the store has changed since the last scan began */
    uint32_t left; /* number of entries not scanned yet, from the end */
    int64_t look_at;

    /* the webhook */
    client_t **clients; /* list of clients, which belongs to the owner */
    uint64_t batch;     /* number of the last batch */
    uint64_t teller;    /* serial of the client that delivers the batch; 0:
                           none */
    int64_t sent_at, tell_at;
    unsigned failures; /* consecutive */
    bool is_due;       /* there may be modules to report */
    bool is_listened;  /* a client has or had a webhook */
    log_limiter_t webhook_log;
} missing_t;

/* Reads the file.  Errors are logged; the ledger is then empty. */
void missing_open(missing_t *m, const char *path, sym_store_t *store,
                  client_t **clients, const uploads_t *uploads, int64_t now_ms);
void missing_close(missing_t *m, int64_t now_ms);

/* Handles MISSED.  False: workers do not send such a message. */
bool missing_note(missing_t *m, const sym_rpc_message_t *note,
                  sym_error_t *err);

/* Call this when a module has been stored. */
void missing_news(missing_t *m);

/* Call this once in each turn of the loop. */
sym_status_t missing_turn(missing_t *m, int64_t now_ms, sym_error_t *err);

/* Whether there is work to do even without a message. */
bool missing_is_due(const missing_t *m);

/* --- webhook.c --- */

/* LISTEN. */
void webhook_listen(missing_t *m, client_t *client,
                    const sym_rpc_message_t *listen, int64_t now_ms);

/* Sends due modules; drops those that have been due for too long. */
void webhook_turn(missing_t *m, int64_t now_ms);

#endif
