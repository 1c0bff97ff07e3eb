/*
 * convert.c - Elastic's symbfile as a row of the formats.
 *
 * The file contains neither name nor id of its executable.  The loader takes
 * both from the path of the file.
 */
#include "formats/symbfile/functions.h"
#include "formats/symcache.h"

static bool
probe(const uint8_t *data, size_t len)
{
    return sym_str_starts(sym_str((const char *) data, len),
                          SYM_STR(SYM_SYMBFILE_MAGIC));
}


static bool
is_wanted(const uint8_t *head, size_t len)
{
    return probe(head, len);
}


static sym_status_t
feed(sym_symbfile_t *s, const sym_format_file_t *f, sym_error_t *err)
{
    sym_str_t piece = f->data;
    sym_status_t rc = SYM_OK;

    while (rc == SYM_OK && piece.len > 0) {
        rc = sym_symbfile_feed(s, piece.data, piece.len);

        if (rc == SYM_OK) {
            rc = f->next(f->ctx, &piece, err);
        }
    }

    return rc == SYM_OK ? sym_symbfile_end(s) : rc;
}


static sym_status_t
read_file(const sym_format_file_t *f, sym_symbfile_functions_t *functions,
          sym_symbfile_stats_t *stats, sym_error_t *err)
{
    const sym_symbfile_sink_t sink = sym_symbfile_functions_sink(functions);
    sym_symbfile_t *s = sym_symbfile_create(&sink, err);
    sym_status_t rc = s != NULL ? feed(s, f, err) : SYM_NOMEM;

    if (rc == SYM_OK) {
        *stats = *sym_symbfile_stats(s);
        rc = sym_symbfile_functions_end(functions);
    }

    sym_symbfile_free(s);
    return rc;
}


static void
warn(const sym_symbfile_stats_t *stats, uint64_t dropped,
     const sym_format_services_t *services)
{
    if (stats->ranges == 0 && stats->pads == 0) {
        services->note(services->ctx,
                       "no symbols: it has neither ranges nor return pads");
    }

    if (dropped != 0) {
        services->note(services->ctx,
                       "%llu records ignored: they cover no address, or one "
                       "more than 4 GiB from the first",
                       (unsigned long long) dropped);
    }
}


static sym_status_t
convert_into(const sym_format_file_t *f, sym_writer_t *w, sym_shard_t *shard,
             sym_error_t *err)
{
    sym_symbfile_functions_t *fs = sym_symbfile_functions_create(shard, err);
    sym_symbfile_stats_t stats = { 0 };
    sym_module_info_t info = { .debug_id = f->asked_id };
    sym_status_t rc = fs != NULL ? read_file(f, fs, &stats, err) : SYM_NOMEM;

    if (rc == SYM_OK) {
        warn(&stats, sym_symbfile_functions_dropped(fs), f->services);
        info.source_bytes = stats.bytes;
        info.image_base = sym_symbfile_functions_base(fs);
        info.flags =
            sym_feature_flags(stats.ranges + stats.pads != 0, false, false);
        rc = sym_writer_join(w, shard);
    }

    sym_symbfile_functions_free(fs);
    return rc == SYM_OK ? sym_format_put_symcache(f, w, NULL, &info, false, err)
                        : rc;
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    sym_writer_t *w = sym_format_writer(f, err);
    sym_status_t rc = SYM_NOMEM;
    sym_shard_t shard;

    (void) which; /* the file has one object */
    sym_shard_init(&shard);

    if (w != NULL) {
        rc = convert_into(f, w, &shard, err);
    }

    sym_shard_free(&shard);
    sym_writer_free(w);
    return rc;
}


const sym_format_t sym_format_symbfile = {
    .title = "Elastic's symbfile",
    .probe = probe,
    .is_wanted = is_wanted,
    .is_streamed = true,
    .is_nameless = true,
    .convert = convert,
};
