/*
 * object.h - gives libdwarf the sections that core/formats/elf or
 * core/formats/macho return.
 *
 * libdwarf requests sections through its object-access interface, so it also
 * gets those that its own readers of files refuse: sections packed with zstd,
 * one slice of a fat file.  The interface has two forms, before and after
 * libdwarf 0.4; only object.c handles that.
 */
#ifndef SYM_T_LIBDWARF_OBJECT_H
#define SYM_T_LIBDWARF_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include <dwarf.h>
#include <libdwarf.h>

#include "base/str.h"

/* Prints the error on stderr and ends the process. */
_Noreturn void object_die(const char *what, const char *why);

/*
 * Opens a file, or of a fat one the slice of the processor with that name in
 * core/formats/macho.  All of it lives until the process ends.  *image_base is
 * what our readers subtract from addresses.
 */
Dwarf_Debug object_open(const char *path, const char *arch,
                        uint64_t *image_base);
void object_close(Dwarf_Debug dbg);

#endif
