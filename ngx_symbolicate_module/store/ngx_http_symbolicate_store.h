
/*
 * ngx_http_symbolicate_store.h - the stores of this worker.
 *
 * A store is opened by the first request that needs it.  Code that uses a store
 * holds a reference.  A store that was exchanged, or in which a fault occurred,
 * is closed when the last reference is released.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_STORE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_STORE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"


/*
 * A store that is open in this worker.  Requests hold references to it; a stale
 * or damaged store is closed when the last of these requests ends.
 */
typedef struct {
    sym_store_t                   *db;
    sym_worker_cache_t            *kept;        /* NULL: off */
    ngx_uint_t                     refs;
    unsigned                       damaged:1;
} ngx_http_symbolicate_db_t;


/* A configured store, as seen by this worker. */
struct ngx_http_symbolicate_store_s {
    const ngx_http_symbolicate_store_conf_t  *conf;
    ngx_http_symbolicate_db_t     *db;          /* NULL: not open */

    ngx_msec_t                     checked;     /* last check for staleness */
    ngx_uint_t                     exchanges;   /* number of replacements of the
                                                   store */

    time_t                         logged;      /* time of the last log line
                                                   about a failure */
    sym_status_t                   trouble;     /* SYM_OK: none was logged */
    ngx_uint_t                     suppressed;  /* number of failures since that
                                                 * one */
    char                           owners[416]; /* names of the owner and of our
                                                 * user */
};


/* Creates the configured stores, after the configuration has been read. */
ngx_int_t ngx_http_symbolicate_stores_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf);

ngx_http_symbolicate_store_t *ngx_http_symbolicate_store_of(
    const ngx_http_symbolicate_store_conf_t *conf);

ngx_http_symbolicate_db_t *ngx_http_symbolicate_store_get(
    ngx_http_symbolicate_store_t *store, ngx_log_t *log, const char **reason);
void ngx_http_symbolicate_store_put(ngx_http_symbolicate_db_t *db);
void ngx_http_symbolicate_store_trouble(ngx_http_symbolicate_store_t *store,
    sym_error_t *err, ngx_log_t *log);
void ngx_http_symbolicate_store_damaged(ngx_http_symbolicate_store_t *store,
    ngx_http_symbolicate_db_t *db, sym_error_t *err, ngx_log_t *log);
void ngx_http_symbolicate_store_bytes(ngx_http_symbolicate_store_t *store,
    uint64_t n, ngx_log_t *log);
const char *ngx_http_symbolicate_store_reason(sym_status_t status);


/* Reads records; it may end at any access to the store. */
typedef sym_status_t (*ngx_http_symbolicate_store_read_pt)(
    sym_snapshot_t *snapshot, void *data, sym_error_t *err);

/*
 * Calls read() with a snapshot of the store, under sym_store_guarded(), and
 * returns its status.  SYM_NOT_FOUND, SYM_AGAIN and SYM_MALFORMED are results;
 * other errors are logged as the store's.  SYM_IO: the store cannot be opened,
 * too.  *reason says what a client may know of an error.
 */
sym_status_t ngx_http_symbolicate_store_read(
    const ngx_http_symbolicate_store_conf_t *conf,
    ngx_http_symbolicate_store_read_pt read, void *data, ngx_log_t *log,
    sym_error_t *err, const char **reason);


#endif /* _NGX_HTTP_SYMBOLICATE_STORE_H_INCLUDED_ */
