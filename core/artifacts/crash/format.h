/*
 * format.h - the artifact `crash`: a crash report without the memory of its
 * stacks.
 *
 * The converter makes it from a minidump, and a walk of the stacks reads it.
 * The artifact contains the positions of the stacks in the report's file.  It
 * is never stored.  docs/formats/minidump.md describes it byte by byte.
 */
#ifndef SYM_ARTIFACTS_CRASH_FORMAT_H
#define SYM_ARTIFACTS_CRASH_FORMAT_H

#include "artifacts/extents.h"
#include "unwind/walk.h"

#define SYM_CRASH_VERSION 1
#define SYM_CRASH_MAGIC 0x434d5953u /* "SYMC" */

/* Limits that reader and writer share. */
#define SYM_CRASH_MODULES_MAX 65536
#define SYM_CRASH_THREADS_MAX 32768
#define SYM_CRASH_NOTES_MAX 4096
/* frames that the client has found, in all threads */
#define SYM_CRASH_FRAMES_MAX 65536
#define SYM_CRASH_TEXT_MAX 16384 /* bytes of a text, except in fields */
#define SYM_CRASH_FIELDS_MAX 8
#define SYM_CRASH_FIELD_MAX (1u << 20)
#define SYM_CRASH_BYTES_MAX ((size_t) 24 << 20)

#define SYM_CRASH_NO_THREAD UINT32_MAX

typedef struct {
    uint64_t addr, size;
    bool is_unloaded; /* the module was unloaded before the crash */
    sym_str_t code_file, debug_file;
    sym_str_t debug_id; /* Breakpad's spelling, or "" */
    sym_str_t code_id;  /* lower case, or "" */
    sym_str_t version;
} sym_crash_module_t;

/* A frame that was found by the client. */
typedef struct {
    uint64_t addr;
    sym_str_t function;
} sym_crash_frame_t;

typedef struct {
    uint32_t id;
    bool has_name, has_context;
    bool is_writer; /* the thread wrote the dump; nothing else is known about
                       it */
    sym_str_t name;
    sym_unwind_registers_t registers; /* valid if has_context */
    sym_stack_memory_t stack;         /* `at` is an offset in the file */
    uint32_t first_frame, n_frames;   /* range in the frames that the client
                                         has found */
} sym_crash_thread_t;

/* Another fact about the crash: "lsb_release.id", "crashpad.ptype". */
typedef struct {
    sym_str_t key, value;
} sym_crash_note_t;

/* A field of the upload, unchanged. */
typedef struct {
    sym_str_t name, value;
} sym_crash_field_t;

typedef struct {
    sym_str_t failure; /* why the report cannot be read, or "".  If it
                          cannot, only `fields` are set. */
    sym_str_t refusal; /* why the upload is refused, or "" */
    uint64_t time_s;
    sym_os_t os;
    sym_str_t cpu; /* "x86_64" */
    sym_unwind_arch_t arch;
    sym_str_t os_version, os_build, cpu_info;
    uint32_t n_cpus;
    bool has_pid, is_crash;
    uint32_t pid;
    uint64_t address; /* address of the exception, if is_crash */
    sym_str_t reason, assertion;
    uint32_t requesting; /* index of the thread that crashed or requested the
                            dump; or SYM_CRASH_NO_THREAD */
    sym_crash_module_t *modules;
    sym_crash_thread_t *threads;
    sym_crash_frame_t *frames;
    sym_crash_note_t *notes;
    sym_crash_field_t *fields;
    uint32_t n_modules, n_threads, n_frames, n_notes, n_fields;
} sym_crash_t;

#endif
