/*
 * dump.h - what the forms of `symloader dump` share.
 *
 * docs/use/dump.md describes what they print.
 */
#ifndef SYMLOADER_CLI_DUMP_H
#define SYMLOADER_CLI_DUMP_H

#include "symbolicate/cache/names.h"
#include "common/options.h"
#include "object/module_key.h"
#include "cli/output.h"
#include "artifacts/symcache/read/calls.h"

typedef struct {
    output_t *out;
    sym_symcache_t *cache;
    char *text; /* a string of it: SYM_STRING_MAX + SYM_STRING_SLACK bytes */
    const sym_module_key_t *key;
    sym_names_t *names; /* NULL: names stay as they are kept */
    sym_calls_t calls;  /* of the function at hand */
} dump_t;

/* A fact about the module, until its next string. */
sym_str_t dump_info(dump_t *d, sym_info_t which);

/* The same of the name of a function's node. */
sym_str_t dump_name(dump_t *d, const sym_walk_function_t *f, uint32_t node);

/* The same of a file by its number; "": unknown. */
sym_str_t dump_file(dump_t *d, uint32_t file);

/* One form: the module's facts, then each function. */
typedef struct {
    void (*head)(dump_t *d);
    sym_status_t (*function)(dump_t *d, const sym_walk_function_t *f,
                             sym_error_t *err);
} dump_form_t;

extern const dump_form_t dump_json, dump_text;

/* Another kind of artifact: its paths, or the text of options->path. */
sym_status_t dump_sources(const sym_extent_source_t *extents,
                          const options_t *options, output_t *out,
                          sym_error_t *err);

/* The lines of .NET methods, a line each. */
sym_status_t dump_ppdb(const sym_extent_source_t *extents,
                       const options_t *options, output_t *out,
                       sym_error_t *err);

#endif
