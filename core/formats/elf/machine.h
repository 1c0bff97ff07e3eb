/*
 * machine.h - names of processors.
 */
#ifndef SYM_FORMATS_ELF_MACHINE_H
#define SYM_FORMATS_ELF_MACHINE_H

#include <stdint.h>

/* The name as in the MODULE line of Breakpad's dump_syms, or "unknown". */
const char *sym_elf_machine_name(uint16_t machine);

#endif
