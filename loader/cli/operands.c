#include "cli/operands.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/pointer.h"
#include "cli/probe.h"
#include "driver/store_upload.h"
#include "sources/paths/symstore_pointer.h"

struct walk_s {
    char *const *operands; /* the remaining operands */
    int n_operands;
    FTS *fts;   /* walk of the current operand, or NULL */
    char *root; /* path of the operand, with links resolved */
    uint64_t passed;
    char target[PATH_MAX]; /* target of the last pointer */
};


static int
by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}


walk_t *
walk_create(char *const *operands, int n_operands)
{
    walk_t *walk = calloc(1, sizeof(*walk));

    if (walk != NULL) {
        walk->operands = operands;
        walk->n_operands = n_operands;
    }

    return walk;
}


static void
end_operand(walk_t *walk)
{
    if (walk->fts != NULL) {
        fts_close(walk->fts);
        walk->fts = NULL;
    }

    free(walk->root);
    walk->root = NULL;
}


void
walk_free(walk_t *walk)
{
    if (walk != NULL) {
        end_operand(walk);
    }

    free(walk);
}


static bool
ends_with(const char *text, size_t len, const char *end)
{
    size_t n = strlen(end);

    return len > n && memcmp(text + len - n, end, n) == 0;
}


bool
operands_is_script(const char *path)
{
    static const char *const endings[] = { ".js", ".mjs", ".cjs", ".map" };
    size_t len = strlen(path);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (ends_with(path, len, endings[i])) {
            return true;
        }
    }

    return false;
}


static bool
is_symbol_file(const FTSENT *e)
{
    return ends_with(e->fts_name, e->fts_namelen, ".sym")
           || ends_with(e->fts_name, e->fts_namelen, ".sym.gz")
           || ends_with(e->fts_name, e->fts_namelen, ".debug")
           || operands_is_script(e->fts_name);
}


/* Returns the last parts of a path, as many as its level. */
static const char *
below_root(const FTSENT *e)
{
    const char *p = e->fts_path + strlen(e->fts_path);

    for (short level = e->fts_level; p > e->fts_path; p--) {
        if (p[-1] == '/' && --level <= 0) {
            break;
        }
    }

    return p;
}


static bool
take(walk_file_t *file, const FTSENT *e, const struct stat *st)
{
    *file = (walk_file_t){ .path = e->fts_path,
                           .below = below_root(e),
                           .is_in_tree = e->fts_level > FTS_ROOTLEVEL };

    if (S_ISREG(st->st_mode)) {
        file->size = (uint64_t) st->st_size;
        file->is_package = probe_is_package(e->fts_accpath);

    } else if (S_ISFIFO(st->st_mode) && !file->is_in_tree) {
        file->is_pipe = true;

    } else {
        file->problem = "not a file";
    }

    return true;
}


static bool
take_error(walk_file_t *file, const FTSENT *e, int code)
{
    *file = (walk_file_t){ .path = e->fts_path,
                           .is_in_tree = e->fts_level > FTS_ROOTLEVEL,
                           .sys_errno = code };
    return true;
}


/* Returns the folder NAME of a file in the layout NAME/ID/FILE. */
static bool
server_folder(const char *path, sym_str_t *name)
{
    sym_str_t id;

    return store_upload_layout(path, name, &id);
}


/* Whether it is a cabinet in the right folder of a symbol server's tree. */
static bool
is_packed_module(const char *path)
{
    const char *slash = strrchr(path, '/');
    sym_str_t folder;

    return slash != NULL && server_folder(path, &folder)
           && sym_symstore_is_named(sym_cstr(slash + 1), folder)
           && probe_is_cabinet(path);
}


/* Others in a folder are not opened. */
static bool
is_package(const FTSENT *e)
{
    static const char *const endings[] = { ".deb", ".ddeb", ".udeb", ".rpm",
                                           ".apk" };

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (ends_with(e->fts_name, e->fts_namelen, endings[i])) {
            return true;
        }
    }

    return strstr(e->fts_name, ".pkg.tar.") != NULL
           && !ends_with(e->fts_name, e->fts_namelen, ".sig");
}


static bool
is_taken(const FTSENT *e)
{
    return is_symbol_file(e)
           || (e->fts_info == FTS_F && is_package(e)
               && probe_is_package(e->fts_accpath))
           || (e->fts_info == FTS_F
               && (probe_is_module(e->fts_accpath)
                   || is_packed_module(e->fts_path)));
}


static bool
is_pointer(const FTSENT *e)
{
    sym_str_t folder;

    return e->fts_info == FTS_F
           && strcasecmp(e->fts_name, SYM_SYMSTORE_POINTER) == 0
           && server_folder(e->fts_path, &folder);
}


/* The walk itself finds the target, and gives it the same name. */
static bool
comes_by_itself(const char *pointer, const char *target)
{
    const char *name = strrchr(target, '/') + 1;
    sym_str_t folder;

    return server_folder(pointer, &folder) && sym_str_eq(sym_cstr(name), folder)
           && probe_is_module(target);
}


static bool
consider_pointer(walk_t *walk, const FTSENT *e, walk_file_t *file)
{
    struct stat st;
    const char *why =
        walk->root == NULL
            ? "the tree's folder cannot be found"
            : pointer_follow(e->fts_accpath, walk->root, walk->target);

    if (why == NULL && stat(walk->target, &st) != 0) {
        return take_error(file, e, errno);
    }

    if (why != NULL) {
        *file = (walk_file_t){ .path = e->fts_path,
                               .is_in_tree = true,
                               .passed = why };
        return true;
    }

    if (comes_by_itself(e->fts_path, walk->target)) {
        return false;
    }

    (void) take(file, e, &st);
    file->target = walk->target;
    return true;
}


static bool
consider_file(walk_t *walk, const FTSENT *e, walk_file_t *file)
{
    bool is_operand = e->fts_level == FTS_ROOTLEVEL;

    if (!is_operand && is_pointer(e)) {
        return consider_pointer(walk, e, file);
    }

    if (is_operand || is_taken(e)) {
        return take(file, e, e->fts_statp);
    }

    walk->passed++;
    return false;
}


/* The walk finds the target anyway. */
static bool
leads_into_tree(const walk_t *walk, const FTSENT *e)
{
    char *target = realpath(e->fts_accpath, NULL);
    size_t len = walk->root != NULL ? strlen(walk->root) : 0;
    bool is_inside = target != NULL && len > 0
                     && strncmp(target, walk->root, len) == 0
                     && (target[len] == '/' || walk->root[len - 1] == '/')
                     && probe_is_module(target);

    free(target);
    return is_inside;
}


static bool
consider_link(const walk_t *walk, const FTSENT *e, walk_file_t *file)
{
    bool is_operand = e->fts_level == FTS_ROOTLEVEL;
    struct stat st;

    if (!is_operand && (!is_symbol_file(e) || leads_into_tree(walk, e))) {
        return false;
    }

    if (stat(e->fts_accpath, &st) != 0) {
        return take_error(file, e, errno);
    }

    return !S_ISDIR(st.st_mode) && take(file, e, &st);
}


/* True: load *file, or report its error. */
static bool
consider(walk_t *walk, const FTSENT *e, walk_file_t *file)
{
    switch (e->fts_info) {
    case FTS_F:
    case FTS_DEFAULT:
        return consider_file(walk, e, file);

    case FTS_SL:
    case FTS_SLNONE:
        return consider_link(walk, e, file);

    case FTS_DNR: /* an unreadable folder */
    case FTS_ERR:
    case FTS_NS:
        return take_error(file, e, e->fts_errno);

    default: /* a folder, before or after its contents */
        return false;
    }
}


/* Starts the next operand; false: *file has the error. */
static bool
begin_operand(walk_t *walk, walk_file_t *file)
{
    char *const roots[] = { walk->operands[0], NULL };

    walk->operands++;
    walk->n_operands--;

    /* COMFOLLOW: follows a link that is an operand. */
    walk->fts =
        fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);

    walk->root = realpath(roots[0], NULL);

    if (walk->fts == NULL) {
        *file = (walk_file_t){ .path = roots[0], .sys_errno = errno };
        return false;
    }

    return true;
}


bool
walk_next(walk_t *walk, walk_file_t *file)
{
    const FTSENT *e;

    for (;;) {
        while (walk->fts != NULL && (e = fts_read(walk->fts)) != NULL) {
            if (consider(walk, e, file)) {
                file->root = file->is_in_tree ? walk->root : NULL;
                return true;
            }
        }

        end_operand(walk);

        if (walk->n_operands == 0) {
            return false;
        }

        if (!begin_operand(walk, file)) {
            return true;
        }
    }
}


uint64_t
walk_passed(const walk_t *walk)
{
    return walk->passed;
}
