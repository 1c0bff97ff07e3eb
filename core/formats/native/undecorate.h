/*
 * undecorate.h - removes calling conventions' decoration from C names of
 * Windows.
 */
#ifndef SYM_FORMATS_NATIVE_UNDECORATE_H
#define SYM_FORMATS_NATIVE_UNDECORATE_H

#include "base/str.h"

/*
 * Shortens "_f@8", "@f@8", "f@@8" and "_f" to "f" (Microsoft's "Decorated
 * Names", "Format of a C decorated name").  Other names, such as those of C++,
 * stay unchanged.  Like Sentry's reader this ignores the processor.  Unlike
 * Sentry's reader it keeps the underscore of MinGW's mangled names.
 */
sym_str_t sym_undecorate(sym_str_t name);

#endif
