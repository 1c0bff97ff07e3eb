/*
 * arch.h - what Breakpad calls a processor.
 */
#ifndef SYM_FORMATS_MACHO_ARCH_H
#define SYM_FORMATS_MACHO_ARCH_H

#include <stdint.h>

/* Static text; "unknown" for what no client names. */
const char *sym_macho_arch(uint32_t cpu, uint32_t cpu_subtype);

#endif
