
/*
 * ngx_http_symbolicate_pending_state.h - the structure of a pending fetch, for
 * its own files.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PENDING_STATE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PENDING_STATE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "download/ngx_http_symbolicate_fetch.h"
#include "schedule/ngx_http_symbolicate_lane.h"
#include "schedule/ngx_http_symbolicate_wanted.h"


typedef struct ngx_http_symbolicate_pending_s  ngx_http_symbolicate_pending_t;


/* A companion file of the module. */
typedef struct {
    uint32_t                        kind;        /* SYM_RPC_SUPPLEMENT ... */
    sym_object_ref_t                ref;         /* that leads to it at sources,
                                                  * views of ref_bytes */
    size_t                          nref;
    char                            ref_bytes[1];
} ngx_http_symbolicate_companion_t;


struct ngx_http_symbolicate_pending_s {
    ngx_rbtree_node_t               by_key;
    ngx_rbtree_node_t               by_ticket;

    ngx_http_symbolicate_loader_t  *loader;
    ngx_http_symbolicate_fetch_policy_t     *policy;

    ngx_http_symbolicate_wanted_t   is;
    sym_object_ref_t                ref;         /* of it, views of ref_bytes */

    ngx_queue_t                     waiters;
    ngx_queue_t                     of_abandoned;  /* the loader's, while no
                                                    * request waits */
    ngx_msec_t                      since;       /* then */

    ngx_http_symbolicate_lane_t    *lane;
    ngx_http_symbolicate_slot_t     slot;
    ngx_http_symbolicate_lease_t    lease;
    off_t                           asked;       /* requested larger size; 0:
                                                  * none */
    ngx_http_symbolicate_fetch_t   *fetch;

    uint64_t                        places;      /* to try: 1 << number */

    ngx_http_symbolicate_companion_t  *companion;  /* to be fetched instead of
                                                    * the module */

    sym_account_t                  *memory;      /* the worker's, charged with
                                                  * this */
    size_t                          bytes;

    unsigned                        elected:1;   /* by the present connection */
    unsigned                        fetched:1;   /* its fetch has ended */
    unsigned                        stale:1;     /* the result of its fetch is
                                                  * useless */
    unsigned                        abandoned:1;
    unsigned                        abandon_sent:1; /* to the loader */
    unsigned                        settled:1;   /* freed when its fetch ends */
    unsigned                        busy:1;      /* counted in the loader */

    size_t                          nref;
    char                            ref_bytes[1];
};


/* A request that waits for a pending fetch. */
typedef struct {
    ngx_queue_t                     of_pending;
    ngx_queue_t                     of_wait;
    ngx_http_symbolicate_pending_t *pending;
    ngx_http_symbolicate_wait_t    *wait;
    ngx_uint_t                      module;
} ngx_http_symbolicate_waiter_t;


#endif /* _NGX_HTTP_SYMBOLICATE_PENDING_STATE_H_INCLUDED_ */
