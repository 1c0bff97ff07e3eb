/*
 * conversion_next.h - chooses which conversion begins next: sources take turns.
 */
#ifndef SYMLOADER_DRIVER_CONVERSION_NEXT_H
#define SYMLOADER_DRIVER_CONVERSION_NEXT_H

#include "driver/conversion.h"

/*
 * Returns the next conversion to begin: the first that arrived from the source
 * with the fewest running conversions.  NULL: none may begin.  The pool's
 * reserve is only for a source without a running conversion, so that slow files
 * of one source do not stop the others.
 */
conversion_t *conversion_next(const conversions_t *all);

#endif
