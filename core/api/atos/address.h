/*
 * address.h - addresses in the forms that atos accepts, and their offsets in an
 * image.
 */
#ifndef SYM_API_ATOS_ADDRESS_H
#define SYM_API_ATOS_ADDRESS_H

#include "base/str.h"

/* Meaning of an address. */
typedef enum {
    SYM_ATOS_SLIDE, /* as linked, with `value` added */
    SYM_ATOS_LOAD,  /* absolute; the image is loaded at `value` */
    SYM_ATOS_OFFSET /* relative to the image; `value` is unused */
} sym_atos_from_t;

typedef struct {
    sym_atos_from_t from;
    uint64_t value;
} sym_atos_base_t;

/* Parses "0x1f", or decimal digits. */
bool sym_atos_address_read(sym_str_t text, uint64_t *address);

/* Parses hexadecimal digits with or without 0x: load addresses and slides. */
bool sym_atos_base_read(sym_str_t text, uint64_t *value);

/*
 * Computes the offset in an image that was built for image_base (its __TEXT).
 * False: the address is before the image; no computation wraps around.
 */
bool sym_atos_offset(const sym_atos_base_t *base, uint64_t image_base,
                     uint64_t address, uint64_t *offset);

#endif
