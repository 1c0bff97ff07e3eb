/*
 * zdebug.h - packed sections of old GNU tools: ".zdebug_info", "__zdebug_info".
 */
#ifndef SYM_FORMATS_PACKED_ZDEBUG_H
#define SYM_FORMATS_PACKED_ZDEBUG_H

#include "base/arena.h"
#include "base/error.h"

/*
 * Unpacks the bytes of a section, which begin with "ZLIB" and their length,
 * into the arena; subtracts their size from *left, the most bytes that may
 * still be unpacked.  An error names the section (static text) and the byte,
 * counted from `at`.
 */
sym_status_t sym_zdebug_unpack(sym_str_t packed, const char *section,
                               uint64_t at, sym_arena_t *arena, uint64_t *left,
                               sym_str_t *plain, sym_error_t *err);

#endif
