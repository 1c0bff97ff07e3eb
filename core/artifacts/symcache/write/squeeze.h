/*
 * squeeze.h - packs rows of four numbers into as few bits as they need.
 *
 * Rows of one function differ little: most share a file, and the high bits of
 * their lines.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_SQUEEZE_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_SQUEEZE_H

#include <stddef.h>
#include <stdint.h>

#define SYM_ROW_NUMBERS 4

typedef struct {
    uint32_t v[SYM_ROW_NUMBERS];
} sym_row_t;

/* Limit on the bytes that are written or read for n rows. */
#define SYM_SQUEEZED_MAX(n) (((n) + 2) * sizeof(sym_row_t))

/* Writes n rows at p; returns the end. */
uint8_t *sym_squeeze(uint8_t *p, const sym_row_t *rows, size_t n);

/* Reads n rows at p. */
const uint8_t *sym_unsqueeze(const uint8_t *p, sym_row_t *rows, size_t n);

#endif
