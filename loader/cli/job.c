#include "cli/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/uri.h"
#include "driver/companion_files.h"
#include "protocol/message.h"

/* Number of digits of a time stamp and a size. */
#define PE_ID_MAX 16

/* Returns the absolute path, or the path itself if that fails. */
static char *
absolute_path(const char *path, bool is_pipe)
{
    char *resolved = is_pipe ? NULL : realpath(path, NULL);

    return resolved != NULL ? resolved : strdup(path);
}


/* Returns the path of the prefix, which may be a URL, without slashes at its
 * ends. */
static sym_str_t
prefix_of(const char *url_prefix)
{
    sym_str_t s = sym_cstr(url_prefix != NULL ? url_prefix : "");
    const char *host = s.len != 0 ? strstr(s.data, "://") : NULL;

    if (host != NULL) {
        host += 3;
        host += strcspn(host, "/");
        s = sym_cstr(host);
    } else if (sym_str_starts(s, SYM_STR("~"))) {
        s = sym_cstr(s.data + 1);
    }

    while (s.len != 0 && s.data[0] == '/') {
        s = sym_str(s.data + 1, s.len - 1);
    }

    while (s.len != 0 && s.data[s.len - 1] == '/') {
        s.len--;
    }

    return s;
}


/* NULL: out of memory. */
static char *
site_of(const walk_file_t *file, const char *url_prefix)
{
    const char *below = file->below != NULL ? file->below : "";
    sym_str_t parts[] = { prefix_of(url_prefix), sym_cstr(below) };
    size_t len = 3 * (parts[0].len + parts[1].len) + 4;
    char *site = calloc(1, len), *p = site;

    if (site == NULL || !operands_is_script(below)) {
        return site;
    }

    *p++ = '~';
    for (unsigned i = 0; i < 2; i++) {
        if (parts[i].len == 0) {
            continue;
        }
        *p++ = '/';
        for (size_t k = 0; k < parts[i].len; k++) {
            if (parts[i].data[k] == '/') {
                *p++ = '/';
            } else {
                p += sym_uri_encode_byte(parts[i].data[k], p);
            }
        }
    }

    return site;
}


job_t *
job_open(const walk_file_t *file, const char *url_prefix, sym_error_t *err)
{
    const char *opened = file->target != NULL ? file->target : file->path;
    conversion_t *c;
    job_t *job;

    if (file->sys_errno != 0) {
        sym_fail_sys(err, SYM_IO, "cannot be read", file->sys_errno);
        return NULL;
    }

    if (file->problem != NULL) {
        sym_fail(err, SYM_UNSUPPORTED, file->problem);
        return NULL;
    }

    job = calloc(1, sizeof(*job));

    if (job == NULL) {
        sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    c = &job->conversion;
    job->size = file->size;
    job->is_in_tree = file->is_in_tree;
    c->fd = open(opened, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (c->fd < 0) {
        sym_fail_sys(err, SYM_IO, "cannot open the file", errno);
        free(job);
        return NULL;
    }

    /* Only a hint to the kernel; it fails for pipes. */
    (void) posix_fadvise(c->fd, 0, 0, POSIX_FADV_SEQUENTIAL);

    job->path = strdup(file->path);
    job->source = absolute_path(file->path, file->is_pipe);
    job->opened = file->target != NULL || job->source == NULL
                      ? absolute_path(opened, file->is_pipe)
                      : strdup(job->source);
    job->root = file->root != NULL ? strdup(file->root) : NULL;
    job->site = site_of(file, url_prefix);

    if (job->path == NULL || job->site == NULL || job->source == NULL
        || job->opened == NULL || (file->root != NULL && job->root == NULL))
    {
        sym_fail(err, SYM_NOMEM, NULL);
        close(c->fd);
        job_release(c);
        return NULL;
    }

    c->length = CONVERTER_TO_END;
    c->path = job->path;
    c->source = sym_cstr(job->source);
    return job;
}


job_t *
job_open_package(const walk_file_t *file, sym_error_t *err)
{
    job_t *job = job_open(file, NULL, err);

    if (job == NULL) {
        return NULL;
    }

    job->package = package_create(file, err);

    if (job->package == NULL) {
        close(job->conversion.fd);
        job_release(&job->conversion);
        return NULL;
    }

    job->is_package = true;
    job->conversion.length = file->size;
    job->conversion.upload_flags = CONVERTER_UPLOAD | SYM_RPC_ARCHIVE;
    return job;
}


/* A file of a package is named by the package's path and its own. */
static char *
member_path(const char *package, const char *path)
{
    char *joined;

    return asprintf(&joined, "%s/%s", package, path) < 0 ? NULL : joined;
}


job_t *
job_open_member(package_t *package, sym_error_t *err)
{
    const package_file_t *file = &package->files[package->n_begun++];
    job_t *job = calloc(1, sizeof(*job));
    conversion_t *c = &job->conversion;

    if (job == NULL) {
        sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    job->offset = file->at;
    job->size = file->length;
    job->is_in_tree = true;
    job->path = member_path(package->path, file->path);
    job->source = member_path(package->source, file->path);
    job->site = strdup("");
    job->package = package;
    package->n_users++;
    c->fd = package_open(package, file, err);

    if (job->path == NULL || job->source == NULL || job->site == NULL) {
        sym_fail(err, SYM_NOMEM, NULL);
    }

    if (err->status != SYM_OK) {
        if (c->fd >= 0) {
            close(c->fd);
        }
        job_release(c);
        return NULL;
    }

    c->length = file->length;
    c->path = job->path;
    c->source = sym_cstr(job->source);
    return job;
}


void
job_release(conversion_t *c)
{
    job_t *job = (job_t *) c;

    if (job->package != NULL) {
        package_release(job->package);
    }

    free(job->source);
    free(job->opened);
    free(job->root);
    free(job->site);
    free(job->path);
    free(job);
}


uint64_t
job_position(const job_t *job)
{
    off_t at;

    if (job->package != NULL && !job->is_package) {
        return 0;
    }

    at = lseek(job->conversion.fd, 0, SEEK_CUR);
    return at > 0 ? (uint64_t) at : 0;
}


int
job_companion(conversion_t *c, const sym_companion_t *want,
              converter_given_t *given)
{
    const job_t *job = (const job_t *) c;

    return job->package != NULL
               ? package_companion(job->package, want, given)
               : companions_open(job->opened, job->root, want, given);
}


bool
job_is_misplaced(const job_t *job)
{
    const store_upload_t *upload = &job->conversion.upload;
    sym_str_t name, id;

    if (!job->is_in_tree || !store_upload_layout(job->path, &name, &id)) {
        return false;
    }

    /* it may be the code id of a PE file, because a daemon does not report
     * these */
    if (job->conversion.is_held && id.len <= PE_ID_MAX) {
        return false;
    }

    return !store_upload_folder_name(upload, job->path, &name)
           || !sym_str_eq(name, upload->key.name);
}
