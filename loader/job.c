#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symcache/format.h"

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
    job_t *job = calloc(1, sizeof(*job));

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

    if (job->path == NULL || job->source == NULL) {
        sym_fail(err, SYM_NOMEM, NULL);
        job_free(job);
        return NULL;
    }

    return job;
}


void
job_free(job_t *job)
{
    if (job->ingest != NULL) {
        sym_ingest_abort(job->ingest);
    }

    close(job->fd);
    free(job->source);
    free(job->path);
    free(job);
}


uint64_t
job_position(const job_t *job)
{
    off_t at = lseek(job->fd, 0, SEEK_CUR);

    return at > 0 ? (uint64_t) at : 0;
}


/* The folders' name, if their id is the module's: then it is the same thing. */
static bool
folder_name(const job_t *job, sym_str_t *name)
{
    sym_str_t id;
    char canonical[SYM_ID_MAX];
    size_t len;

    if (!walk_layout(job->path, name, &id)) {
        return false;
    }

    len = sym_debug_id_canonical(id, canonical);
    return sym_str_eq(sym_str(canonical, len), job->key.id);
}


bool
job_is_misplaced(const job_t *job)
{
    sym_str_t name, id;

    if (!job->is_in_tree || !walk_layout(job->path, &name, &id)) {
        return false;
    }

    return !folder_name(job, &name) || !sym_str_eq(name, job->key.name);
}


static sym_status_t
set_key(job_t *job, sym_str_t name, sym_str_t id, sym_error_t *err)
{
    job->key.scope = SYM_STR("");
    job->key.id = sym_str(job->id, sym_debug_id_canonical(id, job->id));

    if (job->key.id.len == 0) {
        return sym_fail(err, SYM_MALFORMED, "the MODULE line's id is none");
    }

    /* Some tools leave the name out, or put a whole path there. */
    if (!sym_module_name_ok(name) && !folder_name(job, &name)) {
        return sym_fail(err, SYM_MALFORMED,
                        "the MODULE line's name is none (1 to 255 bytes, no "
                        "slash), nor does the folder tell");
    }

    memcpy(job->name, name.data, name.len);
    job->key.name = sym_str(job->name, name.len);
    return SYM_OK;
}


sym_status_t
job_begin(job_t *job, sym_store_t *store, sym_str_t name, sym_str_t id,
          sym_error_t *err)
{
    sym_status_t rc = set_key(job, name, id, err);

    if (rc == SYM_OK) {
        rc = sym_ingest_begin(store, &job->key, &job->ingest, err);
        job->is_store_error = rc != SYM_OK;
    }

    if (rc != SYM_OK) {
        job->ingest = NULL;
    }

    return rc;
}


sym_status_t
job_extent(job_t *job, uint32_t number, const uint8_t *data, size_t len,
           sym_error_t *err)
{
    sym_status_t rc = sym_ingest_extent(job->ingest, number, data, len, err);

    job->is_store_error = rc != SYM_OK;
    return rc;
}


/* The quality of the module's symbols in the store now; false: it has none. */
static bool
stored_quality(sym_store_t *store, const sym_module_key_t *key,
               unsigned *quality, sym_error_t *err)
{
    sym_snapshot_t *snapshot;
    sym_module_record_t record;
    sym_status_t rc = sym_snapshot_begin(store, &snapshot, err);

    if (rc != SYM_OK) {
        return false;
    }

    rc = sym_snapshot_find(snapshot, key, &record, err);
    sym_snapshot_end(snapshot);

    if (rc == SYM_NOT_FOUND) {
        *err = (sym_error_t){ 0 };
    }

    *quality = record.quality;
    return rc == SYM_OK && record.state == SYM_MODULE_READY;
}


/*
 * Of all files of a module the best wins, and of equally good ones the last:
 * whatever order they end in.  By force, just the last.
 */
static job_result_t
judge(const job_t *job, sym_store_t *store, const order_t *order,
      unsigned quality, bool force, sym_error_t *err)
{
    bool is_late = order_has_later(order, &job->key, job->sequence);
    unsigned stored = 0;

    if (force) {
        return is_late ? JOB_KEPT_LATER : JOB_STORED;
    }

    if (!stored_quality(store, &job->key, &stored, err)) {
        return err->status == SYM_OK ? JOB_STORED : JOB_FAILED;
    }

    if (stored > quality) {
        return JOB_KEPT_BETTER;
    }

    return stored == quality && is_late ? JOB_KEPT_LATER : JOB_STORED;
}


job_result_t
job_commit(job_t *job, sym_store_t *store, order_t *order,
           const wire_done_t *done, bool force, sym_error_t *err)
{
    sym_module_record_t record = {
        .state = SYM_MODULE_READY,
        .format = SYM_SYMCACHE_VERSION,
        .quality = (uint8_t) done->quality,
        .source_bytes = done->source_bytes,
        .source = sym_cstr(job->source),
        .reason = SYM_STR(""),
    };
    job_result_t result = judge(job, store, order, done->quality, force, err);
    sym_ingest_t *ingest = job->ingest;

    if (result != JOB_STORED) {
        job->is_store_error = result == JOB_FAILED;
        return result; /* job_free() drops the ingest */
    }

    job->ingest = NULL;

    if (sym_ingest_commit(ingest, &record, err) != SYM_OK) {
        job->is_store_error = true;
        return JOB_FAILED;
    }

    if (!order_note(order, &job->key, job->sequence)) {
        sym_fail(err, SYM_NOMEM, NULL);
        return JOB_FAILED;
    }

    return JOB_STORED;
}
