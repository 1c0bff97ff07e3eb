/*
 * placer.h - puts files into the folder of a source, durably.
 *
 * Copying and fsync() take long, so a thread of its own does them, one job
 * after the other; the daemon's loop polls a descriptor for what is done.  A
 * file is complete when its name appears: it is written without a name, in the
 * same file system, and both the file and its folders are on disk when the job
 * is done.
 */
#ifndef SYMLOADER_DAEMON_PLACER_H
#define SYMLOADER_DAEMON_PLACER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <sys/types.h>

#include "base/md5.h"
#include "sources/paths/plan.h"

#define PLACER_PATHS_MAX 64

typedef enum {
    PLACER_FILE,     /* gives the file its names */
    PLACER_FILES,    /* same for several files */
    PLACER_CHUNK,    /* same as FILE, if the bytes have the digest `sha1` */
    PLACER_ASSEMBLE, /* makes a nameless file from chunks: fd, length */
    PLACER_JOIN,     /* same for the parts of a symbfile: text is their name,
                        n_chunks their number; EBADMSG: a part has no header */
    PLACER_APPEND,   /* adds a range to an incomplete file; the result is fd and
                        length of that file */
    PLACER_SWEEP,    /* removes the chunks and parts of files that were not
                        completed in time */
    PLACER_DIGEST,   /* calculates the MD5 of each part */
    PLACER_NOTE      /* writes a file with `text`; the chunks stay for a short
                        time */
} placer_kind_t;

/* Names of folders below a source's folder that no layout uses. */
#define PLACER_CHUNKS ".chunks/"
#define PLACER_NOTES ".assembled/"
#define PLACER_PARTS ".parts/"
#define PLACER_SHA1 20

typedef struct placer_s placer_t;

/* The file of a part: another one may get its name later. */
typedef struct {
    ino_t inode;
    struct timespec written;
} placer_part_t;

/* Maximum number of files in a job: each has a descriptor until all bytes are on
 * disk. */
#define PLACER_FILES_MAX 64

/* A job; the owner keeps it in place until placer_done() returns it. */
typedef struct placer_job_s {
    struct placer_job_s *next;
    placer_kind_t kind;
    int folder;
    const uint8_t *sha1; /* digest of the file; those of its chunks follow */
    size_t n_chunks;
    const char *text;
    placer_part_t *parts;          /* JOIN: the files that were joined */
    int fd;                        /* file with the bytes ... */
    uint64_t at, length;           /* ... and their range */
    uint64_t to;                   /* APPEND: where they belong */
    uint8_t (*md5)[SYM_MD5_BYTES]; /* digest of each part */
    uint64_t part_bytes;           /* size of a part */
    struct placer_job_s *files;    /* FILES: a job for each, with its result */
    size_t n_files;
    size_t number;    /* FILES: the owner's number of the file */
    bool is_nameless; /* fd is a file without a name in `folder`: it is not
                            copied, but gets the names itself */
    bool replaces;    /* replaces existing files; otherwise these stay */
    bool is_renewed;  /* a file with the same bytes becomes as good as new */
    unsigned n_paths; /* number of paths, relative to the folder */
    char paths[PLACER_PATHS_MAX][SYM_SOURCE_PATH_MAX + 1];
    bool is_alias[PLACER_PATHS_MAX]; /* another path of the same module as the
                                        path before */

    /* the result */
    int error;    /* errno; 0: done; EBADMSG: another digest */
    bool is_same; /* the first path already had these bytes */
} placer_job_t;

/* Creates a placer.  NULL: errno has the reason. */
placer_t *placer_create(void);

/* Waits for the current job; drops the others. */
void placer_free(placer_t *p);

/* Returns a descriptor that is readable when a job is done. */
int placer_fd(const placer_t *p);

void placer_add(placer_t *p, placer_job_t *job);

/* Returns the next job that is done; NULL: none. */
placer_job_t *placer_done(placer_t *p);

/* Makes the path of a part, relative to the folder. */
#define PLACER_PART_MAX 128
void placer_part(const char *name, size_t part, size_t parts,
                 char out[PLACER_PART_MAX]);

/* Parts of a file come within this time; older ones are of another push. */
#define PLACER_PART_KEPT_S ((time_t) 6 * 3600)

/* Creates a file without a name, for placer_job_t; -1: errno has the reason. */
int placer_temporary(int folder);

#endif
