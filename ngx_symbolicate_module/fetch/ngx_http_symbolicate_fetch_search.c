
/*
 * ngx_http_symbolicate_fetch_search.c - which file is asked for next, and at
 * which source.
 *
 * A source may have several files of a module.  Debug files are asked for at
 * all paths before executables.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "fetch/ngx_http_symbolicate_fetch_search.h"
#include "fetch/ngx_http_symbolicate_fetch_state.h"


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

    for (i = 0; i < n; i++) {
        if (&sources[i] != object->first) {
            fetch->sources[fetch->nsources++] = &sources[i];
        }
    }

    return NGX_OK;
}


ngx_uint_t
ngx_http_symbolicate_fetch_find(ngx_http_symbolicate_fetch_t *fetch,
    ngx_uint_t *next, ngx_http_symbolicate_source_t **source,
    sym_source_file_t *file)
{
    char         text[SYM_SOURCE_PATH_MAX];
    sym_str_t    path;
    ngx_uint_t   n, i;
    sym_error_t  err;

    n = fetch->nsources;

    while (*next < n * SYM_SOURCE_FILES) {
        i = (*next)++;

        if (i < n * SYM_SOURCE_FIRST_CODE) {
            *source = fetch->sources[i / SYM_SOURCE_FIRST_CODE];
            *file = i % SYM_SOURCE_FIRST_CODE;

        } else {
            i -= n * SYM_SOURCE_FIRST_CODE;
            *source = fetch->sources[i / (SYM_SOURCE_FILES
                                          - SYM_SOURCE_FIRST_CODE)];
            *file = SYM_SOURCE_FIRST_CODE
                    + i % (SYM_SOURCE_FILES - SYM_SOURCE_FIRST_CODE);
        }

        if (!(fetch->files & (1 << *file))
            || (fetch->canonical.len
                && !sym_source_is_respelled(&(*source)->rules, *file,
                                            &fetch->module, fetch->canonical)))
        {
            continue;
        }

        ngx_memzero(&err, sizeof(sym_error_t));

        if (sym_source_path(&(*source)->rules, *file, &fetch->module, text,
                            sizeof(text), &path, &err)
            == SYM_OK)
        {
            return 1;
        }
    }

    return 0;
}


ngx_uint_t
ngx_http_symbolicate_fetch_is_offer(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_uint_t                      next;
    sym_source_file_t               file;
    ngx_http_symbolicate_source_t  *source;

    next = fetch->next;

    return fetch->file != SYM_SOURCE_BREAKPAD
           && ngx_http_symbolicate_fetch_find(fetch, &next, &source, &file);
}
