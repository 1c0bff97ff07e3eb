
/*
 * ngx_http_symbolicate_notes.h - reports missing modules to the loader's
 * ledger.
 *
 * A worker aggregates the notes on a module for one second before it sends
 * them.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_NOTES_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_NOTES_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/message.h"

#include "conf/ngx_http_symbolicate_worker.h"


/* Maximum length of texts in a MISSED; longer ones are cut. */
#define NGX_SYMBOLICATE_NOTE_REASON   160
#define NGX_SYMBOLICATE_NOTE_SOURCES  512


/* Queues a copy of a MISSED. */
void ngx_http_symbolicate_note(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m);


#endif /* _NGX_HTTP_SYMBOLICATE_NOTES_H_INCLUDED_ */
