
/*
 * ngx_http_symbolicate_unpublish.c - removes the artifacts of changed files
 * from the bucket of the fleet: one object for each file.  S3 answers in the
 * same way whether there was one.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "share/key.h"
#include "store/path.h"

#include "download/ngx_http_symbolicate_s3.h"
#include "share/ngx_http_symbolicate_unpublish.h"


/* Number of requests at a time. */
#define NGX_SYMBOLICATE_UNPUBLISHING  16


/* A request to the bucket. */
typedef struct {
    ngx_http_symbolicate_unpublish_t     *unpublish;
    ngx_http_symbolicate_s3_t            *s3;    /* NULL: it is free */
} ngx_http_symbolicate_unpublishing_t;


struct ngx_http_symbolicate_unpublish_s {
    ngx_http_symbolicate_fetch_policy_t     *policy;
    ngx_http_symbolicate_unpublish_files_t  *files;
    size_t                                   nfiles;
    void                                   (*done)(void *data,
                                                   ngx_str_t *trouble);
    void                                    *data;

    /* the next key */
    size_t                                   file;
    size_t                                   path;
    sym_str_t                                part;  /* of the path */

    ngx_uint_t                               running;
    ngx_event_t                              more;  /* posted when a request has
                                                     * ended */
    ngx_str_t                                trouble;
    u_char                                   text[SYM_RPC_REASON_MAX];
    ngx_http_symbolicate_unpublishing_t
                                      calls[NGX_SYMBOLICATE_UNPUBLISHING];
};


static void ngx_http_symbolicate_unpublish_more(ngx_event_t *ev);
static void ngx_http_symbolicate_unpublish_removed(void *data,
    ngx_http_symbolicate_s3_result_t *result);


ngx_http_symbolicate_unpublish_t *
ngx_http_symbolicate_unpublish_start(
    ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_unpublish_files_t *files, size_t nfiles,
    void (*done)(void *data, ngx_str_t *trouble), void *data)
{
    ngx_uint_t                         i;
    ngx_http_symbolicate_unpublish_t  *unpublish;

    unpublish = ngx_calloc(sizeof(ngx_http_symbolicate_unpublish_t),
                           ngx_cycle->log);
    if (unpublish == NULL) {
        return NULL;
    }

    unpublish->policy = policy;
    unpublish->files = files;
    unpublish->nfiles = nfiles;
    unpublish->done = done;
    unpublish->data = data;
    unpublish->trouble.data = unpublish->text;

    unpublish->more.handler = ngx_http_symbolicate_unpublish_more;
    unpublish->more.data = unpublish;
    unpublish->more.log = ngx_cycle->log;

    for (i = 0; i < NGX_SYMBOLICATE_UNPUBLISHING; i++) {
        unpublish->calls[i].unpublish = unpublish;
    }

    ngx_post_event(&unpublish->more, &ngx_posted_events);

    return unpublish;
}


void
ngx_http_symbolicate_unpublish_free(
    ngx_http_symbolicate_unpublish_t *unpublish)
{
    ngx_uint_t  i;

    if (unpublish == NULL) {
        return;
    }

    for (i = 0; i < NGX_SYMBOLICATE_UNPUBLISHING; i++) {
        if (unpublish->calls[i].s3) {
            ngx_http_symbolicate_s3_free(unpublish->calls[i].s3);
        }
    }

    if (unpublish->more.posted) {
        ngx_delete_posted_event(&unpublish->more);
    }

    ngx_free(unpublish);
}


/* Makes the next key; its length is 0 if no file is left. */
static size_t
ngx_http_symbolicate_unpublish_key(ngx_http_symbolicate_unpublish_t *unpublish,
    char key[SYM_SHARE_KEY_MAX])
{
    size_t                                   len;
    ngx_http_symbolicate_unpublish_files_t  *files;

    while (unpublish->file < unpublish->nfiles) {
        files = &unpublish->files[unpublish->file];

        if (unpublish->path == files->npaths) {
            unpublish->file++;
            unpublish->path = 0;
            continue;
        }

        if (unpublish->part.len == 0) {
            unpublish->part = files->paths[unpublish->path];
        }

        len = sym_share_key(files->source, unpublish->part, key);

        if (!sym_path_next_part(&unpublish->part)) {
            unpublish->part.len = 0;
            unpublish->path++;
        }

        if (len) {
            return len;
        }
    }

    return 0;
}


static ngx_int_t
ngx_http_symbolicate_unpublish_remove(
    ngx_http_symbolicate_unpublishing_t *call, sym_str_t key)
{
    ngx_http_symbolicate_s3_request_t     request;
    ngx_http_symbolicate_fetch_policy_t  *policy;

    policy = call->unpublish->policy;

    ngx_memzero(&request, sizeof(ngx_http_symbolicate_s3_request_t));

    request.kind = SYM_RPC_OBJECT_REMOVE;
    request.server = policy->server;
    request.uri = policy->share->bucket.uri;
    request.path = key;
    request.fd = -1;

    call->s3 = ngx_http_symbolicate_s3_start(&request,
                                        ngx_http_symbolicate_unpublish_removed,
                                             call);

    return call->s3 ? NGX_OK : NGX_ERROR;
}


static void
ngx_http_symbolicate_unpublish_more(ngx_event_t *ev)
{
    ngx_http_symbolicate_unpublish_t *unpublish = ev->data;

    char        key[SYM_SHARE_KEY_MAX];
    size_t      len;
    ngx_uint_t  i;

    for (i = 0; i < NGX_SYMBOLICATE_UNPUBLISHING; i++) {

        if (unpublish->calls[i].s3) {
            continue;
        }

        if (unpublish->trouble.len) {
            break;
        }

        len = ngx_http_symbolicate_unpublish_key(unpublish, key);

        if (len == 0) {
            break;
        }

        if (ngx_http_symbolicate_unpublish_remove(&unpublish->calls[i],
                                                  sym_str(key, len))
            != NGX_OK)
        {
            unpublish->trouble.len = ngx_sprintf(unpublish->text,
                                                 "out of memory")
                                     - unpublish->text;
            break;
        }

        unpublish->running++;
    }

    if (unpublish->running == 0) {
        unpublish->done(unpublish->data,
                        unpublish->trouble.len ? &unpublish->trouble : NULL);
        ngx_free(unpublish);
    }
}


static void
ngx_http_symbolicate_unpublish_removed(void *data,
    ngx_http_symbolicate_s3_result_t *result)
{
    ngx_http_symbolicate_unpublishing_t *call = data;

    ngx_http_symbolicate_unpublish_t  *unpublish;

    unpublish = call->unpublish;

    call->s3 = NULL;
    unpublish->running--;

    if (!result->did && !result->absent && unpublish->trouble.len == 0) {
        unpublish->trouble.len = ngx_slprintf(unpublish->text,
                                     unpublish->text + SYM_RPC_REASON_MAX - 1,
                                     "the bucket of the fleet: %V",
                                     &result->reason)
                                 - unpublish->text;
    }

    ngx_post_event(&unpublish->more, &ngx_posted_events);
}
