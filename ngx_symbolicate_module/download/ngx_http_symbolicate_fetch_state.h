
/*
 * ngx_http_symbolicate_fetch_state.h - the structure of a fetch, for its own
 * files.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_FETCH_STATE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_FETCH_STATE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_types.h"
#include "download/ngx_http_symbolicate_index.h"
#include "download/ngx_http_symbolicate_transport.h"


/* The beginning of a body that is not a file: enough to see S3's error code. */
#define NGX_SYMBOLICATE_HINT  1024


/* State of the transport of request sources: request_sources/. */
typedef struct ngx_http_symbolicate_request_attempt_s
    ngx_http_symbolicate_request_attempt_t;


struct ngx_http_symbolicate_fetch_s {
    ngx_http_symbolicate_fetch_events_t  *events;   /* of its owner */
    void                               *data;
    ngx_http_symbolicate_fetch_policy_t  *policy;
    ngx_http_symbolicate_source_t     **sources;     /* in their order */
    ngx_uint_t                          nsources;
    const ngx_http_symbolicate_transport_t  *transport;
    sym_object_ref_t                    ref;
    uint64_t                            places;      /* of the first source */
    ngx_uint_t                          companion;
    sym_file_order_t                    order;
    ngx_uint_t                          files;
    sym_arena_t                         arena;       /* of paths */
    sym_source_plan_t                   plan;        /* of `planned` */
    ngx_http_symbolicate_source_t      *planned;     /* NULL: no source */
    ngx_http_symbolicate_lease_t        lease;

    ngx_http_symbolicate_background_t  *bg;         /* NULL: aborted */
    void                              (*done)(
                                         ngx_http_symbolicate_fetch_t *fetch,
                                         ngx_int_t rc, ngx_uint_t is_whole);
    ngx_pool_t                         *pool;

    ngx_event_t                         timer;
    ngx_msec_t                          began;
    ngx_msec_t                          window;      /* start, for the rate */
    off_t                               window_from; /* bytes before */
    off_t                               asked;       /* larger lease */

    ngx_uint_t                          next;        /* next path to request */
    ngx_event_t                         ready;       /* posted when an index is
                                                      * ready */
    ngx_http_symbolicate_index_waiter_t  indexed;
    ngx_event_t                         nothing;     /* posted if there is
                                                      * no path at all */

    ngx_http_symbolicate_request_attempt_t  *attempt;
                                                /* NULL: no request source was
                                                 * queried */

    /* the current attempt */
    ngx_http_symbolicate_source_t      *source;
    sym_source_file_t                   file;
    sym_str_t                           place_path;  /* plain */
    ngx_msec_t                          started;
    ngx_str_t                           uri;         /* decoded */
    ngx_str_t                           encoded;     /* as it is sent */
    ngx_str_t                           args;
    ngx_str_t                           path;        /* part of it after the
                                                      * source's path */
    ngx_uint_t                          status;      /* 0: no answer */
    off_t                               announced;   /* -1: unknown */
    off_t                               received;
    ngx_str_t                           url;
    ngx_temp_file_t                    *temp;
    ngx_fd_t                            fd;
    off_t                               offset;
    const char                         *trouble;
    off_t                               need;
    u_char                              hint[NGX_SYMBOLICATE_HINT];
    size_t                              nhint;
    ngx_str_t                           leads;       /* Location of a
                                                      * redirect */
    ngx_str_t                           next_page;   /* of a list; or empty */
    ngx_uint_t                          hops;
    ngx_str_t                           validator;   /* of a file whose rest can
                                                      * be requested */
    ngx_uint_t                          continues;   /* after cuts */
    ngx_msec_t                          paused_at;
    unsigned                            paused:1;    /* waits for a lease */
    unsigned                            impatient:1; /* waits no longer */
    unsigned                            remote:1;
    unsigned                            late:1;
    unsigned                            encoded_body:1;
    unsigned                            continuing:1;  /* the rest is being
                                                        * requested */

    /* all places */
    ngx_uint_t                          nfailed;
    ngx_uint_t                          nodd;
    ngx_http_symbolicate_fetch_result_t  outcome;
    char                                outcomes[SYM_OUTCOMES_MAX];
    u_char                              reason[SYM_RPC_REASON_MAX];
};


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_STATE_H_INCLUDED_ */
