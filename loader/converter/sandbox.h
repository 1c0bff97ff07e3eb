/*
 * sandbox.h - the sandbox that a converter enters.
 *
 * After sandbox_enter() the process, with all its threads, can read and map
 * the descriptors that the loader sends, answer on its socket, allocate memory
 * up to its limit, and exit.  Everything else (opening files, sockets,
 * processes, other programs, executable memory, signals, other limits) kills
 * it.  A process cannot leave the sandbox.
 *
 * CPU time is limited for each job separately, so the loader sets that limit
 * from outside (pool.c).
 */
#ifndef SYMLOADER_CONVERTER_SANDBOX_H
#define SYMLOADER_CONVERTER_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * AddressSanitizer maps terabytes of shadow memory, and makes further system
 * calls when it writes its report.  So in such builds memory has no limit,
 * stderr is writable, and a forbidden call fails with EPERM instead of killing
 * the process.  Installed programs are never built this way.
 */
#if defined(__SANITIZE_ADDRESS__)
#define SANDBOX_RELAXED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANDBOX_RELAXED 1
#endif
#endif

#ifndef SANDBOX_RELAXED
#define SANDBOX_RELAXED 0
#endif

/* memory_bytes: limit of the process's address space. */
bool sandbox_enter(int socket_fd, uint64_t memory_bytes);

#endif
