/*
 * address.h - addresses in atos's forms, and their offsets in an image.
 */
#ifndef SYM_API_ATOS_ADDRESS_H
#define SYM_API_ATOS_ADDRESS_H

#include "base/str.h"

/* Base of addresses. */
typedef enum {
    SYM_ATOS_SLIDE, /* as built; `value` was added to them */
    SYM_ATOS_LOAD,  /* the image is at `value` */
    SYM_ATOS_OFFSET /* relative to the image; no value */
} sym_atos_from_t;

typedef struct {
    sym_atos_from_t from;
    uint64_t value;
} sym_atos_base_t;

/* "0x1f", or decimal digits. */
bool sym_atos_address_read(sym_str_t text, uint64_t *address);

/* Hexadecimal with or without 0x: load addresses and slides. */
bool sym_atos_base_read(sym_str_t text, uint64_t *value);

/*
 * The offset in an image that was built for image_base (its __TEXT).  False:
 * the address is before it; nothing ever wraps.
 */
bool sym_atos_offset(const sym_atos_base_t *base, uint64_t image_base,
                     uint64_t address, uint64_t *offset);

#endif
