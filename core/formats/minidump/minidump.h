/*
 * minidump.h - the data of a minidump that the parts of its reader share.
 * Private to this format.
 *
 *     open.c      the header, the directory, lists and texts
 *     system.c    the processor and the system
 *     context.c   registers of a thread
 *     modules.c   modules and their ids
 *     memory.c    which bytes of the file are the stacks of threads
 *     threads.c   threads, their names; stacks that the client has walked
 *     reason.c    why the process ended; windows.c: codes of Windows
 *     notes.c     other facts: annotations, texts of Linux and macOS
 *     convert.c   the format's row
 *
 * The layout is that of Microsoft's minidumpapiset.h with the streams of
 * Breakpad (minidump_format.h) and Crashpad (minidump_extensions.h).  Numbers
 * have the byte order of the process that crashed.
 *
 * No count is trusted: lists are bounded by the bytes of their stream, what is
 * kept by the limits of artifacts/crash/format.h, and texts by the arena.  A
 * part that cannot be read counts as absent, as it does for Symbolicator; only
 * a dump without header, directory, system or threads is refused.
 */
#ifndef SYM_FORMATS_MINIDUMP_MINIDUMP_H
#define SYM_FORMATS_MINIDUMP_MINIDUMP_H

#include "artifacts/crash/format.h"
#include "base/arena.h"
#include "base/cursor.h"

/* Types of streams that are read. */
typedef enum {
    MINIDUMP_THREADS,
    MINIDUMP_MODULES,
    MINIDUMP_MEMORY,
    MINIDUMP_EXCEPTION,
    MINIDUMP_SYSTEM,
    MINIDUMP_MEMORY64,
    MINIDUMP_COMMENT,
    MINIDUMP_COMMENT_WIDE,
    MINIDUMP_UNLOADED,
    MINIDUMP_MISC,
    MINIDUMP_NAMES,
    MINIDUMP_BREAKPAD,
    MINIDUMP_ASSERTION,
    MINIDUMP_CPUINFO,
    MINIDUMP_PROC_STATUS,
    MINIDUMP_LSB_RELEASE,
    MINIDUMP_COMMAND_LINE,
    MINIDUMP_AUXV,
    MINIDUMP_MAPS,
    MINIDUMP_CRASHPAD,
    MINIDUMP_MAC_CRASH,
    MINIDUMP_MAC_BOOT,
    MINIDUMP_CLIENT_STACKS,
    MINIDUMP_STREAMS
} minidump_stream_t;

/* MINIDUMP_LOCATION_DESCRIPTOR */
typedef struct {
    uint32_t size, at;
} minidump_place_t;

typedef struct {
    uint32_t code, flags;
    uint64_t address;
    uint32_t n_parameters;
    uint64_t parameters[15];
} minidump_exception_t;

typedef struct {
    sym_str_t data;
    bool is_big_endian;
    sym_arena_t arena;                   /* memory of everything below */
    sym_str_t streams[MINIDUMP_STREAMS]; /* data NULL: absent */

    uint16_t processor; /* PROCESSOR_ARCHITECTURE_* */
    uint32_t platform;
    bool has_exception;
    uint32_t exception_thread;
    minidump_exception_t exception;
    minidump_place_t exception_context;
    sym_crash_t crash;
} minidump_t;

/* --- open.c --- */

/* SYM_MALFORMED and SYM_TRUNCATED: the dump is refused, with Symbolicator's
 * message. */
sym_status_t minidump_open(minidump_t *d, sym_str_t data, sym_error_t *err);

/* A cursor over a part.  Its errors go to *err, which this call clears; they
 * make the part absent. */
sym_cursor_t minidump_cursor(const minidump_t *d, sym_str_t bytes,
                             sym_error_t *err);

minidump_place_t minidump_place(sym_cursor_t *c);

/* The bytes at a location; data NULL: the file does not contain all of them. */
sym_str_t minidump_bytes(const minidump_t *d, minidump_place_t place);

/* Begins a list: a number, perhaps four bytes of padding, and entries that fill
 * the stream exactly.  Returns the number; 0: the list is empty or absent. */
uint32_t minidump_list(const minidump_t *d, minidump_stream_t stream,
                       size_t entry_bytes, sym_cursor_t *c, sym_error_t *err);

/* A MINIDUMP_STRING as UTF-8, cut at SYM_CRASH_TEXT_MAX. data NULL: it is
 * invalid, or out of memory. */
sym_str_t minidump_text(minidump_t *d, uint64_t at);

/* Does the same for UTF-16 units up to a NUL. */
sym_str_t minidump_units(minidump_t *d, sym_str_t bytes);

/* Formats a text in the arena; "" when out of memory. */
__attribute__((format(printf, 2, 3))) sym_str_t minidump_format(
    minidump_t *d, const char *format, ...);

/* --- parts; they return SYM_NOMEM, or the documented status --- */

/* SYM_MALFORMED: the dump has no such stream. */
sym_status_t minidump_read_system(minidump_t *d, sym_error_t *err);

/* The registers at a location.  False: they are not of this processor. */
bool minidump_read_context(const minidump_t *d, minidump_place_t place,
                           sym_unwind_registers_t *registers);

sym_status_t minidump_read_modules(minidump_t *d, sym_error_t *err);

void minidump_read_exception(minidump_t *d);

/* SYM_MALFORMED: the dump has no threads. */
sym_status_t minidump_read_threads(minidump_t *d, sym_error_t *err);

/* A lookup of an address in the dump's lists of memory. */
typedef struct {
    uint64_t addr;
    sym_stack_memory_t found; /* size 0: the dump does not contain the
                                 address */
} minidump_query_t;

sym_status_t minidump_find_memory(minidump_t *d, minidump_query_t *queries,
                                  uint32_t n, sym_error_t *err);

/* Sets the reason, address and assertion. */
void minidump_read_reason(minidump_t *d);

/* The reason of a Windows exception. */
sym_str_t minidump_windows_reason(minidump_t *d);

/* The reasons of EXC_RESOURCE and EXC_GUARD; data NULL: the type is unknown. */
sym_str_t minidump_resource_reason(minidump_t *d);
sym_str_t minidump_guard_reason(minidump_t *d);

sym_status_t minidump_read_notes(minidump_t *d, sym_error_t *err);

/* Adds a note, unless there are too many.  False: out of memory. */
bool minidump_note(minidump_t *d, sym_str_t key, sym_str_t value);

/* --- convert.c --- */

/* The protocol of converters requires a name and an id; a report has
 * neither. */
#define MINIDUMP_INFO(bytes)                                                   \
    {                                                                          \
        .debug_file = SYM_STR("minidump"),                                     \
        .debug_id = SYM_STR("000000000000000000000000000000000"),              \
        .source_bytes = (bytes)                                                \
    }

/* Reads the dump.  The caller drops d->arena. */
sym_status_t minidump_read(minidump_t *d, sym_str_t data, sym_error_t *err);

#endif
