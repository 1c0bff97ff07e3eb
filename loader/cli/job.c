#include "cli/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/companions.h"

/* A path that leads anywhere from anywhere; the one given if there is none. */
static char *
absolute_path(const char *path, bool is_pipe)
{
    char *resolved = is_pipe ? NULL : realpath(path, NULL);

    return resolved != NULL ? resolved : strdup(path);
}


job_t *
job_open(const walk_file_t *file, sym_error_t *err)
{
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

    job->size = file->size;
    job->is_in_tree = file->is_in_tree;
    job->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (job->fd < 0) {
        sym_fail_sys(err, SYM_IO, "cannot open the file", errno);
        free(job);
        return NULL;
    }

    /* Only a hint; pipes refuse it. */
    (void) posix_fadvise(job->fd, 0, 0, POSIX_FADV_SEQUENTIAL);

    job->path = strdup(file->path);
    job->source = absolute_path(file->path, file->is_pipe);

    job->root = file->root != NULL ? strdup(file->root) : NULL;

    if (job->path == NULL || job->source == NULL
        || (file->root != NULL && job->root == NULL))
    {
        sym_fail(err, SYM_NOMEM, NULL);
        job_free(job);
        return NULL;
    }

    return job;
}


void
job_free(job_t *job)
{
    store_upload_drop(&job->upload);
    close(job->fd);
    free(job->source);
    free(job->root);
    free(job->path);
    free(job);
}


uint64_t
job_position(const job_t *job)
{
    off_t at = lseek(job->fd, 0, SEEK_CUR);

    return at > 0 ? (uint64_t) at : 0;
}


int
job_companion(const job_t *job, const sym_companion_t *want,
              converter_given_t *given)
{
    return companions_open(job->source, job->root, want, given);
}


bool
job_is_misplaced(const job_t *job)
{
    sym_str_t name, id;

    if (!job->is_in_tree || !walk_layout(job->path, &name, &id)) {
        return false;
    }

    return !store_upload_folder_name(&job->upload, job->path, &name)
           || !sym_str_eq(name, job->upload.key.name);
}


sym_status_t
job_begin(job_t *job, sym_store_t *store, const pool_module_t *module,
          sym_error_t *err)
{
    sym_status_t rc = store_upload_name(&job->upload, job->path, module, err);

    return rc == SYM_OK ? store_upload_begin(&job->upload, store, err) : rc;
}


store_upload_result_t
job_commit(job_t *job, sym_store_t *store, order_t *order,
           const converter_done_t *done, bool force, sym_error_t *err)
{
    const sym_module_key_t *key = &job->upload.key;
    const store_upload_origin_t origin = {
        .source = sym_cstr(job->source),
        .is_late = order_has_later(order, key, job->sequence),
        .force = force,
    };
    store_upload_result_t result =
        store_upload_commit(&job->upload, store, done, &origin, err);

    if (result == INTAKE_STORED && !order_note(order, key, job->sequence)) {
        sym_fail(err, SYM_NOMEM, NULL);
        job->upload.is_store_error = true;
        return INTAKE_FAILED;
    }

    return result;
}
