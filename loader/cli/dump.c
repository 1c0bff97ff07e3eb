/*
 * dump.c - `symloader dump`: all symbols of a module, or of a file.
 *
 * A module of a store is copied first (temporary_symcache.h): writing may take
 * as long as its reader likes, and meanwhile nothing of the store is held.
 */
#include "cli/dump.h"

#include <stdlib.h>
#include <unistd.h>

#include "artifacts/symcache/export/breakpad.h"
#include "cli/commands.h"
#include "cli/compile.h"
#include "cli/outfile.h"
#include "base/language.h"

/* The state of one run of the command. */
typedef struct {
    module_operand_t operand;
    module_t module;
    temporary_symcache_t *copy;
    sym_extent_source_t extents;

    /* if it is a symcache */
    sym_symcache_t cache;
    sym_extent_view_t *views;
    char text[SYM_STRING_MAX + SYM_STRING_SLACK];
} source_t;


static sym_str_t
string(dump_t *d, sym_string_ref_t ref)
{
    bool is_plain;

    return ref == SYM_NO_REF
               ? SYM_STR("")
               : sym_str(d->text, sym_symcache_string(d->cache, ref, d->text,
                                                      &is_plain));
}


sym_str_t
dump_info(dump_t *d, sym_info_t which)
{
    return sym_str(d->text, sym_symcache_info(d->cache, which, d->text));
}


sym_str_t
dump_name(dump_t *d, const sym_walk_function_t *f, uint32_t node)
{
    sym_str_t name = string(d, f->nodes[node].name);

    return d->names != NULL && d->cache->has_linker_names
               ? sym_names_show(d->names, name,
                                node == 0 ? f->lang : SYM_LANG_UNKNOWN,
                                SYM_DEMANGLE_FULL)
               : name;
}


sym_str_t
dump_file(dump_t *d, uint32_t file)
{
    return string(d, sym_symcache_file(d->cache, file));
}


/* --- where the symbols come from --- */

static int
failure(const options_t *options, const sym_error_t *err, int code)
{
    char text[512];

    complain_about(options->operands[0], "%s",
                   sym_error_text(err, text, sizeof(text)));
    return code;
}


static bool
is_symcache(const options_t *options)
{
    return options->kind == SYM_KIND_ALL || options->kind == SYM_KIND_SYMCACHE;
}


static sym_status_t
open_copy(const options_t *options, source_t *s, sym_error_t *err)
{
    const sym_extent_source_t *e = &s->extents;

    if (temporary_symcache_extents(s->copy, &s->extents, err) != SYM_OK
        || !is_symcache(options))
    {
        return err->status;
    }

    s->views = calloc(e->n, sizeof(*s->views));

    if (s->views == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    if (sym_symcache_open(&s->cache, e->get, e->ctx, err) != SYM_OK) {
        return err->status;
    }

    if (s->cache.n_extents != e->n) {
        return sym_fail(err, SYM_DAMAGED, "symcache miscounts its extents");
    }

    sym_symcache_remember(&s->cache, s->views);
    return SYM_OK;
}


static int
copy_module(session_t *r)
{
    source_t *s = r->ctx;
    sym_error_t err = { 0 };
    sym_kind_t kind =
        is_symcache(r->options) ? SYM_KIND_SYMCACHE : r->options->kind;
    int code = session_module(r, r->options->operands[0], &s->operand.key, kind,
                              &s->module);

    if (code != EXIT_FINE) {
        return code;
    }

    s->copy = temporary_symcache_copy(&s->module, &s->operand.key, &err);
    sym_snapshot_end(s->module.snapshot);
    return s->copy != NULL ? EXIT_FINE : failure(r->options, &err, EXIT_STORE);
}


static int
open_source(const options_t *options, source_t *s)
{
    sym_error_t err = { 0 };
    int code;

    /* even where its path ends like NAME/ID */
    if (compile_is_file(options->operands[0])) {
        s->copy = compile_file(options, options->operands[0], options->arch);
        code = s->copy != NULL ? EXIT_FINE : EXIT_PARTLY;

    } else if (!module_operand_is(options->operands[0], options->source,
                                  &s->operand))
    {
        complain_about(options->operands[0],
                       "%s, and not a module; expected a file, " MODULE_OPERAND,
                       access(options->operands[0], F_OK) != 0
                           ? "no such file"
                           : "the folder is not a dSYM bundle");
        return EXIT_USAGE;

    } else if (!options_need_store(options)) {
        return EXIT_USAGE;

    } else {
        code = session_read(options, copy_module, s);
    }

    if (code == EXIT_FINE && open_copy(options, s, &err) != SYM_OK) {
        return failure(options, &err, EXIT_STORE);
    }

    return code;
}


/* --- output --- */

static sym_status_t
each_function(dump_t *d, const dump_form_t *form, sym_error_t *err)
{
    sym_symcache_t *cache = d->cache;
    sym_walk_t *walk = sym_walk_create(cache, err);
    sym_walk_function_t f;
    sym_status_t rc = walk == NULL ? SYM_NOMEM : SYM_OK;

    if (rc == SYM_OK) {
        form->head(d);
    }

    while (rc == SYM_OK && !d->out->json.failed) {
        rc = sym_walk_next(walk, &f, err);
        rc = rc != SYM_OK ? rc : form->function(d, &f, err);
    }

    sym_walk_free(walk);
    sym_calls_free(&d->calls);

    if (rc == SYM_NOT_FOUND && cache->damaged != 0) {
        rc = sym_fail(err, SYM_DAMAGED, "the symcache's names are damaged");
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t
write_form(const options_t *options, source_t *s, dump_t *d, sym_error_t *err)
{
    const sym_breakpad_export_t how = { .key = d->key, .names = d->names };

    if (options->kind == SYM_KIND_PPDB) {
        return dump_ppdb(&s->extents, options, d->out, err);
    }

    if (options->kind == SYM_KIND_SOURCES) {
        return dump_sources(&s->extents, options, d->out, err);
    }

    switch (options->format) {
    case DUMP_JSON:
        return each_function(d, &dump_json, err);
    case DUMP_TEXT:
        return each_function(d, &dump_text, err);
    default:
        return sym_breakpad_export(d->cache, &how, &d->out->json, err);
    }
}


/* To a descriptor, to its end. */
static int
write_to(const options_t *options, source_t *s, int fd)
{
    dump_t d = { .out = output_create_stream(fd),
                 .cache = &s->cache,
                 .text = s->text,
                 .key = temporary_symcache_key(s->copy) };
    sym_error_t err = { 0 };
    int code = EXIT_FINE;

    if (d.out == NULL) {
        return EXIT_OUTPUT;
    }

    d.names = options->no_demangle ? NULL : sym_names_create(NAMES_BYTES);

    if (d.names == NULL && !options->no_demangle) {
        sym_fail(&err, SYM_NOMEM, NULL);
    } else {
        (void) write_form(options, s, &d, &err);
    }

    if (err.status != SYM_OK) {
        code = failure(options, &err,
                       err.status == SYM_NOT_FOUND ? EXIT_PARTLY : EXIT_STORE);
    }

    sym_names_free(d.names);
    return output_end(d.out, code);
}


static int
write_file(const options_t *options, source_t *s)
{
    sym_error_t err = { 0 };
    char text[512];
    int fd = outfile_open(options->output, &err), code;

    if (fd >= 0) {
        code = write_to(options, s, fd);

        if (code != EXIT_FINE) {
            outfile_drop(fd);
            return code;
        }

        (void) outfile_keep(fd, options->output, &err);
    }

    if (err.status == SYM_OK) {
        return EXIT_FINE;
    }

    complain_about(options->output, "%s",
                   sym_error_text(&err, text, sizeof(text)));
    return EXIT_OUTPUT;
}


int
dump_run(const options_t *options)
{
    source_t *s = calloc(1, sizeof(*s));
    int code;

    if (s == NULL) {
        complain_about("dump", "out of memory");
        return EXIT_STORE;
    }

    code = open_source(options, s);

    if (code == EXIT_FINE) {
        code = options->output != NULL ? write_file(options, s)
                                       : write_to(options, s, STDOUT_FILENO);
    }

    temporary_symcache_free(s->copy);
    free(s->views);
    free(s);
    return code;
}
