/*
 * symbfile.h - writes a symcache as Elastic's symbfile (docs/formats/symbfile.md).
 *
 * Each function becomes a range of depth 0, split where its file changes and
 * around other functions inside it, then the ranges of its inlined calls, callers
 * first.  When it is read again, it gives the symcache's answers.  It keeps one
 * function and one batch of records and their strings, of some 30 MB.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_EXPORT_SYMBFILE_H
#define SYM_ARTIFACTS_SYMCACHE_EXPORT_SYMBFILE_H

#include "artifacts/symcache/export/forms.h"

/* Ends early, with SYM_OK, once out->failed. */
sym_status_t sym_symbfile_export(sym_form_t *form, sym_error_t *err);

#endif
