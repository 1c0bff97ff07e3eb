/*
 * order.h - sorts questions by module and address.
 *
 * The order only affects speed: lookups in this order visit each page of a
 * symcache once.  A key contains 15 bits of the module's number, the address,
 * and the question's index.  Modules with the same 15 bits are mixed, which is
 * harmless.
 */
#ifndef SYM_SYMBOLICATE_ORDER_H
#define SYM_SYMBOLICATE_ORDER_H

#include <stdint.h>

#define SYM_ORDER_PLACE_BITS 17
#define SYM_ORDER_PLACE(key)                                                   \
    ((uint32_t) ((key) & ((1u << SYM_ORDER_PLACE_BITS) - 1)))

#define SYM_ORDER_ADDR(key) ((uint32_t) ((key) >> SYM_ORDER_PLACE_BITS))

#define SYM_ORDER_MODULE(key)                                                  \
    ((uint32_t) ((key) >> (32 + SYM_ORDER_PLACE_BITS)))
#define SYM_ORDER_MODULES (1u << (32 - SYM_ORDER_PLACE_BITS)) /* told apart */

static inline uint64_t
sym_order_key(uint32_t module, uint32_t addr, uint32_t place)
{
    return (uint64_t) module << (32 + SYM_ORDER_PLACE_BITS)
           | (uint64_t) addr << SYM_ORDER_PLACE_BITS | place;
}


/* Sorts n <= 2^SYM_ORDER_PLACE_BITS keys. spare has the same length; the sorted
 * keys are in keys or spare, whichever is returned. */
const uint64_t *sym_order_sort(uint64_t *keys, uint64_t *spare, uint32_t n);

#endif
