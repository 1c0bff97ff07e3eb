/*
 * flow.h - zlib data that can be read while the rest is unpacked.
 *
 * igzip (ISA-L) supports this at nine tenths of libdeflate's speed, zlib at
 * half of it; libdeflate does not.  Without igzip all bytes arrive at the end.
 */
#ifndef SYM_FORMATS_PACKED_FLOW_H
#define SYM_FORMATS_PACKED_FLOW_H

#include <stdbool.h>

#include "base/gauge.h"
#include "formats/packed/inflate.h"

/*
 * Like sym_inflate(), but `there` counts the unpacked bytes, which do not
 * change afterwards.  False: an error, whose reason sym_inflate() returns.
 */
bool sym_inflate_flow(sym_str_t in, uint8_t *out, size_t len,
                      sym_gauge_t *there);

#endif
