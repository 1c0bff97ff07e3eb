
/*
 * ngx_http_symbolicate_fetch.c - downloads a file: tries the sources in order.
 *
 * The first status 200 ends the search.  After "no such file" or a failure, the
 * next path is tried.  If a source failed, the file does not count as absent.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch.h"
#include "download/ngx_http_symbolicate_fetch_location.h"
#include "download/ngx_http_symbolicate_fetch_range.h"
#include "download/ngx_http_symbolicate_fetch_report.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_search.h"
#include "download/ngx_http_symbolicate_fetch_shared.h"
#include "download/ngx_http_symbolicate_fetch_spool.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_fetch_status.h"
#include "download/ngx_http_symbolicate_index.h"


/*
 * Interval of checks of the time limits, and time for which a download may be
 * slow.
 */
#define NGX_SYMBOLICATE_TICK   1000
#define NGX_SYMBOLICATE_SLOW   10000

/* A download may wait this long for a larger lease before it frees its slot. */
#define NGX_SYMBOLICATE_PAUSE  1000


static ngx_int_t ngx_http_symbolicate_fetch_begin(
    ngx_http_symbolicate_fetch_t *fetch);
static void ngx_http_symbolicate_fetch_ready(ngx_event_t *ev);
static void ngx_http_symbolicate_fetch_nothing(ngx_event_t *ev);
static void ngx_http_symbolicate_fetch_tick(ngx_event_t *ev);
static void ngx_http_symbolicate_fetch_tried(
    ngx_http_symbolicate_fetch_t *fetch, ngx_int_t rc, ngx_uint_t is_whole);
static void ngx_http_symbolicate_fetch_end(ngx_http_symbolicate_fetch_t *fetch,
    sym_module_state_t state);


/* Functions for indexes of request sources. */
static const ngx_http_symbolicate_index_reader_t
    ngx_http_symbolicate_fetch_texts =
{
    ngx_http_symbolicate_fetch_text,
    ngx_http_symbolicate_fetch_free,
    ngx_http_symbolicate_fetch_result
};


static ngx_int_t
ngx_http_symbolicate_fetch_copy_ref(ngx_http_symbolicate_fetch_t *fetch,
    const sym_object_ref_t *ref)
{
    char  *texts;

    texts = ngx_pnalloc(fetch->pool, sym_object_ref_bytes(ref));
    if (texts == NULL) {
        return NGX_ERROR;
    }

    sym_object_ref_copy(&fetch->ref, ref, texts);

    return NGX_OK;
}


static ngx_http_symbolicate_fetch_t *
ngx_http_symbolicate_fetch_create(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_lease_t *lease)
{
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = ngx_calloc(sizeof(ngx_http_symbolicate_fetch_t), ngx_cycle->log);
    if (fetch == NULL) {
        return NULL;
    }

    fetch->events = events;
    fetch->data = data;
    fetch->policy = policy;
    fetch->transport = &ngx_http_symbolicate_fetch_location;
    fetch->lease = *lease;
    fetch->asked = lease->bytes;

    fetch->ready.handler = ngx_http_symbolicate_fetch_ready;
    fetch->ready.data = fetch;
    fetch->ready.log = ngx_cycle->log;
    fetch->indexed.ready = &fetch->ready;

    fetch->nothing.handler = ngx_http_symbolicate_fetch_nothing;
    fetch->nothing.data = fetch;
    fetch->nothing.log = ngx_cycle->log;

    fetch->timer.handler = ngx_http_symbolicate_fetch_tick;
    fetch->timer.data = fetch;
    fetch->timer.log = ngx_cycle->log;
    fetch->timer.cancelable = 1;
    fetch->began = ngx_current_msec;

    sym_arena_init(&fetch->arena, 0);

    fetch->outcome.fd = -1;
    fetch->outcome.absent = -1;
    fetch->outcome.reason.data = fetch->reason;
    fetch->outcome.outcomes.data = (u_char *) fetch->outcomes;

    if (ngx_http_symbolicate_fetch_open(fetch,
                                        ngx_http_symbolicate_fetch_tried)
        != NGX_OK)
    {
        sym_arena_drop(&fetch->arena);
        ngx_free(fetch);
        return NULL;
    }

    return fetch;
}


ngx_http_symbolicate_fetch_t *
ngx_http_symbolicate_fetch_start(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_object_t *object, ngx_http_symbolicate_lease_t *lease)
{
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = ngx_http_symbolicate_fetch_create(events, data, policy, lease);
    if (fetch == NULL) {
        return NULL;
    }

    fetch->files = object->files;
    fetch->places = object->places;
    fetch->order = object->order;
    fetch->companion = object->companion;
    fetch->share = object->share;
    fetch->without = object->without;
    fetch->kind = object->kind;
    fetch->only_bucket = object->only_bucket;
    fetch->forwarded = object->forwarded;

    if (ngx_http_symbolicate_fetch_copy_ref(fetch, object->ref) != NGX_OK
        || ngx_http_symbolicate_fetch_sources(fetch, object) != NGX_OK)
    {
        (void) ngx_http_symbolicate_fetch_free(fetch);
        return NULL;
    }

    ngx_add_timer(&fetch->timer, ngx_min(policy->timeout,
                                         NGX_SYMBOLICATE_TICK));

    if (ngx_http_symbolicate_fetch_begin(fetch) != NGX_OK) {
        (void) ngx_http_symbolicate_fetch_free(fetch);
        return NULL;
    }

    return fetch;
}


ngx_http_symbolicate_fetch_t *
ngx_http_symbolicate_fetch_text(
    ngx_http_symbolicate_fetch_events_t *events, void *data,
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_source_t *source, sym_str_t path,
    ngx_http_symbolicate_lease_t *lease)
{
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = ngx_http_symbolicate_fetch_create(events, data, policy, lease);
    if (fetch == NULL) {
        return NULL;
    }

    fetch->source = source;
    fetch->transport = source->transport;

    ngx_http_symbolicate_fetch_reset(fetch);
    ngx_add_timer(&fetch->timer, ngx_min(policy->timeout,
                                         NGX_SYMBOLICATE_TICK));

    if (fetch->transport->try(fetch, path, path) != NGX_OK) {
        (void) ngx_http_symbolicate_fetch_free(fetch);
        return NULL;
    }

    return fetch;
}


/* Requests the first path, once the indexes of all sources are ready. */
static ngx_int_t
ngx_http_symbolicate_fetch_begin(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_int_t   rc;
    ngx_uint_t  i;

    for (i = 0; i < fetch->nsources; i++) {
        rc = ngx_http_symbolicate_index_wait(fetch->sources[i], fetch->policy,
                                             &ngx_http_symbolicate_fetch_texts,
                                             &fetch->indexed);

        if (rc == NGX_OK) {
            continue;
        }

        fetch->source = fetch->sources[i];
        fetch->url = fetch->source->uri;
        fetch->started = ngx_current_msec;

        if (rc == NGX_AGAIN) {
            return NGX_OK;
        }

        if (fetch->nfailed++ == 0) {
            ngx_http_symbolicate_fetch_reason(fetch,
                                      "indexes of other sources take all room");
        }
    }

    switch (ngx_http_symbolicate_fetch_try(fetch)) {

    case NGX_OK:
        return NGX_OK;

    case NGX_DECLINED:
        ngx_post_event(&fetch->nothing, &ngx_posted_events);
        return NGX_OK;

    default:
        return NGX_ERROR;
    }
}


/* The index of a source is ready, or has failed. */
static void
ngx_http_symbolicate_fetch_ready(ngx_event_t *ev)
{
    ngx_http_symbolicate_fetch_t *fetch = ev->data;

    if (ngx_http_symbolicate_fetch_begin(fetch) != NGX_OK) {
        ngx_http_symbolicate_fetch_reason(fetch, "out of memory");
        ngx_http_symbolicate_fetch_end(fetch, SYM_MODULE_FAILED);
    }
}


static void
ngx_http_symbolicate_fetch_nothing(ngx_event_t *ev)
{
    ngx_http_symbolicate_fetch_t *fetch = ev->data;

    ngx_http_symbolicate_fetch_end(fetch, fetch->nfailed ? SYM_MODULE_FAILED
                                                         : SYM_MODULE_ABSENT);
}


/* Ends the download, and closes the file. */
ngx_int_t
ngx_http_symbolicate_fetch_free(ngx_http_symbolicate_fetch_t *fetch)
{
    if (fetch->bg && !ngx_http_symbolicate_background_is_idle(fetch->bg)) {
        return NGX_AGAIN;
    }

    fetch->transport->cancel(fetch);

    if (fetch->bg) {
        (void) ngx_http_symbolicate_background_free(fetch->bg);
    }

    if (fetch->nothing.posted) {
        ngx_delete_posted_event(&fetch->nothing);
    }

    if (fetch->ready.posted) {
        ngx_delete_posted_event(&fetch->ready);
    }

    ngx_http_symbolicate_index_leave(&fetch->indexed);

    if (fetch->timer.timer_set) {
        ngx_del_timer(&fetch->timer);
    }

    sym_arena_drop(&fetch->arena);
    ngx_free(fetch);

    return NGX_OK;
}


void
ngx_http_symbolicate_fetch_lend(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_lease_t *lease)
{
    fetch->lease = *lease;
    fetch->asked = lease->bytes;

    /* requests more room before the body reaches the end of the lease */

    ngx_http_symbolicate_fetch_announce(fetch);
    ngx_http_symbolicate_fetch_resume(fetch);
}


ngx_uint_t
ngx_http_symbolicate_fetch_asked(ngx_http_symbolicate_fetch_t *fetch)
{
    if (!fetch->shared) {
        return 0;
    }

    return fetch->source == &fetch->share->peers ? NGX_SYMBOLICATE_OF_PEER
                                                 : NGX_SYMBOLICATE_OF_BUCKET;
}


ngx_uint_t
ngx_http_symbolicate_fetch_alone(ngx_http_symbolicate_fetch_t *fetch)
{
    fetch->without |= NGX_SYMBOLICATE_OF_PEER;

    return ngx_http_symbolicate_fetch_asked(fetch) == NGX_SYMBOLICATE_OF_PEER
           && fetch->status == 0;
}


/*
 * Ends a download when its time is over, or when its body is too slow to be
 * worth a slot.  The location limits the time to the first byte
 * (proxy_read_timeout).
 */
static const char *
ngx_http_symbolicate_fetch_is_late(ngx_http_symbolicate_fetch_t *fetch)
{
    off_t  bytes;

    if (ngx_current_msec - fetch->began >= fetch->policy->timeout) {
        return "it took too long (symbolicate_fetch_timeout)";
    }

    if (fetch->status == 0 || fetch->paused
        || ngx_current_msec - fetch->window < NGX_SYMBOLICATE_SLOW)
    {
        return NULL;
    }

    bytes = fetch->received - fetch->window_from;

    if (bytes / (NGX_SYMBOLICATE_SLOW / 1000)
        < (off_t) fetch->policy->min_rate)
    {
        return "it was too slow (symbolicate_fetch_timeout)";
    }

    fetch->window = ngx_current_msec;
    fetch->window_from = fetch->received;

    return NULL;
}


static void
ngx_http_symbolicate_fetch_tick(ngx_event_t *ev)
{
    ngx_http_symbolicate_fetch_t *fetch = ev->data;

    const char  *trouble;
    ngx_msec_t   left;

    trouble = ngx_http_symbolicate_fetch_is_late(fetch);

    if (fetch->paused
        && ngx_current_msec - fetch->paused_at >= NGX_SYMBOLICATE_PAUSE)
    {
        fetch->impatient = 1;
        ngx_http_symbolicate_fetch_resume(fetch);
    }

    if (trouble == NULL) {
        left = fetch->policy->timeout - (ngx_current_msec - fetch->began);
        ngx_add_timer(ev, ngx_min(left, NGX_SYMBOLICATE_TICK));

        fetch->events->tick(fetch->data);
        return;
    }

    if (fetch->trouble == NULL) {
        fetch->trouble = trouble;
        fetch->late = 1;
    }

    /* the texts of the attempt live as long as bg */

    if (!ngx_http_symbolicate_background_is_idle(fetch->bg)) {
        ngx_add_timer(ev, NGX_SYMBOLICATE_TICK);
        return;
    }

    fetch->need = 0;

    ngx_http_symbolicate_index_leave(&fetch->indexed);

    if (fetch->shared) {
        fetch->outcome.useless = 1;
        ngx_http_symbolicate_fetch_shared_failed(fetch, fetch->trouble);

    } else {
        ngx_http_symbolicate_fetch_failed(fetch, fetch->trouble);
    }

    fetch->transport->cancel(fetch);
    (void) ngx_http_symbolicate_background_free(fetch->bg);
    fetch->bg = NULL;
    fetch->temp = NULL;

    ngx_http_symbolicate_fetch_end(fetch, SYM_MODULE_FAILED);
}


uint64_t
ngx_http_symbolicate_fetch_place(ngx_http_symbolicate_fetch_t *fetch)
{
    return (uint64_t) 1 << (fetch->next - 1) % SYM_PLAN_MAX;
}


off_t
ngx_http_symbolicate_fetch_received(ngx_http_symbolicate_fetch_t *fetch)
{
    return fetch->received;
}


ngx_http_symbolicate_fetch_result_t *
ngx_http_symbolicate_fetch_result(ngx_http_symbolicate_fetch_t *fetch)
{
    return &fetch->outcome;
}


static void
ngx_http_symbolicate_fetch_end(ngx_http_symbolicate_fetch_t *fetch,
    sym_module_state_t state)
{
    u_char  *p;

    if (fetch->timer.timer_set) {
        ngx_del_timer(&fetch->timer);
    }

    fetch->outcome.state = state;
    fetch->outcome.status = fetch->status;

    if (state == SYM_MODULE_ABSENT && fetch->nodd == 0) {
        p = ngx_slprintf(fetch->reason, fetch->reason + SYM_RPC_REASON_MAX,
                         "no source has it");
        fetch->outcome.reason.len = p - fetch->reason;
    }

    fetch->events->done(fetch->data);
}


static void
ngx_http_symbolicate_fetch_tried(ngx_http_symbolicate_fetch_t *fetch,
    ngx_int_t rc, ngx_uint_t is_whole)
{
    ngx_int_t                        again;
    const char                      *trouble;
    ngx_http_symbolicate_fetch_result_t  *out;

    out = &fetch->outcome;

    if (fetch->transport->tried(fetch, rc, is_whole) == NGX_OK) {
        return;
    }

    trouble = ngx_http_symbolicate_fetch_trouble(fetch, rc, is_whole);

    if (trouble && ngx_http_symbolicate_fetch_continue(fetch) == NGX_OK) {
        return;
    }

    if (fetch->need) {
        out->need = fetch->need;
        out->place = ngx_http_symbolicate_fetch_place(fetch);
        out->unsized = fetch->announced == -1;
        ngx_http_symbolicate_fetch_end(fetch, SYM_MODULE_FAILED);
        return;
    }

    if (trouble == NULL && fetch->status == NGX_HTTP_OK && fetch->received) {
        ngx_http_symbolicate_fetch_found(fetch);
        out->fd = fetch->temp ? fetch->temp->file.fd : fetch->fd;
        out->offset = fetch->offset;
        out->length = fetch->received;
        out->source = fetch->url;
        out->path = fetch->place_path;
        out->spooled = (fetch->temp != NULL);
        out->shared = fetch->shared;
        ngx_http_symbolicate_fetch_end(fetch, SYM_MODULE_READY);
        return;
    }

    again = NGX_ABORT;

    if (fetch->shared) {
        again = ngx_http_symbolicate_fetch_shared_tried(fetch, trouble);
        trouble = NULL;

        if (again == NGX_DECLINED) {
            again = ngx_http_symbolicate_fetch_try_place(fetch);
        }
    }

    if (again == NGX_ABORT) {

        if (trouble) {
            ngx_http_symbolicate_fetch_failed(fetch, trouble);

        } else {
            ngx_http_symbolicate_fetch_absent(fetch);
        }
    }

    if (again == NGX_ABORT || again == NGX_DECLINED) {
        again = ngx_http_symbolicate_fetch_try(fetch);
    }

    if (again == NGX_OK) {
        return;
    }

    if (again == NGX_ERROR && fetch->nfailed++ == 0) {
        ngx_http_symbolicate_fetch_reason(fetch, "out of memory");
    }

    ngx_http_symbolicate_fetch_end(fetch, fetch->nfailed ? SYM_MODULE_FAILED
                                                         : SYM_MODULE_ABSENT);
}
