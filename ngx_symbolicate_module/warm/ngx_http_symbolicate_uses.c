
/*
 * ngx_http_symbolicate_uses.c - adds what this node uses to the list of its
 * fleet.
 *
 * One worker walks over the records of the store, in slices, and collects the
 * artifacts that were used since its last addition.  If there are any, it reads
 * the list, adds them, and writes it.  If another node has written the list
 * meanwhile, it tries once more; after that, the next walk finds the same uses.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "share/rank_of.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "store/ngx_http_symbolicate_store.h"
#include "warm/ngx_http_symbolicate_ranks.h"
#include "warm/ngx_http_symbolicate_uses.h"


/* Records for each turn: about a millisecond. */
#define NGX_SYMBOLICATE_USES_TURN   200

/* Artifacts for each turn that are added to the list: some milliseconds. */
#define NGX_SYMBOLICATE_USES_MERGE  4096


typedef struct {
    ngx_http_symbolicate_loc_conf_t  *slcf;
    ngx_event_t                    timer;       /* of the next walk */
    ngx_http_symbolicate_ranks_t   ranks;

    /* the walk */
    ngx_http_symbolicate_turn_t    turn;
    sym_ranks_t                   *used;        /* NULL: no walk */
    uint64_t                       room;        /* of a new node, in bytes; 0:
                                                 * not known yet */
    ngx_uint_t                     source;      /* index of the current one */
    sym_store_mark_t               mark;
    sym_arena_t                    arena;       /* of paths */
    time_t                         began;
    time_t                         since;       /* earlier uses are in the
                                                 * list */

    /* the list */
    ngx_http_symbolicate_turn_t    merge;
    uint32_t                       merged;      /* artifacts of `used` */
    uint32_t                       max;         /* most artifacts */
    unsigned                       ordered:1;
    unsigned                       tried:1;     /* another node was faster */
} ngx_http_symbolicate_uses_t;


static void ngx_http_symbolicate_uses_rest(ngx_http_symbolicate_uses_t *uses);
static void ngx_http_symbolicate_uses_walk(ngx_event_t *ev);
static void ngx_http_symbolicate_uses_turn(void *data);
static ngx_int_t ngx_http_symbolicate_uses_slice(
    ngx_http_symbolicate_uses_t *uses);
static sym_status_t ngx_http_symbolicate_uses_look(sym_snapshot_t *snapshot,
    void *data, sym_error_t *err);
static sym_status_t ngx_http_symbolicate_uses_record(void *data,
    sym_str_t scope, const sym_object_record_t *record);
static void ngx_http_symbolicate_uses_add(void *data,
    ngx_http_symbolicate_ranks_result_t *result);
static void ngx_http_symbolicate_uses_merge(void *data);
static void ngx_http_symbolicate_uses_added(void *data,
    ngx_http_symbolicate_ranks_result_t *result);
static void ngx_http_symbolicate_uses_failed(ngx_http_symbolicate_uses_t *uses,
    const char *what, ngx_str_t *trouble);


ngx_int_t
ngx_http_symbolicate_uses_start(ngx_http_symbolicate_loc_conf_t *slcf)
{
    ngx_http_symbolicate_uses_t  *uses;

    uses = ngx_pcalloc(ngx_cycle->pool, sizeof(ngx_http_symbolicate_uses_t));
    if (uses == NULL) {
        return NGX_ERROR;
    }

    uses->slcf = slcf;
    uses->since = ngx_time();

    uses->ranks.policy = &slcf->policy;
    uses->ranks.data = uses;
    uses->ranks.fd = NGX_INVALID_FILE;

    uses->turn.run = ngx_http_symbolicate_uses_turn;
    uses->turn.data = uses;
    uses->merge.run = ngx_http_symbolicate_uses_merge;
    uses->merge.data = uses;

    uses->timer.handler = ngx_http_symbolicate_uses_walk;
    uses->timer.data = uses;
    uses->timer.log = ngx_cycle->log;
    uses->timer.cancelable = 1;

    sym_arena_init(&uses->arena, 0);
    ngx_http_symbolicate_uses_rest(uses);

    return NGX_OK;
}


/* Nodes that were started together must not write the list together. */
static void
ngx_http_symbolicate_uses_rest(ngx_http_symbolicate_uses_t *uses)
{
    ngx_msec_t  every;

    sym_ranks_free(uses->used);
    uses->used = NULL;
    ngx_http_symbolicate_ranks_drop(&uses->ranks);

    every = uses->slcf->policy.share->every;
    ngx_add_timer(&uses->timer, every / 2 + ngx_random() % every);
}


/* --- the walk --- */

static void
ngx_http_symbolicate_uses_walk(ngx_event_t *ev)
{
    ngx_http_symbolicate_uses_t *uses = ev->data;

    if (ngx_exiting) {
        return;
    }

    uses->used = sym_ranks_create(ngx_time());
    uses->began = ngx_time();
    uses->source = 0;
    uses->mark.len = 0;
    uses->room = 0;
    uses->tried = 0;

    if (uses->used == NULL) {
        ngx_http_symbolicate_uses_rest(uses);
        return;
    }

    ngx_http_symbolicate_enqueue(&uses->turn);
}


static void
ngx_http_symbolicate_uses_turn(void *data)
{
    ngx_http_symbolicate_uses_t *uses = data;

    ngx_int_t  rc;

    rc = ngx_http_symbolicate_uses_slice(uses);
    sym_arena_drop(&uses->arena);

    if (rc == NGX_AGAIN) {
        ngx_http_symbolicate_enqueue(&uses->turn);
        return;
    }

    uses->ranks.done = ngx_http_symbolicate_uses_add;

    if (rc != NGX_OK || uses->used->n == 0
        || ngx_http_symbolicate_ranks_read(&uses->ranks) != NGX_OK)
    {
        ngx_http_symbolicate_uses_rest(uses);
    }
}


/* NGX_AGAIN: there are more records. */
static ngx_int_t
ngx_http_symbolicate_uses_slice(ngx_http_symbolicate_uses_t *uses)
{
    const char    *reason;
    sym_error_t    err;
    sym_status_t   status;

    if (uses->source == uses->slcf->policy.sources->nelts) {
        return NGX_OK;
    }

    status = ngx_http_symbolicate_store_read(uses->slcf->store,
                                             ngx_http_symbolicate_uses_look,
                                             uses, ngx_cycle->log, &err,
                                             &reason);

    if (status == SYM_OK) {
        uses->source++;
        uses->mark.len = 0;
    }

    return status == SYM_OK || status == SYM_AGAIN ? NGX_AGAIN : NGX_ERROR;
}


static ngx_http_symbolicate_source_t *
ngx_http_symbolicate_uses_source(ngx_http_symbolicate_uses_t *uses)
{
    ngx_http_symbolicate_source_t  *sources;

    sources = uses->slcf->policy.sources->elts;

    return &sources[uses->source];
}


static sym_status_t
ngx_http_symbolicate_uses_look(sym_snapshot_t *snapshot, void *data,
    sym_error_t *err)
{
    ngx_http_symbolicate_uses_t *uses = data;

    uint64_t                        records;
    sym_str_t                       scope;
    sym_status_t                    status;
    ngx_http_symbolicate_source_t  *source;

    source = ngx_http_symbolicate_uses_source(uses);
    scope = sym_str((char *) source->name.data, source->name.len);
    records = NGX_SYMBOLICATE_USES_TURN;

    if (uses->room == 0) {
        status = ngx_http_symbolicate_ranks_room(sym_snapshot_store(snapshot),
                                                 &uses->room, err);
        if (status != SYM_OK) {
            return status;
        }
    }

    return sym_snapshot_objects(snapshot, &scope, &uses->mark, &records,
                                ngx_http_symbolicate_uses_record, uses, err);
}


static sym_status_t
ngx_http_symbolicate_uses_record(void *data, sym_str_t scope,
    const sym_object_record_t *record)
{
    ngx_http_symbolicate_uses_t *uses = data;

    char                            ref[SYM_REF_BYTES_MAX];
    sym_rank_t                      rank;
    ngx_http_symbolicate_source_t  *source;

    source = ngx_http_symbolicate_uses_source(uses);

    if ((time_t) record->used_at >= uses->since
        && sym_rank_of(&uses->arena, sym_str((char *) source->name.data,
                                             source->name.len),
                       &source->rules, record, ref, &rank))
    {
        (void) sym_ranks_add(uses->used, &rank);
    }

    return SYM_OK;
}


/* --- the list --- */

static void
ngx_http_symbolicate_uses_failed(ngx_http_symbolicate_uses_t *uses,
    const char *what, ngx_str_t *trouble)
{
    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "symbolicate_share: the list of the artifacts that the fleet "
                  "uses most %s: %V", what, trouble);
}


/* A damaged list is replaced by what is left of it. */
static void
ngx_http_symbolicate_uses_add(void *data,
    ngx_http_symbolicate_ranks_result_t *result)
{
    ngx_http_symbolicate_uses_t *uses = data;

    if (result->trouble.len) {
        ngx_http_symbolicate_uses_failed(uses, "could not be read",
                                         &result->trouble);
    }

    if (uses->ranks.condition.data == NULL) {
        ngx_http_symbolicate_uses_rest(uses);
        return;
    }

    /* nodes with larger stores may have written more */

    uses->max = ngx_max(uses->ranks.list->n, sym_ranks_for(uses->room));
    uses->merged = 0;
    uses->ordered = 0;
    sym_ranks_fade(uses->ranks.list, ngx_time());

    ngx_http_symbolicate_enqueue(&uses->merge);
}


/* A large list takes several turns. */
static void
ngx_http_symbolicate_uses_merge(void *data)
{
    ngx_http_symbolicate_uses_t *uses = data;

    uint32_t  end;

    end = ngx_min(uses->used->n, uses->merged + NGX_SYMBOLICATE_USES_MERGE);

    if (uses->merged < end) {
        while (uses->merged < end) {
            (void) sym_ranks_add(uses->ranks.list,
                                 uses->used->at[uses->merged++]);
        }

        ngx_http_symbolicate_enqueue(&uses->merge);
        return;
    }

    if (!uses->ordered) {
        uses->ordered = 1;
        sym_ranks_order(uses->ranks.list, uses->max);
        ngx_http_symbolicate_enqueue(&uses->merge);
        return;
    }

    uses->ranks.done = ngx_http_symbolicate_uses_added;

    if (ngx_http_symbolicate_ranks_write(&uses->ranks) != NGX_OK) {
        ngx_http_symbolicate_uses_rest(uses);
    }
}


static void
ngx_http_symbolicate_uses_added(void *data,
    ngx_http_symbolicate_ranks_result_t *result)
{
    ngx_http_symbolicate_uses_t *uses = data;

    if (result->trouble.len == 0) {
        uses->since = uses->began;

    } else if (!result->changed) {
        ngx_http_symbolicate_uses_failed(uses, "could not be written",
                                         &result->trouble);

    } else if (!uses->tried) {
        uses->tried = 1;
        uses->ranks.done = ngx_http_symbolicate_uses_add;

        if (ngx_http_symbolicate_ranks_read(&uses->ranks) == NGX_OK) {
            return;
        }
    }

    ngx_http_symbolicate_uses_rest(uses);
}
