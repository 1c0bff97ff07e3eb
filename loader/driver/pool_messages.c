#include "driver/pool_worker.h"

#include <unistd.h>

/* Maximum number of requests.  It is far more than the split units of any known
 * program, each of which causes two. */
#define WANTS_MAX (1u << 20)
#define NOTES_MAX 16u

/* Maximum number of files in an upload. */
#define MEMBERS_MAX 20000u

/* Limit of the Swift demangler's CPU time for one file: millions of real names
 * take less. */
#define NAMES_CPU_S 30

static sym_status_t
broken(sym_error_t *err)
{
    return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
}


static sym_status_t
note_format(worker_t *w, uint32_t format, sym_error_t *err)
{
    if (format >= SYM_CONVERSION_FORMATS) {
        return broken(err);
    }

    w->format = (sym_conversion_format_t) format;
    return SYM_OK;
}


/* Ends an artifact: checks whether another one may follow. */
static sym_status_t
check_more(worker_t *w, uint32_t has_more, sym_error_t *err)
{
    unsigned most =
        w->is_one_wanted ? SYM_KINDS : SYM_KINDS * CONVERTER_MODULES_MAX;

    if (has_more != 0 && ++w->n_modules >= most) {
        return broken(err);
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
        return worker_begin_again(pool, w, broken);
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
        worker_failed(pool, w, &err);
        return SYM_OK;
    }

    pool->events.failed(w->job, &err, &(pool_end_t){ w->format, true });
    worker_begin_module(w);
    return SYM_OK;
}


static sym_status_t
on_module(pool_t *pool, worker_t *w, const converter_module_t *m,
          sym_error_t *err)
{
    if (w->has_module || m->name_len > sizeof(m->name)
        || m->id_len > sizeof(m->id) || m->code_id_len > sizeof(m->code_id))
    {
        return broken(err);
    }

    if (note_format(w, m->format, err) != SYM_OK) {
        return err->status;
    }

    if (sym_kind_find(m->kind) == NULL) {
        return broken(err);
    }

    w->has_module = true;
    return pool->events.module(
        w->job,
        &(pool_module_t){
            .name = sym_str(m->name, m->name_len),
            .id = sym_str(m->id, m->id_len),
            .code_id = sym_str(m->code_id, m->code_id_len),
            .digest = sym_str((const char *) m->digest,
                              m->has_digest != 0 ? sizeof(m->digest) : 0),
            .kind = (sym_kind_t) m->kind,
            .is_nameless = m->is_nameless != 0 },
        err);
}


static sym_status_t
on_extent(pool_t *pool, worker_t *w, const converter_message_t *m,
          sym_error_t *err)
{
    uint32_t number = m->head.number;

    if (!w->has_module || number >= POOL_EXTENTS_MAX
        || (w->seen[number / 8] & (1u << (number % 8))))
    {
        return broken(err);
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

    if (!w->has_module || (w->extents == 0 && w->order.takes_parts == 0)
        || done->extents != w->extents || done->bytes != w->bytes
        || done->quality > SYM_QUALITY_INLINES)
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
        return broken(err);
    }

    end = (pool_end_t){ w->format, done->has_more != 0 };

    if (check_more(w, done->has_more, err) != SYM_OK) {
        return err->status;
    }

    if ((pool->is_last || pool->limits.is_fresh) && !end.has_more) {
        worker_retire(w);
    }

    if (pool->events.done(w->job, done, &end, err) != SYM_OK) {
        return err->status;
    }

    if (end.has_more) {
        worker_begin_module(w);
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
        return broken(err);
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
        return broken(err);
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
        return broken(err);
    }

    if (pool->events.object != NULL) {
        pool->events.object(w->job, sym_str(object->id, object->id_len));
    }

    return SYM_OK;
}


static sym_status_t
on_member(pool_t *pool, worker_t *w, const converter_member_t *m,
          sym_error_t *err)
{
    if (w->order.upload == 0 || m->name_len > sizeof(m->name)
        || m->field_len > sizeof(m->field) || ++w->n_members > MEMBERS_MAX)
    {
        return broken(err);
    }

    w->has_member = m->is_packed != 0;
    return pool->events.member(w->job, m, err);
}


static sym_status_t
on_bytes(pool_t *pool, worker_t *w, const converter_message_t *m,
         sym_error_t *err)
{
    if (!w->has_member) {
        return broken(err);
    }

    w->extents++; /* this counts as progress */
    return pool->events.bytes(w->job, m->data.bytes, m->len, err);
}


static sym_status_t
on_listed(pool_t *pool, worker_t *w, sym_error_t *err)
{
    if (w->order.upload == 0) {
        return broken(err);
    }

    worker_retire(w);
    w->is_busy = false;
    pool->n_busy--;
    pool->events.listed(w->job);
    return SYM_OK;
}


/* Sends a companion.  False: the converter has ended. */
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
            (void) give(w, fd, given); /* if it fails, the socket reports it,
                                          too */
            return;
        }
    }

    if (fd >= 0) {
        close(fd);
    }
}


/* Takes a job back from a converter that has not written any output yet. */
static void
withdraw(pool_t *pool, worker_t *w)
{
    worker_dismiss(w);
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
        return broken(err);
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


void
worker_message(pool_t *pool, worker_t *w)
{
    converter_message_t *m = &pool->message;
    sym_error_t err = { 0 };
    sym_status_t rc = SYM_OK;

    /* a converter waits for its answer, but its other threads may still send
     * notes */
    if (w->is_asking && m->head.type != CONVERTER_NOTE) {
        (void) broken(&err);
        worker_failed(pool, w, &err);
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
    case CONVERTER_MEMBER:
        rc = on_member(pool, w, &m->data.member, &err);
        break;
    case CONVERTER_BYTES:
        rc = on_bytes(pool, w, m, &err);
        break;
    case CONVERTER_LISTED:
        rc = on_listed(pool, w, &err);
        break;
    case CONVERTER_NAMES:
        rc = on_names(w, m->head.number != 0, &err);
        break;
    default: /* CONVERTER_FAILED, because converter_receive() refuses other
                types */
        rc = on_failed(pool, w, &m->data.failed, &err);
        break;
    }

    if (rc != SYM_OK) {
        worker_failed(pool, w, &err);
    }
}
