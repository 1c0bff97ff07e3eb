/*
 * export.c - `symloader export`: artifacts of a store as files of a folder, for
 * another store.
 *
 * A file has the time at which its artifact was stored, so a second export only
 * writes what is new.  The store is read in slices: while a snapshot is open, its
 * pages cannot be used again.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digits.h"
#include "cli/commands.h"
#include "cli/outfile.h"
#include "common/write_all.h"
#include "store/artifact_head.h"

#define ENDING "symart"
#define MARKS_MAX (sizeof(".id.") + (size_t) 2 * SYM_REF_DIGEST_BYTES)

/* Bytes to be written in one snapshot. */
#define SLICE_BYTES ((uint64_t) 64 << 20)

typedef struct {
    session_t *session;
    sym_snapshot_t *snapshot;
    char path[PATH_MAX];
    int fd;      /* the file that is being written */
    uint64_t at; /* bytes in it */
    uint64_t slice_bytes;
    uint64_t written, bytes, kept, left_out;
    bool has_failed;
} export_t;


/* --- paths --- */

/* Names of files come from symbol files. */
static bool
is_plain(sym_str_t part)
{
    return part.len != 0 && part.len <= NAME_MAX
           && !sym_str_eq(part, SYM_STR("."))
           && !sym_str_eq(part, SYM_STR(".."))
           && memchr(part.data, '/', part.len) == NULL
           && memchr(part.data, '\0', part.len) == NULL;
}


/* What distinguishes files of one name, id and kind: whether the ids alone identify
 * the object, and the digest of its URL. */
static sym_str_t
marks(const sym_object_key_t *object, char text[MARKS_MAX])
{
    char *at = text;

    if (object->is_nameless) {
        sym_str_append(&at, SYM_STR(".id"));
    }

    if (object->has_digest) {
        *at++ = '.';
        at +=
            sym_digits_write_lower(object->digest, sizeof(object->digest), at);
    }

    return sym_str(text, (size_t) (at - text));
}


/* SOURCE/NAME/ID/KIND.symart below the folder. */
static bool
set_path(export_t *e, sym_str_t scope, const sym_object_record_t *record)
{
    char id[SYM_CODE_ID_MAX], text[MARKS_MAX];
    sym_str_t more = marks(&record->object, text);
    sym_str_t source = sym_scope_word(scope), name = record->object.name;
    sym_str_t shown = sym_object_shown_id(&record->object, id);
    int n;

    if (!is_plain(source) || !is_plain(name) || !is_plain(shown)) {
        return false;
    }

    n = snprintf(e->path, sizeof(e->path), "%s/%.*s/%.*s/%.*s/%s%.*s." ENDING,
                 e->session->options->operands[0], (int) source.len,
                 source.data, (int) name.len, name.data, (int) shown.len,
                 shown.data, sym_kind_name(record->kind), (int) more.len,
                 more.data);
    return n > 0 && (size_t) n < sizeof(e->path);
}


/* Makes the folders above the file. */
static bool
make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/'))
    {
        *slash = '\0';
        bool is_made = mkdir(path, 0777) == 0 || errno == EEXIST;

        *slash = '/';
        if (!is_made) {
            return false;
        }
    }

    return true;
}


static bool
is_kept(const export_t *e, const sym_object_record_t *record)
{
    struct stat st;

    return stat(e->path, &st) == 0 && st.st_mtime == record->stored_at;
}


/* --- a file --- */

static bool
put(export_t *e, const void *data, size_t len, sym_error_t *err)
{
    if (!write_all_at(e->fd, data, len, e->at)) {
        sym_fail_sys(err, SYM_IO, "cannot write", errno);
        return false;
    }

    e->at += len;
    return true;
}


static sym_status_t
write_extents(export_t *e, const sym_object_record_t *record, sym_error_t *err)
{
    for (uint32_t i = 0; i < record->extents; i++) {
        char head[SYM_ARTIFACT_EXTENT_HEAD];
        const uint8_t *data;
        size_t len;

        if (sym_snapshot_extent_checked(e->snapshot, record->module_id, i,
                                        &data, &len)
            != SYM_OK)
        {
            return sym_fail(err, SYM_DAMAGED, SYM_UNSOUND_REASON);
        }

        sym_artifact_file_extent(data, len, head);
        if (!put(e, head, sizeof(head), err) || !put(e, data, len, err)) {
            return err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
write_file(export_t *e, sym_str_t scope, const sym_object_record_t *record,
           sym_error_t *err)
{
    char head[SYM_ARTIFACT_HEAD_MAX];
    size_t len = sym_snapshot_artifact_head(e->snapshot, scope, record, head);
    struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
                                 { .tv_sec = record->stored_at } };

    if (len == 0) {
        return sym_fail(err, SYM_LIMIT, "its names are too long");
    }

    if (!put(e, head, len, err) || write_extents(e, record, err) != SYM_OK) {
        return err->status;
    }

    (void) futimens(e->fd, times);
    return SYM_OK;
}


static sym_status_t
export_artifact(export_t *e, sym_str_t scope, const sym_object_record_t *record,
                sym_error_t *err)
{
    if (!make_folders(e->path)) {
        return sym_fail_sys(err, SYM_IO, "cannot make the folder", errno);
    }

    e->at = 0;
    e->fd = outfile_open(e->path, err);
    if (e->fd < 0) {
        return err->status;
    }

    if (write_file(e, scope, record, err) != SYM_OK) {
        outfile_drop(e->fd);
        return err->status;
    }

    return outfile_keep(e->fd, e->path, err);
}


/* --- all of them --- */

static sym_status_t
export_one(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    export_t *e = ctx;
    sym_error_t err = { 0 };
    char text[512];

    if (record->state != SYM_MODULE_READY
        || (sym_str_starts(scope, SYM_STR(SYM_SCOPE_GIVEN))
            && e->session->options->source == NULL))
    {
        return SYM_OK;
    }

    if (!sym_object_can_travel(record) || !set_path(e, scope, record)) {
        e->left_out++;
        return SYM_OK;
    }

    if (is_kept(e, record)) {
        e->kept++;
        return SYM_OK;
    }

    if (export_artifact(e, scope, record, &err) != SYM_OK) {
        complain_about(e->path, "%s", sym_error_text(&err, text, sizeof(text)));
        e->has_failed = true;
        return SYM_OK;
    }

    e->written++;
    e->bytes += record->bytes;
    e->slice_bytes += record->bytes;
    return e->slice_bytes < SLICE_BYTES ? SYM_OK : SYM_AGAIN;
}


static int
export_store(session_t *r)
{
    export_t *e = r->ctx;
    const char *source = r->options->source;
    sym_str_t scope =
        source != NULL ? sym_scope_of_word(sym_cstr(source)) : SYM_STR("");
    sym_store_mark_t mark = { .len = 0 };
    sym_error_t err = { 0 };
    sym_status_t rc;

    e->session = r;
    do {
        uint64_t records = UINT64_MAX;

        e->slice_bytes = 0;
        if (sym_snapshot_begin(r->store, &e->snapshot, &err) != SYM_OK) {
            return store_failure(r->options, &err);
        }

        rc = sym_snapshot_objects(e->snapshot, source != NULL ? &scope : NULL,
                                  &mark, &records, export_one, e, &err);
        sym_snapshot_end(e->snapshot);
    } while (rc == SYM_AGAIN);

    if (rc != SYM_OK) {
        return store_failure(r->options, &err);
    }

    output_printf(r->out,
                  "%" PRIu64 " written (%" PRIu64 " bytes), %" PRIu64
                  " unchanged, %" PRIu64 " left out\n",
                  e->written, e->bytes, e->kept, e->left_out);
    return e->has_failed ? EXIT_PARTLY : EXIT_FINE;
}


int
export_run(const options_t *options)
{
    export_t e = { .written = 0 };

    return session_read(options, export_store, &e);
}
