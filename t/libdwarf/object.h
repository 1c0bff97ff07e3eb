/*
 * object.h - gives libdwarf the sections that core/formats/elf or core/formats/macho hand out.
 *
 * libdwarf asks for sections through its object-access interface, so it gets
 * what its own readers of files refuse: sections packed with zstd, one slice of
 * a fat file.  The interface has two shapes, before and after libdwarf 0.4;
 * only object.c knows.
 */
#ifndef SYM_T_LIBDWARF_OBJECT_H
#define SYM_T_LIBDWARF_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include <dwarf.h>
#include <libdwarf.h>

#include "base/str.h"

/* Says what went wrong on stderr and ends the process. */
_Noreturn void object_die(const char *what, const char *why);

/*
 * Opens a file, or of a fat one the slice of that processor as core/formats/macho calls
 * it.  All of it lives until the process ends.  *image_base is what our readers
 * subtract from addresses.
 */
Dwarf_Debug object_open(const char *path, const char *arch,
                        uint64_t *image_base);
void object_close(Dwarf_Debug dbg);

#endif
