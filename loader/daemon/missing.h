/*
 * missing.h - the daemon's ledger of modules that requests did not get.
 *
 * Workers say what was missing (MISSED), the ledger keeps it (core/ledger), and
 * this looks in the store for what has come meanwhile, however it came: fetched,
 * loaded by hand, before the daemon was started.  The file in the store's folder
 * is replaced a few seconds after a change.
 *
 * Clients with a webhook (LISTEN) get what has come (ARRIVED), one batch at a
 * time, from one client: webhook.c.
 */
#ifndef SYMLOADER_DAEMON_MISSING_H
#define SYMLOADER_DAEMON_MISSING_H

#include "base/buffer.h"
#include "common/log_limiter.h"
#include "daemon/client.h"
#include "ledger/write/table.h"

typedef struct {
    sym_store_t *store;
    const char *path; /* of the store's folder */
    sym_ledger_t *ledger;
    size_t bytes;      /* at most, of the file */
    bool is_used;      /* there is a file, or a note came */
    bool has_room;     /* the leases have made room for the file */
    sym_buffer_t file; /* what is written */
    int64_t write_at;  /* not before */
    bool is_late;      /* it could not be written */
    log_limiter_t log;

    /* looking for what has come */
    bool has_news; /* the store has changed since the last look began */
    uint32_t left; /* entries that were not looked at yet, from the end */
    int64_t look_at;

    /* the webhook */
    client_t **clients; /* the owner's list */
    uint64_t batch;     /* number of the last one */
    uint64_t teller;    /* serial of the client that has it; 0: none has */
    int64_t sent_at, tell_at;
    unsigned failures; /* one after the other */
    bool is_due;       /* modules are, or may be, to be told of */
    bool is_listened;  /* a client has a webhook, or had */
    log_limiter_t webhook_log;
} missing_t;

/* Reads the file.  Trouble is logged, and the ledger begins empty. */
void missing_open(missing_t *m, const char *path, sym_store_t *store,
                  client_t **clients, int64_t now_ms);
void missing_close(missing_t *m, int64_t now_ms);

/* MISSED.  False: no such message is sent by a worker. */
bool missing_note(missing_t *m, const sym_rpc_message_t *note,
                  sym_error_t *err);

/* The store has a module more. */
void missing_news(missing_t *m);

/* Once in a turn of the loop. */
sym_status_t missing_turn(missing_t *m, int64_t now_ms, sym_error_t *err);

/* Whether there will be something to do without a message. */
bool missing_is_due(const missing_t *m);

/* --- webhook.c --- */

/* LISTEN. */
void webhook_listen(missing_t *m, client_t *client,
                    const sym_rpc_message_t *listen, int64_t now_ms);

/* Sends what is due, gives up what was for too long. */
void webhook_turn(missing_t *m, int64_t now_ms);

#endif
