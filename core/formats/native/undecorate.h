/*
 * undecorate.h - C names of Windows without what calling conventions add.
 */
#ifndef SYM_FORMATS_NATIVE_UNDECORATE_H
#define SYM_FORMATS_NATIVE_UNDECORATE_H

#include "base/str.h"

/*
 * "_f@8", "@f@8", "f@@8" and "_f" to "f" (Microsoft's "Decorated Names", "Format
 * of a C decorated name"); other names, C++'s among them, as they are.  Like
 * Sentry's reader it does not ask for which processor the name was made; unlike
 * that it leaves the underscore of the mangled names of MinGW.
 */
sym_str_t sym_undecorate(sym_str_t name);

#endif
