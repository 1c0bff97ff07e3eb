
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


/*
 * Room for the beginning of a body that is not the file: enough to contain S3's
 * error code.
 */
#define NGX_SYMBOLICATE_HINT  1024


/* State of the transport of request sources; see request_sources/. */
typedef struct ngx_http_symbolicate_request_attempt_s
    ngx_http_symbolicate_request_attempt_t;


struct ngx_http_symbolicate_fetch_s {
    ngx_http_symbolicate_fetch_events_t  *events;   /* callbacks of the owner */
    void                               *data;
    ngx_http_symbolicate_fetch_policy_t  *policy;
    ngx_http_symbolicate_source_t     **sources;     /* in the order of
                                                      * requests */
    ngx_uint_t                          nsources;
    const ngx_http_symbolicate_transport_t  *transport;
    sym_object_ref_t                    ref;
    uint64_t                            places;      /* bits of the first
                                                      * source's places */
    ngx_uint_t                          companion;
    sym_file_order_t                    order;
    ngx_uint_t                          files;
    ngx_http_symbolicate_shared_t       *share;       /* NULL: no artifact of
                                                      * other nodes is wanted */
    ngx_uint_t                          without;     /* bits: not to be asked
                                                      * for it */
    sym_kind_t                          kind;        /* of that artifact */
    ngx_uint_t                          only_bucket; /* nothing else is asked */
    ngx_uint_t                          forwarded;   /* servers so far; 0: not
                                                      * told */
    sym_arena_t                         arena;       /* of paths */
    sym_source_plan_t                   plan;        /* plan for `planned` */
    ngx_http_symbolicate_source_t      *planned;     /* NULL: no plan yet */
    ngx_http_symbolicate_lease_t        lease;

    ngx_http_symbolicate_background_t  *bg;         /* NULL: aborted */
    void                              (*done)(
                                         ngx_http_symbolicate_fetch_t *fetch,
                                         ngx_int_t rc, ngx_uint_t is_whole);
    ngx_pool_t                         *pool;

    ngx_event_t                         timer;
    ngx_msec_t                          began;
    ngx_msec_t                          window;      /* start of the window for
                                                      * the rate */
    off_t                               window_from; /* bytes received before
                                                      * the window */
    off_t                               asked;       /* size of the requested
                                                      * lease */

    ngx_uint_t                          next;        /* next path to request */
    ngx_event_t                         ready;       /* posted when an index is
                                                      * ready */
    ngx_http_symbolicate_index_waiter_t  indexed;
    ngx_event_t                         nothing;     /* posted if there is no
                                                      * path to try */

    ngx_http_symbolicate_request_attempt_t  *attempt;
                                                /* NULL: no request source was
                                                 * tried */

    /* the current place */
    ngx_http_symbolicate_source_t      *origin;      /* its source */
    ngx_uint_t                          nshared;     /* how many were asked for
                                                      * its artifact */

    /* the current attempt */
    ngx_http_symbolicate_source_t      *source;      /* the place's, or one of
                                                      * share */
    sym_source_file_t                   file;
    sym_str_t                           place_path;  /* plain */
    ngx_msec_t                          started;
    ngx_str_t                           uri;         /* decoded */
    ngx_str_t                           encoded;     /* path as sent */
    ngx_str_t                           args;
    ngx_str_t                           path;        /* path relative to the
                                                      * source's */
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
    ngx_str_t                           next_page;   /* URL of a list's next
                                                      * page; or empty */
    time_t                              max_age;     /* of a peer's answer, in
                                                      * seconds; -1: unknown */
    ngx_uint_t                          hops;
    ngx_str_t                           validator;   /* validator for requesting
                                                      * the rest of a file */
    ngx_uint_t                          continues;   /* number of continuations
                                                      * after cuts */
    ngx_msec_t                          paused_at;
    unsigned                            paused:1;    /* waits for a lease */
    unsigned                            impatient:1; /* no longer waits for a
                                                      * lease */
    unsigned                            remote:1;
    unsigned                            late:1;
    unsigned                            encoded_body:1;
    unsigned                            continuing:1;  /* the rest is being
                                                        * requested */
    unsigned                            of_peer:1;   /* a peer has answered */
    unsigned                            shared:1;    /* an artifact is
                                                      * requested */

    /* all places */
    ngx_uint_t                          nfailed;
    ngx_uint_t                          nodd;
    ngx_http_symbolicate_fetch_result_t  outcome;
    char                                outcomes[SYM_OUTCOMES_MAX];
    u_char                              reason[SYM_RPC_REASON_MAX];
};


#endif /* _NGX_HTTP_SYMBOLICATE_FETCH_STATE_H_INCLUDED_ */
