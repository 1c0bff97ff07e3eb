/*
 * pool.h - converters at work, seen from the loader.
 *
 * Keeps up to `jobs` converters, gives each one file at a time, and calls the
 * owner back as answers come in; all in one thread, around one poll().  The
 * pool believes nothing that a converter says: order, numbers and sizes are
 * checked before a callback sees them, and a converter that breaks the rules,
 * dies, or stops getting on is killed and its job fails with the reason.  A
 * converter that failed for any reason is not used again; where files come
 * from several owners (is_fresh) none is, so that what a file may have made of
 * its converter never meets another file.
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
    unsigned jobs;         /* conversions at once */
    unsigned threads;      /* that those share */
    uint64_t memory_bytes; /* address space of a converter */
    uint64_t max_expanded; /* bytes that compressed input may become */
    unsigned cpu_s;        /* CPU time of one conversion */
    unsigned stall_s;      /* time without reading or writing anything */
    unsigned wall_s;       /* time of one conversion in all; 0: any */
    bool is_fresh;         /* each job gets a converter that had none before */
} pool_limits_t;

/* For a companion callback that has to ask a client. */
#define POOL_LATER (-2)

/* The same, but it takes long: the job is to be submitted again then. */
#define POOL_WITHDRAW (-3)

/* A module that is in a file; views live during the call. */
typedef struct {
    sym_str_t name, id;
    sym_str_t code_id; /* "" unless is_nameless */
    sym_kind_t kind;   /* of the artifact that follows */
    bool is_nameless;  /* its format has no place for a name: name is what the
                          file is called in an archive, or nothing */
} pool_module_t;

/* How far the file is when one of its modules has ended. */
typedef struct {
    sym_conversion_format_t format;
    bool has_more; /* the job goes on with another module */
} pool_end_t;

/* A debug file that is sound, but has nothing for us (stripped, DWARF's shared
 * part only, ...): no fault, where it was only met in a folder. */
bool pool_has_nothing(const sym_error_t *err, const pool_end_t *end);

/*
 * `job` is what pool_submit() was given.  For each module of a file: module
 * once, extent any number of times, then done; or failed at any point.  After
 * a done or failed that says so the pool forgets the job.  A callback that
 * fails ends the job: failed follows, with the error it gave.
 */
typedef struct {
    sym_status_t (*module)(void *job, const pool_module_t *module,
                           sym_error_t *err);
    sym_status_t (*extent)(void *job, uint32_t number, const uint8_t *data,
                           size_t len, sym_error_t *err);
    sym_status_t (*done)(void *job, const converter_done_t *done,
                         const pool_end_t *end, sym_error_t *err);
    void (*failed)(void *job, const sym_error_t *err, const pool_end_t *end);

    /* A note about the file for its user; NULL: notes are dropped. */
    void (*note)(void *job, const char *text);

    /* A file that goes with it: a descriptor, which the pool closes, or -1, or
     * POOL_LATER: then pool_give() follows, and until it does no limit but
     * that of the whole time counts; or POOL_WITHDRAW: the pool forgets the
     * job.  NULL: files of the owner's have none. */
    int (*companion)(void *job, const sym_companion_t *want,
                     converter_given_t *given);
} pool_events_t;

/* NULL when out of memory. */
pool_t *pool_create(const pool_limits_t *limits, const pool_events_t *events);

/* Kills what still works, without callbacks. */
void pool_free(pool_t *pool);

/* Jobs under way, and whether one more can be taken now. */
unsigned pool_busy(const pool_t *pool);
bool pool_has_room(const pool_t *pool);

/* What a job reads, and which of several modules in it are wanted. */
typedef struct {
    int fd;            /* the caller's, and open until the job ends */
    uint64_t length;   /* from where it stands; CONVERTER_TO_END: all */
    sym_str_t id;      /* the one with this debug id only, */
    sym_str_t arch;    /* or that for this processor (arch.h); both "": all */
    bool is_arch_wish; /* if there is none for it, the first will do */
} pool_input_t;

sym_status_t pool_submit(pool_t *pool, const pool_input_t *input, void *job,
                         sym_error_t *err);

/* No more jobs come.  A converter is ended as soon as its last module is
 * whole, not asked to tidy up: what it gives back, which takes as long as
 * storing a large module does, the system takes meanwhile. */
void pool_last(pool_t *pool);

/* What was asked for when the companion callback gave POOL_LATER; fd: -1 if
 * there is no such file.  It is the pool's from now on. */
void pool_give(pool_t *pool, const void *job, int fd,
               const converter_given_t *given);

/*
 * Keeps a converter waiting for the next job as long as there is room for one
 * more, with is_fresh also while there is none; false: none can be started,
 * *err says why (it is tried again, not more than once a second).
 */
bool pool_prepare(pool_t *pool, sym_error_t *err);

/* Whether time must be looked at: a job is under way, or a converter is still
 * to be started ahead. */
bool pool_needs_time(pool_t *pool);

/*
 * To wait for converters together with other things: pool_poll() fills the
 * pool's part of what goes to poll(2), pool_slots() entries, and pool_handle()
 * takes that part afterwards and does what is to be done.  It is also to be
 * called about once a second as long as pool_needs_time().
 */
unsigned pool_slots(const pool_t *pool);
void pool_poll(const pool_t *pool, struct pollfd *polls);
void pool_handle(pool_t *pool, const struct pollfd *polls);

/*
 * For owners who wait for nothing else: up to timeout_ms for answers, and
 * handles them; sooner if a signal comes that sigmask (see ppoll(2)) lets
 * through.
 */
void pool_wait(pool_t *pool, int timeout_ms, const sigset_t *sigmask);

#endif
