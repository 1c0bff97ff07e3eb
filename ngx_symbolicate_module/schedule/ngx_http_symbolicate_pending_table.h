
/*
 * ngx_http_symbolicate_pending_table.h - the pending fetches of a worker.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PENDING_TABLE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PENDING_TABLE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "schedule/ngx_http_symbolicate_pending_state.h"


/* Arguments of find() and create(). */
typedef struct {
    ngx_http_symbolicate_wanted_t  *wanted;
    ngx_rbtree_key_t                hash;
    size_t                          len;
    char                            ref[SYM_REF_BYTES_MAX];  /* as bytes */
} ngx_http_symbolicate_pending_key_t;

void ngx_http_symbolicate_pending_key(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_wanted_t *wanted,
    ngx_http_symbolicate_pending_key_t *key);

/* Finds a fetch.  NULL: none is pending. */
ngx_http_symbolicate_pending_t *ngx_http_symbolicate_pending_find(
    ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_pending_key_t *key);

/* Finds a fetch by the ticket of a message; NULL: not found. */
ngx_http_symbolicate_pending_t *ngx_http_symbolicate_pending_of(
    ngx_http_symbolicate_loader_t *loader, uint32_t ticket);

/* Creates a fetch.  NULL: no memory. */
ngx_http_symbolicate_pending_t *ngx_http_symbolicate_pending_create(
    ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_pending_key_t *key);

/* Counts a fetch while requests wait, because the worker must not end then. */
void ngx_http_symbolicate_pending_busy(ngx_http_symbolicate_pending_t *pending);

/* Call this when a request begins to wait for it, or when the wait ends. */
void ngx_http_symbolicate_pending_adopted(
    ngx_http_symbolicate_pending_t *pending);

/* NGX_AGAIN: the download cannot be aborted now. */
ngx_int_t ngx_http_symbolicate_pending_drop(
    ngx_http_symbolicate_pending_t *pending);

/*
 * Frees a fetch.  If its download cannot be aborted now, it is freed at the
 * download's end.
 */
void ngx_http_symbolicate_pending_free(ngx_http_symbolicate_pending_t *pending);

/* Visits all unsettled fetches.  visit() may free any of them.  It may add
 * others, which are not visited unless tickets have wrapped around. */
void ngx_http_symbolicate_pending_each(ngx_http_symbolicate_loader_t *loader,
    void (*visit)(ngx_http_symbolicate_pending_t *pending, void *data),
    void *data);


#endif /* _NGX_HTTP_SYMBOLICATE_PENDING_TABLE_H_INCLUDED_ */
