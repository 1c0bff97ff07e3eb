
/*
 * ngx_http_symbolicate_index.h - the files that the index of a symstore lists.
 *
 * Only files listed in its 000Admin folder are requested from a source with the
 * option "index".  Each worker reads that folder by background requests, one
 * text after the other, when a module is first looked up, and again once a
 * day.  A worker keeps the most recently used indexes of request sources.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_INDEX_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_INDEX_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_types.h"


/* Functions of fetch.c that fetch texts of request sources; fetch.c itself
 * waits for indexes. */
typedef struct {
    ngx_http_symbolicate_fetch_t  *(*start)(
        ngx_http_symbolicate_fetch_events_t *events, void *data,
        ngx_http_symbolicate_fetch_policy_t *policy,
        ngx_http_symbolicate_source_t *source, sym_str_t path,
        ngx_http_symbolicate_lease_t *lease);
    ngx_int_t                    (*free)(ngx_http_symbolicate_fetch_t *fetch);
    ngx_http_symbolicate_fetch_result_t
                                *(*result)(ngx_http_symbolicate_fetch_t *fetch);
} ngx_http_symbolicate_index_reader_t;

/* A fetch that waits for an index. */
typedef struct {
    ngx_queue_t                    queue;
    ngx_event_t                   *ready;       /* posted when it is ready, or
                                                 * has failed */
    ngx_http_symbolicate_index_t  *index;       /* index of a request source;
                                                 * kept until the fetch leaves
                                                 * it */
} ngx_http_symbolicate_index_waiter_t;


/*
 * The source must belong to the policy.  NGX_OK: it can be queried; NGX_AGAIN:
 * its index is being read, and waiter->ready will be posted; NGX_BUSY: there is
 * no room for its index now.
 */
ngx_int_t ngx_http_symbolicate_index_wait(
    ngx_http_symbolicate_source_t *source,
    ngx_http_symbolicate_fetch_policy_t *policy,
    const ngx_http_symbolicate_index_reader_t *reader,
    ngx_http_symbolicate_index_waiter_t *waiter);

/* Ends the fetch's wait for the index, or its use. */
void ngx_http_symbolicate_index_leave(
    ngx_http_symbolicate_index_waiter_t *waiter);

/* Whether the source may have the file; path must not be encoded. */
ngx_uint_t ngx_http_symbolicate_index_has(
    ngx_http_symbolicate_source_t *source, sym_str_t path);


#endif /* _NGX_HTTP_SYMBOLICATE_INDEX_H_INCLUDED_ */
