/*
 * flow.h - zlib data that can be read while the rest is unpacked.
 *
 * igzip (ISA-L) does that at nine tenths of the speed of libdeflate, which
 * returns all or nothing, and zlib at half of it.  Without igzip everything
 * arrives at the end.
 */
#ifndef SYM_FORMATS_PACKED_FLOW_H
#define SYM_FORMATS_PACKED_FLOW_H

#include <stdbool.h>

#include "base/gauge.h"
#include "formats/packed/inflate.h"

/*
 * Like sym_inflate(); `there` advances by the unpacked bytes, which never
 * change again.  False: an error; sym_inflate() returns its reason.
 */
bool sym_inflate_flow(sym_str_t in, uint8_t *out, size_t len,
                      sym_gauge_t *there);

#endif
