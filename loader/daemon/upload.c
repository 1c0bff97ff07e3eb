#include "daemon/upload_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/write_all.h"
#include "formats/packed/package.h"

/* A source for try uploads has the name of the other source plus this
 * ending. */
#define TRY_ENDING ".try"

/* Maximum number of unanswered uploads, of all clients together. */
#define UPLOADS_MAX 64

static void
upload_free(upload_t *u)
{
    upload_t **at = &u->all->first;

    while (*at != u) {
        at = &(*at)->next;
    }
    *at = u->next;
    u->all->n--;

    for (size_t i = 0; i < u->n_members; i++) {
        free(u->members[i].name);
        free(u->members[i].field);
        if (u->members[i].fd >= 0) {
            close(u->members[i].fd);
        }
    }

    if (u->report_fd >= 0 && u->report_fd != u->fd) {
        close(u->report_fd);
    }
    if (u->fd >= 0) {
        close(u->fd);
    }
    if (u->spool >= 0) {
        close(u->spool);
    }
    if (u->old_fd >= 0) {
        close(u->old_fd);
    }
    bucket_free(&u->bucket);
    free(u->batch);
    free(u->digests);
    free(u->joined_parts);
    free(u->members);
    free(u->report);
    free(u);
}


void
upload_answer(upload_t *u, uint32_t flags, const char *text)
{
    const sym_rpc_message_t m = { .type = SYM_RPC_DONE,
                                  .ticket = u->ticket,
                                  .flags = flags,
                                  .text = sym_cstr(text) };

    if (u->client != NULL) {
        u->client->n_deposits--;
        client_send(u->client, &m);
    }

    upload_free(u);
}


void
upload_finish(upload_t *u)
{
    char text[SYM_UPLOAD_COUNTS_TEXT];
    size_t len = 0;

    if (u->report_fd >= 0) {
        upload_report_end(u);
        len = (size_t) (u->out.pos - u->report);
    }
    if (u->out.failed
        || (len != 0
            && !write_all_at(u->report_fd, u->report, len, u->report_at)))
    {
        upload_answer(u, 0, "the report cannot be written");
        return;
    }

    u->counts.report = len;
    (void) sym_upload_counts_write(&u->counts, text);
    upload_answer(u, SYM_RPC_DID, text);
}


static submission_t *
submit(upload_t *u, int fd, uint64_t at, uint64_t length)
{
    submission_t *c = calloc(1, sizeof(*c));
    int copy = c != NULL ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

    if (copy < 0 || lseek(copy, (off_t) at, SEEK_SET) < 0) {
        if (copy >= 0) {
            close(copy);
        }
        free(c);
        return NULL;
    }

    c->upload = u;
    c->conversion.fd = copy;
    c->conversion.length = length;
    c->conversion.is_upload = true;
    c->conversion.scope = u->folder->source;
    c->conversion.path = c->text;
    return c;
}


const char *
upload_path(const upload_t *u)
{
    const upload_file_t *m = &u->members[u->current];

    return m->name[0] != '\0' ? m->name : u->text;
}


static void
set_path(const upload_t *u, submission_t *c)
{
    const char *path = upload_path(u);

    /* the folder's name is the FileID, which the file does not contain */
    path = u->parts != 0 ? u->symbfile : path;

    (void) snprintf(c->text, sizeof(c->text), "%s", path);
}


int
upload_file_fd(const upload_t *u, const upload_file_t *m, uint64_t *at)
{
    *at = m->fd >= 0 ? 0 : m->is_spooled ? m->at : u->at + m->at;
    return m->fd >= 0 ? m->fd : m->is_spooled ? u->spool : u->fd;
}


/* The file is not at its path.  The store may have its artifacts: from now, or from
 * before it was compared with another object of the bucket. */
static void
not_there(upload_t *u, upload_state_t how)
{
    if (u->is_stored || u->n_old != 0) {
        upload_not_at_path(u);
    }
    upload_report_file(u, how);
}


submission_t *
upload_submit_current(upload_t *u)
{
    const upload_file_t *m = &u->members[u->current];
    uint64_t at;
    int fd = upload_file_fd(u, m, &at);

    return m->length != 0 ? submit(u, fd, at, m->length) : NULL;
}


static void
begin_file(upload_t *u)
{
    const upload_file_t *m = &u->members[u->current];
    submission_t *c = upload_submit_current(u);

    if (c == NULL) {
        (void) snprintf(u->reason, sizeof(u->reason), "%s",
                        m->length == 0 ? "the file is empty"
                                       : "no memory or no descriptor");
        not_there(u, m->length == 0 ? UPLOAD_REFUSED : UPLOAD_FAILED);
        upload_next_file(u);
        return;
    }

    set_path(u, c);
    conversions_add(u->all->conversions, &c->conversion);
}


void
upload_begin_current(upload_t *u)
{
    u->n_modules = 0;
    u->is_stored = u->is_kept = u->is_failed = false;
    u->is_doubtful = u->is_known = u->is_old = u->is_checked = false;
    u->is_answered = u->is_unplaced = u->has_old_read = false;
    u->is_newest = u->lacks_map = false;
    u->n_old = 0;
    u->reason[0] = '\0';
    u->job = (placer_job_t){ .n_paths = 0 };
    if ((u->flags & SYM_RPC_CHUNKED) != 0) {
        upload_chunk_begin(u);
    } else if ((u->flags & SYM_RPC_SCRIPTS) != 0) {
        upload_script_begin(u);
    } else {
        begin_file(u);
    }
}


void
upload_next_file(upload_t *u)
{
    u->is_due = true;
}


/* False: no file is left, and the upload may have ended. */
static bool
begin_next(upload_t *u)
{
    u->is_due = false;
    do {
        u->current++;
    } while (u->current < u->n_members
             && (u->members[u->current].is_field
                 || u->members[u->current].is_archive));

    if (u->current >= u->n_members && u->n_batch != 0 && u->counts.failed == 0)
    {
        upload_scripts_place(u);
        return false;
    }

    if (u->digests != NULL
        && (u->current >= u->n_members || u->counts.failed != 0)) {
        upload_assembled(u);
        return false;
    }

    if (u->current >= u->n_members) {
        upload_finish(u);
        return false;
    }

    upload_begin_current(u);
    return true;
}


void
upload_make_job(upload_t *u)
{
    const upload_file_t *m = &u->members[u->current];

    u->job.folder = u->folder->fd;
    u->job.fd = upload_file_fd(u, m, &u->job.at);
    u->job.length = m->length;
    u->job.is_nameless = m->fd >= 0 && !u->is_try; /* it is in the same
                                                      folder */
    u->job.replaces = u->is_stored;
    u->job.is_renewed = u->parts > 1;
}


void
upload_begin_placing(upload_t *u)
{
    upload_make_job(u);
    u->why[0] = '\0';
    if (u->part_bytes != 0 && u->parts <= 1) {
        upload_bucket_put(u);
    } else {
        placer_add(u->all->placer, &u->job);
    }
}


static upload_t *
of_job(placer_job_t *job)
{
    return (upload_t *) ((char *) job - offsetof(upload_t, job));
}


/* A path of a script is too long, or one file has the path of another's
 * folder. */
static bool
is_impossible(const upload_t *u)
{
    return (u->flags & SYM_RPC_SCRIPTS) != 0
           && (u->job.error == ENAMETOOLONG || u->job.error == ENOTDIR
               || u->job.error == EISDIR);
}


static void
not_placed(upload_t *u)
{
    if (u->why[0] != '\0') {
        memcpy(u->reason, u->why, sizeof(u->reason));
    } else {
        (void) snprintf(u->reason, sizeof(u->reason),
                        "cannot place the file: %s", strerror(u->job.error));
    }
    not_there(u, is_impossible(u) ? UPLOAD_REFUSED : UPLOAD_FAILED);
}


static void
close_file(upload_t *u)
{
    upload_file_t *m = &u->members[u->current];

    /* others of the same package need it */
    if (m->fd >= 0 && !sym_package_is_dwz(sym_cstr(m->name))) {
        close(m->fd);
        m->fd = -1;
        m->is_closed = true;
    }
}


static void
go_on(upload_t *u)
{
    if (!upload_symbfile_join(u)) {
        upload_next_file(u);
    }
}


/* Requests must see a file that was not converted, so the store forgets what was
 * there, also that nothing was.  It forgets a module without its map, too:
 * requests fetch both. */
static void
forget_paths(upload_t *u)
{
    for (unsigned i = 0; i < u->job.n_paths; i++) {
        u->all->changed(u->all->owner, u->folder->source,
                        sym_cstr(u->job.paths[i]));
    }
}


/* Other nodes of a fleet must forget what they have made of the former file. */
static void
tell_client(const upload_t *u)
{
    for (unsigned i = 0; u->client != NULL && i < u->job.n_paths; i++) {
        const sym_rpc_message_t m = { .type = SYM_RPC_CHANGED,
                                      .ticket = u->ticket,
                                      .key = { .scope = u->folder->source },
                                      .source = sym_cstr(u->job.paths[i]) };

        client_send(u->client, &m);
    }
}


void
upload_report_placed(upload_t *u)
{
    if (u->is_newest || u->lacks_map || (u->is_checked && u->parts == 0)) {
        forget_paths(u);
    }

    if (u->job.error != 0 || u->why[0] != '\0') {
        not_placed(u);
    } else {
        memcpy(u->place, u->job.paths[0], sizeof(u->place));
        if (u->is_stored && !u->job.is_same) {
            tell_client(u);
        }

        upload_report_file(u, u->job.is_same ? UPLOAD_SAME
                              : u->is_stored ? UPLOAD_STORED
                                             : UPLOAD_KEPT);
    }

    close_file(u);
}


void
upload_placed(upload_t *u)
{
    upload_report_placed(u);
    go_on(u);
}


static void
digested(upload_t *u)
{
    if (u->job.md5 == u->is_md5) {
        upload_session_checked(u);
    } else {
        upload_bucket_digested(u);
    }
}


static void
job_done(placer_job_t *job)
{
    switch (job->kind) {
    case PLACER_SWEEP:
        upload_folders_swept(job);
        break;
    case PLACER_ASSEMBLE:
        upload_assembly_begin(of_job(job));
        break;
    case PLACER_JOIN:
        upload_symbfile_joined(of_job(job));
        break;
    case PLACER_NOTE:
        upload_noted(of_job(job));
        break;
    case PLACER_APPEND:
        upload_session_appended(of_job(job));
        break;
    case PLACER_DIGEST:
        digested(of_job(job));
        break;
    case PLACER_FILES:
        upload_scripts_placed(of_job(job));
        break;
    case PLACER_CHUNK:
        upload_chunk_ended(of_job(job));
        close_file(of_job(job));
        go_on(of_job(job));
        break;
    default:
        upload_placed(of_job(job));
        break;
    }
}


/* Clients wait for the daemon's loop: what is left has its turn later. */
#define JOBS_A_TURN 64
#define FILES_A_TURN 16 /* limit for each upload */

void
uploads_turn(uploads_t *all, int64_t now_ms)
{
    placer_job_t *job;
    upload_t *next;

    upload_folders_sweep(all, now_ms);

    for (unsigned n = 0; all->placer != NULL && n < JOBS_A_TURN
                         && (job = placer_done(all->placer)) != NULL;
         n++)
    {
        job_done(job);
    }

    for (upload_t *u = all->first; u != NULL; u = next) {
        next = u->next;
        if (u->is_waiting && upload_symbfile_may_go_on(u)) {
            u->is_waiting = false;
            u->is_due = !upload_symbfile_join(u);
        }
        for (unsigned n = 0; n < FILES_A_TURN && u->is_due && begin_next(u);
             n++) {
        }
    }

    uploads_buckets_turn(all);
}


bool
uploads_are_due(const uploads_t *all)
{
    const upload_t *u = all->first;

    while (u != NULL && !u->is_due
           && !(u->is_waiting && upload_symbfile_may_go_on(u))
           && !upload_bucket_is_lost(u))
    {
        u = u->next;
    }

    return u != NULL;
}


bool
uploads_are_placing(const uploads_t *all, sym_str_t source,
                    const sym_object_record_t *artifact)
{
    for (const upload_t *u = all->first; u != NULL; u = u->next) {
        const sym_path_key_t place = { .scope = source,
                                       .path = sym_cstr(u->job.paths[0]) };

        if (u->is_pending && sym_str_eq(u->folder->source, source)
            && sym_object_is_from(artifact, &place))
        {
            return true;
        }
    }

    return false;
}


static upload_module_t *
module_of(upload_t *u, const sym_module_key_t *key)
{
    upload_module_t *m;

    for (unsigned i = 0; i < u->n_modules; i++) {
        m = &u->modules[i];
        if (sym_str_eq(sym_str(m->id, m->id_len), key->id)) {
            return m;
        }
    }

    if (u->n_modules == UPLOAD_MODULES_MAX) {
        return NULL;
    }

    m = &u->modules[u->n_modules++];
    *m = (upload_module_t){ .name_len = key->name.len, .id_len = key->id.len };
    memcpy(m->name, key->name.data, key->name.len);
    memcpy(m->id, key->id.data, key->id.len);
    return m;
}


void
upload_add_module(upload_t *u, const submission_t *c, uint32_t kinds)
{
    upload_module_t *m = module_of(u, &c->conversion.upload.key);

    if (m != NULL) {
        m->kinds |= kinds;
        m->code_id = c->conversion.upload.object.code_id;
    }
}


/* Handles an artifact of the current file. */
static void
note_artifact(submission_t *c, const conversion_end_t *how)
{
    upload_t *u = c->upload;

    u->is_pending |= how->state == SYM_MODULE_READY;
    if (u->is_old) {
        u->is_answered |= how->state == SYM_MODULE_READY;
        return;
    }

    if (how->state == SYM_MODULE_READY) {
        bool is_kept = how->is_better_kept || how->is_later_kept;

        u->is_stored |= !is_kept;
        u->is_kept |= is_kept;
        upload_add_module(u, c, 1u << how->kind);
        if (!u->lacks_map) {
            u->all->arrived(u->all->owner, &c->conversion.upload);
        }
        return;
    }

    u->is_failed |= how->state == SYM_MODULE_FAILED;
    if (u->reason[0] == '\0') {
        (void) snprintf(u->reason, sizeof(u->reason), "%s", how->reason);
    }
}


void
upload_begin_old(upload_t *u, int fd, uint64_t length)
{
    submission_t *c = fd >= 0 && length != 0 ? submit(u, fd, 0, length) : NULL;

    if (u->is_unplaced) {
        upload_clear_path(u);
        u->is_unplaced = u->is_answered = false;
    }

    u->is_old = c != NULL;
    if (c == NULL) {
        begin_file(u);
        return;
    }

    set_path(u, c);
    conversions_add(u->all->conversions, &c->conversion);
}


void
upload_old_failed(upload_t *u, const char *why)
{
    (void) snprintf(u->reason, sizeof(u->reason), "%s", why);
    not_there(u, UPLOAD_FAILED);
    close_file(u);
    go_on(u);
}


static void
find_old(upload_t *u)
{
    struct stat st;
    bool is_file;
    int fd;

    u->is_doubtful = false;
    u->is_known = true;
    if (u->part_bytes != 0) {
        upload_bucket_read(u);
        return;
    }

    fd = openat(u->folder->fd, u->job.paths[0],
                O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    is_file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    upload_begin_old(u, is_file ? fd : -1, is_file ? (uint64_t) st.st_size : 0);
    if (fd >= 0) {
        close(fd);
    }
}


void
upload_compare(upload_t *u)
{
    u->n_modules = 0;
    u->is_stored = u->is_kept = u->is_failed = false;
    u->reason[0] = '\0';
    find_old(u);
}


static void
file_ended(upload_t *u)
{
    if (u->is_old) {
        u->is_old = false;
        begin_file(u);
    } else if (u->is_doubtful) {
        upload_compare(u);
    } else if (u->is_checked && u->job.n_paths != 0) {
        u->is_stored = true;
        upload_begin_placing(u);
    } else if (u->is_stored || u->is_kept) {
        (void) snprintf(u->reason, sizeof(u->reason), "%s",
                        u->is_stored ? "" : "a better file is there");
        upload_begin_placing(u);
    } else if (u->is_failed || !upload_map_begin(u)) {
        not_there(u, u->is_failed ? UPLOAD_FAILED : UPLOAD_REFUSED);
        close_file(u);
        upload_next_file(u);
    }
}


bool
upload_choose_folder(upload_t *u)
{
    bool has_field = false;
    char name[SYM_SCOPE_MAX + sizeof(TRY_ENDING)];
    const upload_folder_t *folder;

    u->is_try = (u->flags & SYM_RPC_ONLY_TRY) != 0;
    for (size_t i = 0; i < u->n_members && !has_field; i++) {
        const upload_file_t *m = &u->members[i];

        if (m->is_field && strcmp(m->field, "try") == 0) {
            has_field = true;
            u->is_try = m->name[0] != '\0';
        }
    }

    if (!u->is_try) {
        return (u->flags & SYM_RPC_ONLY_TRY) == 0;
    }

    (void) snprintf(name, sizeof(name), "%.*s" TRY_ENDING,
                    (int) u->folder->source.len, u->folder->source.data);
    folder = upload_folder(u->all, sym_cstr(name));
    u->folder = folder != NULL ? folder : u->folder;
    return folder != NULL && (u->flags & SYM_RPC_TRY) != 0;
}


static void
listed(upload_t *u, const conversion_end_t *how)
{
    if (how->state == SYM_MODULE_READY && u->is_session) {
        upload_session_check(u);
    } else if (how->state == SYM_MODULE_READY && !upload_choose_folder(u)) {
        upload_answer(u, SYM_RPC_KEPT, "Forbidden");
    } else if (how->state == SYM_MODULE_READY) {
        u->current = SIZE_MAX;
        upload_next_file(u);
    } else if (how->state == SYM_MODULE_FAILED) {
        upload_answer(u, 0, how->reason);
    } else {
        upload_answer(u, SYM_RPC_NOTHING, how->reason);
    }
}


void
upload_ended(submission_t *c, const conversion_end_t *how)
{
    if ((c->conversion.upload_flags & CONVERTER_MAP) != 0) {
        upload_map_read(c->upload, how);
        return;
    }

    if (c->conversion.upload_flags != 0) {
        listed(c->upload, how);
        return;
    }

    if (!c->conversion.is_void) {
        note_artifact(c, how);
    }

    if (!how->has_more) {
        file_ended(c->upload);
    }
}


/* Answers at once. */
void
upload_refuse(client_t *client, const sym_rpc_message_t *m, int fd,
              uint32_t flags, const char *why)
{
    if (fd >= 0) {
        close(fd);
    }
    client_done(client, m, flags, sym_cstr(why));
}


void
upload_text(char to[SYM_RPC_SOURCE_MAX + 1], sym_str_t from)
{
    size_t len = from.len < SYM_RPC_SOURCE_MAX ? from.len : SYM_RPC_SOURCE_MAX;

    if (len != 0) {
        memcpy(to, from.data, len);
    }
    to[len] = '\0';
    for (char *p = to; *p != '\0'; p++) {
        if ((unsigned char) *p < ' ') {
            *p = '?';
        }
    }
}


upload_t *
upload_create(uploads_t *all, client_t *client, const sym_rpc_message_t *m,
              const upload_folder_t *folder)
{
    upload_t *u = all->n < UPLOADS_MAX ? calloc(1, sizeof(*u)) : NULL;

    if (u == NULL) {
        return NULL;
    }

    u->next = all->first;
    all->first = u;
    all->n++;
    u->all = all;
    u->fd = u->spool = u->old_fd = u->report_fd = -1;
    u->part_bytes = m->limit;
    u->client = client;
    client->n_deposits++;
    u->ticket = m->ticket;
    u->flags = m->flags;
    u->folder = folder;
    u->rules = m->rules;
    upload_text(u->who, m->source);
    upload_report_begin(u);
    return u;
}


void
upload_take_apart(upload_t *u)
{
    submission_t *c = submit(u, u->fd, u->at, u->length);

    if (c == NULL) {
        upload_answer(u, 0, "no memory or no descriptor");
        return;
    }

    c->conversion.upload_flags = CONVERTER_UPLOAD | u->flags;
    conversions_add(u->all->conversions, &c->conversion);
}


void
upload_begin(uploads_t *all, client_t *client, const sym_rpc_message_t *m,
             int fd)
{
    const upload_folder_t *folder = upload_folder(all, m->key.scope);
    upload_t *u = folder != NULL ? upload_create(all, client, m, folder) : NULL;

    if (u == NULL) {
        upload_refuse(client, m, fd, 0,
                      folder == NULL ? UPLOAD_NO_FOLDER
                                     : "too many uploads at once");
        return;
    }

    u->fd = u->report_fd = fd;
    u->at = m->offset;
    u->length = fd >= 0 ? m->length : 0;
    u->report_at = m->offset + m->length;
    upload_text(u->text, m->text);
    if ((m->flags & SYM_RPC_SESSION) != 0) {
        upload_session_begin(u);
        return;
    }
    if ((m->flags & SYM_RPC_SYMBFILE) != 0 && !upload_symbfile_read(u)) {
        upload_answer(u, SYM_RPC_NOTHING, "no FileID, kind and part");
        return;
    }

    upload_take_apart(u);
}


void
uploads_leave(uploads_t *all, const client_t *client)
{
    for (upload_t *u = all->first; u != NULL; u = u->next) {
        if (u->client == client) {
            u->client = NULL;
        }
    }
}


void
uploads_close(uploads_t *all)
{
    placer_free(all->placer);
    all->placer = NULL;
    while (all->first != NULL) {
        upload_free(all->first);
    }

    for (unsigned i = 0; i < all->n_folders; i++) {
        close(all->folders[i].fd);
    }
}
