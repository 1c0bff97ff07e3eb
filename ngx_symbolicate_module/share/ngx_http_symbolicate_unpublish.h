
/*
 * ngx_http_symbolicate_unpublish.h - removes the artifacts of changed files
 * from the bucket of the fleet.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_UNPUBLISH_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_UNPUBLISH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_source.h"


typedef struct ngx_http_symbolicate_unpublish_s
    ngx_http_symbolicate_unpublish_t;


/* Paths of files at a source. */
typedef struct {
    sym_str_t                      source;
    const sym_str_t               *paths;
    size_t                         npaths;
} ngx_http_symbolicate_unpublish_files_t;


/*
 * Removes the artifacts of all files, and of each part of their paths after a
 * slash, because an event may name a folder before the path.  The files must
 * stay in place.  done() is called once, later; trouble is NULL, or why it
 * failed (a text that is valid during the call).  NULL: no memory.
 */
ngx_http_symbolicate_unpublish_t *ngx_http_symbolicate_unpublish_start(
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_unpublish_files_t *files, size_t nfiles,
    void (*done)(void *data, ngx_str_t *trouble), void *data);

/* Aborts it before done() was called; NULL is allowed. */
void ngx_http_symbolicate_unpublish_free(
    ngx_http_symbolicate_unpublish_t *unpublish);


#endif /* _NGX_HTTP_SYMBOLICATE_UNPUBLISH_H_INCLUDED_ */
