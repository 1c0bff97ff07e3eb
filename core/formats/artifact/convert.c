/*
 * convert.c - artifacts of another store (artifact_file.h).
 *
 * Nothing is compiled: the extents are copied, after the kind's own check.  Their
 * readers trust no byte of them, as of any artifact.
 */
#include <stdlib.h>

#include "artifacts/artifact_file.h"
#include "formats/format.h"

typedef struct {
    sym_artifact_file_t file;
    sym_extent_view_t *extents;
} artifact_t;


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
put_artifact(const sym_format_file_t *f, artifact_t *a, sym_error_t *err)
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
                                         .is_nameless = a->file.is_nameless,
                                         .digest = a->file.digest,
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


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    artifact_t a;
    sym_str_t rest;
    sym_status_t rc = sym_artifact_file_read(f->data, &a.file, &rest, err);

    (void) which; /* there is only one */
    if (rc != SYM_OK) {
        return rc;
    }

    if (!is_requested(f, a.file.kind->kind)) {
        return sym_fail(err, SYM_UNSUPPORTED, "an artifact of another kind");
    }

    a.extents = calloc(a.file.extents, sizeof(*a.extents));
    if (a.extents == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for the extents");
    }

    rc = sym_artifact_file_extents(rest, f->data.len - rest.len, a.extents,
                                   a.file.extents, err);
    rc = rc == SYM_OK ? put_artifact(f, &a, err) : rc;
    free(a.extents);
    return rc;
}


const sym_format_t sym_format_artifact = {
    .title = "artifact",
    .probe = sym_artifact_file_is,
    .is_wanted = sym_artifact_file_is,
    .convert = convert,
};
