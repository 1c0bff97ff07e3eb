/*
 * arch.h - Breakpad's names of processors.
 */
#ifndef SYM_FORMATS_MACHO_ARCH_H
#define SYM_FORMATS_MACHO_ARCH_H

#include <stdint.h>

/* Static text; "unknown" for processors without a name at clients. */
const char *sym_macho_arch(uint32_t cpu, uint32_t cpu_subtype);

#endif
