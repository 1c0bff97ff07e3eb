#include "daemon/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/hex.h"
#include "base/sha1.h"
#include "common/say.h"
#include "common/write_all.h"
#include "json/out.h"
#include "uploads/counts.h"

/* Files of one upload; the converter's own limit is higher. */
#define MEMBERS_MAX 20000
#define FIELDS_MAX 32

/* Modules of one file: architectures of a fat one. */
#define MODULES_MAX 64

/* A source for try uploads has the name of the other one, and this ending. */
#define TRY_ENDING ".try"

/* Uploads that are not answered yet, of all clients. */
#define UPLOADS_MAX 64

/* The note about an assembled file: its path, a line end, and JSON. */
#define NOTE_MAX 4000

/* Bytes of its name in a note, each of which may be escaped. */
#define NAME_SHOWN 255

typedef struct {
    char *name, *field;
    int fd; /* the unpacked bytes; -1: a range of the upload */
    uint64_t at, length;
    bool is_field, is_archive;
} member_t;

typedef struct {
    char name[SYM_NAME_MAX], id[SYM_ID_MAX];
    size_t name_len, id_len;
    sym_code_id_t code_id;
    uint32_t kinds; /* 1 << kind */
} file_module_t;

struct upload_s {
    upload_t *next;
    uploads_t *all;
    client_t *client; /* NULL: gone */
    uint32_t ticket;
    uint32_t flags;
    int fd; /* the upload */
    uint64_t at, length;
    const upload_folder_t *folder;
    sym_source_rules_t rules;
    char text[SYM_RPC_SOURCE_MAX + 1]; /* the path in the request, or "" */
    char who[SYM_RPC_SOURCE_MAX + 1];

    member_t *members;
    size_t n_members, members_size;
    size_t current; /* the file that is read or placed */
    uint64_t written;

    /* of the current file */
    unsigned n_modules;
    file_module_t modules[MODULES_MAX];
    bool is_stored, is_kept, is_failed;
    bool is_doubtful; /* the path is taken, and what is there is not known */
    bool is_known;    /* it has been read since */
    bool is_old;      /* what is there is read now */
    char reason[CONVERSION_REASON_MAX];
    placer_job_t job;

    sym_out_t out;
    char *report;
    size_t report_size;
    bool has_file; /* a file is in the report */
    bool is_try;
    sym_upload_counts_t counts;

    /* of a symbfile */
    char symbfile[96]; /* its path */
    unsigned part, parts;
    bool is_ranges, is_checked; /* checked: it is placed, and not stored */
    unsigned joined; /* parts that the file was joined from, and that go when it
                        is reported; 0: none */

    /* of a file that is assembled from chunks */
    uint8_t *digests; /* its own, and those of its chunks; NULL: it is not */
    size_t n_chunks;
    uint8_t sha1[PLACER_SHA1]; /* of the current chunk */
    uint32_t features;
    sym_conversion_format_t format;
    char note[NOTE_MAX];
};


static const upload_folder_t *
find_folder(const uploads_t *all, sym_str_t source)
{
    for (unsigned i = 0; i < all->n_folders; i++) {
        if (sym_str_eq(all->folders[i].source, source)) {
            return &all->folders[i];
        }
    }

    return NULL;
}


/* --- the report --- */

static bool
more(sym_out_t *out, size_t need)
{
    upload_t *u = out->ctx;
    size_t used = u->report != NULL ? (size_t) (out->pos - u->report) : 0;
    size_t size = 2 * u->report_size + need + 4096;
    char *grown = realloc(u->report, size);

    if (grown == NULL) {
        return false;
    }

    u->report = grown;
    u->report_size = size;
    out->pos = grown + used;
    out->end = grown + size;
    return true;
}


static void
report_begin_text(upload_t *u)
{
    u->out = (sym_out_t){ .more = more, .ctx = u };
    sym_out_raw(&u->out, SYM_STR("{\"files\": ["));
}


static void
put_member(sym_out_t *out, const char *key, sym_str_t value)
{
    if (value.len != 0) {
        sym_out_printf(out, ", \"%s\": ", key);
        sym_out_string(out, value);
    }
}


static void
put_modules(upload_t *u)
{
    sym_out_t *out = &u->out;

    sym_out_raw(out, SYM_STR(", \"modules\": ["));
    for (unsigned i = 0; i < u->n_modules; i++) {
        const file_module_t *m = &u->modules[i];
        bool is_first = true;

        sym_out_raw(out,
                    i == 0 ? SYM_STR("{\"name\": ") : SYM_STR(", {\"name\": "));
        sym_out_string(out, sym_str(m->name, m->name_len));
        put_member(out, "debug_id", sym_str(m->id, m->id_len));
        put_member(out, "code_id", sym_str(m->code_id.text, m->code_id.len));
        sym_out_raw(out, SYM_STR(", \"kinds\": ["));
        for (size_t k = 0; k < SYM_KINDS; k++) {
            if ((m->kinds >> sym_kinds[k]->kind & 1) != 0) {
                sym_out_raw(out, is_first ? SYM_STR("") : SYM_STR(", "));
                sym_out_string(out, sym_cstr(sym_kinds[k]->name));
                is_first = false;
            }
        }
        sym_out_raw(out, SYM_STR("]}"));
    }
    sym_out_raw(out, SYM_STR("]"));
}


typedef enum { STORED, SAME, KEPT, REFUSED, FAILED } state_t;

static void
drop_parts(const upload_t *u, unsigned parts)
{
    char path[PLACER_PART_MAX];

    for (unsigned i = 0; i < parts; i++) {
        placer_part(u->symbfile, i, parts, path);
        (void) unlinkat(u->folder->fd, path, 0);
    }
}


/* How the current file ended. */
static void
report_file(upload_t *u, state_t how)
{
    static const char *const states[] = { "stored", "same", "kept", "refused",
                                          "failed" };
    uint64_t *const counts[] = { &u->counts.stored, &u->counts.same,
                                 &u->counts.kept, &u->counts.refused,
                                 &u->counts.failed };
    const char *state = states[how];
    const member_t *m = &u->members[u->current];
    sym_out_t *out = &u->out;

    sym_out_raw(out, u->has_file ? SYM_STR(", {\"file\": ")
                                 : SYM_STR("{\"file\": "));
    u->has_file = true;
    ++*counts[how];
    sym_out_string(out, sym_cstr(m->name));
    put_member(out, "field", sym_cstr(m->field));
    sym_out_printf(out, ", \"bytes\": %llu, \"state\": \"%s\"",
                   (unsigned long long) m->length, state);
    put_member(out, "reason", sym_cstr(u->reason));
    if (u->job.n_paths != 0) {
        put_member(out, "path", sym_cstr(u->job.paths[0]));
    }
    put_modules(u);
    sym_out_raw(out, SYM_STR("}"));

    complain_about(u->who[0] != '\0' ? u->who : "upload", "%s: %s%s%s",
                   m->name[0] != '\0' ? m->name : "a file", state,
                   u->reason[0] != '\0' ? ": " : "", u->reason);

    /* after a failure the client sends its last part again */
    drop_parts(u, how != FAILED ? u->joined : 0);
    u->joined = 0;
}


static void
report_archives(upload_t *u)
{
    bool is_first = true;

    sym_out_raw(&u->out, SYM_STR("], \"archives\": ["));
    for (size_t i = 0; i < u->n_members; i++) {
        const member_t *m = &u->members[i];

        if (m->is_archive) {
            sym_out_raw(&u->out, is_first ? SYM_STR("{\"field\": ")
                                          : SYM_STR(", {\"field\": "));
            sym_out_string(&u->out, sym_cstr(m->field));
            sym_out_printf(&u->out, ", \"bytes\": %llu}",
                           (unsigned long long) m->length);
            is_first = false;
        }
    }
}


/* The values of a form's fields, so that the worker need not read the form. */
static void
report_fields(upload_t *u)
{
    bool is_first = true;

    report_archives(u);
    sym_out_printf(&u->out, "], \"try\": %s, \"fields\": {",
                   u->is_try ? "true" : "false");
    for (size_t i = 0; i < u->n_members; i++) {
        const member_t *m = &u->members[i];

        if (m->is_field) {
            sym_out_raw(&u->out, is_first ? SYM_STR("") : SYM_STR(", "));
            sym_out_string(&u->out, sym_cstr(m->field));
            sym_out_raw(&u->out, SYM_STR(": "));
            sym_out_string(&u->out, sym_cstr(m->name));
            is_first = false;
        }
    }
    sym_out_raw(&u->out, SYM_STR("}}"));
}


/* --- the end --- */

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

    if (u->fd >= 0) {
        close(u->fd);
    }
    free(u->digests);
    free(u->members);
    free(u->report);
    free(u);
}


static void
answer(upload_t *u, uint32_t flags, const char *text)
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


static void
finish(upload_t *u)
{
    char text[SYM_UPLOAD_COUNTS_TEXT];
    size_t len;

    report_fields(u);
    len = (size_t) (u->out.pos - u->report);
    if (u->out.failed
        || !write_all_at(u->fd, u->report, len, u->at + u->length)) {
        answer(u, 0, "the report cannot be written");
        return;
    }

    u->counts.report = len;
    (void) sym_upload_counts_write(&u->counts, text);
    answer(u, SYM_RPC_DID, text);
}


/* --- one file after the other --- */

static void begin_file(upload_t *u);
static void next_file(upload_t *u);
static void assembled(upload_t *u);
static bool begin_join(upload_t *u);
static void begin_joined(upload_t *u);

/* A part of a file that comes later. */
static void
begin_chunk(upload_t *u)
{
    const member_t *m = &u->members[u->current];

    if (!sym_sha1_read(m->name, u->sha1)) {
        (void) snprintf(u->reason, sizeof(u->reason),
                        "the name of a chunk is no SHA-1");
        report_file(u, REFUSED);
        next_file(u);
        return;
    }

    if (m->length > SYM_RPC_CHUNK_LENGTH_MAX) {
        (void) snprintf(u->reason, sizeof(u->reason),
                        "a chunk is longer than %d bytes",
                        SYM_RPC_CHUNK_LENGTH_MAX);
        report_file(u, REFUSED);
        next_file(u);
        return;
    }

    u->job = (placer_job_t){ .kind = PLACER_CHUNK,
                             .folder = u->folder->fd,
                             .sha1 = u->sha1,
                             .fd = m->fd >= 0 ? m->fd : u->fd,
                             .at = m->fd >= 0 ? 0 : u->at + m->at,
                             .length = m->length,
                             .n_paths = 1 };
    (void) snprintf(u->job.paths[0], sizeof(u->job.paths[0]), "%s%s",
                    PLACER_CHUNKS, m->name);
    placer_add(u->all->placer, &u->job);
}


static void
begin_current(upload_t *u)
{
    u->n_modules = 0;
    u->is_stored = u->is_kept = u->is_failed = false;
    u->is_doubtful = u->is_known = u->is_old = u->is_checked = false;
    u->reason[0] = '\0';
    u->job = (placer_job_t){ .n_paths = 0 };
    if ((u->flags & SYM_RPC_CHUNKED) != 0) {
        begin_chunk(u);
    } else {
        begin_file(u);
    }
}


static void
next_file(upload_t *u)
{
    do {
        u->current++;
    } while (u->current < u->n_members
             && (u->members[u->current].is_field
                 || u->members[u->current].is_archive));

    if (u->digests != NULL) {
        assembled(u);
    } else if (u->current < u->n_members) {
        begin_current(u);
    } else {
        finish(u);
    }
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


/* A file in an archive has its own path, else the request has one. */
static void
set_path(const upload_t *u, submission_t *c)
{
    const member_t *m = &u->members[u->current];
    const char *path = m->name[0] != '\0' ? m->name : u->text;

    /* its folder is the FileID, which the file does not have */
    path = u->parts != 0 ? u->symbfile : path;

    (void) snprintf(c->text, sizeof(c->text), "%s", path);
}


static void
begin_file(upload_t *u)
{
    const member_t *m = &u->members[u->current];
    submission_t *c;

    c = m->length == 0 ? NULL
        : m->fd >= 0   ? submit(u, m->fd, 0, m->length)
                       : submit(u, u->fd, u->at + m->at, m->length);

    if (c == NULL) {
        (void) snprintf(u->reason, sizeof(u->reason), "%s",
                        m->length == 0 ? "the file is empty"
                                       : "no memory or no descriptor");
        report_file(u, m->length == 0 ? REFUSED : FAILED);
        next_file(u);
        return;
    }

    set_path(u, c);
    conversions_add(u->all->conversions, &c->conversion);
}


/* --- placing --- */

static sym_object_type_t
type_of(sym_conversion_format_t format)
{
    switch (format) {
    case SYM_CONVERSION_elf:
        return SYM_OBJECT_ELF;
    case SYM_CONVERSION_macho:
        return SYM_OBJECT_MACHO;
    case SYM_CONVERSION_pe:
    case SYM_CONVERSION_pdb:
        return SYM_OBJECT_PE;
    case SYM_CONVERSION_ppdb:
        return SYM_OBJECT_PE_DOTNET;
    case SYM_CONVERSION_wasm:
        return SYM_OBJECT_WASM;
    default:
        return SYM_OBJECT_UNKNOWN;
    }
}


static unsigned
files_of(sym_conversion_format_t format, bool has_lines)
{
    switch (format) {
    case SYM_CONVERSION_breakpad:
        return SYM_FILE(BREAKPAD);
    case SYM_CONVERSION_elf:
        return has_lines ? SYM_FILE(ELF_DEBUG) : SYM_FILE(ELF_CODE);
    case SYM_CONVERSION_macho:
        return has_lines ? SYM_FILE(MACH_DEBUG) : SYM_FILE(MACH_CODE);
    case SYM_CONVERSION_wasm:
        return has_lines ? SYM_FILE(WASM_DEBUG) : SYM_FILE(WASM_CODE);
    case SYM_CONVERSION_pe:
        return SYM_FILE(PE);
    case SYM_CONVERSION_pdb:
        return SYM_FILE(PDB);
    case SYM_CONVERSION_ppdb:
        return SYM_FILE(PORTABLE_PDB);
    case SYM_CONVERSION_proguard:
        return SYM_FILE(PROGUARD);
    case SYM_CONVERSION_sourcebundle:
        return SYM_FILES_BUNDLES;
    default:
        return 0;
    }
}


static void
add_path(placer_job_t *job, sym_str_t path)
{
    for (unsigned i = 0; i < job->n_paths; i++) {
        if (sym_str_eq(sym_cstr(job->paths[i]), path)) {
            return;
        }
    }

    if (job->n_paths < PLACER_PATHS_MAX && path.len <= SYM_SOURCE_PATH_MAX
        && memchr(path.data, '\0', path.len) == NULL)
    {
        memcpy(job->paths[job->n_paths], path.data, path.len);
        job->paths[job->n_paths++][path.len] = '\0';
    }
}


static sym_status_t
plan_of(upload_t *u, const sym_object_ref_t *ref, unsigned files,
        sym_error_t *err)
{
    sym_arena_t arena;
    sym_source_plan_t plan;
    sym_status_t rc;

    sym_arena_init(&arena, 0);
    rc = sym_source_plan(&arena, ref, &u->rules, files & u->rules.files,
                         SYM_DEBUG_FILES_FIRST, &plan);
    if (rc == SYM_OK && plan.n != 0) {
        add_path(&u->job, plan.at[0].path);
    }

    sym_arena_drop(&arena);
    return rc == SYM_OK ? SYM_OK : sym_fail(err, rc, NULL);
}


/* The paths of one module: where a client looks that knows the type of the
 * object, and one that knows a name and an id. */
static sym_status_t
add_paths(upload_t *u, const submission_t *c, unsigned files,
          sym_object_type_t type, sym_error_t *err)
{
    const store_upload_t *in = &c->conversion.upload;
    sym_str_t own = sym_object_file_name(sym_cstr(c->text));
    sym_object_ref_t whole = { .type = type,
                               .debug_id = in->object.debug_id,
                               .code_id = in->object.code_id,
                               .debug_file = in->key.name,
                               .code_file = in->key.name };
    sym_object_ref_t guess;

    if (type == SYM_OBJECT_PE && files == SYM_FILE(PE) && own.len != 0) {
        whole.code_file = own;
    }

    sym_object_ref_mozilla(&guess, in->key.name, in->key.id);
    return plan_of(u, &guess, files, err) == SYM_OK
               ? plan_of(u, &whole, files, err)
               : err->status;
}


/* Whether the store knows what is at the path, so that it keeps the better. */
static sym_status_t
check_taken(upload_t *u, sym_error_t *err)
{
    const sym_path_key_t key = { .scope = u->folder->source,
                                 .path = sym_cstr(u->job.paths[0]) };
    sym_path_record_t record = { .outcome = 0 };
    sym_snapshot_t *snapshot;
    struct stat st;
    sym_status_t rc;

    if (u->is_known || fstatat(u->folder->fd, u->job.paths[0], &st, 0) != 0) {
        return SYM_OK;
    }

    rc = sym_snapshot_begin(u->all->conversions->store, &snapshot, err);
    if (rc != SYM_OK) {
        return rc;
    }

    rc = sym_snapshot_path(snapshot, &key, &record, err);
    u->is_doubtful =
        rc == SYM_NOT_FOUND
        || (rc == SYM_OK
            && (record.outcome != SYM_PATH_READ || record.artifacts == 0));
    sym_snapshot_end(snapshot);
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* The record of the file and its place, for the store. */
static void
set_place(upload_t *u, submission_t *c)
{
    c->file.record = (sym_path_record_t){
        .status = 200,
        .reader = sym_path_reader(),
        .bytes = c->conversion.length,
    };
    (void) snprintf(c->file.path, sizeof(c->file.path), "%s", u->job.paths[0]);
    c->conversion.place = (sym_path_key_t){ .scope = u->folder->source,
                                            .path = sym_cstr(c->file.path) };
    c->conversion.file = &c->file.record;
}


/* Ranges replace even better symbols.  Pads are only placed if there are no
 * ranges.  A single part is only checked until all parts have come. */
static sym_status_t
place_symbfile(upload_t *u, submission_t *c, sym_error_t *err)
{
    char path[PLACER_PART_MAX];
    struct stat st;

    if (u->format != SYM_CONVERSION_symbfile) {
        return sym_fail(err, SYM_UNSUPPORTED, "this is no symbfile");
    }

    (void) snprintf(path, sizeof(path), "%.*sranges",
                    (int) (strrchr(u->symbfile, '/') + 1 - u->symbfile),
                    u->symbfile);
    u->is_checked =
        u->parts > 1
        || (!u->is_ranges && fstatat(u->folder->fd, path, &st, 0) == 0);
    if (u->parts > 1) {
        placer_part(u->symbfile, u->part, u->parts, path);
    } else {
        (void) snprintf(path, sizeof(path), "%s", u->symbfile);
    }

    u->job.n_paths = 0;
    add_path(&u->job, sym_cstr(path));
    c->conversion.is_void = u->is_checked;
    c->conversion.is_forced = u->is_ranges;
    set_place(u, c);
    return SYM_OK;
}


/* The last of equally good files counts; what was there before comes first. */
#define LAST_PLACE 63

sym_status_t
upload_place(submission_t *c, const converter_done_t *done,
             sym_conversion_format_t format, sym_error_t *err)
{
    upload_t *u = c->upload;
    unsigned n = u->job.n_paths;
    bool has_lines = (done->features & SYM_FEATURE_DEBUG_INFO) != 0;

    u->features |= done->features;
    u->format = format;
    if (u->parts != 0) {
        return place_symbfile(u, c, err);
    }

    if (u->is_doubtful) {
        c->conversion.is_void = true;
        return SYM_OK;
    }

    if (!u->is_old
        && add_paths(u, c, files_of(format, has_lines), type_of(format), err)
               != SYM_OK)
    {
        return err->status;
    }

    if (u->job.n_paths == 0) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the layout of the target has no place for this type "
                        "of file");
    }

    if (n == 0 && check_taken(u, err) != SYM_OK) {
        return err->status;
    }

    c->conversion.is_void = u->is_doubtful;
    c->conversion.number = u->is_old ? LAST_PLACE : 0;
    set_place(u, c);
    return SYM_OK;
}


static void
begin_placing(upload_t *u)
{
    const member_t *m = &u->members[u->current];

    u->job.folder = u->folder->fd;
    u->job.fd = m->fd >= 0 ? m->fd : u->fd;
    u->job.at = m->fd >= 0 ? 0 : u->at + m->at;
    u->job.length = m->length;
    u->job.is_nameless = m->fd >= 0 && !u->is_try; /* the same folder */
    u->job.replaces = u->is_stored;
    placer_add(u->all->placer, &u->job);
}


static upload_t *
of_job(placer_job_t *job)
{
    return (upload_t *) ((char *) job - offsetof(upload_t, job));
}


/* The artifact must not be there without its file: the path is cleared. */
static void
not_placed(upload_t *u)
{
    sym_error_t err = { 0 };
    uint64_t cleared;

    (void) snprintf(u->reason, sizeof(u->reason), "cannot place the file: %s",
                    strerror(u->job.error));
    if (u->is_stored) {
        (void) sym_store_clear_path(u->all->conversions->store,
                                    u->folder->source,
                                    sym_cstr(u->job.paths[0]), &cleared, &err);
    }
    report_file(u, FAILED);
}


static void
close_file(upload_t *u)
{
    member_t *m = &u->members[u->current];

    if (m->fd >= 0) {
        close(m->fd);
        m->fd = -1;
    }
}


static void
chunk_ended(upload_t *u)
{
    int error = u->job.error;

    u->job.n_paths = 0;
    if (error == EBADMSG) {
        (void) snprintf(u->reason, sizeof(u->reason),
                        "the chunk has another SHA-1");
    } else if (error != 0) {
        (void) snprintf(u->reason, sizeof(u->reason), "%s", strerror(error));
    }
    report_file(u, error == EBADMSG ? REFUSED
                   : error != 0     ? FAILED
                   : u->job.is_same ? SAME
                                    : STORED);
}


/* --- files of chunks --- */

static const char *
type_word(const upload_t *u)
{
    switch (u->format) {
    case SYM_CONVERSION_sourcebundle:
        return "src";
    case SYM_CONVERSION_proguard:
        return "none";
    default:
        return (u->features & SYM_FEATURE_DEBUG_INFO) != 0 ? "dbg" : "exe";
    }
}


/* "debug", ... as Sentry's clients know them. */
static void
put_features(const upload_t *u, sym_out_t *out)
{
    static const struct {
        uint32_t bit;
        const char *word;
    } words[] = { { SYM_FEATURE_DEBUG_INFO, "debug" },
                  { SYM_FEATURE_SYMBOLS, "symtab" },
                  { SYM_FEATURE_UNWIND_INFO, "unwind" },
                  { SYM_FEATURE_SOURCES, "sources" } };
    bool is_first = true;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if ((u->features & words[i].bit) != 0) {
            sym_out_printf(out, "%s\"%s\"", is_first ? "" : ", ",
                           words[i].word);
            is_first = false;
        }
    }
}


/* The path of the file, and what Sentry's clients want to know of it. */
static void
write_note(upload_t *u)
{
    sym_out_t out = sym_out_fixed(u->note, sizeof(u->note) - 1);
    const file_module_t *m = &u->modules[0];
    sym_debug_id_t id;
    char text[SYM_ID_TEXT_MAX], sha1[SYM_SHA1_TEXT];
    size_t len = 0;

    if (sym_debug_id_read_breakpad(sym_str(m->id, m->id_len), &id)) {
        len = sym_debug_id_write_sentry(&id, text);
    }

    sym_out_raw(&out, sym_cstr(u->job.paths[0]));
    sym_out_raw(&out, SYM_STR("\n{\"uuid\": "));
    sym_out_string(&out, sym_str(text, len));
    sym_out_raw(&out, SYM_STR(", \"debugId\": "));
    sym_out_string(&out, sym_str(text, len));
    sym_out_raw(&out, SYM_STR(", \"cpuName\": \"unknown\", \"objectName\": "));
    sym_out_string(&out, sym_str(u->text, strnlen(u->text, NAME_SHOWN)));
    sym_sha1_write(u->digests, sha1);
    sym_out_printf(&out, ", \"sha1\": \"%s\", \"data\": {", sha1);
    sym_out_printf(&out, "\"type\": \"%s\", \"features\": [", type_word(u));
    put_features(u, &out);
    sym_out_raw(&out, SYM_STR("]}}"));
    *out.pos = '\0';
}


/* After an error a client sends all chunks again. */
static void
refuse_assembly(upload_t *u, uint32_t flags, const char *why)
{
    if ((flags & SYM_RPC_NOTHING) != 0) {
        placer_drop_chunks(u->folder->fd, u->digests + PLACER_SHA1,
                           u->n_chunks);
    }

    answer(u, flags, why);
}


/* The file was read and placed, or not. */
static void
assembled(upload_t *u)
{
    const sym_upload_counts_t *n = &u->counts;

    if (n->stored + n->same + n->kept == 0) {
        char why[CONVERSION_REASON_MAX];

        memcpy(why, u->reason, sizeof(why));
        refuse_assembly(u, n->refused != 0 ? SYM_RPC_NOTHING : 0, why);
        return;
    }

    write_note(u);
    u->job = (placer_job_t){ .kind = PLACER_NOTE,
                             .folder = u->folder->fd,
                             .sha1 = u->digests,
                             .n_chunks = u->n_chunks,
                             .text = u->note,
                             .replaces = true,
                             .n_paths = 1 };
    memcpy(u->job.paths[0], PLACER_NOTES, sizeof(PLACER_NOTES) - 1);
    sym_sha1_write(u->digests, u->job.paths[0] + sizeof(PLACER_NOTES) - 1);
    placer_add(u->all->placer, &u->job);
}


/* Whether the last part of a symbfile has come: then all are made one file. */
static bool
begin_join(upload_t *u)
{
    char path[PLACER_PART_MAX];
    struct stat st;

    if (u->parts < 2 || u->job.error != 0) {
        return false;
    }

    for (unsigned i = 0; i < u->parts; i++) {
        placer_part(u->symbfile, i, u->parts, path);
        if (fstatat(u->folder->fd, path, &st, 0) != 0) {
            return false;
        }
    }

    u->job = (placer_job_t){ .kind = PLACER_JOIN,
                             .folder = u->folder->fd,
                             .text = u->symbfile,
                             .n_chunks = u->parts };
    placer_add(u->all->placer, &u->job);
    return true;
}


/* A set of parts that is complete goes when its file is reported, so that the
 * next one begins with no part. */
static void
begin_joined(upload_t *u)
{
    int error = u->job.error, fd = u->job.fd;
    uint64_t length = u->job.length;

    u->joined = error == 0 || error == EBADMSG ? u->parts : 0;
    u->job.n_paths = 0;
    if (error != 0) {
        (void) snprintf(
            u->reason, sizeof(u->reason), "cannot join the parts: %s",
            error == EBADMSG ? "one is no symbfile" : strerror(error));
        report_file(u, error == EBADMSG ? REFUSED : FAILED);
        next_file(u);
        return;
    }

    u->members[u->current].fd = fd;
    u->members[u->current].length = length;
    u->parts = 1;
    begin_current(u);
}


static void
begin_assembled(upload_t *u)
{
    if (u->job.error == EBADMSG) {
        refuse_assembly(u, SYM_RPC_NOTHING, "Reported checksum mismatch");
        return;
    }

    if (u->job.error != 0) {
        answer(u, 0, strerror(u->job.error));
        return;
    }

    u->members = calloc(1, sizeof(*u->members));
    if (u->members == NULL) {
        close(u->job.fd);
        answer(u, 0, "out of memory");
        return;
    }

    u->n_members = u->members_size = 1;
    u->members[0] = (member_t){ .fd = u->job.fd,
                                .length = u->job.length,
                                .name = strdup(u->text),
                                .field = strdup("") };
    if (u->members[0].name == NULL || u->members[0].field == NULL) {
        answer(u, 0, "out of memory");
        return;
    }

    u->current = 0;
    begin_current(u);
}


#define SWEEP_MS ((int64_t) 3600 * 1000)

static void
sweep_folders(uploads_t *all, int64_t now_ms)
{
    if (all->placer == NULL || now_ms < all->sweep_at_ms) {
        return;
    }

    all->sweep_at_ms = now_ms + SWEEP_MS;
    for (unsigned i = 0; i < all->n_folders; i++) {
        upload_folder_t *f = &all->folders[i];

        if (!f->is_sweeping) {
            f->is_sweeping = true;
            f->sweep = (placer_job_t){ .kind = PLACER_SWEEP, .folder = f->fd };
            placer_add(all->placer, &f->sweep);
        }
    }
}


static void
swept(placer_job_t *job)
{
    upload_folder_t *f =
        (upload_folder_t *) ((char *) job - offsetof(upload_folder_t, sweep));

    f->is_sweeping = false;
}


void
uploads_turn(uploads_t *all, int64_t now_ms)
{
    placer_job_t *job;

    sweep_folders(all, now_ms);

    while (all->placer != NULL && (job = placer_done(all->placer)) != NULL) {
        upload_t *u = of_job(job);

        if (job->kind == PLACER_SWEEP) {
            swept(job);
            continue;
        }

        if (job->kind == PLACER_ASSEMBLE) {
            begin_assembled(u);
            continue;
        }

        if (job->kind == PLACER_JOIN) {
            begin_joined(u);
            continue;
        }

        if (job->kind == PLACER_NOTE) {
            answer(u, SYM_RPC_DID, strchr(u->note, '\n') + 1);
            continue;
        }

        if (job->kind == PLACER_CHUNK) {
            chunk_ended(u);
        } else if (job->error != 0) {
            not_placed(u);
        } else {
            report_file(u, job->is_same ? SAME : u->is_stored ? STORED : KEPT);
        }

        close_file(u);
        if (!begin_join(u)) {
            next_file(u);
        }
    }
}


/* --- conversions --- */

static file_module_t *
module_of(upload_t *u, const sym_module_key_t *key)
{
    file_module_t *m;

    for (unsigned i = 0; i < u->n_modules; i++) {
        m = &u->modules[i];
        if (sym_str_eq(sym_str(m->id, m->id_len), key->id)) {
            return m;
        }
    }

    if (u->n_modules == MODULES_MAX) {
        return NULL;
    }

    m = &u->modules[u->n_modules++];
    *m = (file_module_t){ .name_len = key->name.len, .id_len = key->id.len };
    memcpy(m->name, key->name.data, key->name.len);
    memcpy(m->id, key->id.data, key->id.len);
    return m;
}


/* An artifact of the current file. */
static void
note_artifact(submission_t *c, const conversion_end_t *how)
{
    upload_t *u = c->upload;
    file_module_t *m;

    if (u->is_old) {
        return;
    }

    if (how->state == SYM_MODULE_READY) {
        bool is_kept = how->is_better_kept || how->is_later_kept;

        u->is_stored |= !is_kept;
        u->is_kept |= is_kept;
        m = module_of(u, &c->conversion.upload.key);
        if (m != NULL) {
            m->kinds |= 1u << how->kind;
            m->code_id = c->conversion.upload.object.code_id;
        }
        u->all->arrived(u->all->owner, &c->conversion.upload);
        return;
    }

    u->is_failed |= how->state == SYM_MODULE_FAILED;
    if (u->reason[0] == '\0') {
        (void) snprintf(u->reason, sizeof(u->reason), "%s", how->reason);
    }
}


/* The file at the path, which is compared with the new one. */
static void
begin_old(upload_t *u)
{
    int fd = openat(u->folder->fd, u->job.paths[0],
                    O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    submission_t *c = NULL;

    u->is_doubtful = false;
    u->is_known = true;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
        && st.st_size != 0) {
        c = submit(u, fd, 0, (uint64_t) st.st_size);
    }

    if (fd >= 0) {
        close(fd);
    }

    u->is_old = c != NULL;
    if (c == NULL) {
        begin_file(u);
        return;
    }

    set_path(u, c);
    conversions_add(u->all->conversions, &c->conversion);
}


static void
file_ended(upload_t *u)
{
    if (u->is_old) {
        u->is_old = false;
        begin_file(u);
    } else if (u->is_doubtful) {
        u->n_modules = 0;
        u->is_stored = u->is_kept = u->is_failed = false;
        u->reason[0] = '\0';
        begin_old(u);
    } else if (u->is_checked && u->job.n_paths != 0) {
        u->is_stored = true;
        begin_placing(u);
    } else if (u->is_stored || u->is_kept) {
        (void) snprintf(u->reason, sizeof(u->reason), "%s",
                        u->is_stored ? "" : "a better file is there");
        begin_placing(u);
    } else {
        report_file(u, u->is_failed ? FAILED : REFUSED);
        close_file(u);
        next_file(u);
    }
}


/* Try uploads of Mozilla's builds go to a source of their own: the field `try`, or
 * all of a client that may not upload others.  False: the client may not. */
static bool
choose_folder(upload_t *u)
{
    bool has_field = false;
    char name[SYM_SCOPE_MAX + sizeof(TRY_ENDING)];
    const upload_folder_t *folder;

    u->is_try = (u->flags & SYM_RPC_ONLY_TRY) != 0;
    for (size_t i = 0; i < u->n_members && !has_field; i++) {
        const member_t *m = &u->members[i];

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
    folder = find_folder(u->all, sym_cstr(name));
    u->folder = folder != NULL ? folder : u->folder;
    return folder != NULL && (u->flags & SYM_RPC_TRY) != 0;
}


static void
listed(upload_t *u, const conversion_end_t *how)
{
    if (how->state == SYM_MODULE_READY && !choose_folder(u)) {
        answer(u, SYM_RPC_KEPT, "Forbidden");
    } else if (how->state == SYM_MODULE_READY) {
        u->current = SIZE_MAX;
        next_file(u);
    } else if (how->state == SYM_MODULE_FAILED) {
        answer(u, 0, how->reason);
    } else {
        answer(u, SYM_RPC_NOTHING, how->reason);
    }
}


void
upload_ended(submission_t *c, const conversion_end_t *how)
{
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


/* --- taking apart --- */

/* Printable: names come from outside, and go into logs. */
static char *
copy_text(const char *text, size_t len)
{
    char *copy = strndup(text, len);

    for (char *p = copy; p != NULL && *p != '\0'; p++) {
        if ((unsigned char) *p < ' ' || *p == 0x7f) {
            *p = '?';
        }
    }

    return copy;
}


sym_status_t
upload_member(submission_t *c, const converter_member_t *m, sym_error_t *err)
{
    upload_t *u = c->upload;
    member_t *to;

    if (u->n_members >= MEMBERS_MAX
        || (m->is_packed == 0
            && (m->offset > u->length || m->length > u->length - m->offset)))
    {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    if (!SYM_ARRAY_ROOM(u->members, u->n_members + 1, u->members_size)) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    to = &u->members[u->n_members];
    *to = (member_t){ .fd = -1,
                      .name = copy_text(m->name, m->name_len),
                      .field = copy_text(m->field, m->field_len),
                      .at = m->offset,
                      .length = m->is_packed != 0 ? 0 : m->length,
                      .is_field = m->is_field != 0,
                      .is_archive = m->is_archive != 0 };
    u->n_members++;
    if (to->name == NULL || to->field == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    if (m->is_packed != 0 && !to->is_field) {
        to->fd = placer_temporary(u->folder->fd);
        if (to->fd < 0) {
            return sym_fail_sys(err, SYM_IO, "cannot make a file in the folder",
                                errno);
        }
    }

    return SYM_OK;
}


/* A field's value is short. */
static sym_status_t
field_bytes(member_t *m, const uint8_t *data, size_t len, sym_error_t *err)
{
    char *value = copy_text((const char *) data, len);

    if (value == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    free(m->name);
    m->name = value;
    return SYM_OK;
}


sym_status_t
upload_bytes(submission_t *c, const uint8_t *data, size_t len, sym_error_t *err)
{
    upload_t *u = c->upload;
    member_t *m = &u->members[u->n_members - 1];

    if (m->is_field) {
        return field_bytes(m, data, len, err);
    }

    if (!write_all_at(m->fd, (const char *) data, len, m->length)) {
        return sym_fail_sys(err, SYM_IO, "cannot write to the folder", errno);
    }

    m->length += len;
    return SYM_OK;
}


/* --- begin --- */

#define NO_FOLDER "the loader has no --upload-folder for this source"

/* Answers at once. */
static void
refuse(client_t *client, const sym_rpc_message_t *m, int fd, uint32_t flags,
       const char *why)
{
    const sym_rpc_message_t done = { .type = SYM_RPC_DONE,
                                     .ticket = m->ticket,
                                     .flags = flags,
                                     .text = sym_cstr(why) };

    if (fd >= 0) {
        close(fd);
    }
    client_send(client, &done);
}


static void
copy_to(char to[SYM_RPC_SOURCE_MAX + 1], sym_str_t from)
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


static upload_t *
create(uploads_t *all, client_t *client, const sym_rpc_message_t *m,
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
    u->fd = -1;
    u->client = client;
    client->n_deposits++;
    u->ticket = m->ticket;
    u->flags = m->flags;
    u->folder = folder;
    u->rules = m->rules;
    copy_to(u->who, m->source);
    report_begin_text(u);
    return u;
}


/* FILEID/KIND/PART/PARTS; the path of a worker is checked as any other. */
static bool
read_symbfile(upload_t *u)
{
    char id[33], kind[16], part[8], parts[8];
    uint64_t number, all;
    int end = 0;

    if (sscanf(u->text, "%32[0-9a-f]/%15[a-z]/%7[0-9]/%7[0-9]%n", id, kind,
               part, parts, &end)
            != 4
        || u->text[end] != '\0' || strlen(id) != 32
        || !sym_dec_read(sym_cstr(part), &number)
        || !sym_dec_read(sym_cstr(parts), &all) || number >= all
        || all > SYM_RPC_CHUNKS_MAX)
    {
        return false;
    }

    u->part = (unsigned) number;
    u->parts = (unsigned) all;
    u->is_ranges = strcmp(kind, "ranges") == 0;
    (void) snprintf(u->symbfile, sizeof(u->symbfile), "symbfile/%s/%s", id,
                    kind);
    return u->is_ranges || strcmp(kind, "returnpads") == 0;
}


void
upload_begin(uploads_t *all, client_t *client, const sym_rpc_message_t *m,
             int fd)
{
    const upload_folder_t *folder = find_folder(all, m->key.scope);
    upload_t *u = folder != NULL ? create(all, client, m, folder) : NULL;
    submission_t *c;

    if (u == NULL) {
        refuse(client, m, fd, 0,
               folder == NULL ? NO_FOLDER : "too many uploads at once");
        return;
    }

    u->fd = fd;
    u->at = m->offset;
    u->length = m->length;
    copy_to(u->text, m->text);
    if ((m->flags & SYM_RPC_SYMBFILE) != 0 && !read_symbfile(u)) {
        answer(u, SYM_RPC_NOTHING, "no FileID, kind and part");
        return;
    }

    c = submit(u, fd, m->offset, m->length);
    if (c == NULL) {
        answer(u, 0, "no memory or no descriptor");
        return;
    }

    c->conversion.upload_flags = CONVERTER_UPLOAD | m->flags;
    conversions_add(all->conversions, &c->conversion);
}


/* The answer that an earlier ASSEMBLE of the file got, if its file is there. */
static bool
was_assembled(const upload_folder_t *folder, const uint8_t *sha1,
              char note[NOTE_MAX])
{
    char path[sizeof(PLACER_NOTES) + SYM_SHA1_TEXT] = PLACER_NOTES;
    struct stat st;
    char *end;
    ssize_t n;
    int fd;

    sym_sha1_write(sha1, path + sizeof(PLACER_NOTES) - 1);
    fd = openat(folder->fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }

    n = read(fd, note, NOTE_MAX - 1);
    close(fd);
    note[n > 0 ? n : 0] = '\0';
    end = strchr(note, '\n');
    if (end == NULL) {
        return false;
    }

    *end = '\0';
    if (fstatat(folder->fd, note, &st, 0) != 0) {
        return false;
    }

    memmove(note, end + 1, strlen(end + 1) + 1);
    return true;
}


/* A digit for each chunk; 1: it is missing.  False: no chunk is missing. */
static bool
find_missing(const upload_folder_t *folder, sym_str_t chunks, size_t n,
             char digits[SYM_RPC_CHUNKS_MAX + 1])
{
    bool is_any = false;

    for (size_t i = 0; i < n; i++) {
        char path[sizeof(PLACER_CHUNKS) + SYM_SHA1_TEXT] = PLACER_CHUNKS;
        struct stat st;

        sym_sha1_write((const uint8_t *) chunks.data + PLACER_SHA1 * (i + 1),
                       path + sizeof(PLACER_CHUNKS) - 1);
        digits[i] = fstatat(folder->fd, path, &st, 0) == 0 ? '0' : '1';
        is_any |= digits[i] == '1';
    }

    digits[n] = '\0';
    return is_any;
}


static bool
is_assembling(const uploads_t *all, const upload_folder_t *folder,
              sym_str_t chunks)
{
    for (const upload_t *u = all->first; u != NULL; u = u->next) {
        if (u->digests != NULL && u->folder == folder
            && memcmp(u->digests, chunks.data, PLACER_SHA1) == 0)
        {
            return true;
        }
    }

    return false;
}


static void
begin_assembly(uploads_t *all, client_t *client, const sym_rpc_message_t *m,
               const upload_folder_t *folder, size_t n_chunks)
{
    upload_t *u = create(all, client, m, folder);

    if (u == NULL) {
        refuse(client, m, -1, 0, "too many uploads at once");
        return;
    }

    copy_to(u->text, m->source);
    u->digests = malloc(m->chunks.len);
    if (u->digests == NULL) {
        answer(u, 0, "out of memory");
        return;
    }

    memcpy(u->digests, m->chunks.data, m->chunks.len);
    u->n_chunks = n_chunks;
    u->job = (placer_job_t){ .kind = PLACER_ASSEMBLE,
                             .folder = folder->fd,
                             .sha1 = u->digests,
                             .n_chunks = n_chunks };
    placer_add(all->placer, &u->job);
}


void
upload_assemble(uploads_t *all, client_t *client, const sym_rpc_message_t *m)
{
    const upload_folder_t *folder = find_folder(all, m->key.scope);
    size_t n = m->chunks.len / PLACER_SHA1 - 1;
    char note[NOTE_MAX], digits[SYM_RPC_CHUNKS_MAX + 1];

    if (folder == NULL) {
        refuse(client, m, -1, 0, NO_FOLDER);
    } else if (was_assembled(folder, (const uint8_t *) m->chunks.data, note)) {
        refuse(client, m, -1, SYM_RPC_DID, note);
    } else if (is_assembling(all, folder, m->chunks)) {
        refuse(client, m, -1, SYM_RPC_ANOTHER, "assembling");
    } else if (n == 0 || find_missing(folder, m->chunks, n, digits)) {
        refuse(client, m, -1, SYM_RPC_KEPT, n == 0 ? "" : digits);
    } else {
        begin_assembly(all, client, m, folder, n);
    }
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


/* --- the folders --- */

static bool
open_folder(uploads_t *all, const char *option, const char **path,
            sym_error_t *err)
{
    const char *equals = strchr(option, '=');
    upload_folder_t *f = &all->folders[all->n_folders];
    int fd;

    *path = equals + 1;
    f->source = sym_str(option, (size_t) (equals - option));
    f->fd = open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->fd < 0) {
        (void) sym_fail_sys(err, SYM_IO, "cannot open the folder", errno);
        return false;
    }

    all->n_folders++;
    fd = placer_temporary(f->fd);
    if (fd < 0) {
        (void) sym_fail_sys(err, SYM_IO, "cannot make a file in the folder",
                            errno);
        return false;
    }

    close(fd);
    return true;
}


bool
uploads_open(uploads_t *all, const char *const *options, unsigned n,
             const char **path, sym_error_t *err)
{
    for (unsigned i = 0; i < n; i++) {
        if (!open_folder(all, options[i], path, err)) {
            return false;
        }
    }

    if (n != 0) {
        all->placer = placer_create();
        if (all->placer == NULL) {
            (void) sym_fail_sys(err, SYM_IO, "cannot start a thread", errno);
            return false;
        }
    }

    return true;
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
