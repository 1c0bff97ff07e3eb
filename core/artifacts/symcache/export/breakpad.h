/*
 * breakpad.h - writes a symcache as Breakpad text symbols (.sym).
 *
 * The output has the records of dump_syms, for every input format: MODULE, INFO
 * CODE_ID, FILE, INLINE_ORIGIN, then FUNC and PUBLIC by address, each FUNC with
 * its INLINE and line records.  A symcache made from the text has the same
 * answers; docs/use/dump.md describes the choice among equivalent texts.  The
 * symcache is walked twice, because origins come before functions.  Memory
 * holds one function, and a number for each inlined name.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_EXPORT_BREAKPAD_H
#define SYM_ARTIFACTS_SYMCACHE_EXPORT_BREAKPAD_H

#include "object/module_key.h"
#include "artifacts/export/tools.h"
#include "artifacts/symcache/read/reader.h"

/*
 * If out->failed is set, it ends early and returns SYM_OK.  SYM_DAMAGED,
 * SYM_LIMIT, SYM_NOMEM: the output is incomplete.
 */
sym_status_t sym_breakpad_export(sym_symcache_t *sc, const sym_dump_t *how,
                                 sym_out_t *out, sym_error_t *err);

/*
 * Cleans a text for the end of a record.  Control characters, line and
 * paragraph separators and invalid UTF-8 become '?'.  An empty or blank text
 * becomes "<name omitted>".
 */
void sym_breakpad_put_text(sym_out_t *out, sym_str_t text);

/* Cleans a text for the middle of a record.  White space becomes '_'.  An empty
 * text becomes "unknown". */
void sym_breakpad_put_word(sym_out_t *out, sym_str_t text);

#endif
