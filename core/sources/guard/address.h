/*
 * address.h - recognizes IP addresses in host names, and addresses in networks
 * that a client must not reach through this server.
 *
 * Source: RFC 6890 and its registries (IANA, "Special-Purpose Address Registry"
 * of IPv4 and of IPv6); "host parser" of the WHATWG's URL standard for the
 * spellings that clients and resolvers accept as an IPv4 address.  Nothing here
 * allocates or uses a resolver.
 */
#ifndef SYM_SOURCES_GUARD_ADDRESS_H
#define SYM_SOURCES_GUARD_ADDRESS_H

#include "base/error.h"
#include "base/str.h"

#define SYM_ADDRESS_TEXT_MAX 48 /* "[" IPv6 "]" and a NUL */

typedef struct {
    bool is_v6;
    uint8_t bytes[16]; /* in network order; an IPv4 address takes the first
                          four */
} sym_address_t;

/*
 * Reads a URL's host that is an address: "[...]", or an IPv4 address in any
 * spelling, such as 127.1, 2130706433, 0177.0.0.1 and 0x7f000001.
 * SYM_NOT_FOUND: a name; SYM_MALFORMED: it looks like an address, but is
 * invalid.
 */
sym_status_t sym_address_read(sym_str_t host, sym_address_t *address);

/*
 * Whether an address is not a host of the public Internet: loopback, private,
 * link-local (metadata of clouds), shared, multicast, for documentation and
 * benchmarks.  An IPv6 address that contains an IPv4 address (mapped, NAT64) is
 * judged by that; 6to4 and Teredo always count as not public.
 */
bool sym_address_is_reserved(const sym_address_t *address);

/* Writes the usual spelling, with brackets for IPv6; returns its length without
   NUL. */
size_t sym_address_write(const sym_address_t *address,
                         char out[SYM_ADDRESS_TEXT_MAX]);

#endif
