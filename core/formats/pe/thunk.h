/*
 * thunk.h - functions that are one jump: to an import, to the function proper.
 */
#ifndef SYM_FORMATS_PE_THUNK_H
#define SYM_FORMATS_PE_THUNK_H

#include <stdint.h>

#include "base/str.h"

/* How many bytes such a jump takes at the beginning of code; 0: it is none. */
uint32_t sym_pe_thunk(uint16_t machine, sym_str_t code);

#endif
