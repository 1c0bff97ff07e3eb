#include "daemon/upload_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"

/* FILEID/KIND/PART/PARTS; checked although it comes from a worker. */
bool
upload_symbfile_read(upload_t *u)
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
    (void) snprintf(u->set, sizeof(u->set), "%s.%s", id, kind);
    return u->is_ranges || strcmp(kind, "returnpads") == 0;
}


/* A bucket need not be asked: pads give the same frames as ranges. */
static sym_status_t
find_ranges(const upload_t *u, const char *path, bool *has, sym_error_t *err)
{
    upload_path_t found = UPLOAD_PATH_UNKNOWN;
    struct stat st;

    if (u->part_bytes == 0) {
        *has = fstatat(u->folder->fd, path, &st, 0) == 0;
        return SYM_OK;
    }

    (void) upload_find_path(u, path, &found, err);
    *has = found != UPLOAD_PATH_UNKNOWN;
    return err->status;
}


/* Ranges replace even better symbols.  Return pads are placed only if there are
 * no ranges.  A single part is only checked until all parts have arrived. */
sym_status_t
upload_symbfile_place(upload_t *u, submission_t *c, sym_error_t *err)
{
    char path[PLACER_PART_MAX];
    upload_path_t found = UPLOAD_PATH_UNKNOWN;
    bool has_ranges = false;

    if (u->format != SYM_CONVERSION_symbfile) {
        return sym_fail(err, SYM_UNSUPPORTED, "this is no symbfile");
    }

    (void) snprintf(path, sizeof(path), "%.*sranges",
                    (int) (strrchr(u->symbfile, '/') + 1 - u->symbfile),
                    u->symbfile);
    if (find_ranges(u, path, &has_ranges, err) != SYM_OK
        || upload_find_path(u, u->symbfile, &found, err) != SYM_OK)
    {
        return err->status;
    }

    u->is_answered = found != UPLOAD_PATH_UNKNOWN;

    u->is_checked = u->parts > 1 || (!u->is_ranges && has_ranges);
    if (u->parts > 1) {
        placer_part(u->set, u->part, u->parts, path);
    } else {
        (void) snprintf(path, sizeof(path), "%s", u->symbfile);
    }

    u->job.n_paths = 0;
    upload_add_path(&u->job, sym_cstr(path));
    c->conversion.is_void = u->is_checked;
    c->conversion.is_forced = u->is_ranges;
    upload_set_place(u, c);
    return SYM_OK;
}


static bool
is_part(int folder, const char *path, const placer_part_t *part)
{
    struct stat st;

    return fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW) == 0
           && st.st_ino == part->inode
           && st.st_mtim.tv_sec == part->written.tv_sec
           && st.st_mtim.tv_nsec == part->written.tv_nsec;
}


/* A part of the next push may have the name by now, or get it at this moment: the
 * placer works in another thread.  So the file is moved away before it is
 * removed, and comes back if it is another one. */
static void
drop_part(int folder, const char *path, const placer_part_t *part)
{
    static const char away[] = PLACER_PARTS "dropped";

    if (!is_part(folder, path, part)
        || renameat(folder, path, folder, away) != 0) {
        return;
    }

    if (!is_part(folder, away, part)) {
        (void) linkat(folder, away, folder, path, 0);
    }
    (void) unlinkat(folder, away, 0);
}


void
upload_symbfile_drop(const upload_t *u, unsigned parts)
{
    char path[PLACER_PART_MAX];

    for (unsigned i = 0; i < parts; i++) {
        placer_part(u->set, i, parts, path);
        drop_part(u->folder->fd, path, &u->joined_parts[i]);
    }
}


/* An old part is of a push that was never completed: parts of two pushes do not
 * fit together. */
static bool
has_all_parts(const upload_t *u)
{
    time_t oldest = time(NULL) - PLACER_PART_KEPT_S;
    char path[PLACER_PART_MAX];
    struct stat st;

    for (unsigned i = 0; i < u->parts; i++) {
        placer_part(u->set, i, u->parts, path);
        if (fstatat(u->folder->fd, path, &st, 0) != 0 || st.st_mtime < oldest) {
            return false;
        }
    }

    return true;
}


bool
upload_symbfile_may_go_on(const upload_t *u)
{
    const upload_t *other = u->all->first;

    while (other != NULL
           && !(other->is_joining && other->folder == u->folder
                && strcmp(other->set, u->set) == 0))
    {
        other = other->next;
    }

    return other == NULL;
}


/* Whether the last part of a symbfile has come: then all are made one file.  Two
 * clients may send a last part at once. */
bool
upload_symbfile_join(upload_t *u)
{
    if (u->parts < 2 || u->job.error != 0 || !has_all_parts(u)) {
        return false;
    }

    if (!upload_symbfile_may_go_on(u)) {
        u->is_waiting = true;
        return true;
    }

    free(u->joined_parts);
    u->joined_parts = calloc(u->parts, sizeof(*u->joined_parts));
    if (u->joined_parts == NULL) {
        return false;
    }

    u->is_joining = true;
    u->job = (placer_job_t){ .kind = PLACER_JOIN,
                             .folder = u->folder->fd,
                             .text = u->set,
                             .parts = u->joined_parts,
                             .n_chunks = u->parts };
    placer_add(u->all->placer, &u->job);
    return true;
}


/* Removes a complete set of parts when its file is reported, so that the next
 * set begins without parts. */
void
upload_symbfile_joined(upload_t *u)
{
    int error = u->job.error, fd = u->job.fd;
    uint64_t length = u->job.length;

    u->joined = error == 0 || error == EBADMSG ? u->parts : 0;
    u->job.n_paths = 0;
    if (error != 0) {
        (void) snprintf(
            u->reason, sizeof(u->reason), "cannot join the parts: %s",
            error == EBADMSG ? "one is no symbfile" : strerror(error));
        upload_report_file(u,
                           error == EBADMSG ? UPLOAD_REFUSED : UPLOAD_FAILED);
        upload_next_file(u);
        return;
    }

    u->members[u->current].fd = fd;
    u->members[u->current].length = length;
    u->parts = 1;
    upload_begin_current(u);
}
