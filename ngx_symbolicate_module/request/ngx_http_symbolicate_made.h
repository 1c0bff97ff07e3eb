
/*
 * ngx_http_symbolicate_made.h - files that the loader makes from other files.
 *
 * The loader unpacks a file, cuts out a section, or writes its symbols as text
 * (SYM_RPC_MAKE), and sends a descriptor of the result.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_MADE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_MADE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "rpc/ngx_http_symbolicate_rpc.h"


typedef struct {
    ngx_http_symbolicate_rpc_t      rpc;
    ngx_http_symbolicate_turn_t    *turn;       /* NULL: the request dropped
                                                 * it */
    ngx_fd_t                        fd;         /* -1: no file was made */
    off_t                           length;
    ngx_uint_t                      nreason;
    u_char                          reason[SYM_RPC_REASON_MAX];
    unsigned                        replied:1;
    unsigned                        has_rules:1;
    unsigned                        nothing:1;  /* the source's file does not
                                                 * contain the requested part */
} ngx_http_symbolicate_made_t;


/* How a file is compressed. */
typedef enum {
    ngx_http_symbolicate_packed_none = 0,
    ngx_http_symbolicate_packed_gzip,
    ngx_http_symbolicate_packed_cab,
    ngx_http_symbolicate_packed_other
} ngx_http_symbolicate_packed_e;


ngx_http_symbolicate_packed_e ngx_http_symbolicate_made_packed(ngx_fd_t fd,
    off_t offset);

/*
 * Sends m with the descriptor; puts the turn in the queue when the answer has
 * arrived.  NULL: *why is the reason.
 */
ngx_http_symbolicate_made_t *ngx_http_symbolicate_made_start(
    const ngx_http_symbolicate_loader_conf_t *loader,
    ngx_http_symbolicate_turn_t *turn, sym_rpc_message_t *m, ngx_fd_t fd,
    ngx_uint_t max, const char **why);

/* Closes the file; NULL is allowed. */
void ngx_http_symbolicate_made_drop(ngx_http_symbolicate_made_t *made);


#endif /* _NGX_HTTP_SYMBOLICATE_MADE_H_INCLUDED_ */
