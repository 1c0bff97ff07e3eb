
/*
 * ngx_http_symbolicate_pending_send.c - messages to the loader about pending
 * fetches.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "rpc/ngx_http_symbolicate_loader.h"
#include "schedule/ngx_http_symbolicate_pending_send.h"
#include "schedule/ngx_http_symbolicate_pending_state.h"


static void
ngx_http_symbolicate_pending_describe(ngx_http_symbolicate_pending_t *pending,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_source_t  *source;

    source = pending->is.source;

    m->kind = pending->is.kind;
    m->key.scope = sym_str((char *) source->name.data, source->name.len);
    m->ref = pending->ref;
    m->rules = source->rules;
    m->rules.files &= ~pending->is.without;

    if (pending->is.thorough) {
        m->flags |= SYM_RPC_ALL_PLACES;
    }
}


void
ngx_http_symbolicate_pending_ask(ngx_http_symbolicate_pending_t *pending,
    sym_rpc_type_t type)
{
    sym_rpc_message_t  m;

    if (!pending->loader->welcome) {
        return;
    }

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = type;
    m.ticket = (uint32_t) pending->by_ticket.key;

    if (type == SYM_RPC_ENSURE) {
        ngx_http_symbolicate_pending_describe(pending, &m);
    }

    ngx_http_symbolicate_loader_send(pending->loader, &m, -1);
}


/*
 * Whether a request waits.  The loader has its own queue, in which such fetches
 * are first.
 */
void
ngx_http_symbolicate_pending_abandon(ngx_http_symbolicate_pending_t *pending,
    ngx_uint_t abandoned)
{
    sym_rpc_message_t  m;

    if (pending->abandon_sent == abandoned || pending->settled
        || !pending->loader->welcome)
    {
        return;
    }

    pending->abandon_sent = abandoned;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_ABANDON;
    m.ticket = (uint32_t) pending->by_ticket.key;
    m.flags = abandoned ? 0 : SYM_RPC_ADOPTED;

    ngx_http_symbolicate_loader_send(pending->loader, &m, -1);
}


/* Returns how long a negative outcome is valid. */
sym_rpc_ttl_t
ngx_http_symbolicate_pending_ttl(ngx_http_symbolicate_pending_t *pending)
{
    sym_rpc_ttl_t  ttl;

    ttl = pending->policy->ttl;

    if (pending->is.source->is_public) {
        ttl.absent = pending->policy->ttl_public;
    }

    return ttl;
}


/* Reports to the loader why no file was fetched. */
void
ngx_http_symbolicate_pending_refuse(ngx_http_symbolicate_pending_t *pending,
    sym_module_state_t state, const char *reason)
{
    sym_rpc_message_t  m;

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_NONE;
    m.ticket = (uint32_t) pending->by_ticket.key;
    m.state = state;
    m.ttl = ngx_http_symbolicate_pending_ttl(pending);
    m.text = sym_cstr(reason);

    pending->elected = 0;
    ngx_http_symbolicate_loader_send(pending->loader, &m, -1);
}
