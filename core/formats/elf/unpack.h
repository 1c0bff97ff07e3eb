/*
 * unpack.h - compression of sections other than zlib (packed/inflate.h).
 *
 * zstd unpacks a complete stream; its size must be the one that the section
 * announces.  xz sections announce no size.
 */
#ifndef SYM_FORMATS_ELF_UNPACK_H
#define SYM_FORMATS_ELF_UNPACK_H

#include "base/error.h"
#include "base/str.h"

/* section: static text for errors, whose offset is a position in the packed
 * bytes. */
sym_status_t sym_elf_unpack_zstd(sym_str_t in, uint8_t *out, size_t size,
                                 const char *section, sym_error_t *err);

/* Writes at most max bytes to *out, which the caller frees. */
sym_status_t sym_elf_unpack_xz(sym_str_t in, uint64_t max, uint8_t **out,
                               size_t *size, const char *section,
                               sym_error_t *err);

#endif
