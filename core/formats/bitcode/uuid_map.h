/*
 * uuid_map.h - the UUID of the symbol map that a recompiled module needs.
 *
 * Apple's servers compile bitcode to modules with new UUIDs.  The property list
 * UUID.plist in a dSYM contains the UUID of the developer's build, as
 * DBGOriginalUUID.  The symbol map is named after that UUID.
 */
#ifndef SYM_FORMATS_BITCODE_UUID_MAP_H
#define SYM_FORMATS_BITCODE_UUID_MAP_H

#include "base/error.h"
#include "object/object_id.h"

/* Apple's property lists have less than one KiB. */
#define SYM_UUID_MAP_BYTES_MAX ((size_t) 1 << 16)

/* Fails if the list is not XML, declares entities, or names no UUID. */
sym_status_t sym_uuid_map_read(sym_str_t plist, uint8_t uuid[SYM_UUID_BYTES],
                               sym_error_t *err);

#endif
