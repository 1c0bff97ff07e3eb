/*
 * flow.h - zlib data that others read while the rest of it is unpacked.
 *
 * igzip (ISA-L) does that at nine tenths of libdeflate's speed, which gives
 * all or nothing, and zlib at half of it.  Without igzip all comes at the end.
 */
#ifndef SYM_FORMATS_PACKED_FLOW_H
#define SYM_FORMATS_PACKED_FLOW_H

#include <stdbool.h>

#include "base/gauge.h"
#include "formats/packed/inflate.h"

/*
 * As sym_inflate(); `there` is moved on by the bytes that came, which are never
 * touched again.  False: something is wrong, sym_inflate() says what.
 */
bool sym_inflate_flow(sym_str_t in, uint8_t *out, size_t len,
                      sym_gauge_t *there);

#endif
