/*
 * debuglink.h - .gnu_debuglink: the name and the checksum of the file with the
 * debug information of a stripped file (GDB manual, "Separate Debug Files").
 */
#ifndef SYM_FORMATS_NATIVE_DEBUGLINK_H
#define SYM_FORMATS_NATIVE_DEBUGLINK_H

#include "base/cursor.h"

#define SYM_DEBUGLINK ".gnu_debuglink"

typedef struct {
    sym_str_t name; /* without a folder; not empty */
    uint32_t crc;   /* checksum of that file: sym_debuglink_crc() */
} sym_debuglink_t;

/* Reads the section; on failure the cursor has the error. */
sym_status_t sym_debuglink_read(sym_cursor_t *c, sym_debuglink_t *link);

/* Reads a name and its NUL; "" after a failure. */
sym_str_t sym_debuglink_name(sym_cursor_t *c);

/* Continues crc, 0 at first, with the next bytes of a file. */
uint32_t sym_debuglink_crc(uint32_t crc, const uint8_t *data, size_t len);

#endif
