#include "formats/pdb/read.h"

#include <stdlib.h>

#include "base/relay.h"
#include "formats/pdb/publics.h"

/*
 * A piece is a run of adjacent modules, which one thread reads into a shard.
 * Pieces depend only on the file, and the writer takes shards in order, so the
 * output does not depend on the number of threads.  The public symbols are the
 * last piece.  They are written when all functions are known, because most of
 * them name functions.
 */
#define PIECE_BYTES ((uint64_t) 1 << 20)

typedef struct {
    sym_shard_t shard;
    sym_pdb_stats_t stats;
    sym_error_t err; /* a fatal error */
} slot_t;

/* Parts of the file at most this far apart are released together, because Linux
 * maps this much around each page that is read. */
#define NEAR ((size_t) 64 << 10)

typedef struct {
    const sym_pdb_t *pdb;
    const sym_format_services_t *services;
    sym_writer_t *writer;
    sym_pdb_exports_t *exports;
    size_t *pieces; /* first module of each piece, then the end */
    size_t n_pieces;
    sym_pdb_thunks_t *thunks; /* one for each piece */
    slot_t slots[SYM_RELAY_SLOTS];

    /* one for each thread that reads a piece; created at first use */
    sym_pdb_reader_t *readers[SYM_SLOTS];
    sym_slots_t readers_used;

    sym_pdb_publics_t publics;
    sym_error_t bad_publics;

    sym_pdb_stats_t *stats;
    sym_error_t *err;
} job_t;


static void
note_broken(sym_pdb_stats_t *stats, const sym_error_t *bad)
{
    if (stats->first_broken.status == SYM_OK) {
        stats->first_broken = *bad;
    }
}


/* --- releasing memory --- */

static void
release(const job_t *job, sym_str_t *range)
{
    if (range->len >= NEAR) {
        sym_format_release(job->services, *range);
    }

    *range = SYM_STR("");
}


/* Extends the range by a run of pages, or begins another range. */
static void
add_run(const job_t *job, sym_str_t *range, sym_str_t run)
{
    const char *begin = job->pdb->msf.file.data;
    const size_t at = (size_t) (run.data - begin);
    const size_t end =
        range->len != 0 ? (size_t) (range->data - begin) + range->len : at;

    if (range->len == 0 || at < end || at - end > NEAR) {
        release(job, range);
        *range = run;
    } else {
        range->len += at - end + run.len;
    }
}


static void
add_stream(const job_t *job, sym_str_t *range, uint32_t stream)
{
    uint32_t offset = 0;
    sym_str_t run;

    do {
        run = sym_msf_run(&job->pdb->msf, stream, offset);
        offset += (uint32_t) run.len;
        if (run.len != 0) {
            add_run(job, range, run);
        }
    } while (run.len != 0);
}


/* A module is read once, except for parts that other modules use (cross.h). */
static void
release_modules(const job_t *job, size_t first, size_t end)
{
    sym_str_t range = SYM_STR("");

    for (; first < end; first++) {
        add_stream(job, &range, job->pdb->modules[first].stream);
    }

    release(job, &range);
}


/* --- pieces --- */

static void
read_modules(job_t *job, size_t piece, slot_t *slot, sym_pdb_reader_t *r)
{
    sym_pdb_reader_fill(r, &slot->shard, &job->thunks[piece]);

    for (size_t i = job->pieces[piece];
         i < job->pieces[piece + 1] && slot->err.status == SYM_OK; i++)
    {
        (void) sym_pdb_reader_module(r, &job->pdb->modules[i], &slot->stats,
                                     &slot->err);
    }

    release_modules(job, job->pieces[piece], job->pieces[piece + 1]);
}


static void
read_piece(job_t *job, size_t piece, slot_t *slot)
{
    const size_t at = sym_slots_take(&job->readers_used);
    sym_pdb_reader_t **r = &job->readers[at];

    if (*r == NULL) {
        *r = sym_pdb_reader_create(job->pdb, job->exports);
    }

    if (*r != NULL) {
        read_modules(job, piece, slot, *r);
    } else {
        (void) sym_fail(&slot->err, SYM_NOMEM, "no memory for a PDB reader");
    }

    sym_slots_give_back(&job->readers_used, at);
}


static void
make(void *ctx, size_t piece, size_t at)
{
    job_t *job = ctx;
    slot_t *slot = &job->slots[at];

    slot->stats = (sym_pdb_stats_t){ 0 };
    slot->err = (sym_error_t){ 0 };

    if (piece < job->n_pieces) {
        read_piece(job, piece, slot);
    } else {
        (void) sym_pdb_read_publics(job->pdb, &job->publics, &job->bad_publics);
    }
}


/* --- names of code without functions --- */

static sym_status_t
write_thunks(const job_t *job, const sym_pdb_thunks_t *thunks)
{
    for (size_t i = 0; i < thunks->n; i++) {
        const sym_pdb_thunk_t *t = &thunks->items[i];
        uint32_t name;

        if (sym_writer_string(job->writer, t->name, &name) != SYM_OK
            || sym_writer_symbol(job->writer, t->addr, t->size, name) != SYM_OK)
        {
            return sym_fail(job->err, SYM_NOMEM, "the symcache takes no more");
        }
    }

    return SYM_OK;
}


/* The writer keeps the first name of an address.  A malformed table of public
 * symbols does not affect other symbols. */
static void
write_publics(const job_t *job)
{
    const sym_pdb_publics_t *publics = &job->publics;

    job->stats->publics += publics->n;
    for (size_t i = 0; i < publics->n; i++) {
        if (sym_writer_late_public(job->writer, publics->items[i].addr,
                                   publics->items[i].name)
            != SYM_OK)
        {
            (void) sym_fail(job->err, SYM_NOMEM, "the symcache takes no more");
            return;
        }
    }

    sym_format_release(job->services, job->pdb->streams[SYM_PDB_SYMBOLS]);
    if (job->bad_publics.status == SYM_MALFORMED) {
        note_broken(job->stats, &job->bad_publics);
    } else {
        *job->err = job->bad_publics;
    }
}


/* --- reading --- */

static bool
take(void *ctx, size_t piece, size_t at)
{
    job_t *job = ctx;
    slot_t *slot = &job->slots[at];

    if (piece == job->n_pieces) {
        write_publics(job);
        return job->err->status == SYM_OK;
    }

    if (slot->err.status != SYM_OK) {
        *job->err = slot->err;
    } else if (sym_writer_join(job->writer, &slot->shard) != SYM_OK) {
        (void) sym_fail(job->err, SYM_NOMEM, "the symcache takes no more");
    }

    job->stats->modules += slot->stats.modules;
    job->stats->broken += slot->stats.broken;
    job->stats->functions += slot->stats.functions;
    job->stats->publics += job->thunks[piece].n;
    note_broken(job->stats, &slot->stats.first_broken);
    return job->err->status == SYM_OK;
}


static void
read_pieces(job_t *job)
{
    const sym_relay_t relay = {
        .ctx = job, .n_pieces = job->n_pieces + 1, .make = make, .take = take
    };

    for (size_t i = 0; i < SYM_RELAY_SLOTS; i++) {
        sym_shard_init(&job->slots[i].shard);
    }

    sym_relay_run(&relay, job->services != NULL ? job->services->pool : NULL);

    for (size_t i = 0; i < SYM_RELAY_SLOTS; i++) {
        sym_pdb_reader_free(job->readers[i]);
        sym_shard_free(&job->slots[i].shard);
    }
}


static void
free_thunks(sym_pdb_thunks_t *thunks, size_t n)
{
    for (size_t i = 0; thunks != NULL && i < n; i++) {
        free(thunks[i].items);
        sym_arena_drop(&thunks[i].names);
    }

    free(thunks);
}


/* Returns the number of pieces. */
static size_t
cut(const sym_pdb_t *pdb, size_t *pieces)
{
    uint64_t bytes = PIECE_BYTES;
    size_t n = 0;

    for (size_t i = 0; i < pdb->n_modules; i++) {
        if (bytes >= PIECE_BYTES) {
            pieces[n++] = i;
            bytes = 0;
        }
        bytes += sym_msf_size(&pdb->msf, pdb->modules[i].stream);
    }

    pieces[n] = pdb->n_modules;
    return n;
}


sym_status_t
sym_pdb_read(const sym_pdb_t *pdb, sym_writer_t *w,
             const sym_format_services_t *services, sym_pdb_stats_t *stats,
             sym_error_t *err)
{
    job_t *job = calloc(1, sizeof(*job));
    size_t *pieces = malloc((pdb->n_modules + 1) * sizeof(*pieces));
    sym_pdb_thunks_t *thunks = calloc(pdb->n_modules + 1, sizeof(*thunks));
    sym_pdb_exports_t *exports = sym_pdb_exports_create(pdb);

    *stats = (sym_pdb_stats_t){ 0 };

    if (job == NULL || pieces == NULL || thunks == NULL || exports == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for a PDB");
    } else {
        *job = (job_t){ .pdb = pdb,
                        .services = services,
                        .writer = w,
                        .exports = exports,
                        .pieces = pieces,
                        .n_pieces = cut(pdb, pieces),
                        .thunks = thunks,
                        .stats = stats,
                        .err = err };
        read_pieces(job);
        for (size_t i = 0; i < job->n_pieces && err->status == SYM_OK; i++) {
            (void) write_thunks(job, &thunks[i]);
        }
    }

    if (job != NULL) {
        free(job->publics.items);
    }

    free_thunks(thunks, pdb->n_modules);

    sym_pdb_exports_free(exports);
    free(pieces);
    free(job);
    return err->status;
}
