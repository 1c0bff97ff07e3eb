
/*
 * ngx_http_symbolicate_fetch_shared.c - artifacts that other nodes of the fleet
 * have made of a place's file.
 *
 * The bucket is asked before a peer, because it bears any number of nodes.  A
 * peer answers when it has made the artifact itself, or knows that there is no
 * file.  Every failure has the same effect: the place itself is asked.  Before,
 * if a peer took its time to fail, the bucket is asked again: another node may
 * have made the artifact meanwhile.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/digits.h"
#include "share/key.h"

#include "conf/ngx_http_symbolicate_source.h"
#include "counters/ngx_http_symbolicate_counters.h"
#include "download/ngx_http_symbolicate_background.h"
#include "download/ngx_http_symbolicate_fetch_location.h"
#include "download/ngx_http_symbolicate_fetch_request.h"
#include "download/ngx_http_symbolicate_fetch_shared.h"
#include "download/ngx_http_symbolicate_fetch_state.h"


/* Time for which a bucket that does not answer is not asked. */
#define NGX_SYMBOLICATE_BUCKET_PAUSE  5000

/* Time after which a bucket that had no artifact may have it. */
#define NGX_SYMBOLICATE_BUCKET_STALE  100


/* The question to a peer (api/peer/peer.c). */
static ngx_int_t
ngx_http_symbolicate_fetch_shared_args(ngx_http_symbolicate_fetch_t *fetch)
{
    char                   ref[SYM_REF_BYTES_MAX];
    char                   path[SYM_SOURCE_ENCODED_MAX];
    char                   source[SYM_SOURCE_ENCODED_MAX];
    u_char                *p;
    size_t                 len;
    sym_str_t              paths, sources;
    const sym_kind_row_t  *kind;

    kind = sym_kind_find(fetch->kind);
    len = sym_object_ref_write(&fetch->ref, ref);
    paths = sym_source_encode(fetch->place_path, path);
    sources = sym_source_encode(sym_str((char *) fetch->origin->name.data,
                                        fetch->origin->name.len),
                                source);

    p = ngx_pnalloc(fetch->pool,
                    sizeof("source=&path=&kind=&oldest=&version=&ref=")
                    + sources.len + paths.len + ngx_strlen(kind->name)
                    + 2 * NGX_INT32_LEN + 2 * len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    fetch->args.data = p;

    p = ngx_sprintf(p,
                    "source=%*s&path=%*s&kind=%s&oldest=%uD&version=%uD&ref=",
                    sources.len, sources.data, paths.len, paths.data,
                    kind->name, kind->oldest, kind->version);
    p += sym_digits_write_lower((uint8_t *) ref, len, (char *) p);

    fetch->args.len = p - fetch->args.data;

    return NGX_OK;
}


/*
 * Makes the text that nginx hashes to choose a peer.  It is the same for all
 * files and kinds of an object, because one search of a peer finds them all.
 * If they were on several peers, two could wait for each other.
 */
static size_t
ngx_http_symbolicate_fetch_shared_object(ngx_http_symbolicate_fetch_t *fetch,
    char key[SYM_SHARE_KEY_MAX])
{
    u_char            *p, *last;
    char               id[SYM_ID_TEXT_MAX];
    sym_str_t          object;
    sym_object_ref_t  *ref;

    ref = &fetch->ref;
    object = ref->url;

    if (ref->debug_id.form != SYM_DEBUG_ID_NONE) {
        object = sym_str(id, sym_debug_id_write_breakpad(&ref->debug_id, id));

    } else if (ref->code_id.len) {
        object = sym_str(ref->code_id.text, ref->code_id.len);
    }

    last = (u_char *) key + SYM_SHARE_KEY_MAX;
    p = ngx_slprintf((u_char *) key, last, "%V/%*s", &fetch->origin->name,
                     object.len, object.data);

    return p == last ? 0 : p - (u_char *) key;
}


/* Sets the URI of the artifact at the bucket or the peers: fetch->source. */
static ngx_int_t
ngx_http_symbolicate_fetch_shared_uri(ngx_http_symbolicate_fetch_t *fetch)
{
    char        key[SYM_SHARE_KEY_MAX], room[SYM_SOURCE_ENCODED_MAX];
    size_t      len;
    ngx_str_t  *name;
    ngx_uint_t  is_peer;

    is_peer = (fetch->source == &fetch->share->peers);
    name = &fetch->origin->name;

    len = is_peer
          ? ngx_http_symbolicate_fetch_shared_object(fetch, key)
          : sym_share_key(sym_str((char *) name->data, name->len),
                          fetch->place_path, key);

    if (len == 0) {
        return NGX_DECLINED;
    }

    if (ngx_http_symbolicate_location_set(fetch,
                                   sym_source_encode(sym_str(key, len), room),
                                          sym_str(key, len))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return is_peer ? ngx_http_symbolicate_fetch_shared_args(fetch) : NGX_OK;
}


static ngx_uint_t
ngx_http_symbolicate_fetch_bucket_is_away(
    ngx_http_symbolicate_shared_t *share)
{
    if (share->bucket_away
        && (ngx_msec_int_t) (share->bucket_away - ngx_current_msec) > 0)
    {
        return 1;
    }

    share->bucket_away = 0;

    return 0;
}


/* Whether there is no such place, or it must not be asked. */
static ngx_uint_t
ngx_http_symbolicate_fetch_shared_is_out(ngx_http_symbolicate_fetch_t *fetch)
{
    if (fetch->source->uri.len == 0) {
        return 1;
    }

    return fetch->source == &fetch->share->peers
           ? fetch->without & NGX_SYMBOLICATE_OF_PEER
           : (fetch->without & NGX_SYMBOLICATE_OF_BUCKET)
             || ngx_http_symbolicate_fetch_bucket_is_away(fetch->share);
}


ngx_int_t
ngx_http_symbolicate_fetch_shared_try(ngx_http_symbolicate_fetch_t *fetch)
{
    ngx_int_t                       rc;
    ngx_uint_t                      n;
    ngx_http_symbolicate_source_t  *from[3];

    if (fetch->share == NULL || fetch->ref.checksum.len) {
        return NGX_DECLINED;
    }

    from[0] = &fetch->share->bucket;
    from[1] = &fetch->share->peers;
    from[2] = &fetch->share->bucket;

    n = fetch->only_bucket ? 1 : 2;

    if (fetch->shared && fetch->source == from[1]
        && fetch->status != NGX_HTTP_MISDIRECTED_REQUEST
        && ngx_current_msec - fetch->started >= NGX_SYMBOLICATE_BUCKET_STALE)
    {
        n = 3;
    }

    while (fetch->nshared < n) {
        fetch->source = from[fetch->nshared++];

        if (ngx_http_symbolicate_fetch_shared_is_out(fetch)) {
            continue;
        }

        ngx_http_symbolicate_fetch_reset(fetch);
        fetch->hops = 0;

        rc = ngx_http_symbolicate_fetch_shared_uri(fetch);

        if (rc == NGX_OK) {
            fetch->shared = 1;
            return ngx_http_symbolicate_fetch_ask(fetch);
        }

        if (rc == NGX_ERROR) {
            return rc;
        }
    }

    fetch->shared = 0;
    fetch->source = fetch->origin;

    return NGX_DECLINED;
}


static void
ngx_http_symbolicate_fetch_shared_count(ngx_http_symbolicate_fetch_t *fetch,
    ngx_uint_t outcome)
{
    ngx_http_symbolicate_count_fetch(fetch->source->metric->slot, outcome,
                                     fetch->received,
                                     ngx_current_msec - fetch->started);
}


void
ngx_http_symbolicate_fetch_shared_failed(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble)
{
    ngx_http_symbolicate_fetch_shared_count(fetch, SYM_OUTCOME_FAILED);

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "symbolicate_share, %V: %s, status %ui: %V",
                  &fetch->source->name, trouble, fetch->status, &fetch->url);

    /* otherwise every miss would wait for it */

    if ((fetch->status == 0 || fetch->late)
        && fetch->source == &fetch->share->bucket)
    {
        fetch->share->bucket_away = ngx_current_msec
                                    + NGX_SYMBOLICATE_BUCKET_PAUSE;
    }
}


ngx_int_t
ngx_http_symbolicate_fetch_shared_tried(ngx_http_symbolicate_fetch_t *fetch,
    const char *trouble)
{
    if (trouble) {
        ngx_http_symbolicate_fetch_shared_failed(fetch, trouble);

    } else {
        ngx_http_symbolicate_fetch_shared_count(fetch, SYM_OUTCOME_ABSENT);
    }

    if (trouble == NULL && fetch->of_peer && fetch->status == NGX_HTTP_OK
        && fetch->source == &fetch->share->peers)
    {
        fetch->shared = 0;
        fetch->source = fetch->origin;
        fetch->status = NGX_HTTP_NOT_FOUND;

        if (fetch->max_age != -1
            && (fetch->outcome.absent == -1
                || fetch->max_age < fetch->outcome.absent))
        {
            fetch->outcome.absent = fetch->max_age;
        }

        return NGX_ABORT;
    }

    return ngx_http_symbolicate_fetch_shared_try(fetch);
}
