#include "driver/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver/spawn.h"
#include "formats/formats.h"
#include "common/now.h"

/* Positions in a symcache are 32 bits: no module has more extents. */
#define EXTENTS_MAX 65536u

/* Far more than the split units of any known program; each asks twice. */
#define WANTS_MAX (1u << 20)
#define NOTES_MAX 16u

/* CPU time of the Swift demangler for one file: millions of real names take
 * less. */
#define NAMES_CPU_S 30

/* Messages taken from one converter before the others get their turn. */
#define BURST 16

/* The number of converters started with libarchive after a file that needs it:
 * the next files may be archives, too. */
#define ARCHIVES_AHEAD 32

/* Time between attempts to start an idle converter. */
#define PREPARE_AGAIN_MS 1000

typedef struct {
    converter_t converter; /* pid 0: none started */
    bool is_busy;
    bool is_spent;     /* is ending; gets no other job */
    bool has_archives; /* it reads zip, cab and tar */
    void *job;
    converter_job_t order;
    int input_fd;
    off_t input_start; /* -1: a pipe */

    bool is_asking;     /* waits for a companion from the owner */
    bool is_one_wanted; /* only one of the file's modules */
    bool is_naming;     /* a foreign demangler works in it */
    unsigned n_modules; /* artifacts that have ended */
    unsigned n_noted;   /* by the converter before; they come again */
    unsigned n_notes, n_wants, n_objects;
    sym_conversion_format_t format;

    /* Progress of the current module. */
    bool has_module;
    uint32_t extents;
    uint64_t bytes;
    uint8_t seen[EXTENTS_MAX / 8]; /* extent numbers, one bit each */

    /* Progress when it last made some. */
    off_t input_pos;
    uint32_t input_extents;
    unsigned input_wants;
    int64_t moved_at_ms;
    int64_t began_at_ms;
} worker_t;

struct pool_s {
    pool_limits_t limits;
    pool_events_t events;
    unsigned n_busy;
    unsigned n_workers;
    struct pollfd *polls; /* n_workers; pool_wait()'s */
    worker_t *workers;    /* n_workers */
    converter_message_t message;
    bool is_last; /* no more jobs will come */
    unsigned archives_ahead;
    bool is_held; /* an owner cannot write now */

    /* No converter is started ahead before this time: the last one failed. */
    int64_t prepare_at_ms;
};


pool_t *
pool_create(const pool_limits_t *limits, const pool_events_t *events)
{
    pool_t *pool = calloc(1, sizeof(*pool));

    if (pool == NULL) {
        return NULL;
    }

    pool->limits = *limits;
    pool->events = *events;
    /* in addition: the reserve, an idle one, and those that are ending */
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


/* An idle converter, or else a free slot; NULL: all are busy or ending. */
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
static int
dismiss(worker_t *w)
{
    int status = converter_reap(&w->converter);

    w->converter.pid = 0;
    w->is_spent = false;
    return status;
}


/* Ends a converter after its last job.  It is reaped when its socket closes, so
 * that the loader does not wait for the system to free its memory. */
static void
retire(worker_t *w)
{
    converter_end(&w->converter);
    w->is_spent = true;
}


static void
begin_module(worker_t *w)
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
    w->format = SYM_CONVERSION_UNKNOWN;
    w->input_pos = 0;
    w->began_at_ms = now_ms();
    w->moved_at_ms = w->began_at_ms;
    begin_module(w);
}


static converter_limits_t
converter_limits(const pool_t *pool)
{
    return (converter_limits_t){
        .memory_bytes = pool->limits.memory_bytes,
        .max_expanded = pool->limits.max_expanded,
        .threads = pool->limits.threads,
        .swift = pool->limits.swift,
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


/* The threads of a new job.  Running jobs keep theirs, which are more if they
 * started alone. */
static unsigned
threads_for(const pool_t *pool)
{
    unsigned threads = pool->limits.threads / (pool->n_busy + 1);

    return threads > 0 ? threads : 1;
}


/* Cuts text that is too long; it matches no id and no processor anyway. */
static uint32_t
put_text(sym_str_t text, char *to, size_t size)
{
    size_t len = text.len < size ? text.len : size;

    if (len != 0) {
        memcpy(to, text.data, len);
    }

    return (uint32_t) len;
}


/* Sends the job to w's converter, and starts that first if necessary. */
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

        dismiss(w);
    }

    return sym_fail(err, SYM_IO, "converters die as soon as they start");
}


/* Starts the next converters with libarchive. */
static void
need_archives(pool_t *pool, worker_t *w)
{
    pool->archives_ahead = ARCHIVES_AHEAD;

    if (w->converter.pid != 0 && !w->has_archives) {
        dismiss(w);
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
                                .text = input->text };
    order->id_len = put_text(input->id, order->id, sizeof(order->id));
    order->arch_len = put_text(input->arch, order->arch, sizeof(order->arch));
    w->input_fd = input->fd;
    w->input_start = lseek(input->fd, 0, SEEK_CUR);

    if (w->input_start < 0) {
        need_archives(pool, w); /* it cannot be read twice */
    }

    rc = send_job(pool, w, err);

    if (rc == SYM_OK) {
        begin_job(w, input, job);
        pool->n_busy++;
    }

    return rc;
}


/*
 * Starts the file again without the Swift demangler, which ended the converter:
 * hostile names lose their own texts, not the module.  False: another cause, or
 * the file cannot be read twice.
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
        dismiss(w);
    }

    w->order.is_without_swift = 1;
    w->order.n_had = w->n_modules;
    w->is_naming = false;
    w->n_noted = w->n_notes;
    w->n_notes = w->n_objects = 0;
    w->moved_at_ms = now_ms();
    begin_module(w);
    return send_job(pool, w, &ignored) == SYM_OK;
}


static void
job_failed(pool_t *pool, worker_t *w, const sym_error_t *err)
{
    const pool_end_t end = { .format = w->format };
    void *job = w->job;

    if (w->converter.pid != 0) {
        dismiss(w);
    }

    w->is_busy = false;
    pool->n_busy--;
    pool->events.failed(job, err, &end);
}


static sym_status_t
note_format(worker_t *w, uint32_t format, sym_error_t *err)
{
    if (format >= SYM_CONVERSION_FORMATS) {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    w->format = (sym_conversion_format_t) format;
    return SYM_OK;
}


/* Starts the file again in a converter with libarchive. */
static sym_status_t
begin_again(pool_t *pool, worker_t *w, sym_error_t *err)
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


/* Ends an artifact: checks whether another one may follow. */
static sym_status_t
check_more(worker_t *w, uint32_t has_more, sym_error_t *err)
{
    unsigned most =
        w->is_one_wanted ? SYM_KINDS : SYM_KINDS * CONVERTER_MODULES_MAX;

    if (has_more != 0 && ++w->n_modules >= most) {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    return SYM_OK;
}


/* Terminates text from a converter, and removes control characters. */
static const char *
clean_text(char *text, size_t size)
{
    size_t i;

    text[size - 1] = '\0';

    for (i = 0; text[i] != '\0'; i++) {
        if (text[i] < ' ' || text[i] > '~') {
            text[i] = '?';
        }
    }

    return text[0] != '\0' ? text : NULL;
}


static sym_status_t
on_failed(pool_t *pool, worker_t *w, converter_failed_t *f, sym_error_t *broken)
{
    sym_error_t err = {
        .status = SYM_MALFORMED,
        .sys_errno = f->sys_errno > 0 && f->sys_errno < 4096 ? f->sys_errno : 0,
        .what = clean_text(f->what, sizeof(f->what)),
        .section = clean_text(f->section, sizeof(f->section)),
        .offset = f->offset,
        .line = f->line,
    };

    if (f->status > SYM_OK && f->status <= SYM_AGAIN) {
        err.status = (sym_status_t) f->status;
    }

    if (err.status == SYM_AGAIN) {
        return begin_again(pool, w, broken);
    }

    if (err.status == SYM_NOMEM && err.what == NULL) {
        err.what = "see --convert-memory";
    }

    if (note_format(w, f->format, broken) != SYM_OK
        || check_more(w, f->has_more, broken) != SYM_OK)
    {
        return broken->status;
    }

    if (f->has_more == 0) {
        job_failed(pool, w, &err);
        return SYM_OK;
    }

    pool->events.failed(w->job, &err, &(pool_end_t){ w->format, true });
    begin_module(w);
    return SYM_OK;
}


static sym_status_t
on_module(pool_t *pool, worker_t *w, const converter_module_t *m,
          sym_error_t *err)
{
    if (w->has_module || m->name_len > sizeof(m->name)
        || m->id_len > sizeof(m->id) || m->code_id_len > sizeof(m->code_id))
    {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    if (note_format(w, m->format, err) != SYM_OK) {
        return err->status;
    }

    if (sym_kind_find(m->kind) == NULL) {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    w->has_module = true;
    return pool->events.module(
        w->job,
        &(pool_module_t){ .name = sym_str(m->name, m->name_len),
                          .id = sym_str(m->id, m->id_len),
                          .code_id = sym_str(m->code_id, m->code_id_len),
                          .kind = (sym_kind_t) m->kind,
                          .is_nameless = m->is_nameless != 0 },
        err);
}


static sym_status_t
on_extent(pool_t *pool, worker_t *w, const converter_message_t *m,
          sym_error_t *err)
{
    uint32_t number = m->head.number;

    if (!w->has_module || number >= EXTENTS_MAX
        || (w->seen[number / 8] & (1u << (number % 8))))
    {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    w->seen[number / 8] |= (uint8_t) (1u << (number % 8));
    w->extents++;
    w->bytes += m->len;
    return pool->events.extent(w->job, number, m->data.bytes, m->len, err);
}


/* Whether all extents from 0 on have arrived, and no other is claimed. */
static bool
is_complete(const worker_t *w, const converter_done_t *done)
{
    uint32_t i;

    if (!w->has_module || w->extents == 0 || done->extents != w->extents
        || done->bytes != w->bytes || done->quality > SYM_QUALITY_INLINES)
    {
        return false;
    }

    for (i = 0; i < w->extents; i++) {
        if (!(w->seen[i / 8] & (1u << (i % 8)))) {
            return false;
        }
    }

    return true;
}


static sym_status_t
on_done(pool_t *pool, worker_t *w, const converter_done_t *done,
        sym_error_t *err)
{
    pool_end_t end;

    if (!is_complete(w, done)) {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    end = (pool_end_t){ w->format, done->has_more != 0 };

    if (check_more(w, done->has_more, err) != SYM_OK) {
        return err->status;
    }

    if ((pool->is_last || pool->limits.is_fresh) && !end.has_more) {
        retire(w);
    }

    if (pool->events.done(w->job, done, &end, err) != SYM_OK) {
        return err->status;
    }

    if (end.has_more) {
        begin_module(w);
        return SYM_OK;
    }

    w->is_busy = false;
    pool->n_busy--;
    return SYM_OK;
}


static sym_status_t
on_names(worker_t *w, bool begins, sym_error_t *err)
{
    if (w->has_module || w->is_naming == begins
        || w->order.is_without_swift != 0) {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    w->is_naming = begins;
    (void) converter_limit_part(&w->converter, begins ? NAMES_CPU_S : 0);
    return SYM_OK;
}


static sym_status_t
on_note(pool_t *pool, worker_t *w, converter_note_t *note, sym_error_t *err)
{
    const char *text = clean_text(note->text, sizeof(note->text));

    if (text == NULL || ++w->n_notes > NOTES_MAX) {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    if (pool->events.note != NULL && w->n_notes > w->n_noted) {
        pool->events.note(w->job, text);
    }

    return SYM_OK;
}


static sym_status_t
on_object(pool_t *pool, worker_t *w, const converter_object_t *object,
          sym_error_t *err)
{
    if (object->id_len > sizeof(object->id)
        || ++w->n_objects > CONVERTER_MODULES_MAX)
    {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    if (pool->events.object != NULL) {
        pool->events.object(w->job, sym_str(object->id, object->id_len));
    }

    return SYM_OK;
}


/* False: the converter is gone. */
static bool
give(worker_t *w, int fd, const converter_given_t *given)
{
    bool is_sent = converter_send_given(w->converter.fd, fd, given);

    w->is_asking = false;
    if (fd >= 0) {
        close(fd);
    }

    return is_sent;
}


void
pool_give(pool_t *pool, const void *job, int fd, const converter_given_t *given)
{
    unsigned i;

    for (i = 0; i < pool->n_workers; i++) {
        worker_t *w = &pool->workers[i];

        if (w->is_busy && w->job == job && w->is_asking) {
            (void) give(w, fd, given); /* its socket will report a failure */
            return;
        }
    }

    if (fd >= 0) {
        close(fd);
    }
}


/* Takes a job back whose converter has not written any output yet. */
static void
withdraw(pool_t *pool, worker_t *w)
{
    dismiss(w);
    w->is_busy = false;
    pool->n_busy--;
}


static sym_status_t
on_want(pool_t *pool, worker_t *w, const sym_companion_t *want,
        sym_error_t *err)
{
    converter_given_t given = { 0 };
    int fd = -1;

    if (want->name_len > sizeof(want->name) || want->dir_len > sizeof(want->dir)
        || want->id_len > sizeof(want->id) || ++w->n_wants > WANTS_MAX)
    {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    if (pool->events.companion != NULL) {
        fd = pool->events.companion(w->job, want, &given);
    }

    if (fd == POOL_LATER) {
        w->is_asking = true;
        return SYM_OK;
    }

    if (fd == POOL_WITHDRAW) {
        withdraw(pool, w);
        return SYM_OK;
    }

    return give(w, fd, &given) ? SYM_OK
                               : sym_fail(err, SYM_IO, "the converter is gone");
}


static void
on_message(pool_t *pool, worker_t *w)
{
    converter_message_t *m = &pool->message;
    sym_error_t err = { 0 };
    sym_status_t rc = SYM_OK;

    /* a converter that asked waits; its other threads may still send notes */
    if (w->is_asking && m->head.type != CONVERTER_NOTE) {
        (void) sym_fail(&err, SYM_MALFORMED,
                        "the converter broke the protocol");
        job_failed(pool, w, &err);
        return;
    }

    switch (m->head.type) {
    case CONVERTER_MODULE:
        rc = on_module(pool, w, &m->data.module, &err);
        break;
    case CONVERTER_EXTENT:
        rc = on_extent(pool, w, m, &err);
        break;
    case CONVERTER_DONE:
        rc = on_done(pool, w, &m->data.done, &err);
        break;
    case CONVERTER_NOTE:
        rc = on_note(pool, w, &m->data.note, &err);
        break;
    case CONVERTER_OBJECT:
        rc = on_object(pool, w, &m->data.object, &err);
        break;
    case CONVERTER_WANT:
        rc = on_want(pool, w, &m->data.want, &err);
        break;
    case CONVERTER_NAMES:
        rc = on_names(w, m->head.number != 0, &err);
        break;
    default: /* CONVERTER_FAILED: converter_receive() refuses any other */
        rc = on_failed(pool, w, &m->data.failed, &err);
        break;
    }

    if (rc != SYM_OK) {
        job_failed(pool, w, &err);
    }
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

        dismiss(w);
        return;
    }

    is_dead = converter_is_dead(&w->converter);
    status = dismiss(w);

    if (is_dead) {
        converter_death(status, &err);
    } else {
        (void) sym_fail(&err, SYM_MALFORMED,
                        "the converter ended without an answer");
    }

    if (!begin_without_swift(pool, w)) {
        job_failed(pool, w, &err);
    }
}


/* Leaves the messages of a job in its socket, until its owner can write. */
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
                on_message(pool, w);

            } else {
                dismiss(w); /* an idle converter must not send anything */
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
                job_failed(pool, w, &err);

            } else {
                dismiss(w);
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
        job_failed(pool, w, &err);
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
