#include "driver/pool_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver/spawn.h"
#include "formats/formats.h"
#include "common/now.h"

/* Maximum number of messages from one converter before the others get their
 * turn. */
#define BURST 16

/* Number of converters that are started with libarchive after a file that needs
 * it, because the next files may be archives, too. */
#define ARCHIVES_AHEAD 32

/* Time between attempts to start an idle converter. */
#define PREPARE_AGAIN_MS 1000

pool_t *
pool_create(const pool_limits_t *limits, const pool_events_t *events)
{
    pool_t *pool = calloc(1, sizeof(*pool));

    if (pool == NULL) {
        return NULL;
    }

    pool->limits = *limits;
    pool->events = *events;
    /* slots in addition to `jobs`: the reserve, an idle one, and those that are
     * ending */
    pool->n_workers = limits->is_fresh ? 2 * (limits->jobs + 1) : limits->jobs;
    pool->polls = calloc(pool->n_workers, sizeof(*pool->polls));
    pool->workers = calloc(pool->n_workers, sizeof(*pool->workers));

    if (pool->polls == NULL || pool->workers == NULL) {
        pool_free(pool);
        return NULL;
    }

    return pool;
}


void
pool_free(pool_t *pool)
{
    unsigned i;

    for (i = 0; pool->workers != NULL && i < pool->n_workers; i++) {
        if (pool->workers[i].converter.pid != 0) {
            converter_reap(&pool->workers[i].converter);
        }
    }

    free(pool->workers);
    free(pool->polls);
    free(pool);
}


bool
pool_has_nothing(const sym_error_t *err, const pool_end_t *end)
{
    const sym_format_t *format = sym_format_of(end->format);

    return err->status == SYM_UNSUPPORTED && format != NULL
           && format->is_wanted != NULL;
}


void
pool_last(pool_t *pool)
{
    pool->is_last = true;
}


unsigned
pool_busy(const pool_t *pool)
{
    return pool->n_busy;
}


/* Returns an idle converter, or else a free slot; NULL: all are busy or
 * ending. */
static worker_t *
find_idle(const pool_t *pool)
{
    worker_t *empty = NULL;
    unsigned i;

    for (i = 0; i < pool->n_workers; i++) {
        worker_t *w = &pool->workers[i];

        if (w->converter.pid == 0) {
            empty = w;

        } else if (!w->is_busy && !w->is_spent) {
            return w;
        }
    }

    return empty;
}


bool
pool_has_room(const pool_t *pool)
{
    return pool->n_busy < pool->limits.jobs && find_idle(pool) != NULL;
}


bool
pool_has_reserve(const pool_t *pool)
{
    return pool->limits.is_fresh && pool->n_busy <= pool->limits.jobs
           && find_idle(pool) != NULL;
}


/* Kills the converter and returns its wait status. */
int
worker_dismiss(worker_t *w)
{
    int status = converter_reap(&w->converter);

    w->converter.pid = 0;
    w->is_spent = false;
    return status;
}


/* Ends a converter after its last job.  It is reaped when its socket closes, so
 * that the loader does not wait for the system to free its memory. */
void
worker_retire(worker_t *w)
{
    converter_end(&w->converter);
    w->is_spent = true;
}


void
worker_begin_module(worker_t *w)
{
    w->has_module = false;
    w->extents = 0;
    w->bytes = 0;
    w->input_extents = 0;
    memset(w->seen, 0, sizeof(w->seen));
}


static void
begin_job(worker_t *w, const pool_input_t *input, void *job)
{
    w->is_busy = true;
    w->is_asking = false;
    w->is_one_wanted = input->id.len != 0 || input->arch.len != 0;
    w->job = job;
    w->n_modules = 0;
    w->is_naming = false;
    w->n_noted = 0;
    w->n_notes = w->n_wants = w->input_wants = w->n_objects = 0;
    w->n_members = 0;
    w->has_member = false;
    w->format = SYM_CONVERSION_UNKNOWN;
    w->input_pos = 0;
    w->began_at_ms = now_ms();
    w->moved_at_ms = w->began_at_ms;
    worker_begin_module(w);
}


static converter_limits_t
converter_limits(const pool_t *pool)
{
    return (converter_limits_t){
        .memory_bytes = pool->limits.memory_bytes,
        .max_expanded = pool->limits.max_expanded,
        .threads = pool->limits.threads,
        .swift = pool->limits.swift,
        .finds_calls = pool->limits.finds_calls,
        .has_archives = pool->archives_ahead > 0,
    };
}


void
pool_fork(pool_t *pool, char **argv)
{
    const converter_limits_t limits = converter_limits(pool);
    worker_t *w = &pool->workers[0];
    sym_error_t ignored = { 0 };

    if (converter_fork(&limits, argv, &w->converter, &ignored) != SYM_OK) {
        w->converter.pid = 0;
    }
}


void
pool_unfork(pool_t *pool)
{
    worker_t *w = &pool->workers[0];

    if (w->converter.pid != 0) {
        (void) converter_reap(&w->converter);
        w->converter.pid = 0;
    }
}


static sym_status_t
start_converter(pool_t *pool, worker_t *w, sym_error_t *err)
{
    const converter_limits_t limits = converter_limits(pool);
    sym_status_t rc = converter_start(&limits, &w->converter, err);

    w->has_archives = limits.has_archives;
    pool->archives_ahead -= limits.has_archives;

    if (rc != SYM_OK) {
        w->converter.pid = 0;
    }

    return rc;
}


bool
pool_prepare(pool_t *pool, sym_error_t *err)
{
    worker_t *w =
        pool->limits.is_fresh || pool_has_room(pool) ? find_idle(pool) : NULL;
    int64_t now;

    if (w == NULL || w->converter.pid != 0) {
        return true;
    }

    now = now_ms();

    if (now < pool->prepare_at_ms) {
        return true;
    }

    if (start_converter(pool, w, err) != SYM_OK) {
        pool->prepare_at_ms = now + PREPARE_AGAIN_MS;
        return false;
    }

    return true;
}


unsigned
pool_jobs(const pool_t *pool)
{
    return pool->limits.jobs;
}


bool
pool_is_held(const pool_t *pool)
{
    return pool->is_held;
}


bool
pool_needs_time(pool_t *pool)
{
    const worker_t *w = find_idle(pool);

    return pool->n_busy > 0 || w == NULL || w->converter.pid == 0;
}


/* Returns the number of threads for a new job.  Running jobs keep theirs; a job
 * that started alone has more. */
static unsigned
threads_for(const pool_t *pool)
{
    unsigned threads = pool->limits.threads / (pool->n_busy + 1);

    return threads > 0 ? threads : 1;
}


/* Cuts text that is too long; it would match no id and no processor anyway. */
static uint32_t
put_text(sym_str_t text, char *to, size_t size)
{
    size_t len = text.len < size ? text.len : size;

    if (len != 0) {
        memcpy(to, text.data, len);
    }

    return (uint32_t) len;
}


/* Sends the job to w's converter, and starts the converter first if
 * necessary. */
static sym_status_t
send_job(pool_t *pool, worker_t *w, sym_error_t *err)
{
    int attempt;

    /* A converter that died while it was idle is replaced, once. */
    for (attempt = 0; attempt < 2; attempt++) {
        if (w->converter.pid == 0) {
            sym_status_t rc = start_converter(pool, w, err);

            if (rc != SYM_OK) {
                return rc;
            }
        }

        if (converter_limit_cpu(&w->converter, pool->limits.cpu_s)
            && converter_send_job(w->converter.fd, w->input_fd, &w->order))
        {
            return SYM_OK;
        }

        worker_dismiss(w);
    }

    return sym_fail(err, SYM_IO, "converters die as soon as they start");
}


/* Starts the next converters with libarchive. */
static void
need_archives(pool_t *pool, worker_t *w)
{
    pool->archives_ahead = ARCHIVES_AHEAD;

    if (w->converter.pid != 0 && !w->has_archives) {
        worker_dismiss(w);
    }
}


sym_status_t
pool_submit(pool_t *pool, const pool_input_t *input, void *job,
            sym_error_t *err)
{
    worker_t *w = find_idle(pool);
    converter_job_t *order = &w->order;
    sym_status_t rc;

    *order = (converter_job_t){ .length = input->length,
                                .threads = threads_for(pool),
                                .is_arch_wish = input->is_arch_wish,
                                .kinds = input->kinds,
                                .upload = input->upload,
                                .takes_empty = input->takes_empty,
                                .takes_parts = input->takes_parts,
                                .make = input->make,
                                .text = input->text };
    order->id_len = put_text(input->id, order->id, sizeof(order->id));
    order->arch_len = put_text(input->arch, order->arch, sizeof(order->arch));
    order->reference_len =
        put_text(input->reference, order->reference, sizeof(order->reference));
    order->make_name_len =
        put_text(input->make_name, order->make_name, sizeof(order->make_name));
    w->input_fd = input->fd;
    w->input_start = lseek(input->fd, 0, SEEK_CUR);

    if (w->input_start < 0) {
        need_archives(pool, w); /* the file cannot be read twice */
    }

    rc = send_job(pool, w, err);

    if (rc == SYM_OK) {
        begin_job(w, input, job);
        pool->n_busy++;
    }

    return rc;
}


/*
 * If the Swift demangler ended the converter, starts the file again without it:
 * hostile names then lose only their own texts, not the module.  False: another
 * cause, or the file cannot be read twice.
 */
static bool
begin_without_swift(pool_t *pool, worker_t *w)
{
    sym_error_t ignored = { 0 };

    if (!w->is_naming || w->order.is_without_swift != 0 || w->input_start < 0
        || lseek(w->input_fd, w->input_start, SEEK_SET) < 0)
    {
        return false;
    }

    if (w->converter.pid != 0) {
        worker_dismiss(w);
    }

    w->order.is_without_swift = 1;
    w->order.n_had = w->n_modules;
    w->is_naming = false;
    w->n_noted = w->n_notes;
    w->n_notes = w->n_objects = 0;
    w->moved_at_ms = now_ms();
    worker_begin_module(w);
    return send_job(pool, w, &ignored) == SYM_OK;
}


void
worker_failed(pool_t *pool, worker_t *w, const sym_error_t *err)
{
    const pool_end_t end = { .format = w->format };
    void *job = w->job;

    if (w->converter.pid != 0) {
        worker_dismiss(w);
    }

    w->is_busy = false;
    pool->n_busy--;
    pool->events.failed(job, err, &end);
}


/* Starts the file again in a converter with libarchive. */
sym_status_t
worker_begin_again(pool_t *pool, worker_t *w, sym_error_t *err)
{
    if (w->has_archives || w->has_module || w->n_modules != 0 || w->n_wants != 0
        || w->n_notes != 0)
    {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    need_archives(pool, w);

    if (lseek(w->input_fd, w->input_start, SEEK_SET) < 0) {
        return sym_fail_sys(err, SYM_IO, "cannot seek to the first byte",
                            errno);
    }

    return send_job(pool, w, err);
}


static void
on_death(pool_t *pool, worker_t *w)
{
    sym_error_t err = { 0 };
    bool is_dead;
    int status;

    if (!w->is_busy) {
        if (!w->is_spent) {
            pool->prepare_at_ms = now_ms() + PREPARE_AGAIN_MS;
        }

        worker_dismiss(w);
        return;
    }

    is_dead = converter_is_dead(&w->converter);
    status = worker_dismiss(w);

    if (is_dead) {
        converter_death(status, &err);
    } else {
        (void) sym_fail(&err, SYM_MALFORMED,
                        "the converter ended without an answer");
    }

    if (!begin_without_swift(pool, w)) {
        worker_failed(pool, w, &err);
    }
}


/* Leaves the messages of a job in its socket until the owner can write. */
static bool
hold(pool_t *pool, const worker_t *w)
{
    if (w->is_busy && pool->events.can_write != NULL
        && !pool->events.can_write(w->job))
    {
        pool->is_held = true;
        return true;
    }

    return false;
}


static void
drain(pool_t *pool, worker_t *w)
{
    unsigned i;

    for (i = 0; i < BURST && w->converter.pid != 0 && !hold(pool, w); i++) {
        sym_error_t err = { 0 };

        switch (
            converter_receive(w->converter.fd, MSG_DONTWAIT, &pool->message)) {
        case SYM_OK:
            if (w->is_busy) {
                worker_message(pool, w);

            } else {
                worker_dismiss(
                    w); /* an idle converter must not send anything */
            }
            break;

        case SYM_AGAIN:
            return;

        case SYM_NOT_FOUND:
            on_death(pool, w);
            return;

        default:
            if (w->is_busy) {
                sym_fail(&err, SYM_MALFORMED,
                         "the converter broke the protocol");
                worker_failed(pool, w, &err);

            } else {
                worker_dismiss(w);
            }
            return;
        }
    }
}


/*
 * A converter that neither reads, sends nor ends would keep its slot for ever,
 * because waiting costs no CPU time.  The position of the input is shared with
 * this process (it is one open file).  A pipe has no position, and the
 * converter may be waiting for its writer.
 */
static bool
stands_still(const pool_t *pool, worker_t *w, int64_t now)
{
    off_t pos = lseek(w->input_fd, 0, SEEK_CUR);

    if (w->is_asking || pool->is_held || pos < 0 || pos != w->input_pos
        || w->extents != w->input_extents || w->n_wants != w->input_wants)
    {
        w->input_pos = pos;
        w->input_wants = w->n_wants;
        w->input_extents = w->extents;
        w->moved_at_ms = now;
        return false;
    }

    return now - w->moved_at_ms >= (int64_t) pool->limits.stall_s * 1000;
}


static void
check_time(pool_t *pool, worker_t *w, int64_t now)
{
    unsigned wall_s = pool->limits.wall_s;
    sym_error_t err = { 0 };

    if (stands_still(pool, w, now)) {
        if (begin_without_swift(pool, w)) {
            return;
        }
        sym_fail(
            &err, SYM_MALFORMED,
            "the converter was killed: it made no progress (--convert-stall)");

    } else if (wall_s != 0 && now - w->began_at_ms >= (int64_t) wall_s * 1000) {
        sym_fail(&err, SYM_MALFORMED,
                 "the converter was killed: over its time (--convert-time)");
    }

    if (err.status != SYM_OK) {
        worker_failed(pool, w, &err);
    }
}


unsigned
pool_slots(const pool_t *pool)
{
    return pool->n_workers;
}


void
pool_poll(const pool_t *pool, struct pollfd *polls)
{
    unsigned i;

    for (i = 0; i < pool->n_workers; i++) {
        const worker_t *w = &pool->workers[i];

        bool is_polled =
            w->converter.pid != 0 && !(pool->is_held && w->is_busy);

        polls[i] = (struct pollfd){
            .fd = is_polled ? w->converter.fd : -1,
            .events = POLLIN,
        };
    }
}


void
pool_handle(pool_t *pool, const struct pollfd *polls)
{
    int64_t now = now_ms();
    bool was_held = pool->is_held;
    unsigned i;

    pool->is_held = false;
    for (i = 0; i < pool->n_workers; i++) {
        worker_t *w = &pool->workers[i];

        if (polls[i].revents != 0 || (was_held && w->is_busy)) {
            drain(pool, w);
        }
    }

    for (i = 0; i < pool->n_workers; i++) {
        if (pool->workers[i].is_busy) {
            check_time(pool, &pool->workers[i], now);
        }
    }
}


void
pool_wait(pool_t *pool, int timeout_ms, const sigset_t *sigmask)
{
    struct timespec ts = { timeout_ms / 1000,
                           (long) (timeout_ms % 1000) * 1000000 };

    pool_poll(pool, pool->polls);

    (void) ppoll(pool->polls, pool->n_workers, &ts, sigmask);
    pool_handle(pool, pool->polls);
}
