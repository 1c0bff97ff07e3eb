
/*
 * ngx_http_symbolicate_purge.c - lets the loader remove the records of a module
 * or of paths.
 *
 * DELETE concerns one module, a batch of events many paths.  The loader is
 * called for several items at a time, and the request waits without blocking
 * others.  The answer to a failure is 503: removing records twice is harmless,
 * so the client may send everything again.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "sources/paths/plan.h"

#include "admin/ngx_http_symbolicate_purge.h"
#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "rpc/ngx_http_symbolicate_rpc.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_send.h"
#include "request/ngx_http_symbolicate_task.h"
#include "share/ngx_http_symbolicate_tell.h"
#include "share/ngx_http_symbolicate_unpublish.h"


/* Number of calls to the loader that may be open at a time. */
#define NGX_SYMBOLICATE_PURGE_WINDOW  256

/* Size of the answer: four numbers of 20 digits and their keys. */
#define NGX_SYMBOLICATE_PURGE_ANSWER  192


/* A call that removes a module or path of one source. */
typedef struct {
    ngx_http_symbolicate_rpc_t    call;         /* the first member */
    size_t                        item;
} ngx_http_symbolicate_purging_t;


typedef struct {
    ngx_http_symbolicate_task_t   task;         /* the first member */
    sym_arena_t                   arena;        /* memory for the events */
    sym_s3_events_t               events;
    sym_scopes_t                  scopes;
    size_t                        n;            /* number of items: paths, or
                                                 * one module */
    size_t                        next;         /* next item to call the loader
                                                 * for */
    uint32_t                      next_scope;   /* next source for it */
    size_t                        removed;      /* number of items that had
                                                 * records */
    u_char                       *was_there;    /* a flag for each item */

    ngx_http_symbolicate_purging_t  *calls;
    ngx_http_symbolicate_purging_t  **idle;     /* calls that are not open */
    ngx_uint_t                    ncalls;
    ngx_uint_t                    nidle;

    ngx_http_symbolicate_unpublish_t  *unpublish;
                                                /* NULL: it has ended, or there
                                                 * is no bucket of a fleet */
    ngx_uint_t                    unpublished;

    ngx_event_t                   timer;
    const char                   *trouble;      /* NULL: none */

    ngx_uint_t                    is_module;
    sym_module_key_t              key;          /* key of the module */
    char                          id[SYM_ID_MAX];
    char                          code_id[SYM_CODE_ID_MAX];
} ngx_http_symbolicate_purge_t;


static void ngx_http_symbolicate_purge_reply(ngx_http_symbolicate_rpc_t *call,
    sym_rpc_message_t *m);
static void ngx_http_symbolicate_purge_late(ngx_event_t *ev);


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_purge_work = {
    { NULL,
      NULL,
      ngx_http_symbolicate_purge_step,
      ngx_http_symbolicate_send_step },
    NULL,
    NULL,
    ngx_http_symbolicate_purge_cleanup,
    NULL
};


ngx_http_symbolicate_task_t *
ngx_http_symbolicate_purge_create(ngx_http_request_t *r, sym_scopes_t *scopes,
    const ngx_http_symbolicate_work_t *work)
{
    ngx_http_symbolicate_purge_t  *purge;

    purge = ngx_http_symbolicate_task_create(r,
                                          sizeof(ngx_http_symbolicate_purge_t),
                                          work);
    if (purge == NULL) {
        return NULL;
    }

    sym_arena_init(&purge->arena, 0);

    purge->scopes = *scopes;
    purge->timer.handler = ngx_http_symbolicate_purge_late;
    purge->timer.data = purge;
    purge->timer.log = r->connection->log;

    return &purge->task;
}


sym_arena_t *
ngx_http_symbolicate_purge_arena(ngx_http_symbolicate_task_t *task,
    size_t limit)
{
    ngx_http_symbolicate_purge_t  *purge;

    purge = (ngx_http_symbolicate_purge_t *) task;

    sym_arena_init(&purge->arena, limit);

    return &purge->arena;
}


void
ngx_http_symbolicate_purge_events(ngx_http_symbolicate_task_t *task,
    sym_s3_events_t *events)
{
    ngx_http_symbolicate_purge_t  *purge;

    purge = (ngx_http_symbolicate_purge_t *) task;

    purge->events = *events;
    purge->n = events->n_keys;
}


/* DELETE .../cache/NAME/ID */
ngx_int_t
ngx_http_symbolicate_purge_one(ngx_http_request_t *r, sym_module_key_t *key,
    sym_scopes_t *scopes)
{
    ngx_http_symbolicate_task_t   *task;
    ngx_http_symbolicate_purge_t  *purge;

    task = ngx_http_symbolicate_purge_create(r, scopes,
                                             &ngx_http_symbolicate_purge_work);
    if (task == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    purge = (ngx_http_symbolicate_purge_t *) task;

    ngx_memcpy(purge->id, key->id.data, key->id.len);
    ngx_memcpy(purge->code_id, key->code_id.data, key->code_id.len);

    purge->key.name = key->name;
    purge->key.id = sym_str(purge->id, key->id.len);
    purge->key.code_id = sym_str(purge->code_id, key->code_id.len);
    purge->is_module = 1;
    purge->n = 1;

    return ngx_http_symbolicate_task_start(task);
}


static ngx_int_t
ngx_http_symbolicate_purge_window(ngx_http_symbolicate_purge_t *purge)
{
    ngx_uint_t  n;

    n = ngx_min(purge->n * purge->scopes.n,
                NGX_SYMBOLICATE_PURGE_WINDOW);

    purge->calls = ngx_pcalloc(purge->task.request->pool,
                               n * sizeof(ngx_http_symbolicate_purging_t));
    purge->idle = ngx_palloc(purge->task.request->pool,
                             n * sizeof(ngx_http_symbolicate_purging_t *));
    purge->was_there = ngx_pcalloc(purge->task.request->pool, purge->n);

    if (purge->calls == NULL || purge->idle == NULL || purge->was_there == NULL)
    {
        return NGX_ERROR;
    }

    for ( ; purge->ncalls < n; purge->ncalls++) {
        purge->calls[purge->ncalls].call.on_reply =
                                              ngx_http_symbolicate_purge_reply;
        purge->calls[purge->ncalls].call.data = purge;
        purge->idle[purge->nidle++] = &purge->calls[purge->ncalls];
    }

    return NGX_OK;
}


/* Calls the loader for the next source of an item. */
static void
ngx_http_symbolicate_purge_call(ngx_http_symbolicate_purge_t *purge)
{
    sym_rpc_message_t                 m;
    ngx_http_symbolicate_loader_t    *loader;
    ngx_http_symbolicate_purging_t   *purging;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(purge->task.request,
                                        ngx_http_symbolicate_module);
    if (slcf->loader == NULL) {
        purge->trouble = "no symbolicate_loader is set here";
        return;
    }

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    if (purge->is_module) {
        m.type = SYM_RPC_INVALIDATE;
        m.key = purge->key;

    } else {
        m.type = SYM_RPC_CHANGED;
        m.source = purge->events.keys[purge->next];
    }

    m.key.scope = purge->scopes.names[purge->next_scope];

    purging = purge->idle[purge->nidle - 1];
    purging->item = purge->next;

    loader = ngx_http_symbolicate_loader_of(slcf->loader);

    if (ngx_http_symbolicate_rpc_call(loader, &purging->call, &m)
        != NGX_OK)
    {
        purge->trouble = "the symbol loader is not running";
        return;
    }

    purge->nidle--;
}


/* Sends the same request to the other nodes of the fleet. */
static ngx_int_t
ngx_http_symbolicate_purge_tell(ngx_http_symbolicate_purge_t *purge)
{
    ngx_http_request_t               *r;
    ngx_http_symbolicate_news_t       news;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    r = purge->task.request;
    slcf = ngx_http_get_module_loc_conf(r, ngx_http_symbolicate_module);

    ngx_memzero(&news, sizeof(ngx_http_symbolicate_news_t));

    news.method = r->method;
    news.path.data = r->uri.data + slcf->place.base.len + 1;
    news.path.len = r->uri.len - slcf->place.base.len - 1;
    news.args = r->args;

    if (!purge->is_module) {
        news.body = purge->task.body;
    }

    return ngx_http_symbolicate_tell(&slcf->policy, &news);
}


static ngx_int_t
ngx_http_symbolicate_purge_answer(ngx_http_symbolicate_purge_t *purge)
{
    sym_out_t     out;
    ngx_chain_t  *body;

    body = ngx_http_symbolicate_body_begin(purge->task.request,
                                           NGX_SYMBOLICATE_PURGE_ANSWER, &out);
    if (body == NULL) {
        return NGX_ERROR;
    }

    if (purge->is_module) {
        sym_out_raw(&out, purge->removed ? SYM_STR("{\"removed\": true}")
                                         : SYM_STR("{\"removed\": false}"));

    } else {
        sym_out_raw(&out, SYM_STR("{\"records\": "));
        sym_out_dec(&out, purge->events.n_records);
        sym_out_raw(&out, SYM_STR(", \"paths\": "));
        sym_out_dec(&out, purge->n);
        sym_out_raw(&out, SYM_STR(", \"removed\": "));
        sym_out_dec(&out, purge->removed);
        sym_out_raw(&out, SYM_STR(", \"ignored\": "));
        sym_out_dec(&out, purge->events.n_ignored);
        sym_out_raw(&out, SYM_STR("}"));
    }

    if (ngx_http_symbolicate_body_end(purge->task.request, body, &out)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_http_symbolicate_output_take(&purge->task, body);
    ngx_http_symbolicate_purge_cleanup(&purge->task);

    return NGX_OK;
}


static void
ngx_http_symbolicate_purge_wake(ngx_http_symbolicate_purge_t *purge)
{
    ngx_http_symbolicate_enqueue(&purge->task.turn);
}


static void
ngx_http_symbolicate_purge_refused(ngx_http_symbolicate_purge_t *purge,
    sym_str_t text)
{
    char  *reason;

    purge->trouble = "the symbol loader could not do it";

    reason = ngx_pnalloc(purge->task.request->pool, text.len + 1);
    if (reason == NULL) {
        return;
    }

    *ngx_cpymem(reason, text.data, text.len) = '\0';

    purge->trouble = reason;
}


/* The places of the module at a source. */
static ngx_int_t
ngx_http_symbolicate_purge_paths(ngx_http_symbolicate_purge_t *purge,
    uint32_t scope, ngx_http_symbolicate_unpublish_files_t *files)
{
    unsigned            i;
    sym_str_t          *paths;
    sym_object_ref_t    ref;
    sym_source_plan_t   plan;

    if (purge->scopes.rules == NULL || purge->scopes.rules[scope] == NULL) {
        return NGX_OK;
    }

    sym_object_ref_named(&ref, purge->key.name, purge->key.id);

    if (sym_source_plan(&purge->arena, &ref, purge->scopes.rules[scope],
                        NGX_MAX_UINT32_VALUE, SYM_DEBUG_FILES_FIRST, &plan)
        != SYM_OK)
    {
        return NGX_ERROR;
    }

    paths = sym_arena_alloc(&purge->arena, plan.n * sizeof(sym_str_t));
    if (paths == NULL && plan.n) {
        return NGX_ERROR;
    }

    for (i = 0; i < plan.n; i++) {
        paths[i] = plan.at[i].path;
    }

    files->paths = paths;
    files->npaths = plan.n;

    return NGX_OK;
}


static void
ngx_http_symbolicate_purge_unpublished(void *data, ngx_str_t *trouble)
{
    ngx_http_symbolicate_purge_t *purge = data;

    purge->unpublish = NULL;

    if (trouble) {
        ngx_http_symbolicate_purge_refused(purge,
                           sym_str((char *) trouble->data, trouble->len));
    }

    ngx_http_symbolicate_purge_wake(purge);
}


/*
 * Removes the artifacts of the files from the bucket of a fleet: otherwise this
 * node or another one would get them back from there.
 */
static ngx_int_t
ngx_http_symbolicate_purge_unpublish(ngx_http_symbolicate_purge_t *purge)
{
    uint32_t                                 i;
    ngx_http_symbolicate_loc_conf_t         *slcf;
    ngx_http_symbolicate_unpublish_files_t  *files;

    slcf = ngx_http_get_module_loc_conf(purge->task.request,
                                        ngx_http_symbolicate_module);

    purge->unpublished = 1;

    if (slcf->policy.share == NULL || slcf->policy.share->bucket.uri.len == 0
        || purge->n == 0)
    {
        return NGX_OK;
    }

    files = ngx_pcalloc(purge->task.request->pool,
                        purge->scopes.n
                        * sizeof(ngx_http_symbolicate_unpublish_files_t));
    if (files == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < purge->scopes.n; i++) {
        files[i].source = purge->scopes.names[i];

        if (!purge->is_module) {
            files[i].paths = purge->events.keys;
            files[i].npaths = purge->n;

        } else if (ngx_http_symbolicate_purge_paths(purge, i, &files[i])
                   != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    purge->unpublish = ngx_http_symbolicate_unpublish_start(&slcf->policy,
                                     files, purge->scopes.n,
                                     ngx_http_symbolicate_purge_unpublished,
                                     purge);

    return purge->unpublish ? NGX_DONE : NGX_ERROR;
}


ngx_int_t
ngx_http_symbolicate_purge_step(ngx_http_symbolicate_task_t *task)
{
    ngx_int_t                      rc;
    ngx_http_symbolicate_purge_t  *purge;

    purge = (ngx_http_symbolicate_purge_t *) task;

    if (!purge->unpublished) {
        rc = ngx_http_symbolicate_purge_unpublish(purge);

        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (purge->unpublish) {
        return NGX_DONE;
    }

    if (purge->calls == NULL && purge->n
        && ngx_http_symbolicate_purge_window(purge) != NGX_OK)
    {
        return NGX_ERROR;
    }

    while (purge->trouble == NULL && purge->nidle && purge->next < purge->n) {

        ngx_http_symbolicate_purge_call(purge);

        if (++purge->next_scope == purge->scopes.n) {
            purge->next_scope = 0;
            purge->next++;
        }
    }

    if (purge->trouble) {
        return ngx_http_symbolicate_fail(&purge->task,
                                         NGX_HTTP_SERVICE_UNAVAILABLE,
                                         SYM_STR("503 Service Unavailable"),
                                         purge->trouble);
    }

    if (purge->nidle == purge->ncalls) {

        if (ngx_http_symbolicate_purge_tell(purge) != NGX_OK) {
            return ngx_http_symbolicate_fail(&purge->task,
                                 NGX_HTTP_SERVICE_UNAVAILABLE,
                                 SYM_STR("503 Service Unavailable"),
                                 "too many changes wait for other nodes");
        }

        return ngx_http_symbolicate_purge_answer(purge);
    }

    ngx_add_timer(&purge->timer, purge->task.budget);

    return NGX_DONE;
}


static void
ngx_http_symbolicate_purge_reply(ngx_http_symbolicate_rpc_t *call,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_purge_t    *purge;
    ngx_http_symbolicate_purging_t  *purging;

    purge = call->data;
    purging = (ngx_http_symbolicate_purging_t *) call;

    purge->idle[purge->nidle++] = purging;

    if (m == NULL) {
        purge->trouble = "the symbol loader went away";

    } else if (m->flags & SYM_RPC_DID) {
        purge->removed += !purge->was_there[purging->item];
        purge->was_there[purging->item] = 1;

    } else if (m->text.len) {
        ngx_http_symbolicate_purge_refused(purge, m->text);
    }

    /*
     * resumes only when half of the calls have ended, which keeps the loader
     * busy
     */

    if (purge->trouble || purge->nidle == purge->ncalls
        || (purge->next < purge->n && purge->nidle >= purge->ncalls / 2))
    {
        ngx_http_symbolicate_purge_wake(purge);
    }
}


static void
ngx_http_symbolicate_purge_late(ngx_event_t *ev)
{
    ngx_http_symbolicate_purge_t *purge = ev->data;

    purge->trouble = "the symbol loader does not answer";

    ngx_http_symbolicate_purge_wake(purge);
}


void
ngx_http_symbolicate_purge_cleanup(ngx_http_symbolicate_task_t *task)
{
    ngx_uint_t                     i;
    ngx_http_symbolicate_purge_t  *purge;

    purge = (ngx_http_symbolicate_purge_t *) task;

    for (i = 0; i < purge->ncalls; i++) {
        ngx_http_symbolicate_rpc_cancel(&purge->calls[i].call);
    }

    ngx_http_symbolicate_unpublish_free(purge->unpublish);
    purge->unpublish = NULL;

    if (purge->timer.timer_set) {
        ngx_del_timer(&purge->timer);
    }

    sym_arena_drop(&purge->arena);
}
