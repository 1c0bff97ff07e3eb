
/*
 * ngx_http_symbolicate_pending_state.h - the structure of a pending fetch;
 * shared by pending*.c.
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
#include "share/ngx_http_symbolicate_publish.h"
#include "schedule/ngx_http_symbolicate_wanted.h"


typedef struct ngx_http_symbolicate_pending_s  ngx_http_symbolicate_pending_t;


/* A companion file of the module. */
typedef struct {
    uint32_t                        kind;        /* SYM_RPC_SUPPLEMENT ... */
    sym_object_ref_t                ref;         /* reference for the search at
                                                  * sources, with views of
                                                  * ref_bytes */
    size_t                          nref;
    char                            ref_bytes[1];
} ngx_http_symbolicate_companion_t;


struct ngx_http_symbolicate_pending_s {
    ngx_rbtree_node_t               by_key;
    ngx_rbtree_node_t               by_ticket;

    ngx_http_symbolicate_loader_t  *loader;
    ngx_http_symbolicate_fetch_policy_t     *policy;

    ngx_http_symbolicate_wanted_t   is;
    sym_object_ref_t                ref;         /* reference of the artifact,
                                                  * with views of ref_bytes */

    ngx_queue_t                     waiters;
    ngx_queue_t                     of_abandoned;  /* in the loader's list,
                                                    * while no request waits */
    ngx_msec_t                      since;       /* then */

    ngx_http_symbolicate_lane_t    *lane;
    ngx_http_symbolicate_slot_t     slot;
    ngx_http_symbolicate_lease_t    lease;
    off_t                           asked;       /* size of the requested lease;
                                                  * 0: none */
    ngx_http_symbolicate_fetch_t   *fetch;

    uint64_t                        places;      /* places to try: 1 <<
                                                  * number */

    ngx_http_symbolicate_publish_t *publish;     /* of the file that was sent to
                                                  * the loader; or NULL */

    ngx_http_symbolicate_companion_t  *companion;  /* to fetch instead of the
                                                    * module */

    sym_account_t                  *memory;      /* the worker's account, to
                                                  * which this is charged */
    size_t                          bytes;

    ngx_uint_t                      unshared;    /* bits: had an unusable
                                                  * artifact */
    ngx_uint_t                      shared_from; /* bit: had the artifact that
                                                  * was sent to the loader, or
                                                  * needs a larger lease */

    unsigned                        for_peer:1;  /* another node waits for
                                                  * it */
    unsigned                        unusable:1;  /* the object in the bucket
                                                  * is unusable */
    unsigned                        lacking:1;   /* ... or lacks the requested
                                                  * artifact */
    unsigned                        elected:1;   /* elected over the current
                                                  * connection */
    unsigned                        fetched:1;   /* the download has ended */
    unsigned                        stale:1;     /* the result of the download
                                                  * is useless */
    unsigned                        abandoned:1;
    unsigned                        abandon_sent:1; /* ABANDON was sent to the
                                                     * loader */
    unsigned                        settled:1;   /* settled: it is freed when
                                                  * the download ends */
    unsigned                        busy:1;      /* counted in the loader's
                                                  * nbusy */

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
