
/*
 * ngx_http_symbolicate_request_source_files.c - files in a folder, for sources
 * defined by a request.
 *
 * The kernel resolves the path below its root, and ensures that no "..",
 * symbolic link or magic link leads out of it (openat2(2), Linux 5.6).  Only
 * regular files are opened, so no pipe or device is touched.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include <sys/syscall.h>

#include "conf/ngx_http_symbolicate_source.h"
#include "download/ngx_http_symbolicate_fetch_state.h"
#include "request_sources/ngx_http_symbolicate_request_source_attempt.h"
#include "request_sources/ngx_http_symbolicate_request_source_files.h"


#define NGX_SYMBOLICATE_RESTRICTED  "destination is restricted"

/* from <linux/openat2.h>, which is missing on older systems */
#define NGX_SYMBOLICATE_NO_MAGICLINKS  0x02
#define NGX_SYMBOLICATE_BENEATH        0x08

#ifndef SYS_openat2
#define SYS_openat2  437
#endif


/* struct open_how */
typedef struct {
    uint64_t                       flags;
    uint64_t                       mode;
    uint64_t                       resolve;
} ngx_http_symbolicate_open_how_t;


/* Returns the part of the path below the root; NULL: it is outside the root. */
static char *
ngx_http_symbolicate_request_source_below(ngx_str_t *root, char *path)
{
    if (ngx_strncmp(path, root->data, root->len) != 0
        || path[root->len] != '/')
    {
        return NULL;
    }

    for (path += root->len; *path == '/'; path++) { /* void */ }

    return *path ? path : NULL;
}


/*
 * Returns a descriptor for the object at the path (O_PATH), without opening the
 * object.
 */
static ngx_fd_t
ngx_http_symbolicate_request_source_find(ngx_str_t *root, char *below,
    ngx_err_t *err)
{
    ngx_fd_t                         folder, fd;
    ngx_http_symbolicate_open_how_t  how;

    folder = open((char *) root->data, O_PATH|O_DIRECTORY|O_CLOEXEC);

    if (folder == NGX_INVALID_FILE) {
        *err = ngx_errno;
        return NGX_INVALID_FILE;
    }

    ngx_memzero(&how, sizeof(ngx_http_symbolicate_open_how_t));

    how.flags = O_PATH|O_CLOEXEC;
    how.resolve = NGX_SYMBOLICATE_BENEATH|NGX_SYMBOLICATE_NO_MAGICLINKS;

    fd = syscall(SYS_openat2, folder, below, &how, sizeof(how));
    *err = fd == NGX_INVALID_FILE ? ngx_errno : 0;

    (void) ngx_close_file(folder);

    return fd;
}


/* Opens the object of a descriptor for reading if it is a regular file. */
static ngx_fd_t
ngx_http_symbolicate_request_source_reopen(ngx_fd_t found, off_t *size,
    ngx_err_t *err)
{
    u_char           name[sizeof("/proc/self/fd/") + NGX_INT_T_LEN];
    ngx_fd_t         fd;
    ngx_file_info_t  fi;

    if (ngx_fd_info(found, &fi) == NGX_FILE_ERROR) {
        *err = ngx_errno;
        return NGX_INVALID_FILE;
    }

    if (!ngx_is_file(&fi)) {
        *err = NGX_ENOENT;
        return NGX_INVALID_FILE;
    }

    *size = ngx_file_size(&fi);

    (void) ngx_sprintf(name, "/proc/self/fd/%d%Z", found);

    fd = open((char *) name, O_RDONLY|O_NONBLOCK|O_CLOEXEC);
    *err = fd == NGX_INVALID_FILE ? ngx_errno : 0;

    return fd;
}


static const char *
ngx_http_symbolicate_request_source_failure(ngx_http_symbolicate_fetch_t *fetch,
    ngx_err_t err)
{
    switch (err) {

    case NGX_ENOENT:
    case NGX_ENOTDIR:
    case NGX_ENAMETOOLONG:
    case NGX_EISDIR:
        fetch->status = NGX_HTTP_NOT_FOUND;
        return NULL;

    case NGX_EACCES:
        fetch->status = NGX_HTTP_FORBIDDEN;
        return NULL;

    case EXDEV:
    case NGX_ELOOP:
        return NGX_SYMBOLICATE_RESTRICTED;

    case ENOSYS:
        return "files are read on Linux 5.6 or later only";

    default:
        return "it could not be reached";
    }
}


ngx_int_t
ngx_http_symbolicate_request_source_take(ngx_http_symbolicate_fetch_t *fetch,
    ngx_fd_t fd, off_t size)
{
    ngx_pool_cleanup_t       *cln;
    ngx_pool_cleanup_file_t  *file;

    cln = ngx_pool_cleanup_add(fetch->pool, sizeof(ngx_pool_cleanup_file_t));
    if (cln == NULL) {
        return NGX_ERROR;
    }

    file = cln->data;
    file->fd = fd;
    file->name = (u_char *) "of a source in a request";
    file->log = ngx_cycle->log;

    cln->handler = ngx_pool_cleanup_file;

    fetch->fd = fd;
    fetch->offset = 0;
    fetch->announced = size;
    fetch->received = size;
    fetch->status = NGX_HTTP_OK;

    return NGX_OK;
}


static const char *
ngx_http_symbolicate_request_source_open(ngx_http_symbolicate_fetch_t *fetch,
    sym_str_t path)
{
    char        text[SYM_REQUEST_SOURCE_PATH_MAX + SYM_SOURCE_PATH_MAX + 2],
        *below;
    off_t       size;
    ngx_fd_t    found, fd;
    ngx_err_t   err;
    ngx_str_t  *roots;
    ngx_uint_t  i;

    if (path.len >= sizeof(text) || memchr(path.data, '\0', path.len)) {
        return NGX_SYMBOLICATE_RESTRICTED;
    }

    (void) ngx_cpystrn((u_char *) text, (u_char *) path.data, path.len + 1);

    below = NULL;
    roots = fetch->policy->request_sources_conf->roots->elts;

    for (i = 0; i < fetch->policy->request_sources_conf->roots->nelts; i++) {
        below = ngx_http_symbolicate_request_source_below(&roots[i], text);

        if (below) {
            break;
        }
    }

    if (below == NULL) {
        return NGX_SYMBOLICATE_RESTRICTED;
    }

    found = ngx_http_symbolicate_request_source_find(&roots[i], below, &err);

    if (found == NGX_INVALID_FILE) {
        return ngx_http_symbolicate_request_source_failure(fetch, err);
    }

    fd = ngx_http_symbolicate_request_source_reopen(found, &size, &err);
    (void) ngx_close_file(found);

    if (fd == NGX_INVALID_FILE) {
        return ngx_http_symbolicate_request_source_failure(fetch, err);
    }

    if (ngx_http_symbolicate_request_source_take(fetch, fd, size) != NGX_OK) {
        (void) ngx_close_file(fd);
        return "out of memory";
    }

    return NULL;
}


static ngx_int_t
ngx_http_symbolicate_request_source_try_file(
    ngx_http_symbolicate_request_attempt_t *g,
    const sym_request_source_t *source, sym_request_source_place_t *place)
{
    return ngx_http_symbolicate_request_source_stop(g,
                     ngx_http_symbolicate_request_source_open(g->fetch,
                                                              place->file));
}


const ngx_http_symbolicate_request_source_kind_t
    ngx_http_symbolicate_request_source_folder =
{
    .try = ngx_http_symbolicate_request_source_try_file,
    .has_places = 1
};
