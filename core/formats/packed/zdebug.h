/*
 * zdebug.h - packed sections of old GNU tools: ".zdebug_info", "__zdebug_info".
 */
#ifndef SYM_FORMATS_PACKED_ZDEBUG_H
#define SYM_FORMATS_PACKED_ZDEBUG_H

#include "base/arena.h"
#include "base/error.h"

/*
 * Unpacks a section, which begins with "ZLIB" and the unpacked length, into the
 * arena.  Subtracts the length from *left, the number of bytes that may still
 * be unpacked.  An error contains the section (static text) and the offset,
 * counted from `at`.
 */
sym_status_t sym_zdebug_unpack(sym_str_t packed, const char *section,
                               uint64_t at, sym_arena_t *arena, uint64_t *left,
                               sym_str_t *plain, sym_error_t *err);

#endif
