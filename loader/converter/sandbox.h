/*
 * sandbox.h - the box that a converter locks itself into.
 *
 * After sandbox_enter() the process, with all its threads, can read and map the
 * descriptors that the loader sends, answer on its socket, get memory up to its
 * cap, and end.  Everything
 * else (opening files, sockets, processes, other programs, executable memory,
 * signals, other limits) kills it.  There is no way out again.
 *
 * CPU time is counted for one job at a time, so the loader sets that limit,
 * from outside (pool.c).
 */
#ifndef SYMLOADER_CONVERTER_SANDBOX_H
#define SYMLOADER_CONVERTER_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * AddressSanitizer maps terabytes of shadow memory, and asks the system for
 * things while it writes its report: under it there is no cap on memory, stderr
 * can be written, and a forbidden call fails with EPERM instead of killing.
 * Programs that are shipped are not built so.
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

/* memory_bytes: most address space that the process may have. */
bool sandbox_enter(int socket_fd, uint64_t memory_bytes);

#endif
