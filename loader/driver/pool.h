/*
 * pool.h - the loader's pool of converter processes.
 *
 * The pool keeps up to `jobs` converters, passes each of them one file at a
 * time, and calls the owner back for each reply.  It uses one thread and one
 * poll().  Converters are not trusted: order, numbers and sizes are checked
 * before a callback gets them.  A converter that breaks the protocol, dies or
 * makes no progress is killed, and its job fails with the reason.  A converter
 * that failed is not used again.  If files come from several owners (is_fresh),
 * each file gets a new converter, so a compromised one never sees another file.
 */
#ifndef SYMLOADER_DRIVER_POOL_H
#define SYMLOADER_DRIVER_POOL_H

#include <poll.h>
#include <signal.h>

#include "base/error.h"
#include "metrics/loader.h"
#include "common/converter_protocol.h"

typedef struct pool_s pool_t;

typedef struct {
    unsigned jobs;         /* number of conversions at a time */
    unsigned threads;      /* total number of threads of all jobs */
    uint64_t memory_bytes; /* address space of a converter */
    uint64_t max_expanded; /* maximum size of one unpacked input */
    unsigned cpu_s;        /* limit of CPU time for one conversion */
    unsigned stall_s;      /* limit of time without progress */
    unsigned wall_s;       /* limit of total time for one conversion; 0: none */
    bool is_fresh;         /* uses a new converter for each job */
    const char *swift;     /* see converter_limits_t */
    bool finds_calls;      /* same */
} pool_limits_t;

/* Result of a companion callback: pool_give() will be called. */
#define POOL_LATER (-2)

/* Same, but it will take long, and the owner will submit the job again. */
#define POOL_WITHDRAW (-3)

/* A module of a file; views are valid during the call. */
typedef struct {
    sym_str_t name, id;
    sym_str_t code_id; /* "": none */
    sym_str_t digest;  /* digest of the object's URL, or "" */
    sym_kind_t kind;   /* kind of the artifact that follows */
    bool is_nameless;  /* its format contains no name; name is then the file's
                          name in an archive, or "" */
} pool_module_t;

/* The state of the file when one of its modules has ended. */
typedef struct {
    sym_conversion_format_t format;
    bool has_more; /* the job continues with another module */
} pool_end_t;

/* Whether a file is valid but has no symbols (stripped, dwz's supplementary
 * file, ...), which is not an error for a file found in a folder. */
bool pool_has_nothing(const sym_error_t *err, const pool_end_t *end);

/*
 * `job` is the argument of pool_submit().  For each module of a file: module()
 * once, extent() any number of times, then done(); or failed() at any point.
 * After one without has_more the pool forgets the job.  If a callback fails,
 * failed() is called with its error, and the job ends.
 */
typedef struct {
    sym_status_t (*module)(void *job, const pool_module_t *module,
                           sym_error_t *err);
    sym_status_t (*extent)(void *job, uint32_t number, const uint8_t *data,
                           size_t len, sym_error_t *err);
    sym_status_t (*done)(void *job, const converter_done_t *done,
                         const pool_end_t *end, sym_error_t *err);
    void (*failed)(void *job, const sym_error_t *err, const pool_end_t *end);

    /* Whether the job's next message can be handled now; false: the pool asks
     * again after POOL_HELD_MS.  NULL: always. */
    bool (*can_write)(void *job);

    /* Gets the debug id of one of several objects in the file; NULL: ids are
     * dropped. */
    void (*object)(void *job, sym_str_t id);

    /* If the job is an upload: called for a file, and for its next bytes if
     * they are packed.  At the end, listed() or failed() is called. */
    sym_status_t (*member)(void *job, const converter_member_t *member,
                           sym_error_t *err);
    sym_status_t (*bytes)(void *job, const uint8_t *data, size_t len,
                          sym_error_t *err);
    void (*listed)(void *job);

    /* Gets a note about the file for its user; NULL: notes are dropped. */
    void (*note)(void *job, const char *text);

    /* Opens a companion of the file.  Returns a descriptor, which the pool
     * closes, or -1.  It may also return POOL_LATER: until pool_give() is
     * called, only the limit of the total time applies.  Or POOL_WITHDRAW: the
     * pool drops the job.  NULL: the owner's files have no companions. */
    int (*companion)(void *job, const sym_companion_t *want,
                     converter_given_t *given);
} pool_events_t;

/* Creates a pool.  NULL: out of memory. */
pool_t *pool_create(const pool_limits_t *limits, const pool_events_t *events);

/* Kills running converters, without callbacks. */
void pool_free(pool_t *pool);

/*
 * Forks the first converter from a process without secrets (see
 * converter_fork() in spawn.h): before anything is opened.  If that fails, it
 * is started like the others, when a file needs it.
 */
void pool_fork(pool_t *pool, char **argv);

/* Ends that converter, because there is nothing to convert. */
void pool_unfork(pool_t *pool);

/* Return the number of running jobs, and whether one more can start now.  With
 * is_fresh, one job beyond `jobs` can start if its owner has none running. */
unsigned pool_busy(const pool_t *pool);
unsigned pool_jobs(const pool_t *pool);
bool pool_has_room(const pool_t *pool);
bool pool_has_reserve(const pool_t *pool);

/* The input of a job, and which of its modules are wanted. */
typedef struct {
    int fd;              /* the caller keeps it open until the job ends */
    uint64_t length;     /* number of bytes from its position on;
                            CONVERTER_TO_END: all */
    sym_str_t id;        /* only the module with this debug id ... */
    sym_str_t arch;      /* ... or for this processor (arch.h); both "": all */
    bool is_arch_wish;   /* if none matches, use the first */
    unsigned kinds;      /* kinds of artifacts: sym_format_file_t.kinds */
    unsigned upload;     /* see converter_job_t */
    bool takes_empty;    /* see sym_format_services_t.takes_empty */
    bool takes_parts;    /* see sym_format_services_t.takes_parts */
    unsigned make;       /* 1 + a sym_make_t; 0: artifacts */
    sym_str_t make_name; /* name of the section, module or source file */
    unsigned text;       /* 1 + the text's sym_text_role_t: it becomes module
                            `id` */
    sym_str_t reference; /* see sym_format_file_t.reference */
} pool_input_t;

sym_status_t pool_submit(pool_t *pool, const pool_input_t *input, void *job,
                         sym_error_t *err);

/* Announces that there will be no more jobs.  A converter is then killed when
 * its last module is complete.  Freeing its memory takes as long as storing a
 * large module, but then happens in the background. */
void pool_last(pool_t *pool);

/* Answers a companion callback that returned POOL_LATER.  The pool now owns fd;
 * -1: no such file. */
void pool_give(pool_t *pool, const void *job, int fd,
               const converter_given_t *given);

/*
 * Keeps an idle converter ready while there is room for another job; with
 * is_fresh always.  False: it cannot be started, *err has the reason; the pool
 * tries again at most once a second.
 */
bool pool_prepare(pool_t *pool, sym_error_t *err);

/* Whether a converter waits until its owner can write: pool_handle() must be
 * called after POOL_HELD_MS. */
#define POOL_HELD_MS 5
bool pool_is_held(const pool_t *pool);

/* Whether pool_handle() must be called about once a second even if no
 * descriptor is ready: a job runs, or a converter has to be started. */
bool pool_needs_time(pool_t *pool);

/* For owners with a poll(2) of their own: pool_poll() fills in pool_slots()
 * entries, and pool_handle() handles their results. */
unsigned pool_slots(const pool_t *pool);
void pool_poll(const pool_t *pool, struct pollfd *polls);
void pool_handle(pool_t *pool, const struct pollfd *polls);

/* For other owners: waits up to timeout_ms, or until a signal that sigmask lets
 * through (ppoll(2)), and handles events. */
void pool_wait(pool_t *pool, int timeout_ms, const sigset_t *sigmask);

#endif
