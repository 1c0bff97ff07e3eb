/*
 * arch.h - what Breakpad calls a processor.
 */
#ifndef SYM_FORMATS_PE_ARCH_H
#define SYM_FORMATS_PE_ARCH_H

#include <stdint.h>

/* Of an IMAGE_FILE_MACHINE_*: static text; "unknown" for what no client
 * names. */
const char *sym_pe_arch(uint16_t machine);

#endif
