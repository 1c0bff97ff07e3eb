/*
 * crash.h - reads an artifact of kind `crash`.
 *
 * Its bytes are not trusted: all counts are limited, and every reference is
 * checked.
 */
#ifndef SYM_ARTIFACTS_CRASH_READ_CRASH_H
#define SYM_ARTIFACTS_CRASH_READ_CRASH_H

#include "artifacts/crash/format.h"
#include "base/arena.h"

/* Everything is copied to the arena.  SYM_VERSION, SYM_DAMAGED, SYM_NOMEM. */
sym_status_t sym_crash_read(const sym_extent_source_t *extents,
                            sym_arena_t *arena, sym_crash_t *crash,
                            sym_error_t *err);

/* Reads the extents' bytes in a row, which must stay in place. */
sym_status_t sym_crash_read_bytes(sym_str_t bytes, sym_arena_t *arena,
                                  sym_crash_t *crash, sym_error_t *err);

/* "Windows", "macOS", ... in Symbolicator's spelling; "" */
const char *sym_crash_os_name(sym_os_t os);

/* The name of a register as Symbolicator shows it, such as "rip" and "lr"; NULL:
 * it does not show it. */
const char *sym_crash_register_name(sym_unwind_arch_t arch, unsigned number);

/* EFLAGS, the one register that is shown and does not unwind (i386 psABI, table
 * 2.14). */
#define SYM_CRASH_EFLAGS 9

#endif
