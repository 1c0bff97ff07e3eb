/*
 * thunk.h - recognizes thunks: functions that only jump, to an import or to
 * another function.
 */
#ifndef SYM_FORMATS_PE_THUNK_H
#define SYM_FORMATS_PE_THUNK_H

#include <stdint.h>

#include "base/str.h"

/* The size of the thunk at the beginning of code; 0: the code is not a
 * thunk. */
uint32_t sym_pe_thunk(uint16_t machine, sym_str_t code);

#endif
