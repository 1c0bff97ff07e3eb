#include <stdatomic.h>
#include <stdlib.h>

#include "formats/dwarf/walker.h"

/*
 * Adjacent units form a chunk, which one walker reads into its own shard.  The
 * chunks depend only on the file, and the writer takes their shards in order,
 * so the output does not depend on the number of threads.
 */

typedef struct {
    sym_shard_t part;
    sym_dwarf_stats_t stats;
    sym_error_t err; /* an error that ends all reading */
    atomic_bool is_read;
} result_t;

typedef struct {
    const sym_dwarf_input_t *in;
    sym_dw_info_t info, alt;
    sym_writer_t *writer;

    result_t *results;  /* one for each chunk */
    size_t most;        /* upper bound for the number of chunks */
    atomic_size_t next; /* next chunk to read */
    atomic_bool has_failed;

    /* the thread that sets the flag may join; only it uses the members below */
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
read_unit(sym_dw_walker_t *w, const sym_dw_chunk_t *c, size_t at)
{
    const sym_dw_unit_t *unit = &c->units[at];
    sym_error_t bad = { 0 };

    w->stats->units++;
    if (unit->kind == 0) {
        note_broken(w->stats, &c->bad);
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
join(job_t *job, result_t *r)
{
    if (job->err->status != SYM_OK) {
        return;
    }

    if (r->err.status != SYM_OK) {
        *job->err = r->err;
    } else if (sym_writer_join(job->writer, &r->part) != SYM_OK) {
        (void) sym_fail(job->err, SYM_NOMEM, "the symcache takes no more");
    }

    add_stats(job->stats, &r->stats);
    if (job->err->status != SYM_OK) {
        atomic_store(&job->has_failed, true);
    }
}


static bool
can_join(job_t *job)
{
    size_t at = atomic_load(&job->next_joined);

    return at < job->most && atomic_load(&job->results[at].is_read);
}


/* Joins the next shards that are complete.  If another thread is joining now,
 * that thread also joins this thread's shard, because it checks again after it
 * has cleared the flag. */
static void
join_ready(job_t *job)
{
    while (can_join(job) && !atomic_flag_test_and_set(&job->is_joining)) {
        while (can_join(job)) {
            size_t at = atomic_load(&job->next_joined);

            join(job, &job->results[at]);
            atomic_store(&job->next_joined, at + 1);
        }
        atomic_flag_clear(&job->is_joining);
    }
}


/* --- work of each thread --- */

static sym_status_t
read_chunk(sym_dw_walker_t *w, const sym_dw_chunk_t *c, result_t *r)
{
    sym_shard_init(&r->part);
    sym_dw_walker_begin(w, &r->part, &r->stats, c->end - c->offset);

    for (size_t i = 0; i < c->n_units; i++) {
        if (read_unit(w, c, i) != SYM_OK) {
            return sym_fail(&r->err, SYM_NOMEM, "no memory for a unit");
        }
    }

    r->stats.names_missing = w->names.missing;
    return SYM_OK;
}


/* False: there is no such chunk. */
static bool
read_next(sym_dw_walker_t *w, const job_t *job, size_t at)
{
    result_t *r = &job->results[at];
    const sym_dw_chunk_t *c;

    if (w == NULL) {
        (void) sym_fail(&r->err, SYM_NOMEM, "no memory for a DWARF reader");
        return true;
    }

    c = sym_dw_info_chunk(&job->info, at, &r->err);
    if (c != NULL) {
        (void) read_chunk(w, c, r);
    }

    return c != NULL || r->err.status != SYM_OK;
}


static void
work(void *task)
{
    job_t *job = task;
    const sym_dwarf_supply_t *supply = job->in->supply;
    sym_dw_walker_t *w = malloc(sizeof(*w));
    size_t at;

    if (supply != NULL) {
        supply->work(supply->ctx);
    }

    if (w != NULL) {
        sym_dw_walker_init(w, job->in, &job->info,
                           job->in->alt != NULL ? &job->alt : NULL);
    }

    while (!atomic_load(&job->has_failed)
           && (at = atomic_fetch_add(&job->next, 1)) < job->most
           && read_next(w, job, at))
    {
        atomic_store(&job->results[at].is_read, true);
        join_ready(job);
    }

    if (w != NULL) {
        sym_dw_walker_free(w);
    }
    free(w);
}


/* --- reading --- */

static sym_status_t
begin(job_t *job)
{
    const sym_dwarf_input_t *in = job->in;

    if (sym_dw_info_init(&job->info, &in->sections, in->supply,
                         in->is_big_endian)
            != SYM_OK
        || (in->alt != NULL
            && sym_dw_info_init(&job->alt, in->alt, NULL, in->is_big_endian)
                   != SYM_OK))
    {
        return SYM_NOMEM;
    }

    job->most = sym_dw_info_chunks_max(&job->info);
    job->results = calloc(job->most, sizeof(*job->results));
    return job->results != NULL ? SYM_OK : SYM_NOMEM;
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

    if (begin(&job) != SYM_OK) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for units");
    } else {
        sym_thread_pool_run(in->pool, work, &job);
    }

    for (size_t i = 0; job.results != NULL && i < job.most; i++) {
        sym_shard_free(&job.results[i].part);
    }

    free(job.results);
    sym_dw_info_free(&job.info);
    sym_dw_info_free(&job.alt);
    return err->status;
}
