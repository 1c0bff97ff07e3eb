#include "daemon/missing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "object/ref_key.h"
#include "store/write_object.h"

/* The ledger's file may take a 16th of the room for temporary files, and twice
 * that during its replacement. */
#define ROOM_PART 16

/* Delay from a change to the write; also a multiple of the last write's
   duration. */
#define WRITE_MS 2000
#define WRITE_REST 30

/* Interval between two scans, and number of entries for each turn of a scan. */
#define LOOK_MS 1000
#define LOOK_TURN 64

/* Maximum number of sources of an entry: as many as fit SYM_LEDGER_SOURCES_MAX
   bytes, and the one of modules loaded by hand. */
#define SOURCES_MAX (SYM_LEDGER_SOURCES_MAX / 2 + 1)

/* --- the file --- */

static void
tell(missing_t *m, int64_t now_ms, const char *what, const sym_error_t *err)
{
    char text[256], line[320];

    snprintf(line, sizeof(line), "%s: %s", what,
             sym_error_text(err, text, sizeof(text)));
    log_limiter_tell(&m->log, now_ms, line);
}


void
missing_open(missing_t *m, const char *path, sym_store_t *store,
             client_t **clients, const uploads_t *uploads, int64_t now_ms)
{
    sym_error_t err = { 0 };
    uint8_t *data;
    size_t len;

    *m = (missing_t){
        .store = store,
        .path = path,
        .uploads = uploads,
        .clients = clients,
        .log = { .subject = "missing modules" },
        .webhook_log = { .subject = "webhook" },
        .bytes = sym_store_temp_bytes(store) / ROOM_PART,
    };
    m->bytes =
        m->bytes < SYM_LEDGER_BYTES_MAX ? m->bytes : SYM_LEDGER_BYTES_MAX;
    m->ledger = sym_ledger_create(m->bytes);
    if (m->ledger == NULL) {
        return;
    }

    if (sym_ledger_load(path, &data, &len, &err) != SYM_OK
        || sym_ledger_restore(m->ledger, data, len, &err) != SYM_OK)
    {
        tell(m, now_ms, "not all of the ledger is kept", &err);
    }

    m->is_used = len > 0;
    m->has_news = m->is_used;
    m->is_due = m->is_used;
    free(data);
}


static void
write_path(const missing_t *m, const char *end, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/" SYM_LEDGER_FILE "%s", m->path, end);
}


static bool
put_all(int fd, const sym_buffer_t *b)
{
    size_t done = 0;
    ssize_t n = 0;

    while (done < b->len && (n = write(fd, b->data + done, b->len - done)) > 0)
    {
        done += (size_t) n;
    }

    return done == b->len;
}


/* Sets the mode so that readers of the store may read it. */
static bool
give_to_readers(const missing_t *m, int fd)
{
    char path[PATH_MAX];
    struct stat st;

    snprintf(path, sizeof(path), "%s/data.mdb", m->path);
    return stat(path, &st) == 0
           && (fchown(fd, (uid_t) -1, st.st_gid) == 0 || errno == EPERM)
           && fchmod(fd, st.st_mode & 0644) == 0;
}


static bool
replace_file(const missing_t *m, sym_error_t *err)
{
    char path[PATH_MAX], made[PATH_MAX];
    bool is_done;
    int fd;

    write_path(m, "", path);
    write_path(m, ".new", made);

    fd =
        open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    is_done = fd >= 0 && put_all(fd, &m->file) && give_to_readers(m, fd)
              && fdatasync(fd) == 0 && rename(made, path) == 0;
    if (!is_done) {
        (void) sym_fail_sys(err, SYM_IO, "cannot write the ledger", errno);
    }

    if (fd >= 0) {
        (void) close(fd);
    }

    if (!is_done) {
        (void) unlink(made);
    }

    return is_done;
}


static void
write_file(missing_t *m, int64_t now)
{
    int64_t began = now_ms();
    sym_error_t err = { 0 };

    if (!sym_ledger_write(m->ledger, (int64_t) time(NULL), &m->file)) {
        (void) sym_fail(&err, SYM_NOMEM, NULL);
    }

    m->is_late = err.status != SYM_OK || !replace_file(m, &err);
    if (m->is_late) {
        tell(m, now, "the ledger is in memory only", &err);
    }

    m->write_at = now + (now_ms() - began) * WRITE_REST + WRITE_MS;
}


void
missing_close(missing_t *m, int64_t now)
{
    if (m->ledger != NULL && m->is_used
        && (m->is_late || sym_ledger_is_changed(m->ledger)))
    {
        write_file(m, now);
    }

    sym_ledger_free(m->ledger);
    sym_buffer_free(&m->file);
    m->ledger = NULL;
}


/* --- arrivals --- */

/* Only artifacts count. */
static bool
no_places(void *ctx, uint32_t n, sym_places_t *places)
{
    (void) ctx;
    (void) n;
    (void) places;
    return false;
}


/* Finds the source with the module; found_in->data NULL: none. */
static sym_status_t
look(const missing_t *m, sym_snapshot_t *snapshot, const sym_ledger_entry_t *e,
     char from[SYM_SCOPE_MAX], sym_str_t *found_in, sym_error_t *err)
{
    sym_str_t names[SOURCES_MAX], sources = e->sources;
    sym_scopes_t scopes = { .names = names, .n = 1 };
    sym_object_ref_t ref;
    sym_choice_t choice;
    sym_status_t rc;

    names[0] = SYM_STR(SYM_SCOPE_LOCAL);
    while (scopes.n < SOURCES_MAX
           && sym_ledger_source(&sources, &names[scopes.n])) {
        scopes.n++;
    }

    *found_in = sym_str(NULL, 0);
    sym_object_ref_of_key(&e->key, &ref);
    rc = sym_snapshot_choose_object(snapshot, &scopes, &ref, e->kind, no_places,
                                    NULL, (int64_t) time(NULL), &choice, err);
    if (rc == SYM_OK && choice.state == SYM_MODULE_READY
        && !sym_snapshot_is_unsound(snapshot, choice.record.module_id)
        && !uploads_are_placing(m->uploads, names[choice.source],
                                &choice.record))
    {
        char *p = from;

        *found_in = sym_str_append(&p, names[choice.source]);
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t
look_at(missing_t *m, sym_snapshot_t *snapshot, uint32_t n, sym_error_t *err)
{
    const sym_ledger_entry_t *e = sym_ledger_entry(m->ledger, n);
    char from[SYM_SCOPE_MAX];
    sym_str_t found;
    sym_status_t rc;

    if (e->came_s != 0) {
        return SYM_OK;
    }

    rc = look(m, snapshot, e, from, &found, err);
    if (rc != SYM_OK || found.data == NULL) {
        return rc;
    }

    if (sym_ledger_come(m->ledger, n, found, (int64_t) time(NULL),
                        SYM_LEDGER_DUE)
        != SYM_OK)
    {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    m->is_due = true;
    return SYM_OK;
}


/* Scans from the end, because the number of an entry changes only if one before
   it is removed. */
static sym_status_t
look_on(missing_t *m, sym_error_t *err)
{
    uint32_t n = sym_ledger_count(m->ledger);
    sym_snapshot_t *snapshot = NULL;
    sym_status_t rc = sym_snapshot_begin(m->store, &snapshot, err);

    m->left = m->left < n ? m->left : n;
    for (unsigned i = 0; rc == SYM_OK && i < LOOK_TURN && m->left > 0; i++) {
        rc = look_at(m, snapshot, --m->left, err);
    }

    if (snapshot != NULL) {
        sym_snapshot_end(snapshot);
    }

    return rc;
}


void
missing_news(missing_t *m)
{
    m->has_news = m->is_used;
}


bool
missing_note(missing_t *m, const sym_rpc_message_t *note, sym_error_t *err)
{
    uint32_t type = note->flags & ((1u << SYM_RPC_STATE_SHIFT) - 1);
    uint32_t state = note->flags >> SYM_RPC_STATE_SHIFT;
    const sym_ledger_entry_t e = {
        .key = note->key,
        .type = (sym_object_type_t) type,
        .kind = note->kind != 0 ? (sym_kind_t) note->kind : SYM_KIND_SYMCACHE,
        .state = (sym_module_state_t) state,
        .reason = note->text,
        .sources = note->source,
        .requests = note->offset,
        .frames = note->length,
    };
    const sym_ledger_entry_t *kept;
    sym_snapshot_t *snapshot;

    if (type > SYM_OBJECT_WASM || state > SYM_MODULE_MALFORMED
        || state == SYM_MODULE_READY)
    {
        return false;
    }

    if (m->ledger == NULL) {
        return true;
    }

    m->is_used = true;
    if (sym_ledger_note(m->ledger, &e, (int64_t) time(NULL), &kept) != SYM_OK) {
        return true;
    }

    /* the module may have arrived before the note */
    if (sym_snapshot_begin(m->store, &snapshot, err) == SYM_OK) {
        (void) look_at(m, snapshot, sym_ledger_number(m->ledger, kept), err);
        sym_snapshot_end(snapshot);
    }

    return true;
}


/* --- the turn --- */

sym_status_t
missing_turn(missing_t *m, int64_t now, sym_error_t *err)
{
    sym_status_t rc = SYM_OK;

    if (m->ledger == NULL || !m->is_used) {
        return SYM_OK;
    }

    if (m->has_news && m->left == 0 && now >= m->look_at) {
        m->has_news = false;
        m->left = sym_ledger_count(m->ledger);
        m->look_at = now + LOOK_MS;
    }

    if (m->left > 0) {
        rc = look_on(m, err);
    }

    webhook_turn(m, now);

    if (now >= m->write_at && (m->is_late || sym_ledger_is_changed(m->ledger)))
    {
        (void) sym_ledger_sweep(m->ledger, (int64_t) time(NULL));
        write_file(m, now);
    }

    return rc;
}


bool
missing_is_due(const missing_t *m)
{
    return m->ledger != NULL && m->is_used
           && (m->has_news || m->left > 0 || m->is_late
               || sym_ledger_is_changed(m->ledger) || m->is_due);
}
