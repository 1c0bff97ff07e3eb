#include "daemon/placer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha1.h"
#include "protocol/message.h"

/* The disk begins to write a file after this many bytes of a copy, so that
 * fsync() has less left to do. */
#define COPY_BYTES ((uint64_t) 32 << 20)

#define PIECE_BYTES ((size_t) 128 * 1024)

struct placer_s {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    placer_job_t *first, **last;
    placer_job_t *done, **last_done;
    bool is_ending;
    int event_fd;
    uint64_t number; /* number for the next temporary name */
    char *piece;     /* buffer of two PIECE_BYTES */
};


int
placer_temporary(int folder)
{
    int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);

    /* readable for nginx's workers, whatever the umask is */
    if (fd >= 0) {
        (void) fchmod(fd, 0644);
    }

    return fd;
}


/* --- bytes --- */

static bool
write_all(int fd, const char *data, size_t len)
{
    while (len != 0) {
        ssize_t n = write(fd, data, len);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        if (n > 0) {
            data += n;
            len -= (size_t) n;
        }
    }

    return true;
}


/* Reads exactly len bytes. */
static bool
read_all(int fd, char *to, size_t len, uint64_t at)
{
    while (len != 0) {
        ssize_t n = pread(fd, to, len, (off_t) at);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
            return false;
        }
        to += n;
        len -= (size_t) n;
        at += (uint64_t) n;
    }

    return true;
}


/* Lets the kernel copy if the file system can; it then may share the blocks. */
static bool
copy(const placer_t *p, const placer_job_t *job, int to)
{
    uint64_t left = job->length, at = job->at;

    while (left != 0) {
        off_t from = (off_t) at;
        ssize_t n = copy_file_range(job->fd, &from, to, NULL,
                                    left < COPY_BYTES ? left : COPY_BYTES, 0);

        if (n <= 0) {
            size_t len = left < PIECE_BYTES ? (size_t) left : PIECE_BYTES;

            if (!read_all(job->fd, p->piece, len, at)
                || !write_all(to, p->piece, len)) {
                return false;
            }
            n = (ssize_t) len;
        }

        at += (uint64_t) n;
        left -= (uint64_t) n;
        if (left != 0 && n > (ssize_t) PIECE_BYTES) {
            (void) sync_file_range(to, 0, 0, SYNC_FILE_RANGE_WRITE);
        }
    }

    return true;
}


static bool
has_same_bytes(const placer_t *p, const placer_job_t *job)
{
    int fd =
        openat(job->folder, job->paths[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    bool is_same = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
                   && (uint64_t) st.st_size == job->length;

    for (uint64_t at = 0; is_same && at < job->length; at += PIECE_BYTES) {
        size_t len = job->length - at < PIECE_BYTES
                         ? (size_t) (job->length - at)
                         : PIECE_BYTES;

        is_same = read_all(job->fd, p->piece, len, job->at + at)
                  && read_all(fd, p->piece + PIECE_BYTES, len, at)
                  && memcmp(p->piece, p->piece + PIECE_BYTES, len) == 0;
    }

    if (fd >= 0) {
        close(fd);
    }

    return is_same;
}


/* --- names --- */

static void
close_kept(int fd)
{
    int error = errno;

    if (fd >= 0) {
        close(fd);
    }
    errno = error;
}


/* Opens a folder in the folder fd, which it closes. */
static int
enter(int fd, const char *name, size_t len, bool is_made)
{
    char part[SYM_SOURCE_PATH_MAX + 1];
    int next;

    memcpy(part, name, len);
    part[len] = '\0';
    if (is_made && mkdirat(fd, part, 0755) == 0) {
        (void) fchmodat(fd, part, 0755, 0);
    }

    next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close_kept(fd);
    return next;
}


/* Opens the folder of a path below `folder`, and creates it if necessary; -1:
 * errno has the reason. */
static int
open_parent(int folder, const char *path, const char **name)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *slash;

    for (*name = path; fd >= 0 && (slash = strchr(*name, '/')) != NULL;
         *name = slash + 1)
    {
        fd = enter(fd, *name, (size_t) (slash - *name), true);
    }

    return fd;
}


/* Folders that are on disk.  If there are more, some are synced again. */
#define SYNCED_MAX 1024

typedef struct {
    size_t n;
    struct {
        dev_t device;
        ino_t inode;
    } at[SYNCED_MAX];
} synced_t;

static bool
sync_folder(synced_t *synced, int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0) {
        return false;
    }

    for (size_t i = 0; i < synced->n; i++) {
        if (synced->at[i].inode == st.st_ino
            && synced->at[i].device == st.st_dev) {
            return true;
        }
    }

    if (fsync(fd) != 0) {
        return false;
    }

    if (synced->n < SYNCED_MAX) {
        synced->at[synced->n].device = st.st_dev;
        synced->at[synced->n++].inode = st.st_ino;
    }

    return true;
}


/* Also for folders that were there: a daemon may have been killed after it
 * created them. */
static bool
sync_path(synced_t *synced, int folder, const char *path)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_ok = fd >= 0 && sync_folder(synced, fd);
    const char *slash;

    while (is_ok && (slash = strchr(path, '/')) != NULL) {
        fd = enter(fd, path, (size_t) (slash - path), false);
        path = slash + 1;
        is_ok = fd >= 0 && sync_folder(synced, fd);
    }

    close_kept(fd);
    return is_ok;
}


static bool
is_file_at(int fd, int parent, const char *name)
{
    struct stat file, at;

    return fstat(fd, &file) == 0
           && fstatat(parent, name, &at, AT_SYMLINK_NOFOLLOW) == 0
           && file.st_dev == at.st_dev && file.st_ino == at.st_ino;
}


/* Gives the file a name.  Also true if it has this name, or if an existing file
 * must not be replaced. */
static bool
give_name(placer_t *p, const placer_job_t *job, int fd, int parent,
          const char *name)
{
    char self[64], temporary[64];

    (void) snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, self, parent, name, AT_SYMLINK_FOLLOW) == 0) {
        return true;
    }

    if (errno != EEXIST) {
        return false;
    }

    if (!job->replaces || is_file_at(fd, parent, name)) {
        return true;
    }

    (void) snprintf(temporary, sizeof(temporary), ".symloader-%d-%llu",
                    (int) getpid(), (unsigned long long) ++p->number);
    (void) unlinkat(parent, temporary, 0); /* a killed daemon may have left
                                              it */
    if (linkat(AT_FDCWD, self, parent, temporary, AT_SYMLINK_FOLLOW) != 0) {
        return false;
    }

    if (renameat(parent, temporary, parent, name) != 0) {
        int error = errno;

        (void) unlinkat(parent, temporary, 0);
        errno = error;
        return false;
    }

    return true;
}


/* The file at a module's first path gets the other one, too; unless it is of
 * another user, and the kernel protects it. */
static bool
give_alias(const placer_job_t *job, unsigned path, int parent, const char *name)
{
    return linkat(job->folder, job->paths[path - 1], parent, name,
                  AT_SYMLINK_FOLLOW)
               == 0
           || errno == EEXIST || errno == EPERM;
}


static bool
give_names(placer_t *p, const placer_job_t *job, int fd)
{
    bool is_ok = true;

    for (unsigned i = 0; is_ok && i < job->n_paths; i++) {
        const char *name;
        int parent = open_parent(job->folder, job->paths[i], &name);

        is_ok = parent >= 0
                && (job->is_alias[i] && !job->replaces
                        ? give_alias(job, i, parent, name)
                        : give_name(p, job, fd, parent, name));
        close_kept(parent);
    }

    return is_ok;
}


static bool
sync_paths(synced_t *synced, const placer_job_t *job)
{
    bool is_ok = true;

    for (unsigned i = 0; is_ok && i < job->n_paths; i++) {
        is_ok = sync_path(synced, job->folder, job->paths[i]);
    }

    return is_ok;
}


static bool
place(placer_t *p, const placer_job_t *job, int fd)
{
    synced_t synced;

    synced.n = 0;
    return fsync(fd) == 0 && give_names(p, job, fd) && sync_paths(&synced, job);
}


/* --- chunks --- */

static void
chunk_path(const uint8_t *sha1,
           char path[sizeof(PLACER_CHUNKS) + SYM_SHA1_TEXT])
{
    memcpy(path, PLACER_CHUNKS, sizeof(PLACER_CHUNKS) - 1);
    sym_sha1_write(sha1, path + sizeof(PLACER_CHUNKS) - 1);
}


/* If clients continue later than this, they must send their chunks again. */
#define CHUNK_KEPT_S ((time_t) 2 * 86400)

/* Chunks of a complete file stay so long: another file, whose client knows that
 * they are there, may share them. */
#define CHUNK_SHARED_S ((time_t) 3600)

static void
age_chunks(const placer_job_t *job)
{
    const struct timespec at = { .tv_sec = time(NULL) - CHUNK_KEPT_S
                                           + CHUNK_SHARED_S };
    const struct timespec times[2] = { at, at };
    char path[sizeof(PLACER_CHUNKS) + SYM_SHA1_TEXT];

    for (size_t i = 0; i < job->n_chunks; i++) {
        chunk_path(job->sha1 + PLACER_SHA1 * (i + 1), path);
        (void) utimensat(job->folder, path, times, 0);
    }
}


/* No other process has the file open, so it does not change while it is
 * mapped. */
static bool
has_digest(int fd, uint64_t length, const uint8_t *sha1)
{
    uint8_t is[SYM_SHA1_BYTES];
    void *map;

    if (length == 0) {
        errno = EBADMSG;
        return false;
    }

    map = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
        return false;
    }

    sym_sha1(sym_str(map, length), SYM_STR(""), is);
    munmap(map, length);
    errno = EBADMSG;
    return memcmp(is, sha1, sizeof(is)) == 0;
}


static bool
append_chunk(placer_t *p, placer_job_t *job, const uint8_t *sha1, int to)
{
    char path[sizeof(PLACER_CHUNKS) + SYM_SHA1_TEXT];
    placer_job_t chunk = { .at = 0 };
    struct stat st;
    bool is_ok;

    chunk_path(sha1, path);
    chunk.fd = openat(job->folder, path, O_RDONLY | O_CLOEXEC);
    is_ok = chunk.fd >= 0 && fstat(chunk.fd, &st) == 0;
    chunk.length = is_ok ? (uint64_t) st.st_size : 0;
    if (is_ok && chunk.length > SYM_RPC_FILE_LENGTH_MAX - job->length) {
        errno = EBADMSG;
        is_ok = false;
    }
    is_ok = is_ok && copy(p, &chunk, to);
    job->length += chunk.length;
    if (chunk.fd >= 0) {
        close(chunk.fd);
    }

    return is_ok;
}


static void
assemble(placer_t *p, placer_job_t *job)
{
    int fd = placer_temporary(job->folder);
    bool is_ok = fd >= 0;

    job->length = 0;
    for (size_t i = 0; is_ok && i < job->n_chunks; i++) {
        is_ok = append_chunk(p, job, job->sha1 + PLACER_SHA1 * (i + 1), fd);
    }

    is_ok = is_ok && has_digest(fd, job->length, job->sha1);
    job->error = is_ok ? 0 : errno;
    job->fd = is_ok ? fd : -1;
    if (!is_ok && fd >= 0) {
        close(fd);
    }
}


static void
sweep(int folder, const char *below, time_t kept_s)
{
    int fd = openat(folder, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    time_t oldest = time(NULL) - kept_s;
    const struct dirent *entry;
    struct stat st;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0
            && S_ISREG(st.st_mode) && st.st_mtime < oldest)
        {
            (void) unlinkat(fd, entry->d_name, 0);
        }
    }

    if (dir != NULL) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
}


void
placer_part(const char *name, size_t part, size_t parts,
            char out[PLACER_PART_MAX])
{
    (void) snprintf(out, PLACER_PART_MAX, PLACER_PARTS "%s.%zu-%zu", name, part,
                    parts);
}


/* Each part begins with the magic and an empty header; the rests of all parts
 * form one symbfile. */
static bool
append_part(placer_t *p, placer_job_t *job, size_t number, int to)
{
    static const char header[10] = "symbfile\0\1";
    char path[PLACER_PART_MAX], begin[sizeof(header)];
    placer_job_t part = { .at = number == 0 ? 0 : sizeof(header) };
    struct stat st;
    bool is_ok;

    placer_part(job->text, number, job->n_chunks, path);
    part.fd = openat(job->folder, path, O_RDONLY | O_CLOEXEC);
    is_ok = part.fd >= 0 && fstat(part.fd, &st) == 0
            && read_all(part.fd, begin, sizeof(begin), 0);
    if (is_ok && memcmp(begin, header, sizeof(header)) != 0) {
        errno = EBADMSG;
        is_ok = false;
    }
    if (is_ok) {
        job->parts[number] = (placer_part_t){ st.st_ino, st.st_mtim };
        part.length = (uint64_t) st.st_size - part.at;
        job->length += part.length;
        is_ok = copy(p, &part, to);
    }
    if (part.fd >= 0) {
        close(part.fd);
    }

    return is_ok;
}


static void
join(placer_t *p, placer_job_t *job)
{
    int fd = placer_temporary(job->folder);
    bool is_ok = fd >= 0;

    job->length = 0;
    for (size_t i = 0; is_ok && i < job->n_chunks; i++) {
        is_ok = append_part(p, job, i, fd);
    }

    job->error = is_ok ? 0 : errno;
    job->fd = is_ok ? fd : -1;
    if (!is_ok && fd >= 0) {
        close(fd);
    }
}


static bool
write_range(placer_t *p, const placer_job_t *job, int fd)
{
    synced_t synced;

    synced.n = 0;
    return lseek(fd, (off_t) job->to, SEEK_SET) >= 0 && copy(p, job, fd)
           && fsync(fd) == 0 && sync_path(&synced, job->folder, job->paths[0]);
}


/* A range that begins after the end of the file is not added: the client learns
 * from the length where to go on. */
static void
append(placer_t *p, placer_job_t *job)
{
    const char *name;
    int parent = open_parent(job->folder, job->paths[0], &name);
    int fd = parent < 0
                 ? -1
                 : openat(parent, name,
                          O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    struct stat st;
    bool is_ok = fd >= 0 && fstat(fd, &st) == 0;

    close_kept(parent);
    if (is_ok && job->length != 0 && job->to <= (uint64_t) st.st_size) {
        is_ok = write_range(p, job, fd) && fstat(fd, &st) == 0;
    }

    job->error = is_ok ? 0 : errno;
    job->length = is_ok ? (uint64_t) st.st_size : 0;
    if (!is_ok) {
        close_kept(fd);
    }
    job->fd = is_ok ? fd : -1;
}


static void
note(placer_t *p, placer_job_t *job)
{
    int fd = placer_temporary(job->folder);
    bool is_ok = fd >= 0 && write_all(fd, job->text, strlen(job->text))
                 && place(p, job, fd);

    job->error = is_ok ? 0 : errno;
    if (fd >= 0) {
        close(fd);
    }
    if (is_ok) {
        age_chunks(job);
    }
}


static bool
digest_part(const placer_t *p, const placer_job_t *job, uint64_t at,
            uint64_t length, uint8_t out[SYM_MD5_BYTES])
{
    sym_md5_t md5;

    sym_md5_begin(&md5);
    for (uint64_t done = 0; done < length; done += PIECE_BYTES) {
        size_t len = length - done < PIECE_BYTES ? (size_t) (length - done)
                                                 : PIECE_BYTES;

        if (!read_all(job->fd, p->piece, len, job->at + at + done)) {
            return false;
        }
        sym_md5_add(&md5, p->piece, len);
    }

    sym_md5_end(&md5, out);
    return true;
}


static void
digest(const placer_t *p, placer_job_t *job)
{
    bool is_ok = true;

    for (uint64_t at = 0, i = 0; is_ok && at < job->length;
         at += job->part_bytes, i++)
    {
        uint64_t left = job->length - at;

        is_ok = digest_part(p, job, at,
                            left < job->part_bytes ? left : job->part_bytes,
                            job->md5[i]);
    }

    job->error = is_ok ? 0 : errno;
}


/* --- jobs --- */

/* Makes a file without a name from the bytes. */
static int
copy_out(const placer_t *p, const placer_job_t *job)
{
    int fd = placer_temporary(job->folder);

    if (fd >= 0
        && (!copy(p, job, fd)
            || (job->kind == PLACER_CHUNK
                && !has_digest(fd, job->length, job->sha1))))
    {
        close_kept(fd);
        return -1;
    }

    return fd;
}


/* The file with the bytes and those of its names that are there: an existing
 * file, or one without a name.  -1: errno has the reason. */
static int
prepare(const placer_t *p, placer_job_t *job)
{
    int fd;

    job->is_same = has_same_bytes(p, job);
    if (!job->is_same) {
        return job->is_nameless ? job->fd : copy_out(p, job);
    }

    fd = openat(job->folder, job->paths[0], O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && job->is_renewed && futimens(fd, NULL) != 0) {
        close_kept(fd);
        return -1;
    }

    return fd;
}


static void
close_prepared(const placer_job_t *job, int fd)
{
    if (fd != job->fd) {
        close_kept(fd);
    }
}


static void
place_one(placer_t *p, placer_job_t *job)
{
    int fd = prepare(p, job);

    job->error = fd >= 0 && place(p, job, fd) ? 0 : errno;
    close_prepared(job, fd);
}


/* Same as one after the other, but the disk writes all files at once, and each
 * folder once. */
static void
place_all(placer_t *p, placer_job_t *jobs, size_t n)
{
    int fds[PLACER_FILES_MAX];
    synced_t synced;

    for (size_t i = 0; i < n; i++) {
        fds[i] = prepare(p, &jobs[i]);
        jobs[i].error = fds[i] >= 0 ? 0 : errno;
        if (fds[i] >= 0) {
            (void) sync_file_range(fds[i], 0, 0, SYNC_FILE_RANGE_WRITE);
        }
    }

    for (size_t i = 0; i < n; i++) {
        if (jobs[i].error == 0 && fsync(fds[i]) != 0) {
            jobs[i].error = errno;
        }
    }

    for (size_t i = 0; i < n; i++) {
        if (jobs[i].error == 0 && !give_names(p, &jobs[i], fds[i])) {
            jobs[i].error = errno;
        }
        close_prepared(&jobs[i], fds[i]);
    }

    synced.n = 0;
    for (size_t i = 0; i < n; i++) {
        if (jobs[i].error == 0 && !sync_paths(&synced, &jobs[i])) {
            jobs[i].error = errno;
        }
    }
}


static void
run(placer_t *p, placer_job_t *job)
{
    job->error = 0;
    if (job->kind == PLACER_ASSEMBLE) {
        assemble(p, job);
        return;
    }
    if (job->kind == PLACER_SWEEP) {
        sweep(job->folder, PLACER_CHUNKS, CHUNK_KEPT_S);
        sweep(job->folder, PLACER_PARTS, PLACER_PART_KEPT_S);
        return;
    }
    if (job->kind == PLACER_JOIN) {
        join(p, job);
        return;
    }
    if (job->kind == PLACER_APPEND) {
        append(p, job);
        return;
    }
    if (job->kind == PLACER_DIGEST) {
        digest(p, job);
        return;
    }
    if (job->kind == PLACER_NOTE) {
        note(p, job);
        return;
    }

    if (job->kind == PLACER_FILES) {
        place_all(p, job->files, job->n_files);
        return;
    }

    place_one(p, job);
}


/* --- the thread --- */

static void *
work(void *arg)
{
    placer_t *p = arg;

    pthread_mutex_lock(&p->lock);
    while (!p->is_ending) {
        placer_job_t *job = p->first;

        if (job == NULL) {
            pthread_cond_wait(&p->work, &p->lock);
            continue;
        }

        p->first = job->next;
        p->last = p->first == NULL ? &p->first : p->last;
        pthread_mutex_unlock(&p->lock);
        run(p, job);
        pthread_mutex_lock(&p->lock);

        job->next = NULL;
        *p->last_done = job;
        p->last_done = &job->next;
        (void) eventfd_write(p->event_fd, 1);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}


/* The thread blocks signals, because the loop handles them. */
static bool
start(placer_t *p)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&p->thread, NULL, work, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = rc;
    return rc == 0;
}


placer_t *
placer_create(void)
{
    placer_t *p = calloc(1, sizeof(*p));

    if (p == NULL) {
        return NULL;
    }

    p->last = &p->first;
    p->last_done = &p->done;
    p->piece = malloc(2 * PIECE_BYTES);
    p->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    if (p->piece == NULL || p->event_fd < 0 || !start(p)) {
        free(p->piece);
        free(p);
        return NULL;
    }

    return p;
}


void
placer_free(placer_t *p)
{
    if (p == NULL) {
        return;
    }

    pthread_mutex_lock(&p->lock);
    p->is_ending = true;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    close(p->event_fd);
    free(p->piece);
    free(p);
}


int
placer_fd(const placer_t *p)
{
    return p->event_fd;
}


void
placer_add(placer_t *p, placer_job_t *job)
{
    job->next = NULL;
    pthread_mutex_lock(&p->lock);
    *p->last = job;
    p->last = &job->next;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}


placer_job_t *
placer_done(placer_t *p)
{
    placer_job_t *job;
    eventfd_t n;

    pthread_mutex_lock(&p->lock);
    (void) eventfd_read(p->event_fd, &n);
    job = p->done;
    if (job != NULL) {
        p->done = job->next;
        p->last_done = p->done == NULL ? &p->done : p->last_done;
    }
    if (p->done != NULL) {
        (void) eventfd_write(p->event_fd, 1);
    }
    pthread_mutex_unlock(&p->lock);
    return job;
}
