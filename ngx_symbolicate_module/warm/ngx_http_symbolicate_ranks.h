
/*
 * ngx_http_symbolicate_ranks.h - the list of the artifacts that a fleet uses
 * most (core/share/ranks.h), in the fleet's bucket.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_RANKS_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_RANKS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "share/ranks.h"
#include "store/store.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_s3.h"


/* Room for an ETag. */
#define NGX_SYMBOLICATE_ETAG  128


typedef struct ngx_http_symbolicate_ranks_s  ngx_http_symbolicate_ranks_t;

/* How a request has ended; texts are valid during the call. */
typedef struct {
    ngx_str_t                      trouble;     /* empty: none */
    unsigned                       changed:1;   /* another node was faster */
} ngx_http_symbolicate_ranks_result_t;

struct ngx_http_symbolicate_ranks_s {
    ngx_http_symbolicate_fetch_policy_t  *policy;
    void                         (*done)(void *data,
                                  ngx_http_symbolicate_ranks_result_t *result);
    void                          *data;

    sym_ranks_t                   *list;        /* what was read; NULL: nothing
                                                 * was */
    u_char                         etag[NGX_SYMBOLICATE_ETAG];
    sym_str_t                      condition;   /* of the next write; data NULL:
                                                 * the bucket gave no answer, so
                                                 * nothing may be written */

    ngx_http_symbolicate_s3_t     *s3;          /* NULL: no request runs */
    ngx_fd_t                       fd;          /* file that it writes to */
};


/* Sets the bytes of artifacts that a new node takes at most: half of what its
 * store has for them.  Call it under the store's guard. */
sym_status_t ngx_http_symbolicate_ranks_room(sym_store_t *store,
    uint64_t *bytes, sym_error_t *err);

/*
 * Reads the list; without one in the bucket, it is empty.  done() is called
 * once, later.  After trouble, the list has what was read before it.
 * NGX_ERROR: done() is not called.
 */
ngx_int_t ngx_http_symbolicate_ranks_read(ngx_http_symbolicate_ranks_t *ranks);

/* Writes the list, unless another node has written it since it was read.  The
 * same. */
ngx_int_t ngx_http_symbolicate_ranks_write(
    ngx_http_symbolicate_ranks_t *ranks);

/* Drops the list, and ends a request without done(). */
void ngx_http_symbolicate_ranks_drop(ngx_http_symbolicate_ranks_t *ranks);


#endif /* _NGX_HTTP_SYMBOLICATE_RANKS_H_INCLUDED_ */
