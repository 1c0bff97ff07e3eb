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

/* Copies everything to the arena.  SYM_VERSION, SYM_DAMAGED, SYM_NOMEM. */
sym_status_t sym_crash_read(const sym_extent_source_t *extents,
                            sym_arena_t *arena, sym_crash_t *crash,
                            sym_error_t *err);

/* Reads the joined bytes of the extents, which must not move. */
sym_status_t sym_crash_read_bytes(sym_str_t bytes, sym_arena_t *arena,
                                  sym_crash_t *crash, sym_error_t *err);

/* "Windows", "macOS", ... as Symbolicator spells them; or "". */
const char *sym_crash_os_name(sym_os_t os);

/* Symbolicator's name of a register, such as "rip" and "lr".  NULL:
 * Symbolicator does not show the register. */
const char *sym_crash_register_name(sym_unwind_arch_t arch, unsigned number);

/* EFLAGS.  It is shown, but not used to unwind (i386 psABI, table 2.14). */
#define SYM_CRASH_EFLAGS 9

#endif
