/*
 * line_map.h - the C# lines that Unity's IL2CPP compiled to C++.
 *
 * The map is JSON: {"FILE.cpp": {"FILE.cs": {"C++ LINE": C# LINE}}}.  An entry
 * is valid for its C++ line and the following ones, up to the next entry.
 */
#ifndef SYM_FORMATS_IL2CPP_LINE_MAP_H
#define SYM_FORMATS_IL2CPP_LINE_MAP_H

#include "artifacts/symcache/write/writer.h"

/* Whether the writer's module is IL2CPP's output.  Such a module contains the
 * runtime, and with it this function for embedding programs. */
bool sym_il2cpp_is(const sym_writer_t *w);

/* Reads the moves of C++ files that the writer knows, and interns their C#
 * files.  After a failure *moves is empty. */
sym_status_t sym_il2cpp_read(sym_moves_t *moves, sym_writer_t *w,
                             sym_str_t json, sym_error_t *err);

#endif
