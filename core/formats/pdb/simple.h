/*
 * simple.h - simple types, which the index alone describes
 * (LLVM: TpiStream.rst, "Type Indices"; cvinfo.h, TYPE_ENUM_e).
 */
#ifndef SYM_FORMATS_PDB_SIMPLE_H
#define SYM_FORMATS_PDB_SIMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The C++ name of the type, or of the type that a pointer points to; "": no
 * such type. */
sym_str_t sym_pdb_simple_name(uint32_t index);

bool sym_pdb_is_simple_pointer(uint32_t index);

/* Size in bytes. */
uint64_t sym_pdb_simple_size(uint32_t index);

#endif
