/*
 * load.c - `symloader load`: files in, modules out.
 *
 * One thread: gives files to converters while there is room, waits, and lets
 * job.c store what they answer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/companion.h"
#include "cli/commands.h"
#include "common/interrupt.h"
#include "cli/job.h"
#include "driver/pool.h"
#include "cli/progress.h"
#include "artifacts/symcache/format.h"

/* Files that a daemon is handed at once, at most. */
#define HANDED_MAX 32

/* How often the bar moves, and stalled converters are looked for. */
#define BAR_WAIT_MS 200
#define WAIT_MS 1000

typedef struct {
    const options_t *options;
    sym_store_t *store; /* NULL: a daemon has it */
    pool_t *pool;
    daemon_t *daemon;  /* NULL: none is needed */
    unsigned n_handed; /* files that it has */
    walk_t *walk;
    order_t order;
    progress_t progress;
    sigset_t waiting_mask;

    job_t *jobs; /* under way */

    uint64_t files; /* begun, or failed before they began */
    uint64_t ended; /* of these */
    uint64_t ended_bytes;
    uint64_t source_bytes; /* of files that were read to their end */
    uint64_t stored, kept, failed;
    uint64_t nothing; /* debug files in folders without anything for us */
    bool is_broken;   /* the store refuses: no use to go on */
} load_t;


static void
complain(load_t *l, const char *path, const sym_error_t *err)
{
    char text[512];

    progress_hide(&l->progress);
    complain_about(path, "%s", sym_error_text(err, text, sizeof(text)));
}


static void
unlink_job(load_t *l, const job_t *job)
{
    job_t **at = &l->jobs;

    while (*at != job) {
        at = &(*at)->next;
    }

    *at = job->next;
}


/* The file before the oldest that is still under way. */
static uint64_t
settled_sequence(const load_t *l)
{
    uint64_t oldest = l->files + 1;
    const job_t *job;

    for (job = l->jobs; job != NULL; job = job->next) {
        if (job->sequence < oldest) {
            oldest = job->sequence;
        }
    }

    return oldest - 1;
}


static void
end_job(load_t *l, job_t *job)
{
    unlink_job(l, job);
    l->ended++;
    l->ended_bytes += job->size;
    order_forget(&l->order, settled_sequence(l));
    job_free(job);
}


/* --- what the pool calls --- */

/* A module of the file has ended; most files have one. */
static void
end_module(load_t *l, job_t *job, bool has_more)
{
    if (has_more) {
        store_upload_drop(&job->upload);
    } else {
        end_job(l, job);
    }
}


/* Met in a folder, not asked for: that is counted, but no failure. */
static void
pass_over(load_t *l, const job_t *job, const char *why)
{
    l->nothing++;

    if (l->progress.has_lines) {
        say("%s: passed over: %s", job->path, why);
    }
}


static void
on_failed(void *ctx, const sym_error_t *err, const pool_end_t *end)
{
    job_t *job = ctx;
    load_t *l = job->owner;
    char text[512];

    if (job->is_in_tree && pool_has_nothing(err, end)) {
        pass_over(l, job, sym_error_text(err, text, sizeof(text)));
        end_module(l, job, end->has_more);
        return;
    }

    complain(l, job->path, err);
    l->failed++;

    /* A module larger than the quota is that file's trouble only. */
    if (job->upload.is_store_error && err->status != SYM_FULL
        && err->status != SYM_LIMIT)
    {
        l->is_broken = true;
    }

    end_module(l, job, end->has_more);
}


static void
warn_if_misplaced(load_t *l, const job_t *job)
{
    const sym_module_key_t *key = &job->upload.key;

    if (job_is_misplaced(job)) {
        progress_hide(&l->progress);
        complain_about(job->path,
                       "warning: the folders say something else than the "
                       "MODULE line; stored as %.*s/%.*s",
                       (int) key->name.len, key->name.data, (int) key->id.len,
                       key->id.data);
    }
}


static sym_status_t
on_module(void *ctx, const pool_module_t *module, sym_error_t *err)
{
    job_t *job = ctx;
    load_t *l = job->owner;
    sym_status_t rc = job_begin(job, l->store, module, err);

    if (rc == SYM_OK) {
        warn_if_misplaced(l, job);
    }

    return rc;
}


static sym_status_t
on_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
          sym_error_t *err)
{
    job_t *job = ctx;

    return store_upload_extent(&job->upload, number, data, len, err);
}


/* Stored, or not needed: `what` says it. */
static void
job_went_well(job_t *job, bool is_stored, const char *what, bool has_more)
{
    load_t *l = job->owner;
    const sym_module_key_t *key = &job->upload.key;

    l->stored += is_stored;
    l->kept += !is_stored;

    if (l->progress.has_lines) {
        say("%s: %.*s/%.*s: %s", job->path, (int) key->name.len, key->name.data,
            (int) key->id.len, key->id.data, what);
    }

    end_module(l, job, has_more);
}


static const char *
describe(const converter_done_t *done, store_upload_result_t result,
         char text[128])
{
    char source[OUTPUT_SIZE_TEXT], bytes[OUTPUT_SIZE_TEXT];

    switch (result) {
    case INTAKE_KEPT_BETTER:
        return LOAD_KEPT_BETTER;
    case INTAKE_KEPT_LATER:
        return LOAD_KEPT_LATER;
    default:
        snprintf(text, 128, LOAD_STORED, sym_quality_name(done->quality),
                 output_size(done->bytes, bytes),
                 output_size(done->source_bytes, source));
        return text;
    }
}


static sym_status_t
on_done(void *ctx, const converter_done_t *done, const pool_end_t *end,
        sym_error_t *err)
{
    job_t *job = ctx;
    load_t *l = job->owner;
    char text[128];
    store_upload_result_t result =
        job_commit(job, l->store, &l->order, done, l->options->force, err);

    if (result == INTAKE_FAILED) {
        return err->status;
    }

    /* of several modules each has read the whole file */
    if (!end->has_more) {
        l->source_bytes += done->source_bytes;
    }

    job_went_well(job, result == INTAKE_STORED, describe(done, result, text),
                  end->has_more);
    return SYM_OK;
}


static void
on_note(void *ctx, const char *text)
{
    job_t *job = ctx;
    load_t *l = job->owner;

    store_upload_note(&job->upload, text);
    progress_hide(&l->progress);
    complain_about(job->path, "warning: %s", text);
}


static int
on_companion(void *ctx, const sym_companion_t *want, converter_given_t *given)
{
    return job_companion(ctx, want, given);
}


/* --- what a daemon answers --- */

static void
daemon_lost(load_t *l)
{
    progress_hide(&l->progress);
    complain_about(l->options->store, "its daemon has gone");
    l->is_broken = true;
}


static job_t *
handed_job(const load_t *l, uint32_t ticket)
{
    job_t *job = l->jobs;

    while (job != NULL && (uint32_t) job->sequence != ticket) {
        job = job->next;
    }

    return job;
}


static void
on_handed_note(job_t *job, sym_str_t note)
{
    char text[SYM_RPC_REASON_MAX + 1];

    snprintf(text, sizeof(text), "%.*s", (int) note.len, note.data);
    on_note(job, text);
}


static void
on_want(load_t *l, const job_t *job, const sym_rpc_message_t *m)
{
    const sym_rpc_companion_t *asked = &m->want;
    sym_rpc_message_t answer = { .type = SYM_RPC_GIVEN, .ticket = m->ticket };
    converter_given_t given = { 0 };
    sym_companion_t want;
    int fd = -1;

    if (sym_companion_set(&want, (sym_companion_kind_t) asked->kind,
                          asked->name, asked->dir, asked->id))
    {
        want.attempt = asked->attempt;
        fd = job_companion(job, &want, &given);
    }

    if (fd >= 0) {
        answer.length = given.length;
        answer.flags = SYM_RPC_THERE | (given.is_by_id ? SYM_RPC_BY_ID : 0);
    }

    if (!daemon_send(l->daemon, &answer, fd)) {
        daemon_lost(l);
    }

    if (fd >= 0) {
        close(fd);
    }
}


static void
on_done_by_daemon(load_t *l, job_t *job, const sym_rpc_message_t *m)
{
    bool has_more = (m->flags & SYM_RPC_ANOTHER) != 0;
    char text[SYM_RPC_REASON_MAX + 1];

    snprintf(text, sizeof(text), "%.*s", (int) m->text.len, m->text.data);
    l->n_handed -= !has_more;

    if (m->key.name.len == 0) {
        if (job->is_in_tree && (m->flags & SYM_RPC_NOTHING) != 0) {
            pass_over(l, job, text);
        } else {
            progress_hide(&l->progress);
            complain_about(job->path, "%s", text);
            l->failed++;
        }

        end_module(l, job, has_more);
        return;
    }

    store_upload_set_key(&job->upload, &m->key);
    warn_if_misplaced(l, job);
    l->source_bytes += has_more ? 0 : job->size;
    job_went_well(job, (m->flags & SYM_RPC_DID) != 0, text, has_more);
}


static void
on_answer(load_t *l, const sym_rpc_message_t *m)
{
    job_t *job = handed_job(l, m->ticket);

    if (job == NULL) {
        return; /* nothing that we asked for */
    }

    switch (m->type) {
    case SYM_RPC_DONE:
        on_done_by_daemon(l, job, m);
        break;
    case SYM_RPC_NOTE:
        on_handed_note(job, m->text);
        break;
    case SYM_RPC_WANT:
        on_want(l, job, m);
        break;
    default:
        break;
    }
}


static void
wait_for_daemon(load_t *l, int timeout_ms)
{
    sym_rpc_message_t m;
    sym_status_t rc =
        daemon_receive(l->daemon, timeout_ms, &l->waiting_mask, &m);

    if (rc == SYM_OK) {
        on_answer(l, &m);
    } else if (rc != SYM_AGAIN) {
        daemon_lost(l);
    }
}


static void
hand_over(load_t *l, job_t *job)
{
    const sym_rpc_message_t m = {
        .type = SYM_RPC_DEPOSIT,
        .ticket = (uint32_t) job->sequence,
        .flags = SYM_RPC_ASK_ME | (l->options->force ? SYM_RPC_FORCE : 0),
        .length = job->size,
        .source = sym_cstr(job->source),
    };

    l->n_handed++;

    if (!daemon_send(l->daemon, &m, job->fd)) {
        daemon_lost(l);
    }
}


/* --- the loop --- */

static void
skip_file(load_t *l, const walk_file_t *file, const sym_error_t *err)
{
    complain(l, file->path, err);
    l->failed++;
    l->ended++;
    l->ended_bytes += file->size;
}


static void
begin_file(load_t *l, const walk_file_t *file)
{
    sym_error_t err = { 0 };
    job_t *job = NULL;

    l->files++;

    if (l->daemon != NULL && file->is_pipe) {
        sym_fail(&err, SYM_UNSUPPORTED,
                 "a daemon has the store, and takes no pipe: write it into a "
                 "file first");

    } else {
        job = job_open(file, &err);
    }

    if (job == NULL) {
        skip_file(l, file, &err);
        return;
    }

    job->owner = l;
    job->sequence = l->files;
    job->next = l->jobs;
    l->jobs = job;

    if (l->daemon != NULL) {
        hand_over(l, job);

    } else if (pool_submit(
                   l->pool,
                   &(pool_input_t){ job->fd, .length = CONVERTER_TO_END }, job,
                   &err)
               != SYM_OK)
    {
        l->is_broken = true; /* no converter, no loading */
        on_failed(job, &err, &(pool_end_t){ .has_more = false });
    }
}


static void
draw(load_t *l)
{
    uint64_t bytes = l->ended_bytes;
    const job_t *job;

    if (!l->progress.has_bar) {
        return;
    }

    for (job = l->jobs; job != NULL; job = job->next) {
        bytes += job_position(job);
    }

    progress_draw(&l->progress, bytes, l->ended);
}


static bool
has_room(const load_t *l)
{
    unsigned most =
        l->options->jobs < HANDED_MAX ? l->options->jobs : HANDED_MAX;

    return l->daemon != NULL ? l->n_handed < most : pool_has_room(l->pool);
}


static void
load_loop(void *arg)
{
    load_t *l = arg;
    int wait_ms = l->progress.has_bar ? BAR_WAIT_MS : WAIT_MS;
    bool has_more = true;

    while (!l->is_broken && interrupt_signal() == 0) {
        walk_file_t file;

        while (has_more && has_room(l) && !l->is_broken) {
            has_more = walk_next(l->walk, &file);

            if (has_more) {
                begin_file(l, &file);
            } else {
                pool_last(l->pool);
            }
        }

        if (l->jobs == NULL) {
            if (!has_more) {
                return;
            }

            continue; /* all of the files so far could not even be opened */
        }

        draw(l);

        if (l->daemon != NULL) {
            wait_for_daemon(l, wait_ms);
        } else {
            pool_wait(l->pool, wait_ms, &l->waiting_mask);
        }
    }
}


/* The bar needs to know how much there is. */
static void
count_files(load_t *l)
{
    walk_t *walk = walk_create(l->options->operands, l->options->n_operands);
    walk_file_t file;

    while (walk != NULL && walk_next(walk, &file) && interrupt_signal() == 0) {
        l->progress.total_files++;
        l->progress.total_bytes += file.size;
    }

    walk_free(walk);
}


static void
print_summary(load_t *l)
{
    double seconds = progress_seconds(&l->progress);
    char bytes[OUTPUT_SIZE_TEXT];

    progress_hide(&l->progress);

    if (l->options->quiet) {
        return;
    }

    printf("%" PRIu64 " file%s, %" PRIu64 " module%s stored, %s in %.2f s "
           "(%.1f MB/s)",
           l->ended, l->ended == 1 ? "" : "s", l->stored,
           l->stored == 1 ? "" : "s", output_size(l->source_bytes, bytes),
           seconds, seconds > 0 ? (double) l->source_bytes / 1e6 / seconds : 0);

    if (l->kept > 0) {
        printf(", %" PRIu64 " not needed", l->kept);
    }

    if (l->nothing > 0) {
        printf(", %" PRIu64 " without symbols", l->nothing);
    }

    if (walk_passed(l->walk) > 0) {
        printf(", %" PRIu64 " of other kinds", walk_passed(l->walk));
    }

    printf(", %" PRIu64 " failed\n", l->failed);
}


static int
exit_code(load_t *l)
{
    if (l->files == 0 && interrupt_signal() == 0) {
        complain_about(
            l->options->operands[0],
            "nothing to load: no file ends in .sym, .sym.gz or .debug, and "
            "none is an executable, a library or a debug file");
        return EXIT_PARTLY;
    }

    if (l->is_broken) {
        return EXIT_STORE;
    }

    return l->failed > 0 ? EXIT_PARTLY : EXIT_FINE;
}


static bool
prepare(load_t *l)
{
    const options_t *o = l->options;
    const pool_limits_t limits = convert_limits(o);
    const pool_events_t events = { .module = on_module,
                                   .extent = on_extent,
                                   .done = on_done,
                                   .failed = on_failed,
                                   .note = on_note,
                                   .companion = on_companion };

    l->walk = walk_create(o->operands, o->n_operands);
    l->pool = l->walk != NULL ? pool_create(&limits, &events) : NULL;

    if (l->pool == NULL) {
        complain_about("load", "out of memory");
    }

    return l->pool != NULL;
}


/* What is left to do after the loop; gives the exit code. */
static int
finish(load_t *l)
{
    while (l->jobs != NULL) {
        end_job(l, l->jobs);
    }

    if (l->store != NULL) {
        sym_store_close(l->store);
    }

    print_summary(l);
    return exit_code(l);
}


/* Runs the loop with an open store, or one that a daemon has. */
static int
load_into(load_t *l)
{
    sym_error_t err = { 0 };

    if (l->progress.has_bar) {
        count_files(l);
    }

    if (l->store == NULL) {
        load_loop(l);
        pool_free(l->pool);
        return finish(l);
    }

    if (sym_store_guarded(l->store, load_loop, l, &err) != SYM_OK) {
        pool_free(l->pool);
        sym_store_abandon(l->store);
        progress_hide(&l->progress);
        return store_failure(l->options, &err);
    }

    pool_free(l->pool);
    return finish(l);
}


int
load_run(const options_t *options)
{
    load_t l = { .options = options };
    daemon_t daemon;
    int code = EXIT_STORE;

    if (!prepare(&l)) {
        walk_free(l.walk);
        return EXIT_STORE;
    }

    interrupt_catch(&l.waiting_mask);
    setvbuf(stdout, NULL, _IOLBF, 0); /* a log shows each file as it ends */
    progress_start(&l.progress, options->quiet);
    l.store = store_open_write(options, true, &daemon, &code);

    if (daemon.fd >= 0) {
        l.daemon = &daemon;
    }

    if (l.store == NULL && l.daemon == NULL) {
        pool_free(l.pool);
    } else {
        code = load_into(&l);
    }

    if (l.daemon != NULL) {
        daemon_close(l.daemon);
    }

    walk_free(l.walk);

    if (interrupt_signal() != 0) {
        fprintf(stderr, "symloader: stopped by a signal\n");
        fflush(stdout);
        interrupt_die();
    }

    return code;
}
