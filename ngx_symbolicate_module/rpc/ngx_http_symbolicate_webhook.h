
/*
 * ngx_http_symbolicate_webhook.h - delivers batches of modules that have
 * arrived.
 *
 * The loader chooses a worker and sends it the body (ARRIVED).  The worker
 * sends the body to the location of symbolicate_webhook, and reports the
 * outcome.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_WEBHOOK_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_WEBHOOK_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/message.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"


/*
 * Call this when a worker starts: it connects to the loaders that have a
 * webhook.
 */
ngx_int_t ngx_http_symbolicate_webhooks_process(ngx_cycle_t *cycle,
    ngx_http_symbolicate_main_conf_t *smcf);

/* For ngx_http_symbolicate_loader_events_t. */
void ngx_http_symbolicate_webhook_connected(
    ngx_http_symbolicate_loader_t *loader);
void ngx_http_symbolicate_webhook_arrived(
    ngx_http_symbolicate_loader_t *loader, sym_rpc_message_t *m);


#endif /* _NGX_HTTP_SYMBOLICATE_WEBHOOK_H_INCLUDED_ */
