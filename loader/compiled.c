#include "compiled.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "commands.h"
#include "macho/bundle.h"
#include "output.h"
#include "pool.h"

#define WAIT_MS 1000

typedef struct {
    uint8_t *data;
    size_t len;
} extent_t;

/* One symcache. */
typedef struct {
    extent_t *extents;
    uint32_t n, cap;
} memory_t;

struct compiled_s {
    const char *arch; /* wanted, or NULL */
    char name[NAME_MAX + 1];
    memory_t coming, chosen;
    int rank; /* of the chosen one; 0: there is none yet */
    sym_symcache_t cache;

    bool has_ended;
    unsigned n_modules; /* that could be read */
    sym_error_t err;    /* the first */
    char text[256];     /* of it */
};


/* --- extents --- */

static void
memory_free(memory_t *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        free(m->extents[i].data);
    }

    free(m->extents);
    *m = (memory_t){ 0 };
}


/* The pool has seen that number is one of a symcache. */
static bool
memory_reach(memory_t *m, uint32_t number)
{
    uint32_t cap = m->cap == 0 ? 64 : m->cap;
    extent_t *grown;

    while (cap <= number) {
        cap *= 2;
    }

    if (cap != m->cap) {
        grown = realloc(m->extents, cap * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }

        m->extents = grown;
        m->cap = cap;
    }

    for (; m->n <= number; m->n++) {
        m->extents[m->n] = (extent_t){ 0 };
    }

    return true;
}


static sym_status_t
memory_get(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const memory_t *m = ctx;

    if (number >= m->n || m->extents[number].data == NULL) {
        return SYM_NOT_FOUND;
    }

    *data = m->extents[number].data;
    *len = m->extents[number].len;
    return SYM_OK;
}


/* --- what the pool calls --- */

static sym_status_t
on_module(void *ctx, const pool_module_t *module, sym_error_t *err)
{
    compiled_t *c = ctx;

    (void) module;
    (void) err;
    memory_free(&c->coming);
    return SYM_OK;
}


static sym_status_t
on_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
          sym_error_t *err)
{
    memory_t *m = &((compiled_t *) ctx)->coming;
    uint8_t *copy = malloc(len == 0 ? 1 : len);

    if (copy == NULL || number >= SYM_EXTENTS_LIMIT || !memory_reach(m, number))
    {
        free(copy);
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    memcpy(copy, data, len);
    free(m->extents[number].data);
    m->extents[number] = (extent_t){ copy, len };
    return SYM_OK;
}


/* atos's word for it is Apple's. */
static bool
is_arch(const char *wanted, sym_str_t arch)
{
    return sym_str_eq(sym_cstr(wanted), arch)
           || (strcmp(wanted, "i386") == 0 && sym_str_eq(arch, SYM_STR("x86")));
}


static bool
is_this_machine(sym_str_t arch)
{
    struct utsname u;

    return uname(&u) == 0
           && is_arch(strcmp(u.machine, "aarch64") == 0 ? "arm64" : u.machine,
                      arch);
}


/* 0: not wanted at all. */
static int
rank_of(const compiled_t *c, sym_symcache_t *cache)
{
    char text[SYM_STRING_MAX + SYM_STRING_SLACK];
    sym_str_t arch =
        sym_str(text, sym_symcache_info(cache, SYM_INFO_ARCH, text));

    if (c->arch != NULL) {
        return is_arch(c->arch, arch) ? 1 : 0;
    }

    return is_this_machine(arch) ? 2 : 1;
}


static void
note_end(compiled_t *c, const pool_end_t *end)
{
    c->has_ended = !end->has_more;
}


static sym_status_t
on_done(void *ctx, const wire_done_t *done, const pool_end_t *end,
        sym_error_t *err)
{
    compiled_t *c = ctx;
    sym_symcache_t cache;
    int rank;

    (void) done;

    if (sym_symcache_open(&cache, memory_get, &c->coming, err) != SYM_OK) {
        return err->status;
    }

    rank = rank_of(c, &cache);
    c->n_modules++;

    if (rank > c->rank) {
        memory_free(&c->chosen);
        c->chosen = c->coming;
        c->coming = (memory_t){ 0 };
        c->rank = rank;
    }

    note_end(c, end);
    return SYM_OK;
}


static void
on_failed(void *ctx, const sym_error_t *err, const pool_end_t *end)
{
    compiled_t *c = ctx;

    if (c->err.status == SYM_OK) {
        c->err = *err;
        /* its texts are the pool's */
        (void) sym_error_text(err, c->text, sizeof(c->text));
    }

    note_end(c, end);
}


/* --- files --- */

static sym_status_t
convert(compiled_t *c, const options_t *o, int fd, sym_error_t *err)
{
    const pool_events_t events = { .module = on_module,
                                   .extent = on_extent,
                                   .done = on_done,
                                   .failed = on_failed };
    pool_limits_t limits = convert_limits(o);
    pool_t *pool;
    sigset_t mask;

    limits.jobs = 1;
    pool = pool_create(&limits, &events);

    if (pool == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    sigemptyset(&mask);
    c->has_ended = false;

    if (pool_submit(pool, fd, WIRE_TO_END, SYM_STR(""), c, err) == SYM_OK) {
        while (!c->has_ended) {
            pool_wait(pool, WAIT_MS, &mask);
        }
    }

    pool_free(pool);
    return err->status;
}


static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}


/* True: c has a module of it. */
static bool
read_file(compiled_t *c, const options_t *options, const char *path)
{
    char text[256];
    sym_error_t err = { 0 };
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    c->err = (sym_error_t){ 0 };
    c->n_modules = 0;

    if (fd < 0 || fstat(fd, &st) != 0) {
        complain_about(path, "%s", strerror(errno));

    } else if (S_ISDIR(st.st_mode)) {
        complain_about(path, "a folder that is no dSYM bundle");

    } else if (convert(c, options, fd, &err) != SYM_OK) {
        complain_about(path, "%s", sym_error_text(&err, text, sizeof(text)));

    } else if (c->rank == 0 && c->n_modules == 0) {
        complain_about(path, "%s", c->text);

    } else if (c->rank == 0) {
        complain_about(path, "there is no architecture %s in it", c->arch);
    }

    if (fd >= 0) {
        close(fd);
    }

    snprintf(c->name, sizeof(c->name), "%s", base_name(path));
    return c->rank != 0;
}


static int
takes(const struct dirent *entry)
{
    return sym_dsym_takes(sym_cstr(entry->d_name));
}


/* The first of its files that will do. */
static bool
read_bundle(compiled_t *c, const options_t *options, const char *path)
{
    char folder[PATH_MAX], file[PATH_MAX];
    struct dirent **entries = NULL;
    int n = -1;

    if (sym_dsym_folder(sym_cstr(path), folder, sizeof(folder)) != 0) {
        n = scandir(folder, &entries, takes, alphasort);
    }

    if (n <= 0) {
        complain_about(path, "no debug file in " SYM_DSYM_FOLDER);
    }

    for (int i = 0; i < n; i++) {
        int len =
            snprintf(file, sizeof(file), "%s/%s", folder, entries[i]->d_name);

        if (c->rank == 0 && len > 0 && (size_t) len < sizeof(file)) {
            (void) read_file(c, options, file);
        }

        free(entries[i]);
    }

    free(entries);
    return c->rank != 0;
}


compiled_t *
compiled_open(const options_t *options, const char *path, const char *arch)
{
    compiled_t *c = calloc(1, sizeof(*c));
    sym_error_t err = { 0 };
    struct stat st;
    bool is_bundle = sym_dsym_is_bundle(sym_cstr(path)) && stat(path, &st) == 0
                     && S_ISDIR(st.st_mode);

    if (c == NULL) {
        complain_about(path, "out of memory");
        return NULL;
    }

    c->arch = arch;

    if ((is_bundle ? read_bundle(c, options, path)
                   : read_file(c, options, path))
        && sym_symcache_open(&c->cache, memory_get, &c->chosen, &err) == SYM_OK)
    {
        return c;
    }

    compiled_free(c);
    return NULL;
}


void
compiled_free(compiled_t *c)
{
    memory_free(&c->coming);
    memory_free(&c->chosen);
    free(c);
}


sym_symcache_t *
compiled_symcache(compiled_t *c)
{
    return &c->cache;
}


sym_str_t
compiled_name(const compiled_t *c)
{
    return sym_cstr(c->name);
}
