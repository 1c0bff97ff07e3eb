/*
 * arch.h - names of processor architectures.
 *
 * Modules have Breakpad's names; the command line also accepts Apple's and the
 * kernel's.
 */
#ifndef SYMLOADER_COMMON_ARCH_H
#define SYMLOADER_COMMON_ARCH_H

#include <stdbool.h>

#include "base/str.h"

/* Makes the reason why a file is unsuitable: the requested architecture, and
   those in the file. */
#define ARCH_MISSING "there is no architecture %.*s in it, but %.*s"

/* Whether a module for `arch` is suitable for `wanted`. */
bool arch_is(sym_str_t wanted, sym_str_t arch);

#endif
