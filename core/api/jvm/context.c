#include "api/jvm/jvm.h"

#include "api/frames.h"

#include "artifacts/sources/read/sources.h"
#include "base/steps.h"
#include "symbolicate/source_text.h"

/* Maximum length of all lines in an answer; later frames show no lines. */
#define CONTEXT_MAX (32u << 20)

/* Cost of unpacking a block, counted in frames. */
#define BLOCK_COST 64

#define PATH_MAX_BYTES 4096

struct jvm_context_s {
    sym_sources_t *bundles;
    uint32_t n;
    sym_source_text_t text;
    size_t bytes; /* length of the lines shown so far */
    sym_context_t lines;
};


/* The bundles that were found, each once. */
static bool
is_bundle(const jvm_t *j, uint32_t need)
{
    const sym_need_t *n = &j->base.needs[need];

    return n->kind == SYM_KIND_SOURCES && n->found == SYM_NEED_FOUND;
}


sym_status_t
jvm_open_context(jvm_t *j)
{
    struct jvm_context_s *c;

    if (!j->request.options.has_context) {
        return SYM_OK;
    }

    c = sym_arena_calloc(j->base.arena, 1, sizeof(*c));
    if (c == NULL
        || (c->bundles = sym_arena_calloc(j->base.arena, j->base.stats.modules,
                                          sizeof(*c->bundles)))
               == NULL)
    {
        return SYM_NOMEM;
    }

    c->text.arena = j->base.arena;
    c->bytes = j->context != NULL ? j->context->bytes : 0;

    for (uint32_t i = 0; i < j->base.stats.modules; i++) {
        sym_error_t err = { 0 };

        if (is_bundle(j, i)
            && sym_sources_open(&c->bundles[c->n], sym_artifact_extent,
                                &j->base.needs[i].artifact, &err)
                   == SYM_OK)
        {
            c->n++;
        }
    }

    j->context = c;
    return SYM_OK;
}


/* --- URLs --- */

typedef struct {
    char *p, *end; /* p NULL: the path is too long */
} path_t;

/* Appends the text; dots become '/' if it is the name of a package. */
static void
add(path_t *path, sym_str_t s, bool is_package)
{
    if (path->p == NULL || s.len > (size_t) (path->end - path->p)) {
        path->p = NULL;
        return;
    }

    for (size_t i = 0; i < s.len; i++) {
        *path->p = s.data[i];
        if (is_package && s.data[i] == '.') {
            *path->p = '/';
        }
        path->p++;
    }
}


/* Returns the part before the last such byte; data NULL: no such byte. */
static sym_str_t
before_last(sym_str_t s, char c)
{
    for (size_t i = s.len; i > 0; i--) {
        if (s.data[i - 1] == c) {
            return sym_str(s.data, i - 1);
        }
    }

    return sym_str(NULL, 0);
}


static bool
has_byte(sym_str_t s, char c)
{
    return s.len != 0 && memchr(s.data, c, s.len) != NULL;
}


/* Makes "~/PACKAGE/FILE.jvm", for any extension of the file.  A path that is
 * not a plain file name is ignored; FILE is then the name of the class. */
static sym_str_t
url_of(sym_str_t module, sym_str_t abs_path, char url[PATH_MAX_BYTES])
{
    path_t path = { url, url + PATH_MAX_BYTES };
    sym_str_t stem = before_last(abs_path, '.');

    add(&path, SYM_STR("~/"), false);

    if (stem.data != NULL && !has_byte(abs_path, '$')) {
        sym_str_t package = before_last(module, '.');

        if (package.data != NULL) {
            add(&path, package, true);
            add(&path, SYM_STR("/"), false);
        }
        add(&path, stem, false);
    } else {
        const char *dollar =
            module.len != 0 ? memchr(module.data, '$', module.len) : NULL;

        add(&path,
            dollar != NULL
                ? sym_str(module.data, (size_t) (dollar - module.data))
                : module,
            true);
    }

    add(&path, SYM_STR(".jvm"), false);
    return path.p != NULL ? sym_str(url, (size_t) (path.p - url))
                          : sym_str(url, 0);
}


/* --- lines --- */

static sym_status_t
find_lines(jvm_t *j, sym_str_t url, uint64_t line, uint32_t *budget)
{
    struct jvm_context_s *c = j->context;
    sym_status_t rc = SYM_NOT_FOUND;

    for (uint32_t i = 0; i < c->n && rc != SYM_OK && rc != SYM_NOMEM; i++) {
        uint64_t unpacked = c->text.unpacked;
        sym_sources_file_t file;

        sym_budget_charge(budget, 1);
        rc = sym_sources_find(&c->bundles[i], url, &file);

        if (rc == SYM_OK && file.is_url) {
            sym_context_text_t text =
                sym_source_text(&c->text, &c->bundles[i], &file);

            rc = sym_context_read(&text, line, 0, &c->lines);
            sym_budget_charge(budget, (uint32_t) (c->text.unpacked - unpacked)
                                          * BLOCK_COST);
        }
    }

    return rc;
}


bool
jvm_write_context(jvm_t *j, sym_str_t module, sym_str_t abs_path, uint64_t line,
                  sym_out_t *out, uint32_t *budget)
{
    struct jvm_context_s *c = j->context;
    char room[PATH_MAX_BYTES];
    sym_str_t url;

    if (c == NULL || c->n == 0 || line == 0 || c->bytes > CONTEXT_MAX) {
        return false;
    }

    url = url_of(module, abs_path, room);
    if (url.len == 0 || find_lines(j, url, line, budget) != SYM_OK) {
        return false;
    }

    c->bytes += c->lines.bytes;

    sym_frame_lines(out, &c->lines);
    return true;
}
