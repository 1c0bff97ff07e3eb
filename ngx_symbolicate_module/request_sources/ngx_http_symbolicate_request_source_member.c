
/*
 * ngx_http_symbolicate_request_source_member.c - a file of a bundle, from the
 * bundle's artifact in the store.
 *
 * The bundle itself has already been downloaded.  The text of the file is
 * copied from the bundle's artifact to a temporary file, a part in each turn of
 * the event loop.  Then it is passed on like a download.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "artifacts/sources/read/sources.h"
#include "symbolicate/artifact.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_member.h"
#include "request_sources/ngx_http_symbolicate_request_source_state.h"
#include "store/ngx_http_symbolicate_store.h"


/* Number of blocks per turn: about 3 ms. */
#define NGX_SYMBOLICATE_MEMBER_BLOCKS  32


struct ngx_http_symbolicate_request_source_member_s {
    ngx_event_t                     event;      /* begins the next turn */
    ngx_fd_t                        fd;
    uint32_t                        next;       /* block */
    off_t                           written;
    u_char                         *data;       /* blocks of a turn */

    /* of a turn */
    ngx_http_symbolicate_fetch_t   *fetch;
    sym_arena_t                     arena;
    sym_status_t                    status;
    off_t                           size;       /* size of the file */
    size_t                          len;        /* of data */
    ngx_uint_t                      is_last;
};


/* Reads blocks.  A bundle that cannot be read is no failure of the store. */
static sym_status_t
ngx_http_symbolicate_request_source_member_read(sym_snapshot_t *snapshot,
    void *data, sym_error_t *err)
{
    ngx_http_symbolicate_request_source_member_t *m = data;

    size_t                len;
    uint64_t              line;
    ngx_uint_t            i;
    sym_lookup_t          of;
    sym_missing_t         missing;
    sym_sources_t         sources;
    sym_str_t             scope;
    sym_resolver_t       *resolver;
    sym_object_ref_t      ref;
    sym_sources_file_t    file;
    sym_artifact_found_t  artifact;

    ref = m->fetch->ref;
    ref.role = SYM_TEXT_BUNDLE;
    ref.member = 0;

    resolver = sym_resolver_create(&m->arena, snapshot, (uint32_t) ngx_time(),
                                   0, 0);

    if (resolver == NULL) {
        m->status = SYM_NOMEM;
        return SYM_OK;
    }

    scope = sym_str((char *) m->fetch->source->name.data,
                    m->fetch->source->name.len);

    of.ref = &ref;
    of.kind = SYM_KIND_SOURCES;
    of.without = 0;

    m->status = sym_artifact_find(resolver, scope, &of, &artifact, &missing);

    if (m->status == SYM_OK) {
        m->status = sym_sources_open(&sources, sym_artifact_extent, &artifact,
                                     err);
    }

    if (m->status == SYM_OK) {
        m->status = sym_sources_file(&sources, m->fetch->ref.member - 1, &file);
    }

    if (m->status != SYM_OK) {
        return SYM_OK;
    }

    m->size = file.len;
    m->len = 0;

    for (i = 0; i < NGX_SYMBOLICATE_MEMBER_BLOCKS && m->next < file.n_blocks;
         i++)
    {
        m->status = sym_sources_block(&sources, &file, m->next,
                                      (char *) m->data + m->len, &len, &line);
        if (m->status != SYM_OK) {
            return SYM_OK;
        }

        m->next++;
        m->len += len;
    }

    m->is_last = (m->next == file.n_blocks);

    return SYM_OK;
}


/* Reads the blocks of a turn. */
static sym_status_t
ngx_http_symbolicate_request_source_member_turn(
    ngx_http_symbolicate_request_attempt_t *g)
{
    const char    *reason;
    sym_error_t    err;
    sym_status_t   status;
    ngx_http_symbolicate_request_source_member_t  *m;

    m = g->member;

    if (g->fetch->policy->store == NULL) {
        return SYM_NOT_FOUND;
    }

    sym_arena_init(&m->arena, 0);

    m->fetch = g->fetch;

    status = ngx_http_symbolicate_store_read(g->fetch->policy->store,
                               ngx_http_symbolicate_request_source_member_read,
                               m, ngx_cycle->log, &err, &reason);

    sym_arena_drop(&m->arena);

    return status == SYM_OK ? m->status : status;
}


static ngx_int_t
ngx_http_symbolicate_request_source_member_open(
    ngx_http_symbolicate_request_attempt_t *g)
{
    ngx_file_t                      file;
    ngx_http_core_loc_conf_t       *clcf;
    ngx_http_symbolicate_request_source_member_t  *m;

    m = g->member;
    clcf = g->fetch->policy->server->loc_conf[ngx_http_core_module.ctx_index];

    ngx_memzero(&file, sizeof(ngx_file_t));
    file.fd = NGX_INVALID_FILE;
    file.log = ngx_cycle->log;

    /* the pool closes it */

    if (ngx_create_temp_file(&file, clcf->client_body_temp_path,
                             g->fetch->pool, 1, 0, 0600)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    (void) ngx_delete_file(file.name.data);

    m->fd = file.fd;

    return NGX_OK;
}


/* Passes the file on; the loader gets a copy of the descriptor. */
static ngx_int_t
ngx_http_symbolicate_request_source_member_end(
    ngx_http_symbolicate_request_attempt_t *g)
{
    ngx_http_symbolicate_fetch_t  *fetch;

    fetch = g->fetch;

    fetch->fd = g->member->fd;
    fetch->announced = g->member->written;
    fetch->received = g->member->written;
    fetch->status = NGX_HTTP_OK;

    return ngx_http_symbolicate_request_source_stop(g, NULL);
}


static const char *
ngx_http_symbolicate_request_source_member_copy(
    ngx_http_symbolicate_request_attempt_t *g)
{
    ngx_http_symbolicate_request_source_member_t  *m;

    m = g->member;

    switch (ngx_http_symbolicate_request_source_member_turn(g)) {

    case SYM_OK:
        break;

    case SYM_NOMEM:
        return "out of memory";

    default:
        return "its bundle is not in the store";
    }

    if (m->size > g->fetch->lease.bytes) {
        g->fetch->need = m->size;
        return "lease";
    }

    if (m->fd == NGX_INVALID_FILE
        && ngx_http_symbolicate_request_source_member_open(g) != NGX_OK)
    {
        return "no temporary file could be made";
    }

    if (m->len && pwrite(m->fd, m->data, m->len, m->written)
                  != (ssize_t) m->len)
    {
        return "the temporary file could not be written";
    }

    m->written += m->len;

    return NULL;
}


static void
ngx_http_symbolicate_request_source_member_next(ngx_event_t *ev)
{
    const char                              *trouble;
    ngx_http_symbolicate_request_attempt_t  *g;

    g = ev->data;

    trouble = ngx_http_symbolicate_request_source_member_copy(g);

    if (trouble) {
        (void) ngx_http_symbolicate_request_source_stop(g, trouble);
        return;
    }

    if (!g->member->is_last) {
        ngx_post_event(ev, &ngx_posted_next_events);
        return;
    }

    (void) ngx_http_symbolicate_request_source_member_end(g);
}


static ngx_int_t
ngx_http_symbolicate_request_source_try_member(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source, sym_request_source_place_t *place)
{
    ngx_http_symbolicate_request_source_member_t  *m;

    if (ngx_http_symbolicate_request_source_show(g->fetch, g->fetch->ref.url)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    m = ngx_pcalloc(g->fetch->pool,
                    sizeof(ngx_http_symbolicate_request_source_member_t));
    if (m == NULL) {
        return NGX_ERROR;
    }

    m->fd = NGX_INVALID_FILE;
    m->data = ngx_palloc(g->fetch->pool, NGX_SYMBOLICATE_MEMBER_BLOCKS
                                         * SYM_SOURCES_BLOCK_TEXT);
    if (m->data == NULL) {
        return NGX_ERROR;
    }

    m->event.handler = ngx_http_symbolicate_request_source_member_next;
    m->event.data = g;
    m->event.log = ngx_cycle->log;

    g->member = m;

    ngx_post_event(&m->event, &ngx_posted_next_events);

    return NGX_OK;
}


void
ngx_http_symbolicate_request_source_member_cancel(
    ngx_http_symbolicate_request_attempt_t *g)
{
    if (g->member == NULL) {
        return;
    }

    if (g->member->event.posted) {
        ngx_delete_posted_event(&g->member->event);
    }

    g->member = NULL;
}


const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_member =
{
    .try = ngx_http_symbolicate_request_source_try_member
};
