
/*
 * ngx_http_symbolicate_fetch_search.c - which file is asked for next, and at
 * which source.
 *
 * A source may have several files of a module, and a companion file may be at
 * several sources: one source after the other, each with all its places.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_search.h"
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


/* By the index of a source that has one. */
static ngx_uint_t
ngx_http_symbolicate_fetch_is_listed(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_source_t *source, sym_source_rules_t *rules,
    unsigned number)
{
    char                text[SYM_SOURCE_PATH_MAX];
    sym_error_t         err;
    sym_source_place_t  place;

    if (!source->has_index) {
        return 1;
    }

    ngx_memzero(&err, sizeof(sym_error_t));

    return sym_source_place(rules, &fetch->module, fetch->thorough, number, 0,
                            text, sizeof(text), &place, &err)
               == SYM_OK
           && ngx_http_symbolicate_index_has(source, place.path);
}


ngx_uint_t
ngx_http_symbolicate_fetch_find(ngx_http_symbolicate_fetch_t *fetch,
    ngx_uint_t *next, ngx_http_symbolicate_source_t **source, unsigned *number,
    sym_source_file_t *file)
{
    char                 text[SYM_SOURCE_PATH_MAX];
    ngx_uint_t           i;
    sym_error_t          err;
    sym_source_rules_t   rules;
    sym_source_place_t   place;

    while (*next < fetch->nsources * SYM_SOURCE_PLACES) {
        i = (*next)++;

        *source = fetch->sources[i / SYM_SOURCE_PLACES];
        *number = i % SYM_SOURCE_PLACES;

        rules = ngx_http_symbolicate_fetch_rules(fetch, *source);

        if ((*source)->request_source && (*source)->request_source->is_links) {

            /* the module is a text, which lies in one place */

            if (*number == 0) {
                *file = SYM_SOURCE_PORTABLE_PDB;
                return 1;
            }

            continue;
        }

        if ((*source)->request_source && (*source)->request_source->type
            == SYM_REQUEST_SOURCE_SENTRY)
        {

            /* its files have no places, but types */

            if (*number < SYM_SOURCE_FILES && (rules.files & (1u << *number))) {
                *file = *number;
                return 1;
            }

            continue;
        }

        ngx_memzero(&err, sizeof(sym_error_t));

        if (sym_source_place(&rules, &fetch->module, fetch->thorough, *number,
                             1, text, sizeof(text), &place, &err)
            != SYM_OK)
        {
            continue;
        }

        if (fetch->canonical.len
            && !sym_source_is_respelled(&rules, place.file, &fetch->module,
                                        fetch->canonical))
        {
            continue;
        }

        if (!ngx_http_symbolicate_fetch_is_listed(fetch, *source, &rules,
                                                  *number))
        {
            continue;
        }

        *file = place.file;

        return 1;
    }

    return 0;
}


ngx_uint_t
ngx_http_symbolicate_fetch_has_paths(ngx_http_symbolicate_source_t *source)
{
    return source->request_source == NULL
           || (source->request_source->type != SYM_REQUEST_SOURCE_SENTRY
               && !source->request_source->is_links);
}


/* Those of the source, for the files that are to be fetched. */
sym_source_rules_t
ngx_http_symbolicate_fetch_rules(ngx_http_symbolicate_fetch_t *fetch,
    ngx_http_symbolicate_source_t *source)
{
    sym_source_rules_t  rules;

    rules = source->rules;
    rules.files &= fetch->files;

    return rules;
}


ngx_uint_t
ngx_http_symbolicate_fetch_is_offer(ngx_http_symbolicate_fetch_t *fetch)
{
    unsigned                        number;
    ngx_uint_t                      next;
    sym_source_file_t               file;
    ngx_http_symbolicate_source_t  *source;

    next = fetch->next;

    return (fetch->file != SYM_SOURCE_BREAKPAD || fetch->module.object)
           && ngx_http_symbolicate_fetch_find(fetch, &next, &source, &number,
                                              &file);
}
