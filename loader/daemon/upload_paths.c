#include "daemon/upload_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/elf/elf.h"

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


void
upload_add_path(placer_job_t *job, sym_str_t path)
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


sym_status_t
upload_add_place(upload_t *u, const sym_object_ref_t *ref, unsigned files,
                 sym_error_t *err)
{
    sym_arena_t arena;
    sym_source_plan_t plan;
    sym_status_t rc;

    sym_arena_init(&arena, 0);
    rc = sym_source_plan(&arena, ref, &u->rules, files & u->rules.files,
                         SYM_DEBUG_FILES_FIRST, &plan);
    if (rc == SYM_OK && plan.n != 0) {
        upload_add_path(&u->job, plan.at[0].path);
    }

    sym_arena_drop(&arena);
    return rc == SYM_OK ? SYM_OK : sym_fail(err, rc, NULL);
}


/* Makes the paths of one module: for clients that know the type of the object,
 * and for those that know a name and an id. */
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
    unsigned n = u->job.n_paths, n_guessed;
    sym_object_ref_t guess;

    if (type == SYM_OBJECT_PE && files == SYM_FILE(PE) && own.len != 0) {
        whole.code_file = own;
    }

    sym_object_ref_mozilla(&guess, in->key.name, in->key.id);
    if (upload_add_place(u, &guess, files, err) != SYM_OK) {
        return err->status;
    }

    n_guessed = u->job.n_paths;
    if (upload_add_place(u, &whole, files, err) != SYM_OK) {
        return err->status;
    }

    if (n_guessed > n && u->job.n_paths > n_guessed) {
        u->job.is_alias[n_guessed] = true;
    }

    return SYM_OK;
}


sym_status_t
upload_find_path(const upload_t *u, const char *path, upload_path_t *found,
                 sym_error_t *err)
{
    const sym_path_key_t key = { .scope = u->folder->source,
                                 .path = sym_cstr(path) };
    sym_path_record_t record = { .outcome = 0 };
    sym_snapshot_t *snapshot;
    sym_status_t rc;

    rc = sym_snapshot_begin(u->all->conversions->store, &snapshot, err);
    if (rc != SYM_OK) {
        return rc;
    }

    rc = sym_snapshot_path(snapshot, &key, &record, err);
    *found = rc != SYM_OK || record.artifacts == 0 ? UPLOAD_PATH_UNKNOWN
             : record.outcome == SYM_PATH_READ     ? UPLOAD_PATH_READ
                                                   : UPLOAD_PATH_UNPLACED;
    sym_snapshot_end(snapshot);
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static bool
is_taken(const upload_t *u, unsigned path)
{
    struct stat st;

    return fstatat(u->folder->fd, u->job.paths[path], &st, 0) == 0;
}


/* The file at the first path is compared with the new one.  So if only the
 * other path has a file, it becomes the first. */
static void
sort_paths(upload_t *u)
{
    char path[sizeof(u->job.paths[0])];

    if (u->job.n_paths > 1 && u->job.is_alias[1] && !is_taken(u, 0)
        && is_taken(u, 1))
    {
        memcpy(path, u->job.paths[0], sizeof(path));
        memcpy(u->job.paths[0], u->job.paths[1], sizeof(path));
        memcpy(u->job.paths[1], path, sizeof(path));
    }
}


/* The store keeps the better of two files that it knows.  A bucket is asked
 * later. */
static sym_status_t
check_taken(upload_t *u, sym_error_t *err)
{
    upload_path_t found;

    if (u->is_known) {
        return SYM_OK;
    }

    if (u->part_bytes == 0) {
        sort_paths(u);
    }

    if (upload_find_path(u, u->job.paths[0], &found, err) != SYM_OK) {
        return err->status;
    }

    u->is_answered = found != UPLOAD_PATH_UNKNOWN;
    u->is_unplaced = found == UPLOAD_PATH_UNPLACED;
    u->is_doubtful =
        u->is_unplaced
        || (!u->is_answered && (u->part_bytes != 0 || is_taken(u, 0)));
    return SYM_OK;
}


/* --- a file that could not be placed --- */

/* Searches try the path again after this time. */
#define UNPLACED_S 60

static sym_path_key_t
place_of(const upload_t *u)
{
    return (sym_path_key_t){ .scope = u->folder->source,
                             .path = sym_cstr(u->job.paths[0]) };
}


void
upload_clear_path(const upload_t *u)
{
    const sym_path_key_t place = place_of(u);
    sym_error_t err = { 0 };
    uint64_t cleared;

    (void) sym_store_clear_path(u->all->conversions->store, place.scope,
                                place.path, &cleared, &err);
}


void
upload_not_at_path(const upload_t *u)
{
    sym_store_t *store = u->all->conversions->store;
    const sym_path_key_t place = place_of(u);
    const sym_path_record_t record = {
        .outcome = SYM_PATH_FAILED,
        .expires_at = (uint32_t) (time(NULL) + UNPLACED_S),
        .reader = sym_kinds_reader(),
        .word = SYM_STR("unplaced"),
        .reason = sym_str(u->reason, strnlen(u->reason, SYM_REASON_MAX)),
    };
    sym_path_ticket_t ticket;
    sym_error_t err = { 0 };

    if (!u->is_answered
        || sym_store_put_path(store, &place, &record, &ticket, &err) != SYM_OK
        || sym_store_flush_path(store, &ticket, &err) != SYM_OK)
    {
        upload_clear_path(u);
    }
}


/* Makes the record of the file and its place, for the store. */
void
upload_set_place(upload_t *u, submission_t *c)
{
    c->file.record = (sym_path_record_t){
        .status = 200,
        .reader = sym_kinds_reader(),
        .bytes = c->conversion.length,
    };
    (void) snprintf(c->file.path, sizeof(c->file.path), "%s", u->job.paths[0]);
    c->conversion.place = (sym_path_key_t){ .scope = u->folder->source,
                                            .path = sym_cstr(c->file.path) };
    c->conversion.file = &c->file.record;
}


/* The last of equally good files wins; a file that already existed counts as
 * first. */
#define LAST_PLACE 63

/* A part of other files, as dwz's: it is placed, and not stored. */
static sym_status_t
place_part(upload_t *u, submission_t *c, sym_conversion_format_t format,
           sym_error_t *err)
{
    upload_path_t found = UPLOAD_PATH_UNKNOWN;

    c->conversion.is_void = true;
    u->is_checked = true;
    upload_add_module(u, c, 0);
    if (add_paths(u, c, files_of(format, true), type_of(format), err) != SYM_OK)
    {
        return err->status;
    }

    if (u->job.n_paths == 0) {
        return sym_fail(err, SYM_UNSUPPORTED, UPLOAD_NO_PLACE);
    }

    if (upload_find_path(u, u->job.paths[0], &found, err) != SYM_OK) {
        return err->status;
    }

    return found == UPLOAD_PATH_UNKNOWN
               ? SYM_OK
               : sym_fail(err, SYM_UNSUPPORTED,
                          "a module with this build id is there");
}


/* A file without symbols, as a stripped program or a PE file, is placed, and not
 * stored: debuggers and unwinders ask for it.  One that has an artifact is
 * better. */
static sym_status_t
place_bare(upload_t *u, submission_t *c, sym_conversion_format_t format,
           sym_error_t *err)
{
    unsigned n = u->job.n_paths;

    c->conversion.is_void = true;
    if (u->is_old) {
        return SYM_OK;
    }

    upload_add_module(u, c, 0);
    if (add_paths(u, c, files_of(format, false), type_of(format), err)
        != SYM_OK) {
        return err->status;
    }

    if (u->job.n_paths == 0) {
        return sym_fail(err, SYM_UNSUPPORTED, UPLOAD_NO_PLACE);
    }

    if (n == 0 && check_taken(u, err) != SYM_OK) {
        return err->status;
    }

    u->is_checked = !u->is_answered && !u->is_doubtful;
    u->is_kept |= u->is_answered;
    return SYM_OK;
}


/* Opens dwz's supplementary file in the folder of the target. */
int
upload_open_part(const upload_t *u, const sym_companion_t *want,
                 uint64_t *length)
{
    char hex[2 * SYM_BUILD_ID_MAX];
    sym_object_ref_t ref = { .type = SYM_OBJECT_ELF };
    sym_source_plan_t plan;
    sym_arena_t arena;
    struct stat st;
    int fd = -1;

    if (want->kind != SYM_COMPANION_ALT || want->id_len > SYM_BUILD_ID_MAX
        || !sym_code_id_read_build_id(
            sym_str(hex,
                    sym_elf_code_id(
                        sym_str((const char *) want->id, want->id_len), hex)),
            &ref.code_id))
    {
        return -1;
    }

    sym_arena_init(&arena, 0);
    if (sym_source_plan(&arena, &ref, &u->rules,
                        SYM_FILE(ELF_DEBUG) & u->rules.files,
                        SYM_DEBUG_FILES_FIRST, &plan)
            == SYM_OK
        && plan.n != 0)
    {
        char path[SYM_SOURCE_PATH_MAX + 1];

        (void) snprintf(path, sizeof(path), "%.*s", (int) plan.at[0].path.len,
                        plan.at[0].path.data);
        fd = openat(u->folder->fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    sym_arena_drop(&arena);

    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    *length = fd >= 0 ? (uint64_t) st.st_size : 0;
    return fd;
}


sym_status_t
upload_place(submission_t *c, const converter_done_t *done,
             sym_conversion_format_t format, sym_error_t *err)
{
    upload_t *u = c->upload;
    unsigned n = u->job.n_paths;
    bool has_lines = (done->features & SYM_FEATURE_DEBUG_INFO) != 0;

    u->features |= done->features;
    u->format = format;
    if (u->is_doubtful) {
        c->conversion.is_void = true;
        return SYM_OK;
    }

    if (done->extents == 0) {
        return has_lines ? place_part(u, c, format, err)
                         : place_bare(u, c, format, err);
    }

    if (u->parts != 0) {
        return upload_symbfile_place(u, c, err);
    }

    if (!u->is_old
        && add_paths(u, c, files_of(format, has_lines), type_of(format), err)
               != SYM_OK)
    {
        return err->status;
    }

    if (u->job.n_paths == 0) {
        return sym_fail(err, SYM_UNSUPPORTED, UPLOAD_NO_PLACE);
    }

    if (n == 0 && check_taken(u, err) != SYM_OK) {
        return err->status;
    }

    c->conversion.is_void = u->is_doubtful;
    c->conversion.number = u->is_old ? LAST_PLACE : 0;
    upload_set_place(u, c);
    return SYM_OK;
}
