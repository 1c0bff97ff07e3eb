#include <stdatomic.h>
#include <stdlib.h>

#include "dwarf/walker.h"

/*
 * Units that follow each other are a chunk, which one walker reads into a part
 * of its own.  The chunks depend on the file only, and the writer takes their
 * parts in order: as many threads as there may be, what is written is the same.
 */

/* Of .debug_info.  Less, and names that chunks share are looked up too often;
 * more, and the last one keeps too many threads waiting. */
#define CHUNK_BYTES ((uint64_t) 4 << 20)

typedef struct {
    size_t first, end; /* of the list of units */
    sym_part_t part;
    sym_dwarf_stats_t stats;
    sym_error_t err; /* what ends all */
    atomic_bool is_read;
} chunk_t;

typedef struct {
    const sym_dwarf_input_t *in;
    sym_dw_info_t info, alt;
    sym_error_t bad_header; /* of the first unit that has none of use */
    sym_writer_t *writer;

    chunk_t *chunks;
    size_t n_chunks;
    atomic_size_t next; /* to be read */
    atomic_bool has_failed;

    /* who sets it may join; the rest is theirs */
    atomic_flag is_joining;
    atomic_size_t next_joined;
    sym_dwarf_stats_t *stats;
    sym_error_t *err;
} job_t;


static void
note_broken(sym_dwarf_stats_t *stats, const sym_error_t *bad)
{
    stats->units_broken++;
    if (stats->first_broken.status == SYM_OK) {
        stats->first_broken = *bad;
    }
}


static sym_status_t
read_unit(sym_dw_walker_t *w, const job_t *job, size_t at)
{
    const sym_dw_unit_t *unit = &job->info.units[at];
    sym_error_t bad = { 0 };

    w->stats->units++;
    if (unit->kind == 0) {
        note_broken(w->stats, &job->bad_header);
        return SYM_OK;
    }

    if (sym_dw_walk(w, unit, &bad) == SYM_OK) {
        return SYM_OK;
    }

    if (w->is_fatal || bad.status == SYM_NOMEM) {
        return bad.status;
    }

    note_broken(w->stats, &bad);
    return SYM_OK;
}


/* --- the end of a chunk --- */

static void
add_stats(sym_dwarf_stats_t *to, const sym_dwarf_stats_t *s)
{
    uint64_t broken = to->units_broken + s->units_broken;

    if (s->units_broken != 0) {
        note_broken(to, &s->first_broken);
    }

    to->units += s->units;
    to->units_broken = broken;
    to->units_no_lines += s->units_no_lines;
    to->functions += s->functions;
    to->functions_empty += s->functions_empty;
    to->inlines += s->inlines;
    to->names_missing += s->names_missing;
    to->ranges_dropped += s->ranges_dropped;
    to->rows += s->rows;
    to->split_units += s->split_units;
    to->split_missing += s->split_missing;
    to->split_foreign += s->split_foreign;
}


static void
join(job_t *job, chunk_t *c)
{
    if (job->err->status != SYM_OK) {
        return;
    }

    if (c->err.status != SYM_OK) {
        *job->err = c->err;
    } else if (sym_writer_join(job->writer, &c->part) != SYM_OK) {
        (void) sym_fail(job->err, SYM_NOMEM, "the symcache takes no more");
    }

    add_stats(job->stats, &c->stats);
    if (job->err->status != SYM_OK) {
        atomic_store(&job->has_failed, true);
    }
}


static bool
can_join(job_t *job)
{
    size_t at = atomic_load(&job->next_joined);

    return at < job->n_chunks && atomic_load(&job->chunks[at].is_read);
}


/* Joins what is next and was read.  If somebody else does so now they will also
 * see what this thread has read: they look again after they let go. */
static void
join_ready(job_t *job)
{
    while (can_join(job) && !atomic_flag_test_and_set(&job->is_joining)) {
        while (can_join(job)) {
            size_t at = atomic_load(&job->next_joined);

            join(job, &job->chunks[at]);
            atomic_store(&job->next_joined, at + 1);
        }
        atomic_flag_clear(&job->is_joining);
    }
}


/* --- in each thread --- */

static sym_status_t
read_chunk(sym_dw_walker_t *w, const job_t *job, chunk_t *c)
{
    const sym_dw_unit_t *units = job->info.units;

    sym_dw_walker_begin(w, &c->part, &c->stats,
                        units[c->end - 1].end - units[c->first].offset);

    for (size_t i = c->first; i < c->end; i++) {
        if (read_unit(w, job, i) != SYM_OK) {
            return sym_fail(&c->err, SYM_NOMEM, "no memory for a unit");
        }
    }

    c->stats.names_missing = w->names.missing;
    return SYM_OK;
}


static void
work(void *task)
{
    job_t *job = task;
    sym_dw_walker_t *w = malloc(sizeof(*w));
    size_t at;

    if (w != NULL) {
        sym_dw_walker_init(w, job->in, &job->info,
                           job->in->alt != NULL ? &job->alt : NULL);
    }

    while (!atomic_load(&job->has_failed)
           && (at = atomic_fetch_add(&job->next, 1)) < job->n_chunks)
    {
        chunk_t *c = &job->chunks[at];

        if (w == NULL) {
            (void) sym_fail(&c->err, SYM_NOMEM, "no memory for a DWARF reader");
        } else {
            (void) read_chunk(w, job, c);
        }

        atomic_store(&c->is_read, true);
        join_ready(job);
    }

    if (w != NULL) {
        sym_dw_walker_free(w);
    }
    free(w);
}


/* --- all of it --- */

static bool
make_chunks(job_t *job)
{
    const sym_dw_info_t *info = &job->info;
    uint64_t bytes = info->sections->info.len;
    size_t n = 0;

    job->chunks =
        calloc((size_t) (bytes / CHUNK_BYTES) + 1, sizeof(*job->chunks));
    if (job->chunks == NULL) {
        return false;
    }

    for (size_t i = 0; i < info->n_units; i++) {
        chunk_t *c = &job->chunks[n];

        if (c->end == 0) {
            c->first = i;
            sym_part_init(&c->part);
        }

        c->end = i + 1;
        if (info->units[i].end - info->units[c->first].offset >= CHUNK_BYTES) {
            n++;
        }
    }

    job->n_chunks = job->chunks[n].end != 0 ? n + 1 : n;
    return true;
}


static sym_status_t
read_lists(job_t *job)
{
    sym_error_t ignored = { 0 };
    const sym_dwarf_input_t *in = job->in;

    if (sym_dw_info_read(&job->info, &in->sections, in->is_big_endian,
                         &job->bad_header)
        != SYM_OK)
    {
        return SYM_NOMEM;
    }

    return in->alt == NULL ? SYM_OK
                           : sym_dw_info_read(&job->alt, in->alt,
                                              in->is_big_endian, &ignored);
}


sym_status_t
sym_dwarf_read(const sym_dwarf_input_t *in, sym_writer_t *writer,
               sym_dwarf_stats_t *stats, sym_error_t *err)
{
    job_t job = { .in = in,
                  .writer = writer,
                  .is_joining = ATOMIC_FLAG_INIT,
                  .stats = stats,
                  .err = err };

    *stats = (sym_dwarf_stats_t){ 0 };

    if (read_lists(&job) != SYM_OK || !make_chunks(&job)) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for units");
    } else {
        sym_crew_run(in->crew, work, &job);
    }

    for (size_t i = 0; i < job.n_chunks; i++) {
        sym_part_free(&job.chunks[i].part);
    }

    free(job.chunks);
    sym_dw_info_free(&job.info);
    sym_dw_info_free(&job.alt);
    return err->status;
}
