/*
 * arch.h - Breakpad's names for processors.
 */
#ifndef SYM_FORMATS_PE_ARCH_H
#define SYM_FORMATS_PE_ARCH_H

#include <stdint.h>

/* The name for an IMAGE_FILE_MACHINE_* ("PE Format", Machine Types), as static
 * text.  "unknown" for machines without a name at clients. */
const char *sym_pe_arch(uint16_t machine);

#endif
