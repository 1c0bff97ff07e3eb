
/*
 * ngx_http_symbolicate_store.c - the stores of this worker.
 *
 * LMDB environments must be opened after fork, so each worker opens a store at
 * the first request for it.  If a store is missing or unreadable, the next
 * request tries again, so no restart is needed.  If the folder contains another
 * store, or if a fault occurred in the store, it is exchanged; running requests
 * keep a reference to the old one.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "store/ngx_http_symbolicate_store.h"


/* minimum interval between calls of stat() for the folder */
#define NGX_SYMBOLICATE_STALE_MS   100

/* minimum interval between log lines about an unusable store, in seconds */
#define NGX_SYMBOLICATE_LOG_S      60


/* A call of ngx_http_symbolicate_store_read(). */
typedef struct {
    sym_store_t                         *db;
    ngx_http_symbolicate_store_read_pt   read;
    void                                *data;
    sym_error_t                         *err;
    sym_status_t                         status;
} ngx_http_symbolicate_reading_t;


static void ngx_http_symbolicate_store_look(
    ngx_http_symbolicate_store_t *store, ngx_log_t *log);
static ngx_http_symbolicate_db_t *ngx_http_symbolicate_store_open(
    ngx_http_symbolicate_store_t *store, ngx_log_t *log, const char **reason);
static ngx_uint_t ngx_http_symbolicate_store_is_member(gid_t gid);
static void ngx_http_symbolicate_store_owners(
    ngx_http_symbolicate_store_t *store);
static void ngx_http_symbolicate_store_release(
    ngx_http_symbolicate_store_t *store);
static void ngx_http_symbolicate_stores_cleanup(void *data);


ngx_int_t
ngx_http_symbolicate_stores_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_uint_t                           i;
    ngx_pool_cleanup_t                  *cln;
    ngx_http_symbolicate_store_t        *stores;
    ngx_http_symbolicate_store_conf_t  **conf;

    stores = ngx_pcalloc(cf->pool, smcf->stores.nelts
                                   * sizeof(ngx_http_symbolicate_store_t));
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (stores == NULL || cln == NULL) {
        return NGX_ERROR;
    }

    conf = smcf->stores.elts;

    for (i = 0; i < smcf->stores.nelts; i++) {
        stores[i].conf = conf[i];
    }

    /*
     * runs when a worker exits, or when a single process drops its old cycle;
     * the master never has a store to close
     */

    cln->handler = ngx_http_symbolicate_stores_cleanup;
    cln->data = smcf;

    smcf->worker->stores = stores;

    return NGX_OK;
}


ngx_http_symbolicate_store_t *
ngx_http_symbolicate_store_of(const ngx_http_symbolicate_store_conf_t *conf)
{
    return &conf->main->worker->stores[conf->number];
}


/*
 * Returns a message for the client that helps an operator, but reveals no path.
 */
const char *
ngx_http_symbolicate_store_reason(sym_status_t status)
{
    switch (status) {

    case SYM_NOT_FOUND:
        return "the symbol store does not exist yet";

    case SYM_VERSION:
        return "the symbol store was written by another version of symloader";

    case SYM_IO:
        return "the symbol store cannot be opened; see the error log";

    case SYM_DAMAGED:
    case SYM_MALFORMED:
    case SYM_TRUNCATED:
        return "the symbol store is damaged";

    case SYM_NOMEM:
        return "out of memory";

    default:
        return "the symbol store is busy";
    }
}


/*
 * Returns a reference to the store, which is opened if necessary.  NULL: see
 * *reason.  Release it with ngx_http_symbolicate_store_put().
 */
ngx_http_symbolicate_db_t *
ngx_http_symbolicate_store_get(ngx_http_symbolicate_store_t *store,
    ngx_log_t *log, const char **reason)
{
    ngx_http_symbolicate_db_t  *db;

    if (store->db) {
        ngx_http_symbolicate_store_look(store, log);
    }

    db = store->db;

    if (db == NULL) {
        db = ngx_http_symbolicate_store_open(store, log, reason);

        if (db == NULL) {
            return NULL;
        }
    }

    if (db->damaged) {
        *reason = ngx_http_symbolicate_store_reason(SYM_DAMAGED);
        return NULL;
    }

    db->refs++;

    return db;
}


/*
 * Drops a store if a fault occurred in it, or if its folder now contains
 * another store.  After a fault, the store must be closed before its files are
 * opened again, because LMDB allows a process only one handle of an
 * environment.  Requests that still have a reference see the fault at their
 * next slice.
 */
static void
ngx_http_symbolicate_store_look(ngx_http_symbolicate_store_t *store,
    ngx_log_t *log)
{
    if (store->db->damaged) {

        if (store->db->refs == 1) {
            ngx_http_symbolicate_store_release(store);
        }

        return;
    }

    if (ngx_current_msec - store->checked < NGX_SYMBOLICATE_STALE_MS) {
        return;
    }

    store->checked = ngx_current_msec;

    if (sym_store_is_stale(store->db->db)) {
        ngx_log_error(NGX_LOG_NOTICE, log, 0,
                      "symbol store \"%V\" was replaced", &store->conf->path);

        store->trouble = SYM_OK;
        store->exchanges++;
        ngx_http_symbolicate_store_release(store);
    }
}


static ngx_http_symbolicate_db_t *
ngx_http_symbolicate_store_open(ngx_http_symbolicate_store_t *store,
    ngx_log_t *log, const char **reason)
{
    size_t                      size;
    sym_error_t                 err;
    sym_store_t                *opened;
    ngx_http_symbolicate_db_t  *db;

    ngx_memzero(&err, sizeof(sym_error_t));

    if (sym_store_open_read((char *) store->conf->path.data, &opened, &err)
        != SYM_OK)
    {
        ngx_http_symbolicate_store_trouble(store, &err, log);
        *reason = err.sys_errno == NGX_EACCES && store->owners[0]
                      ? store->owners
                      : ngx_http_symbolicate_store_reason(err.status);
        return NULL;
    }

    db = ngx_alloc(sizeof(ngx_http_symbolicate_db_t), log);
    if (db == NULL) {
        sym_store_close(opened);
        *reason = ngx_http_symbolicate_store_reason(SYM_NOMEM);
        return NULL;
    }

    /* if there is no memory for the cache, everything is looked up */

    size = store->conf->main->answers_size;

    db->kept = size ? sym_worker_cache_create(size) : NULL;
    db->db = opened;
    db->refs = 1;
    db->damaged = 0;

    store->db = db;
    store->checked = ngx_current_msec;

    /* reopening does not repair a store with a fault */

    if (store->trouble != SYM_OK && store->trouble != SYM_DAMAGED) {
        ngx_log_error(NGX_LOG_NOTICE, log, 0,
                      "symbol store \"%V\" is open", &store->conf->path);
        store->trouble = SYM_OK;
    }

    return db;
}


void
ngx_http_symbolicate_store_put(ngx_http_symbolicate_db_t *db)
{
    if (--db->refs) {
        return;
    }

    sym_worker_cache_free(db->kept);

    if (db->damaged) {
        sym_store_abandon(db->db);

    } else {
        sym_store_close(db->db);
    }

    ngx_free(db);
}


static ngx_uint_t
ngx_http_symbolicate_store_is_member(gid_t gid)
{
    int    i, n;
    gid_t  groups[256];

    if (getegid() == gid) {
        return 1;
    }

    n = getgroups(sizeof(groups) / sizeof(groups[0]), groups);

    for (i = 0; i < n; i++) {
        if (groups[i] == gid) {
            return 1;
        }
    }

    return 0;
}


/*
 * Describes the store's owner, and the user that cannot open it.  Clients see
 * the text, too, so it contains names, but no path.
 */
static void
ngx_http_symbolicate_store_owners(ngx_http_symbolicate_store_t *store)
{
    char              user[64], own[64], group[64];
    u_char           *text, *last;
    struct group     *gr;
    struct passwd    *pw;
    ngx_file_info_t   fi;

    text = (u_char *) store->owners;
    last = text + sizeof(store->owners);

    /* the next call may overwrite this result */

    pw = getpwuid(geteuid());
    ngx_cpystrn((u_char *) user, (u_char *) (pw ? pw->pw_name : "?"),
                sizeof(user));

    if (ngx_file_info(store->conf->path.data, &fi) == NGX_FILE_ERROR) {
        (void) ngx_slprintf(text, last, "nginx's workers run as user \"%s\", "
                            "which may not enter a folder above the symbol "
                            "store%Z", user);
        return;
    }

    gr = getgrgid(fi.st_gid);
    ngx_cpystrn((u_char *) group, (u_char *) (gr ? gr->gr_name : "?"),
                sizeof(group));

    if (ngx_http_symbolicate_store_is_member(fi.st_gid)) {
        (void) ngx_slprintf(text, last, "nginx's workers run as user \"%s\", "
                            "which is in the symbol store's group \"%s\", but "
                            "the permissions of its files keep the group out: "
                            "has \"symloader init --group %s\" failed?%Z",
                            user, group, group);
        return;
    }

    gr = getgrgid(getegid());
    ngx_cpystrn((u_char *) own, (u_char *) (gr ? gr->gr_name : "?"),
                sizeof(own));

    (void) ngx_slprintf(text, last,
                        "the symbol store is of group \"%s\", nginx's workers "
                        "run as user \"%s\" of group \"%s\" and may not open "
                        "it: name a user of the store's group in nginx's "
                        "\"user\", or give the store to theirs by \"symloader "
                        "init --group\"%Z", group, user, own);
}


/* Logs a new reason at once, and then once a minute. */
void
ngx_http_symbolicate_store_trouble(ngx_http_symbolicate_store_t *store,
    sym_error_t *err, ngx_log_t *log)
{
    char         text[256];
    const char  *what, *between;
    ngx_uint_t   level;

    if (store->trouble == err->status
        && ngx_time() - store->logged < NGX_SYMBOLICATE_LOG_S)
    {
        store->suppressed++;
        return;
    }

    level = err->status == SYM_DAMAGED ? NGX_LOG_CRIT : NGX_LOG_ERR;

    (void) sym_error_text(err, text, sizeof(text));

    between = "";
    what = "";

    if (err->sys_errno == NGX_EACCES) {
        ngx_http_symbolicate_store_owners(store);
        what = store->owners;
        between = "; ";
    }

    if (store->suppressed) {
        ngx_log_error(level, log, err->sys_errno,
                      "symbol store \"%V\": %s%s%s; %ui times more since the "
                      "last such line", &store->conf->path, text, between, what,
                      store->suppressed);

    } else {
        ngx_log_error(level, log, err->sys_errno,
                      "symbol store \"%V\": %s%s%s", &store->conf->path, text,
                      between, what);
    }

    store->trouble = err->status;
    store->logged = ngx_time();
    store->suppressed = 0;
}


/*
 * Logs lookups that found invalid bytes: their frames have no name, and all
 * other frames were answered.
 */
void
ngx_http_symbolicate_store_bytes(ngx_http_symbolicate_store_t *store,
    uint64_t n, ngx_log_t *log)
{
    sym_error_t  err;

    ngx_memzero(&err, sizeof(sym_error_t));

    err.status = SYM_DAMAGED;
    err.what = "a lookup found damaged bytes; run symloader verify";

    ngx_http_symbolicate_store_trouble(store, &err, log);
    store->suppressed += n - 1;
}


/*
 * Call this after a fault under sym_store_guarded(): db must not be read again.
 */
void
ngx_http_symbolicate_store_damaged(ngx_http_symbolicate_store_t *store,
    ngx_http_symbolicate_db_t *db, sym_error_t *err, ngx_log_t *log)
{
    ngx_http_symbolicate_store_trouble(store, err, log);

    db->damaged = 1;
}


/* Runs under the guard. */
static void
ngx_http_symbolicate_store_run(void *data)
{
    ngx_http_symbolicate_reading_t *reading = data;

    sym_snapshot_t  *snapshot;

    reading->status = sym_snapshot_begin(reading->db, &snapshot, reading->err);

    if (reading->status != SYM_OK) {
        return;
    }

    reading->status = reading->read(snapshot, reading->data, reading->err);

    sym_snapshot_end(snapshot);
}


sym_status_t
ngx_http_symbolicate_store_read(const ngx_http_symbolicate_store_conf_t *conf,
    ngx_http_symbolicate_store_read_pt read, void *data, ngx_log_t *log,
    sym_error_t *err, const char **reason)
{
    sym_status_t                     status;
    ngx_http_symbolicate_db_t       *db;
    ngx_http_symbolicate_store_t    *store;
    ngx_http_symbolicate_reading_t   reading;

    ngx_memzero(err, sizeof(sym_error_t));

    store = ngx_http_symbolicate_store_of(conf);

    db = ngx_http_symbolicate_store_get(store, log, reason);
    if (db == NULL) {
        return SYM_IO;
    }

    reading.db = db->db;
    reading.read = read;
    reading.data = data;
    reading.err = err;

    status = sym_store_guarded(db->db, ngx_http_symbolicate_store_run, &reading,
                               err);

    if (status == SYM_OK) {
        status = reading.status;
    }

    switch (status) {

    case SYM_OK:
    case SYM_NOT_FOUND:
    case SYM_AGAIN:
    case SYM_MALFORMED:
        break;

    case SYM_DAMAGED:
        ngx_http_symbolicate_store_damaged(store, db, err, log);
        break;

    default:
        ngx_http_symbolicate_store_trouble(store, err, log);
    }

    ngx_http_symbolicate_store_put(db);

    *reason = ngx_http_symbolicate_store_reason(status);

    return status;
}


static void
ngx_http_symbolicate_store_release(ngx_http_symbolicate_store_t *store)
{
    ngx_http_symbolicate_db_t  *db;

    db = store->db;
    store->db = NULL;

    ngx_http_symbolicate_store_put(db);
}


static void
ngx_http_symbolicate_stores_cleanup(void *data)
{
    ngx_http_symbolicate_main_conf_t *smcf = data;

    ngx_uint_t                     i;
    ngx_http_symbolicate_store_t  *stores;

    stores = smcf->worker->stores;

    for (i = 0; i < smcf->stores.nelts; i++) {
        if (stores[i].db) {
            ngx_http_symbolicate_store_release(&stores[i]);
        }
    }
}
