/*
 * callsites.h - finds the call instructions in machine code, for return pads
 * (docs/formats/symbfile.md, section 5).
 *
 * libcapstone decodes x86-64; calls of arm64 are known by their fixed bits.  The
 * code may be any bytes.
 */
#ifndef SYM_FORMATS_NATIVE_CALLSITES_H
#define SYM_FORMATS_NATIVE_CALLSITES_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

typedef struct sym_callsites_s sym_callsites_t;

/* Loads libcapstone, which opens its file; it may be missing.  NULL: out of
 * memory. */
sym_callsites_t *sym_callsites_create(void);
void sym_callsites_free(sym_callsites_t *s);

/* Sets the architecture, by Breakpad's name.  SYM_UNSUPPORTED: its code cannot
 * be read. */
sym_status_t sym_callsites_begin(sym_callsites_t *s, sym_str_t arch,
                                 sym_error_t *err);

/* Finds the first call in code that begins with an instruction.  False: the code
 * has no call. */
bool sym_callsites_next(sym_callsites_t *s, const uint8_t *code, size_t len,
                        size_t *at, size_t *size);

/* The size of the first instruction; 0: unknown. */
size_t sym_callsites_first(sym_callsites_t *s, const uint8_t *code, size_t len);

#endif
