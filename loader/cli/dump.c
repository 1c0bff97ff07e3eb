/*
 * dump.c - `symloader dump`: a complete artifact, from a store or a file.
 *
 * Each kind defines its formats (artifacts/export/tools.h).  A module of a
 * store is copied first (temporary_symcache.h), because the output's reader may
 * be slow, and no snapshot of the store may be open that long.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifacts/export/tools.h"
#include "cli/commands.h"
#include "cli/compile.h"
#include "cli/outfile.h"
#include "symbolicate/cache/names.h"

#define BREAKPAD "breakpad"
#define RETURN_PADS "returnpads"

/* State of a run of the command. */
typedef struct {
    const sym_kind_tools_t *tools;
    unsigned format;
    module_operand_t operand;
    module_t module;
    temporary_symcache_t *copy;
    temporary_symcache_t *rules; /* unwind rules to append; NULL: none */
    sym_extent_source_t extents;
    bool is_pads;       /* copy is a symbfile of return pads, already written */
    const char *path;   /* text to write, by its path; NULL: write everything */
    sym_names_t *names; /* NULL: names are written as stored */
} source_t;


/* --- reading the symbols --- */

static int
failure(const options_t *options, const sym_error_t *err, int code)
{
    char text[512];

    complain_about(options->operands[0], "%s",
                   sym_error_text(err, text, sizeof(text)));
    return code;
}


static int
copy_module(session_t *r)
{
    source_t *s = r->ctx;
    sym_error_t err = { 0 };
    int code = session_module(r, r->options->operands[0], &s->operand.key,
                              r->options->kind, &s->module);

    if (code != EXIT_FINE) {
        return code;
    }

    s->copy = temporary_symcache_copy(&s->module, &s->operand.key, &err);
    sym_snapshot_end(s->module.snapshot);
    return s->copy != NULL ? EXIT_FINE : failure(r->options, &err, EXIT_STORE);
}


/* Whether to append unwind rules to the symbols of a file.  A pipe has none,
 * because it cannot be read twice. */
static bool
wants_rules(const options_t *options, const source_t *s)
{
    struct stat st;

    return options->kind == SYM_KIND_SYMCACHE && s->path == NULL
           && strcmp(s->tools->formats[s->format], BREAKPAD) == 0
           && stat(options->operands[0], &st) == 0 && !S_ISFIFO(st.st_mode);
}


/* Reads another file of the same module. */
static temporary_symcache_t *
compile_other(const options_t *options, const char *path, sym_kind_t kind,
              const temporary_symcache_t *known)
{
    const compile_how_t how = { .kind = kind,
                                .hides_failure = true,
                                .hides_notes = kind == SYM_KIND_CFI };
    temporary_symcache_t *other =
        compile_is_file(path) ? compile_as(options, path, options->arch, &how)
                              : NULL;

    if (other != NULL
        && !sym_str_eq(temporary_symcache_key(other)->id,
                       temporary_symcache_key(known)->id))
    {
        temporary_symcache_free(other);
        other = NULL;
    }

    return other;
}


/* A Windows program refers to a PDB, which contains its symbols, and the rules
 * for x86.  Like dump_syms, looks for the PDB in the same folder. */
static temporary_symcache_t *
compile_pdb(const options_t *options, source_t *s,
            const temporary_symcache_t *program)
{
    const char *path = options->operands[0], *slash = strrchr(path, '/');
    sym_str_t name = temporary_symcache_key(program)->name;
    temporary_symcache_t *symbols = NULL;
    char *pdb;

    if (sym_str_ends_nocase(name, SYM_STR(".pdb"))
        && asprintf(&pdb, "%.*s%.*s",
                    slash != NULL ? (int) (slash + 1 - path) : 0, path,
                    (int) name.len, name.data)
               > 0)
    {
        symbols = compile_other(options, pdb, SYM_KIND_SYMCACHE, program);
        s->rules = s->rules == NULL && symbols != NULL
                       ? compile_other(options, pdb, SYM_KIND_CFI, symbols)
                       : s->rules;
        free(pdb);
    }

    return symbols;
}


/* Unwind rules for x64 and arm64 are in the executable that belongs to a
 * PDB. */
static temporary_symcache_t *
compile_executable(const options_t *options, const source_t *s)
{
    static const char *const endings[] = { "exe", "dll", "sys" };
    const char *path = options->operands[0];
    size_t len = strlen(path);
    temporary_symcache_t *rules = NULL;

    if (!sym_str_ends_nocase(sym_str(path, len), SYM_STR(".pdb"))) {
        return NULL;
    }

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char *executable;

        if (rules == NULL
            && asprintf(&executable, "%.*s%s", (int) (len - 3), path,
                        endings[i])
                   > 0)
        {
            rules = compile_other(options, executable, SYM_KIND_CFI, s->copy);
            free(executable);
        }
    }

    return rules;
}


/* Returns the symcache of the file's PDB, or one without symbols if the file
 * has only rules. */
static temporary_symcache_t *
compile_empty(const options_t *options, source_t *s)
{
    const compile_how_t how = { .kind = SYM_KIND_SYMCACHE,
                                .hides_failure = true,
                                .hides_notes = true,
                                .takes_empty = true };
    temporary_symcache_t *empty =
        compile_as(options, options->operands[0], options->arch, &how);
    temporary_symcache_t *symbols =
        empty != NULL ? compile_pdb(options, s, empty) : NULL;

    if (symbols == NULL && s->rules != NULL) {
        return empty;
    }

    temporary_symcache_free(empty);
    return symbols;
}


/* Reads symbols and rules of a file; it may have only one of them. */
static void
open_both(const options_t *options, source_t *s)
{
    const char *path = options->operands[0];
    const compile_how_t rules = { .kind = SYM_KIND_CFI,
                                  .hides_failure = true,
                                  .hides_notes = true };
    const compile_how_t symbols = { .kind = SYM_KIND_SYMCACHE,
                                    .hides_failure = true };

    s->rules = compile_as(options, path, options->arch, &rules);
    s->copy = compile_as(options, path, options->arch, &symbols);

    if (s->copy == NULL) {
        s->copy = compile_empty(options, s);
    } else if (s->rules == NULL) {
        s->rules = compile_executable(options, s);
    }

    if (s->copy == NULL) {
        s->copy = compile_file(options, path, options->arch); /* says why */
    }
}


/* Calls are found in code, and a store has none. */
static int
open_pads(const options_t *options, source_t *s)
{
    const compile_how_t how = { .kind = SYM_KIND_SYMCACHE, .makes_pads = true };

    if (!compile_is_file(options->operands[0])) {
        complain_about(options->operands[0],
                       "return pads are made of a file: an executable or a "
                       "library");
        return EXIT_USAGE;
    }

    s->copy = compile_as(options, options->operands[0], options->arch, &how);
    return s->copy != NULL ? EXIT_FINE : EXIT_PARTLY;
}


static int
open_source(const options_t *options, source_t *s)
{
    sym_error_t err = { 0 };
    int code;

    if (s->is_pads) {
        return open_pads(options, s);
    }

    /* a file, even if its path ends like NAME/ID */
    if (compile_is_file(options->operands[0])) {
        if (wants_rules(options, s)) {
            open_both(options, s);
        } else {
            s->copy =
                compile_file(options, options->operands[0], options->arch);
        }
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

    if (code == EXIT_FINE
        && temporary_symcache_extents(s->copy, &s->extents, &err) != SYM_OK)
    {
        return failure(options, &err, EXIT_STORE);
    }

    return code;
}


/* --- output --- */

static void
say_nothing(void *ctx, const char *what, sym_str_t value)
{
    (void) ctx;
    (void) what;
    (void) value;
}


static void
add_rules(const source_t *s, const sym_dump_t *how, sym_out_t *out,
          sym_error_t *err)
{
    sym_dump_t quiet = *how;
    const sym_kind_tools_t *tools = sym_kind_tools(SYM_KIND_CFI);
    sym_extent_source_t extents;
    unsigned format = 0;

    /* rules that the text cannot express are omitted, as in other tools */
    quiet.remark = say_nothing;

    while (strcmp(tools->formats[format], BREAKPAD) != 0) {
        format++;
    }

    if (temporary_symcache_extents(s->rules, &extents, err) == SYM_OK) {
        (void) tools->dump(&extents, &quiet, format, out, err);
    }
}


static sym_str_t
show_name(void *ctx, sym_str_t name, uint8_t lang)
{
    const source_t *s = ctx;

    return sym_names_show(s->names, name, lang, SYM_DEMANGLE_FULL);
}


static void
remark(void *ctx, const char *what, sym_str_t value)
{
    const source_t *s = ctx;

    complain_about(s->path != NULL ? s->path : "dump", "%s %.*s", what,
                   (int) value.len, value.data);
}


/* Copies a file that the converter has made. */
static void
copy_made(const source_t *s, sym_out_t *out, sym_error_t *err)
{
    char window[65536];
    uint64_t length, at = 0;
    int fd = temporary_file_get(s->copy, &length);

    while (at < length && !out->failed) {
        ssize_t n = pread(fd, window, sizeof(window), (off_t) at);

        if (n <= 0) {
            sym_fail_sys(err, SYM_IO, "cannot read the temporary file", errno);
            return;
        }

        sym_out_windows(out, sym_str(window, (size_t) n));
        at += (uint64_t) n;
    }
}


/* Writes everything to a descriptor. */
static int
write_to(const options_t *options, source_t *s, int fd)
{
    const sym_dump_t how = { .key = temporary_symcache_key(s->copy),
                             .show_name = s->names != NULL ? show_name : NULL,
                             .remark = remark,
                             .ctx = s };
    output_t *out = output_create_stream(fd);
    sym_error_t err = { 0 };
    int code = EXIT_FINE;

    if (out == NULL) {
        return EXIT_OUTPUT;
    }

    if (s->is_pads) {
        copy_made(s, &out->json, &err);
    } else if (s->path != NULL) {
        (void) s->tools->dump_text(&s->extents, &how, sym_cstr(s->path),
                                   &out->json, &err);
    } else {
        (void) s->tools->dump(&s->extents, &how, s->format, &out->json, &err);
        if (err.status == SYM_OK && s->rules != NULL) {
            add_rules(s, &how, &out->json, &err);
        }
    }

    if (err.status != SYM_OK) {
        code = failure(options, &err,
                       err.status == SYM_NOT_FOUND ? EXIT_PARTLY : EXIT_STORE);
    }

    return output_end(out, code);
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


/* Returns false if the kind does not support the options. */
static bool
take_options(const options_t *options, source_t *s)
{
    const char *const *formats;

    s->tools = sym_kind_tools(options->kind);
    s->path = options->path;
    formats = s->tools->formats;
    s->is_pads = options->format != NULL && s->path == NULL
                 && options->kind == SYM_KIND_SYMCACHE
                 && strcmp(options->format, RETURN_PADS) == 0;

    if (s->is_pads) {
        return true;
    }

    while (options->format != NULL && formats[s->format] != NULL
           && strcmp(options->format, formats[s->format]) != 0)
    {
        s->format++;
    }

    if (formats[s->format] == NULL) {
        complain_about("--format", "invalid value: kind %s has no format %s",
                       sym_kind_name(options->kind), options->format);
        return false;
    }

    if (s->path != NULL && s->tools->dump_text == NULL) {
        complain_about("--path", "kind %s has no texts",
                       sym_kind_name(options->kind));
        return false;
    }

    return true;
}


static int
run(const options_t *options, source_t *s)
{
    int code;

    if (!options->no_demangle) {
        s->names = sym_names_create(NAMES_BYTES);

        if (s->names == NULL) {
            complain_about("dump", "out of memory");
            return EXIT_STORE;
        }
    }

    code = open_source(options, s);
    return code != EXIT_FINE         ? code
           : options->output != NULL ? write_file(options, s)
                                     : write_to(options, s, STDOUT_FILENO);
}


int
dump_run(const options_t *options)
{
    source_t *s = calloc(1, sizeof(*s));
    options_t rules;
    int code;

    /* the only format with the same name as its kind */
    if (options->format != NULL && strcmp(options->format, "cfi") == 0) {
        rules = *options;
        rules.kind = SYM_KIND_CFI;
        options = &rules;
    }

    if (s == NULL) {
        complain_about("dump", "out of memory");
        return EXIT_STORE;
    }

    code = take_options(options, s) ? run(options, s) : EXIT_USAGE;
    temporary_symcache_free(s->copy);
    temporary_symcache_free(s->rules);
    sym_names_free(s->names);
    free(s);
    return code;
}
