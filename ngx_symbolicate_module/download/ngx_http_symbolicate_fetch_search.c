
/*
 * ngx_http_symbolicate_fetch_search.c - finds the next file to request, and its
 * source.
 *
 * A source may have several files of a module, and a companion file may be at
 * several sources.  Sources are tried in order, each with all its paths.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_known.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_search.h"
#include "download/ngx_http_symbolicate_fetch_shared.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "download/ngx_http_symbolicate_index.h"


ngx_int_t
ngx_http_symbolicate_fetch_sources(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_object_t *object)
{
    ngx_uint_t                      i, n;
    ngx_http_symbolicate_source_t  *sources;

    sources = fetch->policy->sources->elts;
    n = object->others ? fetch->policy->sources->nelts : 0;

    fetch->sources = ngx_palloc(fetch->pool,
                           (n + 1) * sizeof(ngx_http_symbolicate_source_t *));
    if (fetch->sources == NULL) {
        return NGX_ERROR;
    }

    fetch->sources[fetch->nsources++] = object->first;

    if (object->first->transport) {
        fetch->transport = object->first->transport;
    }

    for (i = 0; i < n; i++) {
        if (&sources[i] != object->first) {
            fetch->sources[fetch->nsources++] = &sources[i];
        }
    }

    return NGX_OK;
}


/* Makes the plan of a source.  NULL: no memory. */
static sym_source_plan_t *
ngx_http_symbolicate_fetch_plan(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_source_t *source)
{
    if (fetch->planned != source) {
        fetch->planned = NULL;

        if (sym_source_plan(&fetch->arena, &fetch->ref, &source->rules,
                            fetch->files, fetch->order, &fetch->plan)
            != SYM_OK)
        {
            return NULL;
        }

        fetch->planned = source;
    }

    return &fetch->plan;
}


/*
 * Whether to try a place of a source; its index, if any, must list the path.
 * The loader has sent the open places of a module; records in the store show
 * those of a companion.
 */
static ngx_uint_t
ngx_http_symbolicate_fetch_is_open(ngx_http_symbolicate_fetch_t *fetch,
    ngx_uint_t source, unsigned number)
{
    sym_source_place_t             *place;
    ngx_http_symbolicate_source_t  *from;

    place = &fetch->plan.at[number];
    from = fetch->sources[source];

    return (source != 0 || (fetch->places >> number & 1))
           && (!from->has_index
               || ngx_http_symbolicate_index_has(from, place->path))
           && (!fetch->companion
               || !ngx_http_symbolicate_fetch_is_known(fetch, from,
                                                       place->path));
}


ngx_int_t
ngx_http_symbolicate_fetch_find(ngx_http_symbolicate_fetch_t *fetch,
    ngx_uint_t *next, ngx_http_symbolicate_source_t **source,
    sym_source_place_t *place)
{
    unsigned            number;
    ngx_uint_t          i;
    sym_source_plan_t  *plan;

    while (*next < fetch->nsources * SYM_PLAN_MAX) {
        i = (*next)++;

        *source = fetch->sources[i / SYM_PLAN_MAX];
        number = i % SYM_PLAN_MAX;

        plan = ngx_http_symbolicate_fetch_plan(fetch, *source);
        if (plan == NULL) {
            return NGX_ERROR;
        }

        if (number < plan->n
            && ngx_http_symbolicate_fetch_is_open(fetch, i / SYM_PLAN_MAX,
                                                  number))
        {
            *place = plan->at[number];
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


ngx_int_t
ngx_http_symbolicate_fetch_try_place(ngx_http_symbolicate_fetch_t *fetch)
{
    char  encoded[SYM_SOURCE_ENCODED_MAX];

    if (fetch->only_bucket) {
        return NGX_DECLINED;
    }

    ngx_http_symbolicate_fetch_reset(fetch);
    fetch->hops = 0;

    return fetch->transport->try(fetch,
                                 sym_source_encode(fetch->place_path, encoded),
                                 fetch->place_path);
}


ngx_int_t
ngx_http_symbolicate_fetch_try(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_int_t           rc;
    sym_source_place_t  place;

    for ( ;; ) {
        rc = ngx_http_symbolicate_fetch_find(fetch, &fetch->next,
                                             &fetch->source, &place);
        if (rc != NGX_OK) {
            return rc;
        }

        fetch->file = place.file;
        fetch->place_path = place.path;
        fetch->origin = fetch->source;
        fetch->nshared = 0;
        fetch->hops = 0;

        rc = ngx_http_symbolicate_fetch_shared_try(fetch);

        if (rc == NGX_DECLINED) {
            rc = ngx_http_symbolicate_fetch_try_place(fetch);
        }

        if (rc != NGX_DECLINED) {
            return rc;
        }
    }
}
