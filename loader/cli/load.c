/*
 * load.c - `symloader load`: files in, modules out.
 *
 * It has one thread.  It passes files to the driver, or to the daemon that uses
 * the store, while there is room, and waits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "formats/companion.h"
#include "cli/commands.h"
#include "common/interrupt.h"
#include "cli/job.h"
#include "driver/pool.h"
#include "cli/progress.h"

/* Maximum number of files that are with a daemon at a time. */
#define HANDED_MAX 32

/* Interval of updates of the bar, and of checks for stalled converters. */
#define BAR_WAIT_MS 200
#define WAIT_MS 1000

/* Maximum time that a module waits for others to share a commit. */
#define COMMIT_MS 25

typedef struct {
    const options_t *options;
    sym_store_t *store; /* NULL: a daemon uses the store */
    daemon_t *daemon;   /* NULL: none is needed */
    unsigned n_handed;  /* number of files that it has */
    walk_t *walk;
    walk_file_t file; /* the next file of the walk, if has_file */
    bool has_file;
    package_t *package; /* whose files are not all begun; or NULL */
    conversions_t conversions;
    progress_t progress;
    sigset_t waiting_mask;

    uint64_t files; /* files that were begun, or that failed before that */
    uint64_t ended; /* number of these that have ended */
    uint64_t ended_bytes;
    uint64_t source_bytes; /* bytes of files that were read completely */
    uint64_t stored, kept, failed;
    uint64_t warnings;
    uint64_t nothing; /* debug files in folders that contain nothing useful */
    uint64_t skipped; /* files of other kinds in packages */
    bool is_broken;   /* the store has failed: stop */
} load_t;


static void
complain(load_t *l, const char *path, const char *why)
{
    progress_hide(&l->progress);
    complain_about(path, "%s", why);
}


/* --- the result of a file --- */

static void
count_file(load_t *l, uint64_t size)
{
    l->ended++;
    l->ended_bytes += size;
}


/* The files of a package count as one. */
static void
count_job(load_t *l, const job_t *job)
{
    if (job->package == NULL) {
        count_file(l, job->size);
    }
}


/* Found in a folder, not named by the user: it is counted, but not as a
 * failure. */
static void
pass_over(load_t *l, const char *path, const char *why)
{
    l->nothing++;

    if (l->progress.has_lines) {
        say("%s: passed over: %s", path, why);
    }
}


static void
module_failed(load_t *l, const job_t *job, bool has_nothing, const char *why)
{
    if ((job->is_in_tree || l->options->is_search) && has_nothing) {
        pass_over(l, job->path, why);
        return;
    }

    complain(l, job->path, why);
    l->failed++;
}


/* Prints a module that was stored or not needed; `what` is the reason. */
static void
module_went_well(load_t *l, const job_t *job, const sym_module_key_t *key,
                 bool is_stored, const char *what)
{
    l->stored += is_stored;
    l->kept += !is_stored;

    if (l->progress.has_lines) {
        say("%s: %.*s/%.*s: %s", job->path, (int) key->name.len, key->name.data,
            (int) key->id.len, key->id.data, what);
    }
}


static void
on_named(conversion_t *c)
{
    const job_t *job = (const job_t *) c;
    const sym_module_key_t *key = &c->upload.key;
    load_t *l = c->all->owner;

    if (job_is_misplaced(job)) {
        l->warnings++;
        progress_hide(&l->progress);
        complain_about(job->path,
                       "warning: the folders differ from the "
                       "MODULE line; stored as %.*s/%.*s",
                       (int) key->name.len, key->name.data, (int) key->id.len,
                       key->id.data);
    }
}


static void
on_note(conversion_t *c, const char *text)
{
    load_t *l = c->all->owner;

    l->warnings++;
    progress_hide(&l->progress);
    complain_about(c->path, "warning: %s", text);
}


/* If a module exceeds the quota, only its file fails. */
static bool
is_store_broken(const conversion_end_t *how)
{
    return how->store_error.status != SYM_OK
           && how->store_error.status != SYM_FULL;
}


/* All files of a package were received, or it could not be read. */
static void
package_ended(load_t *l, const job_t *job, const conversion_end_t *how)
{
    package_t *p = job->package;

    p->is_listed = true;
    l->skipped += p->n_skipped;
    count_file(l, job->size);

    if (how->state != SYM_MODULE_READY) {
        l->is_broken |= how->has_no_converter;
        p->n_begun = p->n_files; /* none is loaded of a package that is cut */
        module_failed(l, job, false, how->reason);
    } else if (p->n_files == 0) {
        module_failed(l, job, true,
                      "the package has no debug file, executable or library");
    }
}


static sym_status_t
on_member(conversion_t *c, const converter_member_t *m, sym_error_t *err)
{
    return package_member(((job_t *) c)->package, m, err);
}


static sym_status_t
on_bytes(conversion_t *c, const uint8_t *data, size_t len, sym_error_t *err)
{
    return package_bytes(((job_t *) c)->package, data, len, err);
}


static void
on_ended(conversion_t *c, const conversion_end_t *how)
{
    const job_t *job = (const job_t *) c;
    load_t *l = c->all->owner;
    char text[128];

    if (job->is_package) {
        package_ended(l, job, how);
        return;
    }

    if (how->state == SYM_MODULE_READY) {
        /* each of several modules reports the bytes of the complete file */
        l->source_bytes += how->has_more ? 0 : how->done->source_bytes;
        module_went_well(l, job, how->key,
                         !how->is_better_kept && !how->is_later_kept,
                         conversion_describe(how, text));
    } else {
        l->is_broken |= how->has_no_converter || is_store_broken(how);
        module_failed(l, job, how->has_nothing, how->reason);
    }

    if (!how->has_more) {
        count_job(l, job);
    }
}


/* --- replies of a daemon --- */

static void
daemon_lost(load_t *l)
{
    progress_hide(&l->progress);
    complain_about(l->options->store, "its daemon has gone");
    l->is_broken = true;
}


static conversion_t *
handed_file(const load_t *l, uint32_t ticket)
{
    conversion_t *c = l->conversions.first;

    while (c != NULL && (uint32_t) c->sequence != ticket) {
        c = c->next;
    }

    return c;
}


static void
on_handed_note(conversion_t *c, sym_str_t note)
{
    char text[SYM_RPC_REASON_MAX + 1];

    snprintf(text, sizeof(text), "%.*s", (int) note.len, note.data);
    on_note(c, text);
}


static void
on_want(load_t *l, conversion_t *c, const sym_rpc_message_t *m)
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
        fd = job_companion(c, &want, &given);
    }

    if (fd >= 0) {
        answer.offset = given.offset;
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
on_done_by_daemon(load_t *l, conversion_t *c, const sym_rpc_message_t *m)
{
    job_t *job = (job_t *) c;
    bool has_more = (m->flags & SYM_RPC_ANOTHER) != 0;
    char text[SYM_RPC_REASON_MAX + 1];

    snprintf(text, sizeof(text), "%.*s", (int) m->text.len, m->text.data);

    if (m->key.name.len == 0) {
        module_failed(l, job, (m->flags & SYM_RPC_NOTHING) != 0, text);

    } else {
        store_upload_set_key(&c->upload, &m->key, NULL);
        on_named(c);
        l->source_bytes += has_more ? 0 : job->size;
        module_went_well(l, job, &c->upload.key, (m->flags & SYM_RPC_DID) != 0,
                         text);
    }

    if (!has_more) {
        l->n_handed--;
        count_job(l, job);
        conversion_drop(c);
    }
}


static void
on_answer(load_t *l, const sym_rpc_message_t *m)
{
    conversion_t *c = handed_file(l, m->ticket);

    if (c == NULL) {
        return; /* not a reply to our messages */
    }

    switch (m->type) {
    case SYM_RPC_DONE:
        on_done_by_daemon(l, c, m);
        break;
    case SYM_RPC_NOTE:
        on_handed_note(c, m->text);
        break;
    case SYM_RPC_WANT:
        on_want(l, c, m);
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
hand_over(load_t *l, const job_t *job)
{
    const sym_rpc_message_t m = {
        .type = SYM_RPC_DEPOSIT,
        .ticket = (uint32_t) job->conversion.sequence,
        .flags = SYM_RPC_ASK_ME | (l->options->force ? SYM_RPC_FORCE : 0),
        .offset = job->offset,
        .length = job->size,
        .text = sym_cstr(job->site),
        .source = sym_cstr(job->source),
    };

    l->n_handed++;

    if (!daemon_send(l->daemon, &m, job->conversion.fd)) {
        daemon_lost(l);
    }
}


/* --- the loop --- */

static void
skip_file(load_t *l, const walk_file_t *file, const sym_error_t *err)
{
    char text[512];

    complain(l, file->path, sym_error_text(err, text, sizeof(text)));
    l->failed++;
    count_file(l, file->size);
}


static void
begin_job(load_t *l, job_t *job)
{
    store_upload_set_site(&job->conversion.upload, sym_cstr(job->site));
    job->conversion.is_forced = l->options->force;
    job->conversion.kinds = l->options->kinds;
    job->conversion.is_held = l->daemon != NULL;
    conversions_add(&l->conversions, &job->conversion);

    if (l->daemon != NULL) {
        hand_over(l, job);
    } else {
        conversions_start(&l->conversions);
    }
}


static void
begin_file(load_t *l, const walk_file_t *file)
{
    sym_error_t err = { 0 };
    job_t *job = NULL;

    l->files++;

    if (file->passed != NULL) {
        pass_over(l, file->path, file->passed);
        count_file(l, file->size);
        return;
    }

    if (l->daemon != NULL && file->is_pipe) {
        sym_fail(&err, SYM_UNSUPPORTED,
                 "a daemon has the store open, and cannot read a pipe; "
                 "write it to a file first");

    } else {
        job = job_open(file, l->options->url_prefix, &err);
    }

    if (job == NULL) {
        skip_file(l, file, &err);
        return;
    }

    begin_job(l, job);
}


static void
begin_package(load_t *l, const walk_file_t *file)
{
    sym_error_t err = { 0 };
    job_t *job = job_open_package(file, &err);

    l->files++;

    if (job == NULL) {
        skip_file(l, file, &err);
        return;
    }

    l->package = job->package;
    l->package->n_users++;
    conversions_add(&l->conversions, &job->conversion);
    conversions_start(&l->conversions);
}


/* Begins the next file of the package.  False: its files are not known yet. */
static bool
go_on_with_package(load_t *l)
{
    package_t *p = l->package;
    sym_error_t err = { 0 };
    char text[512];
    job_t *job;

    if (!p->is_listed) {
        return false;
    }

    package_pass_dwz(p);

    if (p->n_begun == p->n_files) {
        l->package = NULL;
        package_release(p);
        return true;
    }

    job = job_open_member(p, &err);

    if (job == NULL) {
        complain(l, p->path, sym_error_text(&err, text, sizeof(text)));
        l->failed++;
    } else {
        begin_job(l, job);
    }

    return true;
}


static void
draw(load_t *l)
{
    uint64_t bytes = l->ended_bytes;
    const conversion_t *c = l->conversions.first;

    if (!l->progress.has_bar) {
        return;
    }

    for (; c != NULL; c = c->next) {
        bytes += job_position((const job_t *) c);
    }

    progress_draw(&l->progress, bytes, l->ended);
}


static bool
has_room(const load_t *l)
{
    unsigned most =
        l->options->jobs < HANDED_MAX ? l->options->jobs : HANDED_MAX;

    return l->daemon != NULL ? l->n_handed < most
                             : pool_has_room(l->conversions.pool);
}


/* A package is taken apart by this process, also for a daemon, which meanwhile
 * might ask for companions of earlier files. */
static bool
must_wait(const load_t *l)
{
    return l->file.is_package && l->n_handed > 0;
}


/* Begins the next file.  False: no file can begin now, or all
 * have begun. */
static bool
begin_next(load_t *l, bool *has_more)
{
    if (l->package != NULL) {
        return go_on_with_package(l);
    }

    if (!l->has_file) {
        l->has_file = walk_next(l->walk, &l->file);
    }

    if (!l->has_file) {
        *has_more = false;
        pool_last(l->conversions.pool);
        return false;
    }

    if (must_wait(l)) {
        return false;
    }

    if (l->file.is_pipe) { /* the writer may take long to open it */
        conversions_commit(&l->conversions);
    }

    if (l->is_broken) {
        return false;
    }

    l->has_file = false;
    if (l->file.is_package) {
        begin_package(l, &l->file);
    } else {
        begin_file(l, &l->file);
    }

    return true;
}


static void
wait_for_converters(load_t *l, int wait_ms, int due_ms)
{
    bool is_listing = l->package != NULL && !l->package->is_listed;

    if (l->daemon != NULL && !is_listing) {
        wait_for_daemon(l, wait_ms);
    } else {
        pool_wait(l->conversions.pool,
                  due_ms >= 0 && due_ms < wait_ms ? due_ms : wait_ms,
                  &l->waiting_mask);
    }
}


static void
load_files(load_t *l)
{
    int wait_ms = l->progress.has_bar ? BAR_WAIT_MS : WAIT_MS;
    bool has_more = true;
    int due_ms;

    while (!l->is_broken && interrupt_signal() == 0) {
        while (has_more && has_room(l) && !l->is_broken
               && begin_next(l, &has_more)) {
            (void) conversions_commit_due(&l->conversions);
        }

        due_ms = conversions_commit_due(&l->conversions);

        if (l->conversions.first == NULL) {
            if (!has_more) {
                return;
            }

            continue; /* none of the files so far could be opened */
        }

        draw(l);
        wait_for_converters(l, wait_ms, due_ms);
    }
}


static void
load_loop(void *arg)
{
    load_t *l = arg;

    load_files(l);
    conversions_commit(&l->conversions); /* after a signal or a failure */
}


/* The bar needs the total size. */
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

    if (walk_passed(l->walk) + l->skipped > 0) {
        printf(", %" PRIu64 " of other kinds",
               walk_passed(l->walk) + l->skipped);
    }

    printf(", %" PRIu64 " failed\n", l->failed);
}


static int
exit_code(load_t *l)
{
    if (l->files == 0 && interrupt_signal() == 0) {
        complain_about(
            l->options->operands[0],
            "nothing to load: no file ends in .sym, .sym.gz, .debug, .js or "
            ".map, and none is an executable, a library or a debug file");
        return EXIT_PARTLY;
    }

    if (l->is_broken) {
        return EXIT_STORE;
    }

    return l->failed > 0 || (l->options->strict && l->warnings > 0)
               ? EXIT_PARTLY
               : EXIT_FINE;
}


/* A file stays open until the commit. */
static bool
has_descriptors(unsigned jobs)
{
    struct rlimit rl;

    return getrlimit(RLIMIT_NOFILE, &rl) == 0
           && rl.rlim_cur >= COMMIT_GROUP_MAX + (rlim_t) 4 * jobs + 64;
}


static bool
prepare(load_t *l)
{
    const options_t *o = l->options;
    const pool_limits_t limits = conversion_limits(o);
    static const conversion_events_t events = { .named = on_named,
                                                .note = on_note,
                                                .companion = job_companion,
                                                .member = on_member,
                                                .bytes = on_bytes,
                                                .ended = on_ended,
                                                .release = job_release };

    if (!conversions_create(&l->conversions, &limits, &events, l)) {
        complain_about("load", "out of memory");
        return false;
    }

    l->conversions.commit_ms = has_descriptors(o->jobs) ? COMMIT_MS : 0;
    pool_fork(l->conversions.pool, o->argv);
    l->walk = walk_create(o->operands, o->n_operands);

    if (l->walk == NULL) {
        conversions_free(&l->conversions);
        complain_about("load", "out of memory");
        return false;
    }

    return true;
}


/* Finishes after the loop; returns the exit code. */
static int
finish(load_t *l)
{
    const conversion_t *c = l->conversions.first;

    for (; c != NULL; c = c->next) {
        count_job(l, (const job_t *) c);
    }

    conversions_free(&l->conversions);

    if (l->package != NULL) {
        package_release(l->package);
    }

    if (l->store != NULL) {
        sym_store_close(l->store);
    }

    print_summary(l);
    return exit_code(l);
}


/* Runs the loop with an open store, or with a daemon's. */
static int
load_into(load_t *l)
{
    sym_error_t err = { 0 };

    if (l->progress.has_bar) {
        count_files(l);
    }

    if (l->store == NULL) {
        load_loop(l);
        return finish(l);
    }

    if (sym_store_guarded(l->store, load_loop, l, &err) != SYM_OK) {
        conversions_stop(&l->conversions);
        sym_store_abandon(l->store);
        progress_hide(&l->progress);
        return store_failure(l->options, &err);
    }

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
    setvbuf(stdout, NULL, _IOLBF, 0); /* so that a log shows each file when it
                                         ends */
    progress_start(&l.progress, options->quiet);
    l.store = store_open_write(options, true, &daemon, &code);

    l.conversions.store = l.store;

    if (daemon.fd >= 0) {
        l.daemon = &daemon;
        pool_unfork(l.conversions.pool); /* the daemon converts */
    }

    if (l.store == NULL && l.daemon == NULL) {
        conversions_free(&l.conversions);
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
