/*
 * symbfile.h - writes a symcache as Elastic's symbfile
 * (docs/formats/symbfile.md).
 *
 * Each function becomes a range of depth 0, split where its file changes and
 * around other functions inside it, then the ranges of its inlined calls,
 * callers first.  A symcache made from it has the same answers.  Memory holds
 * one function, and one batch of records and their strings, of some 30 MB.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_EXPORT_SYMBFILE_H
#define SYM_ARTIFACTS_SYMCACHE_EXPORT_SYMBFILE_H

#include "artifacts/symcache/export/forms.h"

/* If out->failed is set, it ends early and returns SYM_OK. */
sym_status_t sym_symbfile_export(sym_form_t *form, sym_error_t *err);

#endif
