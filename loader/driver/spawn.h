/*
 * spawn.h - starts converters, and tells what became of them.
 */
#ifndef SYMLOADER_DRIVER_SPAWN_H
#define SYMLOADER_DRIVER_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct {
    pid_t pid;
    int fd;             /* our end of its socket */
    uint64_t cpu_end_s; /* it ends when it has used so much */
} converter_t;

typedef struct {
    uint64_t memory_bytes; /* its address space */
    uint64_t max_expanded; /* see input.h */
    unsigned threads;
    const char *swift; /* path of the demangler of Swift, or as in
                          converter_protocol.h */
    bool has_archives; /* it reads zip, cab and tar, and starts at half speed */
} converter_limits_t;

sym_status_t converter_start(const converter_limits_t *limits, converter_t *c,
                             sym_error_t *err);

/*
 * The same without a new start of the program, which costs most of a small
 * file's time.  Such a converter has this process's memory and its layout.  So
 * this is for a process that has read its arguments and nothing else, before it
 * opens a store, starts a thread or meets a file.  argv: main()'s, which the
 * converter forgets, as it does the environment.
 */
sym_status_t converter_fork(const converter_limits_t *limits, char **argv,
                            converter_t *c, sym_error_t *err);

/* It is not needed any more; to be reaped later. */
void converter_end(const converter_t *c);

/* It has closed its socket: has it ended, too?  False: it lives on, for whatever
 * reason. */
bool converter_is_dead(const converter_t *c);

/* Kills it unless it is dead already, waits, and gives the wait status. */
int converter_reap(converter_t *c);

/* Ends the process (SIGXCPU) once it has used `seconds` more than by now. */
bool converter_limit_cpu(converter_t *c, uint64_t seconds);

/* The same for a part of that time; 0: the part is over. */
bool converter_limit_part(const converter_t *c, uint64_t seconds);

/* Why a converter that said nothing ended. */
void converter_death(int wait_status, sym_error_t *err);

#endif
