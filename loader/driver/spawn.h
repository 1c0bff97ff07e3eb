/*
 * spawn.h - starts converters, and reports how they ended.
 */
#ifndef SYMLOADER_DRIVER_SPAWN_H
#define SYMLOADER_DRIVER_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct {
    pid_t pid;
    int fd;             /* our end of its socket */
    uint64_t cpu_end_s; /* CPU time at which the kernel ends it */
} converter_t;

typedef struct {
    uint64_t memory_bytes; /* limit of its address space */
    uint64_t max_expanded; /* see input.h */
    unsigned threads;
    const char *swift; /* path of the Swift demangler, or as in
                          converter_protocol.h */
    bool has_archives; /* it reads zip, cab and tar, and starts at half speed */
    bool finds_calls;  /* it disassembles code; the library for it takes 2 ms to
                          load */
} converter_limits_t;

sym_status_t converter_start(const converter_limits_t *limits, converter_t *c,
                             sym_error_t *err);

/*
 * Same by fork(), without a new start of the program, which would take most of
 * a small file's time.  Such a converter has a copy of this process's memory,
 * and the same layout.  So call this in a process that has read only its
 * arguments, before it opens a store or a file, or starts a thread.  argv:
 * main()'s, which the converter wipes together with the environment.
 */
sym_status_t converter_fork(const converter_limits_t *limits, char **argv,
                            converter_t *c, sym_error_t *err);

/* Ends a converter that is no longer needed; it is reaped later. */
void converter_end(const converter_t *c);

/* Whether a converter that has closed its socket has ended, too. */
bool converter_is_dead(const converter_t *c);

/* Kills a converter unless it has ended, waits, and returns the wait status. */
int converter_reap(converter_t *c);

/* Makes the kernel end the process (SIGXCPU) after `seconds` more of CPU
 * time. */
bool converter_limit_cpu(converter_t *c, uint64_t seconds);

/* Same for a part of that time; 0: ends the part. */
bool converter_limit_part(const converter_t *c, uint64_t seconds);

/* Returns why a converter ended without a message. */
void converter_death(int wait_status, sym_error_t *err);

#endif
