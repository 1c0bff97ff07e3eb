
/*
 * ngx_http_symbolicate_aws_keys.c - AWS keys of this worker.
 *
 * Keys from the configuration and the environment are read once, by the master.
 * The master also reads a credentials file, which may be unreadable for
 * workers; a worker that can read it does so when it has changed.  An endpoint
 * is queried when a request needs keys.  The first request waits; later ones
 * are signed with the old keys during a renewal.  So there is no timer, and a
 * worker that signs nothing queries no endpoint.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/sha256.h"

#include "aws/ngx_http_symbolicate_aws.h"
#include "aws/ngx_http_symbolicate_aws_endpoint.h"
#include "aws/ngx_http_symbolicate_aws_keys.h"


/*
 * New keys are requested this many seconds before the old ones expire; each
 * worker does so some seconds earlier, so that not all request at once.
 */
#define NGX_SYMBOLICATE_KEYS_EARLY    300
#define NGX_SYMBOLICATE_KEYS_JITTER   60

/* maximum; with up to a quarter added, it is about a minute */
#define NGX_SYMBOLICATE_KEYS_BACKOFF  48

#define NGX_SYMBOLICATE_KEYS_EXPIRED                                          \
    "no AWS credentials: they have expired"


static const char *ngx_http_symbolicate_keys_env_init(
    ngx_http_symbolicate_keys_t *keys);
static const char *ngx_http_symbolicate_keys_file_init(ngx_conf_t *cf,
    ngx_http_symbolicate_keys_t *keys);
static const char *ngx_http_symbolicate_keys_container_init(ngx_conf_t *cf,
    ngx_http_symbolicate_keys_conf_t *conf);
static ngx_int_t ngx_http_symbolicate_keys_text(
    ngx_http_symbolicate_keys_t *keys, sym_str_t text, ngx_uint_t is_json,
    sym_error_t *err);
static ngx_int_t ngx_http_symbolicate_keys_read(
    ngx_http_symbolicate_keys_t *keys, sym_error_t *err);
static void ngx_http_symbolicate_keys_look(ngx_http_symbolicate_keys_t *keys);
static void ngx_http_symbolicate_keys_start(
    ngx_http_symbolicate_keys_t *keys);
static void ngx_http_symbolicate_keys_failed(
    ngx_http_symbolicate_keys_t *keys, const char *trouble,
    const char *detail, ngx_uint_t status);


/* --- at configuration time --- */

const char *
ngx_http_symbolicate_keys_init(ngx_conf_t *cf,
    ngx_http_symbolicate_keys_conf_t *conf, ngx_http_symbolicate_keys_t *keys)
{
    const char   *trouble;
    sym_error_t   err;

    keys->conf = conf;
    sym_arena_init(&keys->arena, 0);
    ngx_queue_init(&keys->waiting);
    keys->trouble = NGX_SYMBOLICATE_KEYS_EXPIRED;
    ngx_memzero(&err, sizeof(sym_error_t));

    trouble = NULL;

    switch (keys->conf->from) {

    case ngx_http_symbolicate_keys_static:
        break;

    case ngx_http_symbolicate_keys_env:
        trouble = ngx_http_symbolicate_keys_env_init(keys);
        break;

    case ngx_http_symbolicate_keys_file:
        return ngx_http_symbolicate_keys_file_init(cf, keys);

    case ngx_http_symbolicate_keys_container:
        return ngx_http_symbolicate_keys_container_init(cf, conf);

    case ngx_http_symbolicate_keys_instance:
        return NULL;
    }

    if (trouble) {
        return trouble;
    }

    if (sym_aws_credentials_check(&keys->now, &err) != SYM_OK) {
        return "a key is too long, or holds what no key does";
    }

    return NULL;
}


/* nginx clears the environment of its workers. */
static sym_str_t
ngx_http_symbolicate_keys_getenv(const char *name)
{
    char  *value;

    value = getenv(name);

    return value ? sym_str(value, ngx_strlen(value)) : SYM_STR("");
}


static const char *
ngx_http_symbolicate_keys_env_init(ngx_http_symbolicate_keys_t *keys)
{
    sym_aws_credentials_t  *now;

    now = &keys->now;

    now->access_key = sym_arena_copy(&keys->arena,
                     ngx_http_symbolicate_keys_getenv("AWS_ACCESS_KEY_ID"));
    now->secret_key = sym_arena_copy(&keys->arena,
                     ngx_http_symbolicate_keys_getenv("AWS_SECRET_ACCESS_KEY"));
    now->token = sym_arena_copy(&keys->arena,
                     ngx_http_symbolicate_keys_getenv("AWS_SESSION_TOKEN"));

    if (now->access_key.data == NULL || now->secret_key.data == NULL
        || now->token.data == NULL)
    {
        return "out of memory";
    }

    if (now->access_key.len == 0 || now->secret_key.len == 0) {
        return "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be in the "
               "environment that nginx is started with";
    }

    return NULL;
}


static const char *
ngx_http_symbolicate_keys_file_init(ngx_conf_t *cf,
    ngx_http_symbolicate_keys_t *keys)
{
    char         text[256];
    sym_error_t  err;

    ngx_memzero(&err, sizeof(sym_error_t));

    if (ngx_http_symbolicate_keys_read(keys, &err) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "\"%V\", profile \"%V\": %s",
                           &keys->conf->file, &keys->conf->profile,
                           sym_error_text(&err, text, sizeof(text)));
        return "the file must hold the keys";
    }

    return NULL;
}


static ngx_int_t
ngx_http_symbolicate_keys_copy(ngx_conf_t *cf, ngx_str_t *to, sym_str_t from)
{
    /* with a NUL, because it may be a path */

    to->data = ngx_pcalloc(cf->pool, from.len + 1);
    if (to->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(to->data, from.data, from.len);
    to->len = from.len;

    return NGX_OK;
}


/* Uses the environment variables of AWS's container agents. */
static const char *
ngx_http_symbolicate_keys_container_init(ngx_conf_t *cf,
    ngx_http_symbolicate_keys_conf_t *conf)
{
    u_char      *p;
    sym_str_t    uri;
    ngx_str_t    path, args;
    ngx_uint_t   i;

    uri = ngx_http_symbolicate_keys_getenv(
                                    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    if (uri.len == 0) {
        uri = ngx_http_symbolicate_keys_getenv(
                                        "AWS_CONTAINER_CREDENTIALS_FULL_URI");

        /* the location's proxy_pass contains the host */

        for (i = 0; i < 3 && uri.len; i++) {
            p = ngx_strlchr((u_char *) uri.data,
                            (u_char *) uri.data + uri.len, '/');

            uri = p ? sym_str((char *) p + 1,
                              uri.len - (size_t) ((char *) p + 1 - uri.data))
                    : SYM_STR("");
        }

    } else if (uri.data[0] == '/') {
        uri = sym_str(uri.data + 1, uri.len - 1);
    }

    if (uri.len == 0) {
        return "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or "
               "AWS_CONTAINER_CREDENTIALS_FULL_URI must be in the environment "
               "that nginx is started with";
    }

    if (ngx_http_symbolicate_keys_copy(cf, &path, uri) != NGX_OK
        || ngx_http_symbolicate_keys_copy(cf, &conf->token,
               ngx_http_symbolicate_keys_getenv(
                                        "AWS_CONTAINER_AUTHORIZATION_TOKEN"))
           != NGX_OK
        || ngx_http_symbolicate_keys_copy(cf, &conf->token_file,
               ngx_http_symbolicate_keys_getenv(
                                   "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"))
           != NGX_OK)
    {
        return "out of memory";
    }

    for (i = 0; i < conf->token.len; i++) {
        if (conf->token.data[i] < ' ' || conf->token.data[i] >= 0x7f) {
            return "AWS_CONTAINER_AUTHORIZATION_TOKEN must be visible ASCII";
        }
    }

    ngx_str_null(&args);
    p = ngx_strlchr(path.data, path.data + path.len, '?');

    if (p) {
        args.data = p + 1;
        args.len = path.data + path.len - args.data;
        path.len = p - path.data;
    }

    conf->path = path;
    conf->args = args;

    return NULL;
}


/* --- parsing --- */

/* Reads keys from a text; on failure the current keys stay. */
static ngx_int_t
ngx_http_symbolicate_keys_text(ngx_http_symbolicate_keys_t *keys,
    sym_str_t text, ngx_uint_t is_json, sym_error_t *err)
{
    sym_str_t              profile;
    sym_arena_t            arena;
    sym_status_t           status;
    sym_aws_credentials_t  found;

    sym_arena_init(&arena, 0);

    if (is_json) {
        status = sym_aws_credentials_json(&arena, text, &found, err);

        if (status == SYM_OK && found.expires_s <= (uint64_t) ngx_time()) {
            status = sym_fail(err, SYM_MALFORMED, "they have expired");
        }

    } else {
        profile = sym_str((char *) keys->conf->profile.data,
                          keys->conf->profile.len);

        status = sym_aws_credentials_ini(&arena, text, profile, &found, err);
    }

    if (status != SYM_OK) {
        sym_arena_drop(&arena);
        return NGX_ERROR;
    }

    if (keys->now.secret_key.len) {
        sym_wipe((void *) keys->now.secret_key.data,
                 keys->now.secret_key.len);
    }

    sym_arena_drop(&keys->arena);
    keys->arena = arena;
    keys->now = found;

    return NGX_OK;
}


/* --- a file --- */

static ngx_int_t
ngx_http_symbolicate_keys_read_fd(ngx_http_symbolicate_keys_t *keys,
    ngx_fd_t fd, sym_error_t *err)
{
    char       *text;
    size_t      len;
    ssize_t     n;
    ngx_int_t   rc;

    if (fstat(fd, &keys->seen) == -1) {
        sym_fail_sys(err, SYM_IO, "cannot stat the file", ngx_errno);
        return NGX_ERROR;
    }

    if (!S_ISREG(keys->seen.st_mode)) {
        sym_fail(err, SYM_MALFORMED, "not a regular file");
        return NGX_ERROR;
    }

    if (keys->seen.st_size > SYM_AWS_INI_MAX) {
        sym_fail(err, SYM_LIMIT, "the credentials file is too long");
        return NGX_ERROR;
    }

    text = ngx_alloc(SYM_AWS_INI_MAX + 1, ngx_cycle->log);
    if (text == NULL) {
        sym_fail(err, SYM_NOMEM, "no memory for the credentials file");
        return NGX_ERROR;
    }

    n = 0;

    for (len = 0; len <= SYM_AWS_INI_MAX; len += n) {
        n = read(fd, text + len, SYM_AWS_INI_MAX + 1 - len);

        if (n <= 0) {
            break;
        }
    }

    if (n == -1) {
        sym_fail_sys(err, SYM_IO, "cannot read the file", ngx_errno);
        rc = NGX_ERROR;

    } else {
        rc = ngx_http_symbolicate_keys_text(keys, sym_str(text, len), 0, err);
    }

    sym_wipe(text, len);
    ngx_free(text);

    return rc;
}


/*
 * Reads the file if it has changed; on failure *err has the reason, and the
 * keys are unchanged.
 */
static ngx_int_t
ngx_http_symbolicate_keys_read(ngx_http_symbolicate_keys_t *keys,
    sym_error_t *err)
{
    ngx_fd_t   fd;
    ngx_int_t  rc;

    fd = open((char *) keys->conf->file.data, O_RDONLY|O_NONBLOCK|O_CLOEXEC);

    if (fd == NGX_INVALID_FILE) {
        sym_fail_sys(err, SYM_IO, "cannot open the file", ngx_errno);
        return NGX_ERROR;
    }

    rc = ngx_http_symbolicate_keys_read_fd(keys, fd, err);

    (void) close(fd);

    return rc;
}


/* Checks at most once a second; logs a bad change once. */
static void
ngx_http_symbolicate_keys_look(ngx_http_symbolicate_keys_t *keys)
{
    char         text[256];
    struct stat  is;
    sym_error_t  err;

    if (keys->looked == ngx_time()) {
        return;
    }

    keys->looked = ngx_time();

    if (stat((char *) keys->conf->file.data, &is) == -1
        || (is.st_ino == keys->seen.st_ino && is.st_dev == keys->seen.st_dev
            && is.st_size == keys->seen.st_size
            && is.st_mtim.tv_sec == keys->seen.st_mtim.tv_sec
            && is.st_mtim.tv_nsec == keys->seen.st_mtim.tv_nsec))
    {
        return;
    }

    ngx_memzero(&err, sizeof(sym_error_t));
    keys->seen = is;

    if (ngx_http_symbolicate_keys_read(keys, &err) == NGX_OK) {
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                      "reloaded AWS credentials from \"%V\"",
                      &keys->conf->file);
        return;
    }

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "\"%V\" has changed, but cannot be used: %s; the previous "
                  "AWS credentials stay in use", &keys->conf->file,
                  sym_error_text(&err, text, sizeof(text)));
}


/* --- keys that expire --- */

sym_aws_credentials_t *
ngx_http_symbolicate_keys_get(ngx_http_symbolicate_keys_t *keys)
{
    if (keys->conf->from == ngx_http_symbolicate_keys_file) {
        ngx_http_symbolicate_keys_look(keys);

    } else if (keys->conf->via.len && keys->call == NULL
               && ngx_time() >= keys->next)
    {
        ngx_http_symbolicate_keys_start(keys);
    }

    if (keys->now.access_key.len == 0
        || (keys->now.expires_s
            && keys->now.expires_s <= (uint64_t) ngx_time()))
    {
        return NULL;
    }

    return &keys->now;
}


static void
ngx_http_symbolicate_keys_start(ngx_http_symbolicate_keys_t *keys)
{
    const char  *trouble;

    keys->call = ngx_http_symbolicate_iam_start(keys, &trouble);

    if (keys->call == NULL) {
        ngx_http_symbolicate_keys_failed(keys, trouble, "", 0);
    }
}


void
ngx_http_symbolicate_keys_told(ngx_http_symbolicate_keys_t *keys,
    ngx_str_t *answer, const char *trouble, ngx_uint_t status)
{
    time_t        left, early;
    const char   *detail;
    sym_error_t   err;

    keys->call = NULL;

    ngx_memzero(&err, sizeof(sym_error_t));
    detail = "";

    if (trouble == NULL
        && ngx_http_symbolicate_keys_text(keys,
                                          sym_str((char *) answer->data,
                                                  answer->len),
                                          1, &err)
           != NGX_OK)
    {
        trouble = "no AWS credentials: the answer does not hold any";
        detail = err.what;
    }

    if (trouble) {
        ngx_http_symbolicate_keys_failed(keys, trouble, detail, status);
        ngx_http_symbolicate_aws_resume(&keys->waiting);
        return;
    }

    left = (time_t) keys->now.expires_s - ngx_time();
    early = NGX_SYMBOLICATE_KEYS_EARLY
            + ngx_random() % NGX_SYMBOLICATE_KEYS_JITTER;

    keys->next = ngx_time() + (left > 2 * early ? left - early : left / 2);
    keys->backoff = 0;
    keys->trouble = NGX_SYMBOLICATE_KEYS_EXPIRED;

    ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0,
                  "AWS credentials came via \"%V\", for %T seconds",
                  &keys->conf->via, left);

    ngx_http_symbolicate_aws_resume(&keys->waiting);
}


static void
ngx_http_symbolicate_keys_failed(ngx_http_symbolicate_keys_t *keys,
    const char *trouble, const char *detail, ngx_uint_t status)
{
    keys->trouble = trouble;
    keys->backoff = keys->backoff
                    ? ngx_min(keys->backoff * 2, NGX_SYMBOLICATE_KEYS_BACKOFF)
                    : 1;

    /* adds up to a quarter, so that not all workers request at once */

    keys->next = ngx_time() + keys->backoff
                 + ngx_random() % (keys->backoff / 4 + 1);

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "%s%s%s, via \"%V\", status %ui; retrying in %T s",
                  trouble, *detail ? ": " : "", detail, &keys->conf->via,
                  status, keys->next - ngx_time());
}
