/*
 * forms.h - the formats in which a symcache is dumped, besides Breakpad's.
 *
 * docs/use/dump.md describes them.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_EXPORT_FORMS_H
#define SYM_ARTIFACTS_SYMCACHE_EXPORT_FORMS_H

#include "artifacts/export/tools.h"
#include "artifacts/symcache/read/calls.h"

typedef struct {
    sym_symcache_t *sc;
    const sym_dump_t *how;
    sym_out_t *out;
    sym_calls_t calls; /* calls in the current function */
    char text[SYM_STRING_MAX + SYM_STRING_SLACK];
} sym_form_t;

/* A symcache that is open for a dump. */
typedef struct {
    sym_symcache_t sc;
    sym_extent_view_t *views;
    sym_form_t *form;
} sym_form_open_t;

/* Close it even after a failure.  It must not move. */
sym_status_t sym_form_open(sym_form_open_t *o,
                           const sym_extent_source_t *extents,
                           const sym_dump_t *how, sym_out_t *out,
                           sym_error_t *err);
void sym_form_close(sym_form_open_t *o);

/* Gets a string of the symcache.  Valid until the next call; "": none. */
sym_str_t sym_form_info(sym_form_t *f, sym_info_t which);
sym_str_t sym_form_name(sym_form_t *f, const sym_walk_function_t *function,
                        uint32_t node);
sym_str_t sym_form_file(sym_form_t *f, uint32_t file);

/* Write the facts about the module, and a function. */
void sym_json_head(sym_form_t *f);
sym_status_t sym_json_function(sym_form_t *form, const sym_walk_function_t *f,
                               sym_error_t *err);
void sym_text_head(sym_form_t *f);
sym_status_t sym_text_function(sym_form_t *form, const sym_walk_function_t *f,
                               sym_error_t *err);

/* A name as it is shown in the dump. */
static inline sym_str_t
sym_dump_name(const sym_dump_t *how, const sym_symcache_t *sc, sym_str_t name,
              uint8_t lang)
{
    return how->show_name != NULL && sc->has_linker_names
               ? how->show_name(how->ctx, name, lang)
               : name;
}


#endif
