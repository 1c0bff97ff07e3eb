#include "cli/compile.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/job.h"
#include "formats/macho/bundle.h"
#include "cli/operands.h"

/* How often stalled converters are looked for. */
#define WAIT_MS 1000

typedef struct {
    pool_t *pool;
    sym_str_t arch;
    bool is_arch_wish;

    /* of the file under way */
    job_t *file;
    bool has_module, has_ended;
    temporary_symcache_t *scratch;
} compile_t;


static void
complain(const char *path, const sym_error_t *err)
{
    char text[512];

    complain_about(path, "%s", sym_error_text(err, text, sizeof(text)));
}


/* --- what the pool calls --- */

static sym_status_t
on_module(void *ctx, const pool_module_t *module, sym_error_t *err)
{
    compile_t *c = ctx;
    store_upload_t *in = &c->file->upload;
    sym_status_t rc = store_upload_name(in, c->file->path, module, err);

    if (rc == SYM_OK) {
        temporary_symcache_set_key(c->scratch, &in->key);
    }

    return rc;
}


static sym_status_t
on_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
          sym_error_t *err)
{
    compile_t *c = ctx;

    return temporary_symcache_put(c->scratch, number, data, len, err);
}


static sym_status_t
on_done(void *ctx, const converter_done_t *done, const pool_end_t *end,
        sym_error_t *err)
{
    compile_t *c = ctx;

    (void) done;
    (void) end; /* one module is wanted */
    (void) err;
    c->has_module = true;
    c->has_ended = true;
    return SYM_OK;
}


static void
on_failed(void *ctx, const sym_error_t *err, const pool_end_t *end)
{
    compile_t *c = ctx;

    (void) end;
    complain(c->file->path, err);
    c->has_ended = true;
}


static void
on_note(void *ctx, const char *text)
{
    const compile_t *c = ctx;

    complain_about(c->file->path, "warning: %s", text);
}


static int
on_companion(void *ctx, const sym_companion_t *want,
             converter_given_t *given)
{
    const compile_t *c = ctx;

    return job_companion(c->file, want, given);
}


/* --- one file --- */

static void
convert(compile_t *c)
{
    const pool_input_t input = { .fd = c->file->fd,
                                 .length = CONVERTER_TO_END,
                                 .arch = c->arch,
                                 .is_arch_wish = c->is_arch_wish };
    sym_error_t err = { 0 };

    if (pool_submit(c->pool, &input, c, &err) != SYM_OK) {
        complain(c->file->path, &err);
        return;
    }

    while (!c->has_ended) {
        pool_wait(c->pool, WAIT_MS, NULL);
    }
}


/* True: c->scratch has a module of it. */
static bool
read_file(compile_t *c, const walk_file_t *file)
{
    sym_error_t err = { 0 };

    c->has_module = false;
    c->has_ended = false;
    c->file = job_open(file, &err);
    c->scratch = c->file != NULL ? temporary_symcache_create(&err) : NULL;

    if (c->scratch != NULL) {
        convert(c);
    } else {
        complain(file->path, &err);
    }

    if (!c->has_module) {
        temporary_symcache_free(c->scratch);
        c->scratch = NULL;
    }

    if (c->file != NULL) {
        job_free(c->file);
    }

    return c->has_module;
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


/* The first file that will do, of one or of those in a bundle. */
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

    while (c->scratch == NULL && walk_next(walk, &file)) {
        n_files++;
        (void) read_file(c, &file);
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
        complain_about(operand, "a folder that is no dSYM bundle");
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
compile_file(const options_t *options, const char *path, const char *arch)
{
    const pool_events_t events = { .module = on_module,
                                   .extent = on_extent,
                                   .done = on_done,
                                   .failed = on_failed,
                                   .note = on_note,
                                   .companion = on_companion };
    pool_limits_t limits = convert_limits(options);
    struct utsname machine;
    compile_t c = { .is_arch_wish = arch == NULL };

    if (arch == NULL) {
        arch = uname(&machine) == 0 ? machine.machine : "unknown";
    }

    c.arch = sym_cstr(arch);

    limits.jobs = 1;
    c.pool = pool_create(&limits, &events);

    if (c.pool == NULL) {
        complain_about(path, "out of memory");
        return NULL;
    }

    read_operand(&c, path);
    pool_free(c.pool);
    return c.scratch;
}
