
/*
 * ngx_http_symbolicate_pending.h - modules that requests of this worker wait
 * for.
 *
 * A request asks here, and the loader is asked for each module once.  The
 * loader elects one worker of all to fetch; its fetch starts here, and the
 * loader hears what came of it.  Its verdict goes to all requests that wait.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_PENDING_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_PENDING_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "schedule/ngx_http_symbolicate_lane.h"


typedef struct ngx_http_symbolicate_pending_s  ngx_http_symbolicate_pending_t;


/* An artifact of a module of one source. */
typedef struct {
    ngx_http_symbolicate_source_t *source;
    sym_module_key_t               key;         /* scope: the source's name */
    sym_kind_t                     kind;
    sym_str_t                      id;          /* for its paths */
    sym_str_t                      canonical;   /* id whose paths were asked
                                                 * for already, or empty */
    const sym_object_ref_t         *object;      /* all of it, or NULL */
    unsigned                       without;     /* 1 << sym_source_file_t:
                                                 * files that do not have it */
    unsigned                       thorough:1;  /* all its places are asked,
                                                 * even if one has a good
                                                 * file */
} ngx_http_symbolicate_wanted_t;


/* A flag of a NEGATIVE that the worker made itself: no loader is running. */
#define NGX_SYMBOLICATE_NO_LOADER  1

/*
 * Makes `wait` wait for a module.  settled() is called once for it, with READY
 * or NEGATIVE; resume() is called when no module is pending any more or the
 * time is over.  Neither is called before this function returns.  settled() may
 * ask for another module for the same wait.  NGX_DECLINED: there is no loader.
 * NGX_BUSY: too many modules are pending, ask again later.  In both cases
 * neither function will be called.
 */
ngx_int_t ngx_http_symbolicate_pending(ngx_http_symbolicate_loader_t *loader,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_wanted_t *wanted,
    ngx_http_symbolicate_wait_t *wait, ngx_uint_t module);

/* The request does not wait any more.  keep: its client was told to ask again,
 * so its fetches continue. */
void ngx_http_symbolicate_pending_leave(ngx_http_symbolicate_wait_t *wait,
    ngx_uint_t keep);

/* For ngx_http_symbolicate_loader_events_t: asks for everything again, fails
 * all pending fetches, and takes a message with a ticket. */
void ngx_http_symbolicate_pending_connected(
    ngx_http_symbolicate_loader_t *loader);
void ngx_http_symbolicate_pending_unavailable(
    ngx_http_symbolicate_loader_t *loader, const char *reason);
void ngx_http_symbolicate_pending_message(
    ngx_http_symbolicate_loader_t *loader, sym_rpc_message_t *m);


#endif /* _NGX_HTTP_SYMBOLICATE_PENDING_H_INCLUDED_ */
