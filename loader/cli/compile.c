#include "cli/compile.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/job.h"
#include "formats/macho/bundle.h"
#include "cli/operands.h"

/* Interval of checks for stalled converters. */
#define WAIT_MS 1000

typedef struct {
    conversions_t conversions;
    sym_str_t arch;
    bool is_arch_wish;
    bool has_module;
    compile_how_t how;
    const options_t *options;
    temporary_symcache_t *symcache;
} compile_t;


static void
complain(const char *path, const sym_error_t *err)
{
    char text[512];

    complain_about(path, "%s", sym_error_text(err, text, sizeof(text)));
}


/* Only one artifact of one module is needed.  A failure of another one is
 * reported only if the wanted one is missing. */
static void
on_ended(conversion_t *c, const conversion_end_t *how)
{
    compile_t *compile = c->all->owner;

    compile->has_module |= how->state == SYM_MODULE_READY;

    if (!compile->has_module && !how->has_more && !compile->how.hides_failure) {
        complain_about(c->path, "%s", how->reason);
    }
}


static void
on_note(conversion_t *c, const char *text)
{
    const compile_t *compile = c->all->owner;

    if (!compile->how.hides_notes) {
        complain_about(c->path, "warning: %s", text);
    }
}


static int
on_companion(conversion_t *c, const sym_companion_t *want,
             converter_given_t *given)
{
    const compile_t *compile = c->all->owner;
    struct stat st;
    int fd;

    if (compile->how.debug == NULL || want->kind != SYM_COMPANION_DEBUG) {
        return job_companion(c, want, given);
    }

    *given = (converter_given_t){ 0 };
    fd = want->attempt == 0 ? open(compile->how.debug, O_RDONLY | O_CLOEXEC)
                            : -1;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        given->length = (uint64_t) st.st_size;
        given->is_by_id = 1; /* its name and CRC may be those of a file before
                                it was stripped */
    }

    return fd;
}


/* --- one file --- */

/* Sets which file is made, instead of an artifact. */
static void
set_make(const compile_t *c, conversion_t *conversion)
{
    conversion->make = 1 + SYM_MAKE_PADS;
    conversion->kinds = 1u << SYM_KIND_SYMCACHE;
    (void) snprintf(conversion->make_name, sizeof(conversion->make_name), "%s",
                    c->options->no_demangle ? "mangled" : "");
}


static void
convert(compile_t *c, job_t *job)
{
    job->conversion.arch = c->arch;
    job->conversion.is_arch_wish = c->is_arch_wish;
    job->conversion.symcache = c->symcache;
    job->conversion.kind = c->how.kind;
    job->conversion.takes_empty = c->how.takes_empty;
    if (c->how.kind == SYM_KIND_CFI || c->how.kind == SYM_KIND_CRASH) {
        job->conversion.kinds = 1u << c->how.kind;
    }

    if (c->how.makes_pads) {
        set_make(c, &job->conversion);
    }

    conversions_add(&c->conversions, &job->conversion);
    conversions_start(&c->conversions);

    while (c->conversions.first != NULL) {
        pool_wait(c->conversions.pool, WAIT_MS, NULL);
    }
}


/* Then c->symcache has a module of the file, or is NULL. */
static void
read_file(compile_t *c, const walk_file_t *file)
{
    sym_error_t err = { 0 };
    job_t *job;

    c->has_module = false;
    c->symcache = c->how.makes_pads ? temporary_file_create(getenv("TMPDIR"),
                                                            UINT64_MAX, &err)
                                    : temporary_symcache_create(&err);
    job = c->symcache != NULL ? job_open(file, NULL, &err) : NULL;

    if (job != NULL) {
        convert(c, job);
    } else {
        complain(file->path, &err);
    }

    if (!c->has_module) {
        temporary_symcache_free(c->symcache);
        c->symcache = NULL;
    }
}


/* --- files --- */

static bool
is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}


bool
compile_is_file(const char *path)
{
    return access(path, F_OK) == 0
           && (!is_folder(path) || sym_dsym_is_bundle(sym_cstr(path)));
}


/* Finds the first suitable file, which may be one of a bundle. */
static void
read_files(compile_t *c, const char *operand, char *path)
{
    walk_t *walk = walk_create(&path, 1);
    unsigned n_files = 0;
    walk_file_t file;

    if (walk == NULL) {
        complain_about(operand, "out of memory");
        return;
    }

    while (c->symcache == NULL && walk_next(walk, &file)) {
        n_files++;
        read_file(c, &file);
    }

    if (n_files == 0) {
        complain_about(operand, "no debug file in " SYM_DSYM_FOLDER);
    }

    walk_free(walk);
}


static void
read_operand(compile_t *c, const char *operand)
{
    char path[PATH_MAX];
    bool is_bundle = is_folder(operand);
    int len;

    if (is_bundle && !compile_is_file(operand)) {
        complain_about(operand, "the folder is not a dSYM bundle");
        return;
    }

    len = is_bundle
              ? (int) sym_dsym_folder(sym_cstr(operand), path, sizeof(path))
              : snprintf(path, sizeof(path), "%s", operand);

    if (len <= 0 || (size_t) len >= sizeof(path)) {
        complain_about(operand, "the path is too long");
        return;
    }

    read_files(c, operand, path);
}


temporary_symcache_t *
compile_as(const options_t *options, const char *path, const char *arch,
           const compile_how_t *how)
{
    static const conversion_events_t events = { .note = on_note,
                                                .companion = on_companion,
                                                .ended = on_ended,
                                                .release = job_release };
    pool_limits_t limits = conversion_limits(options);
    struct utsname machine;
    compile_t c = { .is_arch_wish = arch == NULL,
                    .how = *how,
                    .options = options };

    if (arch == NULL) {
        arch = uname(&machine) == 0 ? machine.machine : "unknown";
    }

    c.arch = sym_cstr(arch);

    limits.jobs = 1;
    limits.finds_calls = how->makes_pads;
    limits.swift = CONVERT_SWIFT_OFF; /* because dump and atos do not show Swift
                                         names */

    if (!conversions_create(&c.conversions, &limits, &events, &c)) {
        complain_about(path, "out of memory");
        return NULL;
    }

    read_operand(&c, path);
    conversions_free(&c.conversions);
    return c.symcache;
}


temporary_symcache_t *
compile_file(const options_t *options, const char *path, const char *arch)
{
    return compile_as(options, path, arch,
                      &(compile_how_t){ .kind = options->kind });
}
