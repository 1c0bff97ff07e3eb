#include "daemon/conversion.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/companion_requests.h"
#include "common/now.h"
#include "daemon/supplement.h"

sym_status_t
conversion_check_descriptor(int fd, const sym_rpc_message_t *m,
                            sym_error_t *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot look at the descriptor",
                            errno);
    }

    /* anything else could keep a converter waiting */
    if (!S_ISREG(st.st_mode)) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the descriptor is not a regular file");
    }

    if (m->offset > (uint64_t) st.st_size
        || m->length > (uint64_t) st.st_size - m->offset)
    {
        return sym_fail(err, SYM_TRUNCATED,
                        "the file is shorter than the message says");
    }

    if (lseek(fd, (off_t) m->offset, SEEK_SET) < 0) {
        return sym_fail_sys(err, SYM_IO, "cannot go to the first byte", errno);
    }

    (void) posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return SYM_OK;
}


static sym_str_t
copy(char *to, sym_str_t from)
{
    if (from.len != 0) {
        memcpy(to, from.data, from.len);
    }

    return sym_str(to, from.len);
}


conversion_t *
conversion_create(const sym_rpc_message_t *m, int fd, sym_error_t *err)
{
    conversion_t *c = NULL;

    if (conversion_check_descriptor(fd, m, err) == SYM_OK) {
        c = calloc(1, sizeof(*c));

        if (c == NULL) {
            sym_fail(err, SYM_NOMEM, NULL);
        }
    }

    if (c == NULL) {
        close(fd);
        return NULL;
    }

    c->fd = fd;
    c->offset = m->offset;
    c->length = m->length;
    c->ttl = m->ttl;
    c->ticket = m->ticket;
    c->is_offer = m->type == SYM_RPC_OFFER;
    c->force = (m->flags & SYM_RPC_FORCE) != 0;
    c->can_ask = (m->flags & SYM_RPC_ASK_ME) != 0;
    /* calloc() ends the source: it is also read as a path */
    c->source = copy(c->text, m->source);
    c->attempts = copy(c->text + m->source.len + 1, m->attempts);
    return c;
}


void
conversions_add(conversions_t *all, conversion_t *c)
{
    c->all = all;
    c->sequence = ++all->sequence;
    c->next = NULL;
    *all->last = c;
    all->last = &c->next;
}


static void
unlink_conversion(conversion_t *c)
{
    conversions_t *all = c->all;
    conversion_t **at = &all->first;

    while (*at != c) {
        at = &(*at)->next;
    }

    *at = c->next;

    if (all->last == &c->next) {
        all->last = at;
    }
}


static void
conversion_free(conversion_t *c)
{
    supplement_leave(c);
    store_upload_drop(&c->upload);
    close(c->fd);
    free(c);
}


/* That of the one before the oldest that is still here. */
static uint64_t
settled_sequence(const conversions_t *all)
{
    return all->first != NULL ? all->first->sequence - 1 : all->sequence;
}


/* To the next module of the file. */
static void
go_on(conversion_t *c)
{
    store_upload_drop(&c->upload);
    c->upload.key = (sym_module_key_t){ 0 };
    c->began_at_ns = now_ns();
}


static void
finish(conversion_t *c, const conversion_end_t *how)
{
    conversions_t *all = c->all;

    unlink_conversion(c);
    order_forget(&all->order, settled_sequence(all));
    all->ended(c, how);
    conversion_free(c);
}


void
conversion_fail(conversion_t *c, const char *why)
{
    conversion_end_t how = { .state = SYM_MODULE_FAILED };

    snprintf(how.reason, sizeof(how.reason), "%s", why);
    finish(c, &how);
}


void
conversion_rewind(conversion_t *c)
{
    (void) lseek(c->fd, (off_t) c->offset, SEEK_SET);
    store_upload_drop(&c->upload);
    c->upload.notes_len = 0;
    c->upload.notes[0] = '\0';
    c->is_started = false;
}


void
conversion_add_attempts(conversion_t *c, sym_str_t attempts)
{
    char *end = c->text + c->source.len + 1 + c->attempts.len;

    if (attempts.len <= SYM_RPC_ATTEMPTS_MAX - c->attempts.len) {
        (void) copy(end, attempts);
        c->attempts.len += attempts.len;
    }
}


/* Of a module; with the last one the conversion ends. */
static void
end(conversion_t *c, const conversion_end_t *how, const pool_end_t *at)
{
    conversions_t *all = c->all;

    sym_conversions_count(&all->counted, at->format, how->state,
                          (uint64_t) (now_ns() - c->began_at_ns));

    if (at->has_more) {
        all->ended(c, how);
        go_on(c);
        return;
    }

    finish(c, how);
}


/* For the store's quota: it would be the same the next time. */
static bool
is_too_large(const conversion_t *c, const sym_error_t *err)
{
    return c->upload.is_store_error && err->status == SYM_LIMIT;
}


/* The file's own fault, or the store's, or the system's? */
static sym_module_state_t
blame(const conversion_t *c, const sym_error_t *err)
{
    if (is_too_large(c, err)) {
        return SYM_MODULE_MALFORMED;
    }

    return c->upload.is_store_error || err->status == SYM_IO
               ? SYM_MODULE_FAILED
               : SYM_MODULE_MALFORMED;
}


/* --- what the pool calls --- */

static void
on_failed(void *ctx, const sym_error_t *err, const pool_end_t *at)
{
    conversion_t *c = ctx;
    conversion_end_t how = { .state = blame(c, err),
                             .has_nothing = pool_has_nothing(err, at),
                             .has_more = at->has_more };

    if (c->reason[0] != '\0') {
        memcpy(how.reason, c->reason, sizeof(how.reason));
    } else {
        sym_error_text(err, how.reason, sizeof(how.reason));
    }

    if (is_too_large(c, err)) {
        how.is_too_large = true;
    } else if (c->upload.is_store_error) {
        how.store_error = *err;
    }

    end(c, &how, at);
}


/* Text of a symbol file as part of a reason. */
static void
shown(sym_str_t text, char out[64])
{
    size_t len = text.len < 63 ? text.len : 63, i;

    for (i = 0; i < len; i++) {
        char c = text.data[i];

        if (c < ' ' || c > '~') {
            c = '?';
        }

        out[i] = c;
    }

    out[len] = '\0';
}


/* The name asked for counts: files are often found under more than one. */
static sym_status_t
check_id(conversion_t *c, const pool_module_t *module, sym_error_t *err)
{
    char text[64];

    if (store_upload_is_module(&c->upload, module)) {
        return SYM_OK;
    }

    shown(module->id, text);
    snprintf(c->reason, sizeof(c->reason),
             "another module: its id is %s, asked for was %.*s", text,
             (int) c->upload.key.id.len, c->upload.key.id.data);
    return sym_fail(err, SYM_MALFORMED, "another module");
}


static sym_status_t
on_module(void *ctx, const pool_module_t *module, sym_error_t *err)
{
    conversion_t *c = ctx;
    sym_status_t rc =
        c->has_key ? check_id(c, module, err)
                   : store_upload_name(&c->upload, c->source.data, module, err);

    return rc == SYM_OK ? store_upload_begin(&c->upload, c->all->store, err)
                        : rc;
}


static sym_status_t
on_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
          sym_error_t *err)
{
    conversion_t *c = ctx;

    return store_upload_extent(&c->upload, number, data, len, err);
}


static sym_status_t
on_done(void *ctx, const converter_done_t *done, const pool_end_t *at,
        sym_error_t *err)
{
    conversion_t *c = ctx;
    order_t *order = &c->all->order;
    const store_upload_origin_t origin = {
        .source = c->source,
        .attempts = c->attempts,
        .is_late = order_has_later(order, &c->upload.key, c->sequence),
        .force = c->force,
    };
    conversion_end_t how = { .state = SYM_MODULE_READY,
                             .done = done,
                             .has_more = at->has_more };
    store_upload_result_t result = INTAKE_FAILED;

    if (!c->is_void) {
        result =
            store_upload_commit(&c->upload, c->all->store, done, &origin, err);

        if (result == INTAKE_FAILED) {
            return err->status;
        }
    }

    /* no memory to note it: at worst an earlier file wins */
    if (result == INTAKE_STORED) {
        (void) order_note(order, &c->upload.key, c->sequence);
    }

    how.is_better_kept = result == INTAKE_KEPT_BETTER;
    how.is_later_kept = result == INTAKE_KEPT_LATER;
    end(c, &how, at);
    return SYM_OK;
}


const pool_events_t conversion_events = { .module = on_module,
                                          .extent = on_extent,
                                          .done = on_done,
                                          .failed = on_failed,
                                          .note = asking_note,
                                          .companion = asking_companion };


/* The first that has not begun; NULL: all have. */
static conversion_t *
first_waiting(const conversions_t *all)
{
    conversion_t *c = all->first;

    while (c != NULL && (c->is_started || c->is_waiting)) {
        c = c->next;
    }

    return c;
}


void
conversions_start(conversions_t *all)
{
    conversion_t *c;

    while (pool_has_room(all->pool) && (c = first_waiting(all)) != NULL) {
        sym_error_t err = { 0 };

        c->is_started = true;
        c->began_at_ns = now_ns();

        if (pool_submit(all->pool,
                        &(pool_input_t){
                            .fd = c->fd,
                            .length = c->length,
                            .id = c->has_key ? c->upload.key.id : SYM_STR(""),
                        },
                        c, &err)
            != SYM_OK)
        {
            on_failed(c, &err, &(pool_end_t){ .has_more = false });
        }
    }
}


void
conversions_free(conversions_t *all)
{
    order_forget(&all->order, UINT64_MAX);

    while (all->first != NULL) {
        conversion_t *c = all->first;

        all->first = c->next;
        conversion_free(c);
    }
}
