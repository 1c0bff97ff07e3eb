/*
 * placer.h - puts files into the folder of a source, durably.
 *
 * Copying and fsync() take long, so a thread of its own does them, one file after
 * the other; the daemon's loop polls a descriptor for what is done.  A file is
 * complete when its name appears: it is written without a name, in the same file
 * system, and both the file and its folders are on disk when the job is done.
 */
#ifndef SYMLOADER_DAEMON_PLACER_H
#define SYMLOADER_DAEMON_PLACER_H

#include <stdbool.h>
#include <stdint.h>

#include "sources/paths/plan.h"

#define PLACER_PATHS_MAX 64

typedef enum {
    PLACER_FILE,     /* gives the file its paths */
    PLACER_CHUNK,    /* the same, if the bytes have the digest `sha1` */
    PLACER_ASSEMBLE, /* makes a nameless file of chunks: fd, length */
    PLACER_JOIN,     /* the same of the parts of a symbfile: text is their path,
                        n_chunks their number; EBADMSG: a part has no header */
    PLACER_SWEEP,    /* chunks go whose files were not completed in time */
    PLACER_NOTE      /* a file with `text`; the chunks go */
} placer_kind_t;

/* Folders below that of a source, which no layout has. */
#define PLACER_CHUNKS ".chunks/"
#define PLACER_NOTES ".assembled/"
#define PLACER_SHA1 20

typedef struct placer_s placer_t;

/* The owner keeps it in place until placer_done() returns it. */
typedef struct placer_job_s {
    struct placer_job_s *next;
    placer_kind_t kind;
    int folder;
    const uint8_t *sha1; /* of the file; those of its chunks follow */
    size_t n_chunks;
    const char *text;
    int fd;              /* source of the bytes, */
    uint64_t at, length; /* and their range */
    bool is_nameless;    /* fd is a file without a name in `folder`: it gets the
                             names itself, without a copy */
    bool replaces;       /* files that exist; else these stay */
    unsigned n_paths;    /* below the folder */
    char paths[PLACER_PATHS_MAX][SYM_SOURCE_PATH_MAX + 1];

    /* the result */
    int error;    /* errno; 0: done; EBADMSG: another digest */
    bool is_same; /* the first path already had these bytes */
} placer_job_t;

/* NULL: errno says why. */
placer_t *placer_create(void);

/* Waits for the current job; others are dropped. */
void placer_free(placer_t *p);

/* A descriptor that is readable when a job is done. */
int placer_fd(const placer_t *p);

void placer_add(placer_t *p, placer_job_t *job);

/* The next job that is done; NULL: none. */
placer_job_t *placer_done(placer_t *p);

/* The path of a part below the folder. */
#define PLACER_PART_MAX 128
void placer_part(const char *path, size_t part, size_t parts,
                 char out[PLACER_PART_MAX]);

/* The chunks are not needed any more. */
void placer_drop_chunks(int folder, const uint8_t *sha1, size_t n_chunks);

/* A file without a name, for placer_job_t; -1: see errno. */
int placer_temporary(int folder);

#endif
