/*
 * convert.c - artifacts of another store (artifact_file.h).
 *
 * Nothing is compiled: the extents are copied, after the kind's own check.  Their
 * readers trust no byte of them, as of any artifact.  The file may have
 * artifacts of versions and kinds that this program does not read: programs of
 * several versions put theirs into one file of a bucket.
 */
#include <stdlib.h>

#include "artifacts/artifact_file.h"
#include "formats/format.h"

typedef struct {
    sym_artifact_file_t file;
    sym_str_t bytes; /* of its extents */
    sym_extent_view_t *extents;
} artifact_t;

/* The artifacts that are put: one of each kind. */
typedef struct {
    artifact_t at[SYM_KINDS];
    size_t n;
    uint32_t lacks;   /* kinds that the object file does not give */
    const char *left; /* why an artifact is not put; NULL: all are */
} artifacts_t;


static sym_status_t
get_extent(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const artifact_t *a = ctx;

    if (number >= a->file.extents) {
        return SYM_NOT_FOUND;
    }

    *data = a->extents[number].data;
    *len = a->extents[number].len;
    return SYM_OK;
}


static sym_status_t
finish(void *writer, const sym_module_info_t *info, sym_extent_put_pt put,
       void *ctx, sym_writer_stats_t *stats, sym_error_t *err)
{
    const artifact_t *a = writer;

    (void) info; /* it is in the extents */
    *stats = (sym_writer_stats_t){ .extents = a->file.extents,
                                   .quality = a->file.quality };

    for (uint32_t i = 0; i < a->file.extents; i++) {
        const sym_extent_view_t *extent = &a->extents[i];

        if (put(ctx, i, extent->data, extent->len, err) != SYM_OK) {
            return err->status;
        }

        stats->bytes += extent->len;
    }

    return SYM_OK;
}


static sym_status_t
put_artifact(const sym_format_file_t *f, const artifacts_t *all, artifact_t *a,
             sym_error_t *err)
{
    const sym_extent_source_t extents = { get_extent, a, a->file.extents };
    const sym_module_info_t info = { .debug_id = a->file.debug_id,
                                     .debug_file = a->file.name,
                                     .code_id = a->file.code_id,
                                     .flags = a->file.features,
                                     .source_bytes = a->file.source_bytes };
    const sym_format_output_t output = { .kind = a->file.kind->kind,
                                         .info = &info,
                                         .writer = a,
                                         .finish = finish,
                                         .has_more = a + 1 != all->at + all->n,
                                         .is_nameless = a->file.is_nameless,
                                         .digest = a->file.digest,
                                         .lacks = all->lacks,
                                         .is_incomplete =
                                             a->file.reason.len != 0 };

    if (sym_kind_verify(a->file.kind, &extents, err) != SYM_OK) {
        return err->status;
    }

    if (a->file.reason.len != 0) {
        f->services->note(f->services->ctx, "%.*s", (int) a->file.reason.len,
                          a->file.reason.data);
    }

    return f->put(f->ctx, &output, err);
}


/* Unwind rules that somebody exported are wanted; crash reports are not stored. */
static bool
is_requested(const sym_format_file_t *f, sym_kind_t kind)
{
    return f->kinds != 0 ? sym_format_wants(f, kind) : kind != SYM_KIND_CRASH;
}


/* The highest version of a kind is put; the first of equal ones. */
static void
choose(artifacts_t *all, const artifact_t *a)
{
    artifact_t *same = all->at;

    while (same < all->at + all->n && same->file.kind != a->file.kind) {
        same++;
    }

    if (same == all->at + all->n) {
        all->n++;
    } else if (same->file.kind_version >= a->file.kind_version) {
        return;
    }

    *same = *a;
}


static sym_status_t
find_artifacts(const sym_format_file_t *f, artifacts_t *all, sym_error_t *err)
{
    sym_str_t left = f->data;

    do {
        artifact_t a = { .extents = NULL };

        if (sym_artifact_file_read(&left, &a.file, &a.bytes, err) != SYM_OK) {
            return err->status;
        }

        if (a.file.reader == sym_kinds_reader()) {
            all->lacks |= a.file.lacks;
        }

        if (a.file.unread != NULL) {
            all->left = a.file.unread;
        } else if (!is_requested(f, a.file.kind->kind)) {
            all->left = "an artifact of another kind";
        } else {
            choose(all, &a);
        }
    } while (left.len != 0);

    return SYM_OK;
}


static sym_status_t
convert_one(const sym_format_file_t *f, const artifacts_t *all, artifact_t *a,
            sym_error_t *err)
{
    uint64_t offset = (uint64_t) (a->bytes.data - f->data.data);
    sym_status_t rc;

    a->extents = calloc(a->file.extents, sizeof(*a->extents));
    if (a->extents == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for the extents");
    }

    rc = sym_artifact_file_extents(a->bytes, offset, a->extents,
                                   a->file.extents, err);
    rc = rc == SYM_OK ? put_artifact(f, all, a, err) : rc;
    free(a->extents);
    return rc;
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    artifacts_t all = { .n = 0 };

    (void) which; /* the artifacts are of one object */
    if (find_artifacts(f, &all, err) != SYM_OK) {
        return err->status;
    }

    if (all.n == 0) {
        return sym_fail(err, SYM_UNSUPPORTED, all.left);
    }

    for (size_t i = 0; i < all.n; i++) {
        if (convert_one(f, &all, &all.at[i], err) != SYM_OK) {
            return err->status;
        }
    }

    return SYM_OK;
}


const sym_format_t sym_format_artifact = {
    .title = "artifact",
    .probe = sym_artifact_file_is,
    .is_wanted = sym_artifact_file_is,
    .convert = convert,
};
