
/*
 * ngx_http_symbolicate_tell.c - notifies the other nodes of a fleet of changed
 * files.
 *
 * The nodes are the servers of an upstream.  Each gets a request through one
 * location, whose proxy_pass has the node's address as a variable.  The
 * location that receives it has no "tell=", so there is no loop.  This node may
 * get the request, too, which does no harm.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "json/out.h"
#include "sources/paths/plan.h"

#include "counters/ngx_http_symbolicate_counters.h"
#include "download/ngx_http_symbolicate_background.h"
#include "share/ngx_http_symbolicate_tell.h"
#include "share/ngx_http_symbolicate_unpublish.h"


/*
 * Limits of a worker: requests at a time, requests that wait, and the memory of
 * their texts.
 */
#define NGX_SYMBOLICATE_TELLING       64
#define NGX_SYMBOLICATE_TELL_WAITING  16384
#define NGX_SYMBOLICATE_TELL_BYTES    (16 * 1024 * 1024)

/* A node that fails is asked again after this time, then after twice that. */
#define NGX_SYMBOLICATE_TELL_PAUSE      100
#define NGX_SYMBOLICATE_TELL_PAUSE_MAX  10000

/*
 * Time after which a node is given up, and the same in a worker that is
 * exiting: a service manager kills it soon.
 */
#define NGX_SYMBOLICATE_TELL_FOR        600000
#define NGX_SYMBOLICATE_TELL_EXITING    5000


/* A change. */
typedef struct {
    ngx_http_symbolicate_fetch_policy_t  *policy;
    ngx_http_symbolicate_news_t           news;
    ngx_str_t                             uri;
    ngx_msec_t                            began;
    ngx_uint_t                            ntelling; /* nodes left */
    size_t                                bytes;

    /* of a replaced file */
    sym_str_t                             file;     /* its path */
    ngx_http_symbolicate_unpublish_files_t  files;

    u_char                                text[1];
} ngx_http_symbolicate_change_t;


/* A node that has to be notified of it. */
typedef struct {
    ngx_queue_t                         queue;
    ngx_queue_t                         all;
    ngx_http_symbolicate_change_t      *change;
    ngx_str_t                          *node;
    ngx_http_symbolicate_background_t  *bg;         /* NULL: no request */
    ngx_uint_t                          status;
    ngx_uint_t                          tries;
    ngx_event_t                         timer;
} ngx_http_symbolicate_telling_t;


static void ngx_http_symbolicate_tell_next(void);
static ngx_int_t ngx_http_symbolicate_tell_header(void *data,
    ngx_http_request_t *r);
static void ngx_http_symbolicate_tell_done(void *data, ngx_int_t rc,
    ngx_uint_t is_whole);


static ngx_http_symbolicate_background_pt  ngx_http_symbolicate_tell_events = {
    ngx_http_symbolicate_tell_header,
    NULL,
    NULL,
    ngx_http_symbolicate_tell_done
};

static ngx_str_t    ngx_http_symbolicate_tell_post = ngx_string("POST");
static ngx_str_t    ngx_http_symbolicate_tell_delete = ngx_string("DELETE");
static ngx_str_t    ngx_http_symbolicate_tell_json =
                                               ngx_string("application/json");

static ngx_queue_t  ngx_http_symbolicate_tell_queue = {
    &ngx_http_symbolicate_tell_queue, &ngx_http_symbolicate_tell_queue
};

/* also those that have a request or a timer */
static ngx_queue_t  ngx_http_symbolicate_tell_nodes = {
    &ngx_http_symbolicate_tell_nodes, &ngx_http_symbolicate_tell_nodes
};

static ngx_uint_t   ngx_http_symbolicate_tell_running;
static ngx_uint_t   ngx_http_symbolicate_tell_waiting;
static size_t       ngx_http_symbolicate_tell_used;


/* --- changes --- */

static ngx_http_symbolicate_change_t *
ngx_http_symbolicate_change_create(ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_news_t *news, sym_str_t source, sym_str_t file)
{
    char                           *p;
    size_t                          bytes;
    ngx_http_symbolicate_news_t    *own;
    ngx_http_symbolicate_change_t  *change;

    bytes = sizeof(ngx_http_symbolicate_change_t) + policy->share->tell.len
            + news->path.len + news->args.len + news->body.len + source.len
            + file.len;

    if (bytes > NGX_SYMBOLICATE_TELL_BYTES - ngx_http_symbolicate_tell_used) {
        return NULL;
    }

    change = ngx_calloc(bytes, ngx_cycle->log);
    if (change == NULL) {
        return NULL;
    }

    change->policy = policy;
    change->began = ngx_current_msec;
    change->bytes = bytes;

    own = &change->news;
    *own = *news;

    change->uri.data = change->text;
    change->uri.len = policy->share->tell.len + news->path.len;
    own->args.data = ngx_sprintf(change->text, "%V%V", &policy->share->tell,
                                 &news->path);

    /* "%V": empty texts may be NULL, which memcpy() must not get */

    p = (char *) ngx_sprintf(own->args.data, "%V", &news->args);
    own->body = sym_str_append(&p, news->body);
    change->files.source = sym_str_append(&p, source);
    change->file = sym_str_append(&p, file);
    change->files.paths = &change->file;
    change->files.npaths = 1;

    ngx_http_symbolicate_tell_used += bytes;

    return change;
}


static void
ngx_http_symbolicate_change_left(ngx_http_symbolicate_change_t *change)
{
    if (--change->ntelling == 0) {
        ngx_http_symbolicate_tell_used -= change->bytes;
        ngx_free(change);
    }
}


/* --- a node --- */

static void
ngx_http_symbolicate_telling_end(ngx_http_symbolicate_telling_t *telling)
{
    ngx_queue_remove(&telling->all);
    ngx_http_symbolicate_tell_waiting--;
    ngx_http_symbolicate_change_left(telling->change);
    ngx_free(telling);
}


/* The timer's handler: queues the node. */
static void
ngx_http_symbolicate_telling_due(ngx_event_t *ev)
{
    ngx_http_symbolicate_telling_t *telling = ev->data;

    ngx_queue_insert_tail(&ngx_http_symbolicate_tell_queue, &telling->queue);
    ngx_http_symbolicate_tell_next();
}


static ngx_int_t
ngx_http_symbolicate_telling_add(ngx_http_symbolicate_change_t *change,
    ngx_str_t *node)
{
    ngx_http_symbolicate_telling_t  *telling;

    telling = change == NULL || ngx_http_symbolicate_tell_waiting
                                == NGX_SYMBOLICATE_TELL_WAITING
              ? NULL : ngx_calloc(sizeof(ngx_http_symbolicate_telling_t),
                                  ngx_cycle->log);
    if (telling == NULL) {
        ngx_http_symbolicate_count_notification(SYM_NOTIFY_DROPPED);
        return NGX_BUSY;
    }

    telling->change = change;
    telling->node = node;
    telling->timer.handler = ngx_http_symbolicate_telling_due;
    telling->timer.data = telling;
    telling->timer.log = ngx_cycle->log;

    change->ntelling++;
    ngx_http_symbolicate_tell_waiting++;
    ngx_queue_insert_tail(&ngx_http_symbolicate_tell_nodes, &telling->all);
    ngx_queue_insert_tail(&ngx_http_symbolicate_tell_queue, &telling->queue);

    return NGX_OK;
}


static ngx_int_t
ngx_http_symbolicate_telling_ask(ngx_http_symbolicate_telling_t *telling)
{
    ngx_str_t                       body;
    ngx_http_symbolicate_change_t  *change;

    change = telling->change;

    telling->status = 0;
    telling->bg = ngx_http_symbolicate_background_create(
                                            change->policy->server,
                                            &ngx_http_symbolicate_tell_events,
                                            telling);
    if (telling->bg == NULL) {
        return NGX_ERROR;
    }

    body.data = (u_char *) change->news.body.data;
    body.len = change->news.body.len;

    if (body.len
        && (ngx_http_symbolicate_background_set_body(telling->bg, &body)
                != NGX_OK
            || ngx_http_symbolicate_background_add_header(telling->bg,
                                           "Content-Type",
                                           &ngx_http_symbolicate_tell_json)
               != NGX_OK))
    {
        return NGX_ERROR;
    }

    return ngx_http_symbolicate_background_start(telling->bg,
                                                 change->news.method,
                                                 change->news.method
                                                 == NGX_HTTP_POST
                                           ? &ngx_http_symbolicate_tell_post
                                           : &ngx_http_symbolicate_tell_delete,
                                                 &change->uri,
                                                 &change->news.args);
}


static void
ngx_http_symbolicate_telling_failed(ngx_http_symbolicate_telling_t *telling)
{
    ngx_http_symbolicate_count_notification(SYM_NOTIFY_FAILED);
    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "symbolicate_share: the node %V could not be notified of a "
                  "change, status %ui: %V", telling->node, telling->status,
                  &telling->change->uri);
}


static void
ngx_http_symbolicate_telling_again(ngx_http_symbolicate_telling_t *telling)
{
    ngx_msec_t  pause, age;

    age = ngx_current_msec - telling->change->began;

    if (age > (ngx_exiting ? NGX_SYMBOLICATE_TELL_EXITING
                           : NGX_SYMBOLICATE_TELL_FOR))
    {
        ngx_http_symbolicate_telling_failed(telling);
        ngx_http_symbolicate_telling_end(telling);
        return;
    }

    pause = NGX_SYMBOLICATE_TELL_PAUSE << ngx_min(telling->tries, 10);
    pause = ngx_min(pause, NGX_SYMBOLICATE_TELL_PAUSE_MAX);
    telling->tries++;

    /* a worker that is exiting does not wait for it */

    telling->timer.cancelable = age + pause > NGX_SYMBOLICATE_TELL_EXITING;

    ngx_add_timer(&telling->timer, pause);
}


/* Begins requests to the nodes that are queued. */
static void
ngx_http_symbolicate_tell_next(void)
{
    ngx_queue_t                     *q;
    ngx_http_symbolicate_telling_t  *telling;

    while (ngx_http_symbolicate_tell_running < NGX_SYMBOLICATE_TELLING
           && !ngx_queue_empty(&ngx_http_symbolicate_tell_queue))
    {
        q = ngx_queue_head(&ngx_http_symbolicate_tell_queue);
        ngx_queue_remove(q);

        telling = ngx_queue_data(q, ngx_http_symbolicate_telling_t, queue);

        if (ngx_http_symbolicate_telling_ask(telling) == NGX_OK) {
            ngx_http_symbolicate_tell_running++;
            continue;
        }

        if (telling->bg) {
            (void) ngx_http_symbolicate_background_free(telling->bg);
            telling->bg = NULL;
        }

        ngx_http_symbolicate_telling_again(telling);
    }
}


static ngx_int_t
ngx_http_symbolicate_tell_header(void *data, ngx_http_request_t *r)
{
    ngx_http_symbolicate_telling_t *telling = data;

    telling->status = r->headers_out.status;

    return NGX_OK;
}


static void
ngx_http_symbolicate_tell_done(void *data, ngx_int_t rc, ngx_uint_t is_whole)
{
    ngx_http_symbolicate_telling_t *telling = data;

    (void) ngx_http_symbolicate_background_free(telling->bg);
    telling->bg = NULL;
    ngx_http_symbolicate_tell_running--;

    if (telling->status == 0 && rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        telling->status = rc;
    }

    if (telling->status == NGX_HTTP_OK) {
        ngx_http_symbolicate_count_notification(SYM_NOTIFY_DONE);
        ngx_http_symbolicate_telling_end(telling);

    } else if (telling->status >= NGX_HTTP_BAD_REQUEST
               && telling->status < NGX_HTTP_INTERNAL_SERVER_ERROR
               && telling->status != NGX_HTTP_REQUEST_TIME_OUT
               && telling->status != NGX_HTTP_TOO_MANY_REQUESTS)
    {
        ngx_http_symbolicate_count_notification(SYM_NOTIFY_REFUSED);
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "symbolicate_share: the node %V refuses to be "
                      "notified of a change, status %ui: %V", telling->node,
                      telling->status, &telling->change->uri);
        ngx_http_symbolicate_telling_end(telling);

    } else {
        ngx_http_symbolicate_telling_again(telling);
    }

    ngx_http_symbolicate_tell_next();
}


ngx_str_t *
ngx_http_symbolicate_tell_node(ngx_http_request_t *r)
{
    ngx_http_symbolicate_telling_t     *telling;
    ngx_http_symbolicate_background_t  *bg;

    bg = ngx_http_symbolicate_background_of(r);
    telling = bg ? ngx_http_symbolicate_background_data(bg,
                                            &ngx_http_symbolicate_tell_events)
                 : NULL;

    return telling ? telling->node : NULL;
}


void
ngx_http_symbolicate_tell_exit(void)
{
    ngx_queue_t  *q;

    for (q = ngx_queue_head(&ngx_http_symbolicate_tell_nodes);
         q != ngx_queue_sentinel(&ngx_http_symbolicate_tell_nodes);
         q = ngx_queue_next(q))
    {
        ngx_http_symbolicate_telling_failed(
               ngx_queue_data(q, ngx_http_symbolicate_telling_t, all));
    }
}


/* --- all nodes --- */

/* change NULL: there is no memory or room for it. */
static ngx_int_t
ngx_http_symbolicate_tell_all(ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_change_t *change)
{
    ngx_int_t                    rc;
    ngx_uint_t                   i, j;
    ngx_array_t                 *servers;
    ngx_http_upstream_server_t  *server;

    servers = policy->share->nodes ? policy->share->nodes->servers : NULL;
    server = servers ? servers->elts : NULL;
    rc = NGX_OK;

    /* keeps the change until all are added */

    if (change) {
        change->ntelling = 1;
    }

    for (i = 0; servers && i < servers->nelts; i++) {
        for (j = 0; j < server[i].naddrs && !server[i].down; j++) {
            if (ngx_http_symbolicate_telling_add(change,
                                                 &server[i].addrs[j].name)
                != NGX_OK)
            {
                rc = NGX_BUSY;
            }
        }
    }

    if (change) {
        ngx_http_symbolicate_change_left(change);
    }

    ngx_http_symbolicate_tell_next();

    return rc;
}


ngx_int_t
ngx_http_symbolicate_tell(ngx_http_symbolicate_fetch_policy_t *policy,
    ngx_http_symbolicate_news_t *news)
{
    ngx_http_symbolicate_change_t  *change;

    if (policy->share == NULL || policy->share->nodes == NULL) {
        return NGX_OK;
    }

    change = ngx_http_symbolicate_change_create(policy, news, SYM_STR(""),
                                                SYM_STR(""));

    return ngx_http_symbolicate_tell_all(policy, change);
}


/* --- uploads --- */

static void
ngx_http_symbolicate_tell_unpublished(void *data, ngx_str_t *trouble)
{
    ngx_http_symbolicate_change_t *change = data;

    if (trouble) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "symbolicate_share: \"%*s\" was replaced, but its former "
                      "artifacts may still be in the bucket: %V",
                      change->file.len, change->file.data, trouble);
    }

    if (ngx_http_symbolicate_tell_all(change->policy, change) != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "symbolicate_share: too many changes wait: some nodes "
                      "are not notified of a replaced file");
    }
}


/* The notification that EventBridge would send: its keys are not encoded. */
static sym_str_t
ngx_http_symbolicate_tell_event(sym_str_t path, char *room, size_t size)
{
    sym_out_t  out;

    out = sym_out_fixed(room, size);

    sym_out_raw(&out, SYM_STR("{\"detail-type\": \"Object Created\", "
                              "\"detail\": {\"bucket\": {\"name\": \"\"}, "
                              "\"object\": {\"key\": "));
    sym_out_string(&out, path);
    sym_out_raw(&out, SYM_STR("}}}"));

    return sym_str(room, out.pos - room);
}


void
ngx_http_symbolicate_tell_replaced(ngx_http_symbolicate_fetch_policy_t *policy,
    sym_str_t source, sym_str_t path)
{
    char                            room[256 + 6 * SYM_SOURCE_PATH_MAX];
    char                            args[7 + SYM_SOURCE_ENCODED_MAX];
    sym_str_t                       encoded;
    ngx_http_symbolicate_news_t     news;
    ngx_http_symbolicate_change_t  *change;

    if (policy->share == NULL || path.len > SYM_SOURCE_PATH_MAX) {
        return;
    }

    ngx_memcpy(args, "source=", 7);
    encoded = sym_source_encode(source, args + 7);

    ngx_memzero(&news, sizeof(ngx_http_symbolicate_news_t));

    news.method = NGX_HTTP_POST;
    ngx_str_set(&news.path, "events");
    news.args.data = (u_char *) args;
    news.args.len = 7 + encoded.len;
    news.body = ngx_http_symbolicate_tell_event(path, room, sizeof(room));

    change = ngx_http_symbolicate_change_create(policy, &news, source, path);

    if (change && policy->share->bucket.uri.len == 0) {
        ngx_http_symbolicate_tell_unpublished(change, NULL);
        return;
    }

    if (change
        && ngx_http_symbolicate_unpublish_start(policy, &change->files, 1,
                                         ngx_http_symbolicate_tell_unpublished,
                                                change))
    {
        return;
    }

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "symbolicate_share: too many changes wait: other nodes are "
                  "not notified that \"%*s\" was replaced", path.len,
                  path.data);

    if (change) {
        change->ntelling = 1;
        ngx_http_symbolicate_change_left(change);
    }

    (void) ngx_http_symbolicate_tell_all(policy, NULL);
}
