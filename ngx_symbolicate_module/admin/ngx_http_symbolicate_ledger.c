
/*
 * ngx_http_symbolicate_ledger.c - GET .../missing: modules that requests are
 * missing.
 *
 * The loader's file is read completely, because it is small, bounded and in the
 * page cache.  For each module of a page, the store has the results of each
 * source.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "explain/explain.h"
#include "ledger/page.h"

#include "admin/ngx_http_symbolicate_ledger.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "store/ngx_http_symbolicate_store.h"


#define NGX_SYMBOLICATE_LEDGER_WINDOW  (32 * 1024)

#define NGX_SYMBOLICATE_LEDGER_PAGE    100
#define NGX_SYMBOLICATE_LEDGER_TOP     20
#define NGX_SYMBOLICATE_LEDGER_MOST    1000     /* entries of a page */
#define NGX_SYMBOLICATE_LEDGER_LABELS  100      /* series of a family */


typedef enum {
    ngx_http_symbolicate_ledger_json = 0,
    ngx_http_symbolicate_ledger_csv,
    ngx_http_symbolicate_ledger_prometheus
} ngx_http_symbolicate_ledger_format_e;


typedef struct {
    ngx_http_request_t                   *request;
    sym_scopes_t                         *scopes;
    ngx_http_symbolicate_ledger_format_e  format;
    sym_ledger_query_t                    query;
    ngx_uint_t                            page;       /* from 1 */
    ngx_uint_t                            per_page;

    sym_ledger_reader_t                   reader;
    sym_ledger_entry_t                   *entries;
    ngx_uint_t                            total;      /* number of selected
                                                       * entries */
    ngx_uint_t                            missing;
    ngx_uint_t                            arrived;
    ngx_uint_t                            first;      /* of the page */
    ngx_uint_t                            last;       /* index after the page's
                                                       * last entry */

    ngx_uint_t                            was_read;   /* of the store */
    sym_explained_t                      *sources;
    sym_arena_t                           arena;  /* of paths */
    sym_out_t                             out;
    sym_error_t                           err;
} ngx_http_symbolicate_ledger_t;


static const char  *ngx_http_symbolicate_ledger_types[] = {
    NGX_SYMBOLICATE_JSON,
    "text/csv; charset=utf-8; header=present",
    "text/plain; version=0.0.4; charset=utf-8"
};

static const sym_str_t  ngx_http_symbolicate_ledger_formats[] = {
    { "json", 4 }, { "csv", 3 }, { "prometheus", 10 }
};


/* NGX_DECLINED: the request does not have the argument. */
static ngx_int_t
ngx_http_symbolicate_ledger_word(ngx_http_request_t *r, const char *name,
    const sym_str_t *words, ngx_uint_t n, ngx_uint_t *word)
{
    ngx_str_t  value;

    if (ngx_http_arg(r, (u_char *) name, ngx_strlen(name), &value) != NGX_OK) {
        return NGX_DECLINED;
    }

    for (*word = 0; *word < n; (*word)++) {
        if (sym_str_eq(words[*word], sym_str((char *) value.data, value.len))) {
            return NGX_OK;
        }
    }

    return NGX_ERROR;
}


static ngx_int_t
ngx_http_symbolicate_ledger_number(ngx_http_request_t *r, const char *name,
    ngx_int_t max, ngx_uint_t *number)
{
    ngx_int_t  n;
    ngx_str_t  value;

    if (ngx_http_arg(r, (u_char *) name, ngx_strlen(name), &value) != NGX_OK) {
        return NGX_OK;
    }

    n = ngx_atoi(value.data, value.len);

    if (n < 1 || n > max) {
        return NGX_ERROR;
    }

    *number = n;

    return NGX_OK;
}


/* Reads the arguments.  NULL: they are valid. */
static const char *
ngx_http_symbolicate_ledger_arguments(ngx_http_symbolicate_ledger_t *ledger)
{
    ngx_int_t            max;
    ngx_uint_t           word;
    ngx_http_request_t  *r;

    r = ledger->request;

    switch (ngx_http_symbolicate_ledger_word(r, "format",
                                       ngx_http_symbolicate_ledger_formats, 3,
                                       &word))
    {
    case NGX_OK:
        ledger->format = word;
        break;

    case NGX_ERROR:
        return "\"format\" is json, csv or prometheus";
    }

    switch (ngx_http_symbolicate_ledger_word(r, "sort", sym_ledger_orders,
                                             SYM_LEDGER_ORDERS, &word))
    {
    case NGX_OK:
        ledger->query.order = word;
        break;

    case NGX_ERROR:
        return "\"sort\" is requests, frames, first, last or name";
    }

    switch (ngx_http_symbolicate_ledger_word(r, "show", sym_ledger_shows,
                                             SYM_LEDGER_SHOWS, &word))
    {
    case NGX_OK:
        ledger->query.show = word;
        break;

    case NGX_ERROR:
        return "\"show\" is missing, arrived or all";
    }

    max = NGX_SYMBOLICATE_LEDGER_MOST;
    ledger->per_page = NGX_SYMBOLICATE_LEDGER_PAGE;

    switch (ledger->format) {

    case ngx_http_symbolicate_ledger_csv:
        max = SYM_LEDGER_ENTRIES_MAX;
        ledger->per_page = SYM_LEDGER_ENTRIES_MAX;
        break;

    case ngx_http_symbolicate_ledger_prometheus:
        max = NGX_SYMBOLICATE_LEDGER_LABELS;
        ledger->per_page = NGX_SYMBOLICATE_LEDGER_TOP;
        break;

    default:
        break;
    }

    ledger->page = 1;

    if (ngx_http_symbolicate_ledger_number(r, "page", SYM_LEDGER_ENTRIES_MAX,
                                           &ledger->page)
        != NGX_OK)
    {
        return "\"page\" is a number from 1 to 4096";
    }

    if (ngx_http_symbolicate_ledger_number(r, "per_page", max,
                                           &ledger->per_page)
        != NGX_OK)
    {
        return "\"per_page\" is a number from 1 to 1000, of csv to 4096, of "
               "prometheus to 100";
    }

    return NULL;
}


/* Reads the requested entries; their texts point into *data. */
static sym_status_t
ngx_http_symbolicate_ledger_read(ngx_http_symbolicate_ledger_t *ledger,
    const char *store, uint8_t **data)
{
    size_t               len;
    uint32_t             n;
    sym_ledger_query_t   all;

    if (sym_ledger_load(store, data, &len, &ledger->err) != SYM_OK
        || sym_ledger_open(*data, len, &ledger->reader, &ledger->err)
           != SYM_OK)
    {
        return ledger->err.status;
    }

    ledger->entries = ngx_palloc(ledger->request->pool,
                                 (ledger->reader.n + 1)
                                 * sizeof(sym_ledger_entry_t));
    if (ledger->entries == NULL) {
        return SYM_NOMEM;
    }

    n = 0;

    while (sym_ledger_next(&ledger->reader, &ledger->entries[n], &ledger->err)
           == SYM_OK)
    {
        n++;
    }

    if (ledger->err.status != SYM_OK) {
        return ledger->err.status;
    }

    /* only entries of the location that were requested */

    all = ledger->query;
    all.show = SYM_LEDGER_ALL;

    n = sym_ledger_select(ledger->entries, n, &all);
    ledger->total = n;

    for (n = 0; n < ledger->total; n++) {
        if (ledger->entries[n].came_s) {
            ledger->arrived++;

        } else {
            ledger->missing++;
        }
    }

    ledger->total = sym_ledger_select(ledger->entries, (uint32_t) ledger->total,
                                      &ledger->query);

    ledger->first = ngx_min((ledger->page - 1) * ledger->per_page,
                            ledger->total);
    ledger->last = ngx_min(ledger->first + ledger->per_page, ledger->total);

    return SYM_OK;
}


/* Writes the page's modules.  snapshot, NULL: without the store's records. */
static sym_status_t
ngx_http_symbolicate_ledger_modules(sym_snapshot_t *snapshot, void *data,
    sym_error_t *err)
{
    ngx_http_symbolicate_ledger_t *ledger = data;

    ngx_uint_t           i;
    sym_status_t         status;
    sym_ledger_entry_t  *e;

    status = SYM_OK;
    ledger->was_read = 1;

    for (i = ledger->first; status == SYM_OK && i < ledger->last; i++) {
        e = &ledger->entries[i];

        sym_out_raw(&ledger->out, i == ledger->first ? SYM_STR("{")
                                                     : SYM_STR(", {"));
        sym_ledger_write_entry(e, &ledger->out);

        if (snapshot) {
            status = sym_explain_sources(snapshot, ledger->scopes, &e->key,
                                         e->kind, (uint32_t) ngx_time(),
                                         &ledger->arena, ledger->sources,
                                         &ledger->out, err);
        }

        sym_out_raw(&ledger->out, SYM_STR("}"));
    }

    return status;
}


static sym_status_t
ngx_http_symbolicate_ledger_json_write(ngx_http_symbolicate_ledger_t *ledger)
{
    const char                       *reason;
    sym_status_t                      status;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(ledger->request,
                                        ngx_http_symbolicate_module);

    sym_out_raw(&ledger->out, SYM_STR("{\"total\": "));
    sym_out_dec(&ledger->out, ledger->total);
    sym_out_raw(&ledger->out, SYM_STR(", \"missing\": "));
    sym_out_dec(&ledger->out, ledger->missing);
    sym_out_raw(&ledger->out, SYM_STR(", \"arrived\": "));
    sym_out_dec(&ledger->out, ledger->arrived);
    sym_out_raw(&ledger->out, SYM_STR(", \"page\": "));
    sym_out_dec(&ledger->out, ledger->page);
    sym_out_raw(&ledger->out, SYM_STR(", \"per_page\": "));
    sym_out_dec(&ledger->out, ledger->per_page);
    sym_out_raw(&ledger->out, SYM_STR(", \"sort\": "));
    sym_out_string(&ledger->out, sym_ledger_orders[ledger->query.order]);
    sym_out_raw(&ledger->out, SYM_STR(", \"counts\": {"));
    sym_ledger_write_totals(&ledger->reader.totals, &ledger->out);
    sym_out_raw(&ledger->out, SYM_STR("}, \"modules\": ["));

    sym_arena_init(&ledger->arena, 0);

    status = ngx_http_symbolicate_store_read(slcf->store,
                                           ngx_http_symbolicate_ledger_modules,
                                           ledger,
                                           ledger->request->connection->log,
                                           &ledger->err, &reason);
    sym_arena_drop(&ledger->arena);

    if (!ledger->was_read && status == SYM_IO) {
        status = ngx_http_symbolicate_ledger_modules(NULL, ledger,
                                                     &ledger->err);
    }

    sym_out_raw(&ledger->out, SYM_STR("]}\n"));

    return status;
}


static sym_status_t
ngx_http_symbolicate_ledger_write(ngx_http_symbolicate_ledger_t *ledger)
{
    ngx_uint_t  i;

    switch (ledger->format) {

    case ngx_http_symbolicate_ledger_csv:
        sym_ledger_csv_head(&ledger->out);

        for (i = ledger->first; i < ledger->last; i++) {
            sym_ledger_csv_row(&ledger->entries[i], &ledger->out);
        }

        return SYM_OK;

    case ngx_http_symbolicate_ledger_prometheus:
        sym_ledger_metrics(ledger->entries,
                           (uint32_t) ngx_min(ledger->total, ledger->per_page),
                           (uint32_t) ledger->missing,
                           (uint32_t) ledger->arrived, &ledger->reader.totals,
                           &ledger->out);
        return SYM_OK;

    default:
        return ngx_http_symbolicate_ledger_json_write(ledger);
    }
}


static ngx_int_t
ngx_http_symbolicate_ledger_unavailable(ngx_http_symbolicate_ledger_t *ledger,
    sym_status_t status)
{
    char  text[256];

    if (ledger->err.status != SYM_OK) {
        ngx_log_error(NGX_LOG_ERR, ledger->request->connection->log, 0,
                      "symbolicate: missing modules cannot be listed: %s",
                      sym_error_text(&ledger->err, text, sizeof(text)));
    }

    return ngx_http_symbolicate_send_error(ledger->request,
                                   NGX_HTTP_SERVICE_UNAVAILABLE,
                                   SYM_STR("503 Service Unavailable"),
                                   ngx_http_symbolicate_store_reason(status));
}


ngx_int_t
ngx_http_symbolicate_ledger(ngx_http_request_t *r, sym_module_key_t *key,
    sym_scopes_t *scopes)
{
    uint8_t                          *data;
    const char                       *wrong;
    ngx_chain_t                      *body;
    sym_status_t                      status;
    ngx_http_symbolicate_ledger_t     ledger;
    ngx_http_symbolicate_growing_t    growing;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    if (!slcf->missing) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_NOT_FOUND,
                                   SYM_STR("404 Not Found"),
                                   "\"symbolicate_missing\" is off here");
    }

    ngx_memzero(&ledger, sizeof(ngx_http_symbolicate_ledger_t));

    ledger.request = r;
    ledger.scopes = scopes;
    ledger.query.scopes = scopes;

    wrong = ngx_http_symbolicate_ledger_arguments(&ledger);

    if (wrong) {
        return ngx_http_symbolicate_send_error(r, NGX_HTTP_BAD_REQUEST,
                                               SYM_STR("400 Bad Request"),
                                               wrong);
    }

    ledger.sources = ngx_palloc(r->pool, scopes->n * sizeof(sym_explained_t));
    if (ledger.sources == NULL) {
        return NGX_ERROR;
    }

    ngx_http_symbolicate_growing_begin(&growing, r,
                                       NGX_SYMBOLICATE_LEDGER_WINDOW,
                                       &ledger.out);

    data = NULL;
    status = ngx_http_symbolicate_ledger_read(&ledger,
                                           (char *) slcf->store->path.data,
                                           &data);
    if (status == SYM_OK) {
        status = ngx_http_symbolicate_ledger_write(&ledger);
    }

    free(data);

    if (status != SYM_OK) {
        return ngx_http_symbolicate_ledger_unavailable(&ledger, status);
    }

    body = ngx_http_symbolicate_growing_end(&growing, &ledger.out);
    if (body == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_send_body(r, NGX_HTTP_OK,
                          ngx_http_symbolicate_ledger_types[ledger.format],
                          body);
}
