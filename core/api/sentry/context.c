/*
 * The lines of source around a frame.  As in Symbolicator, the sources of each
 * module that a frame refers to are looked up, even if the frame has no path:
 * the features of the module also show them.
 *
 * A text comes from a source bundle or a portable PDB.  A PDB may instead
 * contain the URL of the text (source links).  If the request has sources, such
 * a text is requested in a separate round, because the paths of the frames are
 * unknown before.
 */
#include "api/sentry/sentry.h"

#include "base/text.h"
#include "sources/paths/rules.h"
#include "sources/guard/url.h"
#include "symbolicate/source_text.h"

/* Maximum length of all lines in an answer; later frames show no lines. */
#define CONTEXT_MAX (32u << 20)

/* Cost of unpacking a block, counted in frames. */
#define BLOCK_COST 64

typedef struct {
    sym_sources_t sources;
    uint32_t need; /* 1 + need for the module's sources; 0: sources are not
                      requested */
    bool is_tried, is_open;
    bool owns_frame; /* the answer has lines of the module */
} module_t;

/* A text at a URL. */
typedef struct {
    uint32_t need;
    bool is_open;
    sym_sources_t sources;
} text_t;

/* A text that a frame needs. */
typedef struct {
    uint32_t module, need;
} link_t;

struct sentry_sources_s {
    sym_request_step_t then; /* set once all needs are open */
    module_t *modules;
    uint32_t next; /* next module to add needs for */

    /* texts of source links */
    uint32_t module, stack, frame; /* next frame to visit */
    bool has_links;
    link_t *links;
    uint32_t n_links;
    text_t *texts;
    uint32_t n_texts;

    sym_source_text_t text;
    size_t bytes; /* length of the lines shown so far */
};


/* --- needs --- */

static sym_status_t need_links(sym_request_t *r, sym_out_t *out,
                               uint32_t *budget);

static sym_status_t
need_sources(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sentry_t *s = (sentry_t *) r;
    const sentry_request_t *q = &s->request;
    struct sentry_sources_s *c = s->answer->sources;

    (void) out;
    for (; c->next < q->n_modules; c->next++) {
        const sentry_module_t *m = &q->modules[c->next];
        sym_need_t *need;
        sym_status_t rc;

        if (m->need == 0) {
            continue;
        }

        if (*budget == 0) {
            return SYM_AGAIN;
        }
        --*budget;

        rc = sym_request_need(r, m->need - 1, SYM_KIND_SOURCES,
                              &c->modules[c->next].need);
        if (rc != SYM_OK) {
            return rc;
        }

        /* known already, so not to be downloaded again */
        need = &r->needs[c->modules[c->next].need++];
        if (!need->is_thorough && sentry_has_no_own_sources(s, m->need - 1)) {
            need->without = 1u << SYM_SOURCE_PORTABLE_PDB;
        }
    }

    r->step = r->request_sources != NULL && r->request_sources->links != NULL
                  ? need_links
                  : c->then;
    return SYM_OK;
}


static struct sentry_sources_s *
sources_create(const sentry_t *s)
{
    sym_arena_t *arena = s->base.arena;
    struct sentry_sources_s *c = sym_arena_calloc(arena, 1, sizeof(*c));

    if (c == NULL) {
        return NULL;
    }

    c->modules =
        sym_arena_calloc(arena, s->request.n_modules, sizeof(*c->modules));
    return c->modules != NULL ? c : NULL;
}


sym_status_t
sentry_begin_context(sentry_t *s, sym_request_step_t then)
{
    struct sentry_sources_s *c =
        s->answer->sources != NULL ? s->answer->sources : sources_create(s);

    if (c == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < s->request.n_modules; i++) {
        c->modules[i] = (module_t){ .need = c->modules[i].need };
    }

    if (s->base.was_unsound) {
        c->module = c->stack = c->frame = 0;
    }

    c->n_texts = 0;
    c->text = (sym_source_text_t){ .arena = s->base.arena };
    c->bytes = 0;
    c->then = then;
    s->answer->sources = c;
    s->base.step = need_sources;
    return SYM_OK;
}


/* --- modules --- */

static const sym_need_t *
need_of(const sentry_t *s, uint32_t module)
{
    const struct sentry_sources_s *c = s->answer->sources;

    return c != NULL && c->modules[module].need != 0
               ? &s->base.needs[c->modules[module].need - 1]
               : NULL;
}


bool
sentry_has_sources(const sentry_t *s, uint32_t module)
{
    const sym_need_t *need = need_of(s, module);

    return need != NULL && need->found == SYM_NEED_FOUND;
}


void
sentry_own_frame(sentry_t *s, uint32_t module)
{
    if (s->answer->sources != NULL && module != SENTRY_NO_MODULE) {
        s->answer->sources->modules[module].owns_frame = true;
    }
}


bool
sentry_is_unused(const sentry_t *s, uint32_t module)
{
    const struct sentry_sources_s *c = s->answer->sources;

    return c != NULL && !c->modules[module].owns_frame;
}


/* Opens the sources of a module.  NULL: it has no readable sources. */
static const sym_sources_t *
open_sources(sentry_t *s, uint32_t module)
{
    module_t *m = &s->answer->sources->modules[module];

    if (!sentry_has_sources(s, module)) {
        return NULL;
    }

    if (!m->is_tried) {
        sym_error_t err = { 0 };

        m->is_tried = true;
        m->is_open =
            sym_sources_open(&m->sources, sym_artifact_extent,
                             &s->base.needs[m->need - 1].artifact, &err)
            == SYM_OK;
    }

    return m->is_open ? &m->sources : NULL;
}


/* --- source links --- */

/* Normalizes a URL.  SYM_MALFORMED: not a URL that may be shown. */
static sym_status_t
normalise(sym_str_t text, char out[SENTRY_LINK_MAX], size_t *len)
{
    sym_error_t err = { 0 };
    sym_arena_t arena;
    sym_text_t t = { .arena = &arena };
    sym_url_t url;
    sym_str_t written;
    sym_status_t rc;

    sym_arena_init(&arena, 0);
    rc = sym_url_read(&arena, text, &url, &err);

    if (rc == SYM_OK && url.userinfo.len == 0) {
        sym_str_t authority = sym_url_authority(&arena, &url);

        sym_text_add(&t,
                     url.is_https ? SYM_STR("https://") : SYM_STR("http://"));
        sym_text_add(&t, authority);
        sym_text_add(&t, url.path);
        sym_text_add(&t, url.query.len != 0 ? SYM_STR("?") : SYM_STR(""));
        sym_text_add(&t, url.query);
        t.failed = t.failed || authority.data == NULL;
    }

    written = sym_text_end(&t);
    *len = 0;
    rc = t.failed ? SYM_NOMEM : rc;
    if (rc == SYM_OK && written.len <= SENTRY_LINK_MAX) {
        memcpy(out, written.data, written.len);
        *len = written.len;
    }

    sym_arena_drop(&arena);
    return rc != SYM_OK || *len != 0 ? rc : SYM_MALFORMED;
}


/* Finds the URL of a text that the artifact does not contain.  Only http and
 * https are shown, because other URLs might lead into a file system. */
static sym_status_t
find_link(const sym_sources_t *sources, sym_str_t path,
          sentry_context_t *context)
{
    char buffer[SYM_SOURCES_URL_MAX];
    size_t len;
    sym_status_t rc = sym_sources_url(sources, path, buffer, &len);
    sym_str_t text = sym_str(buffer, len);

    if (rc != SYM_OK) {
        return SYM_OK;
    }

    context->is_found = true;
    if (!sym_str_starts(text, SYM_STR("http://"))
        && !sym_str_starts(text, SYM_STR("https://")))
    {
        return SYM_OK;
    }

    rc = normalise(text, context->link, &context->link_len);
    return rc == SYM_NOMEM ? SYM_NOMEM : SYM_OK;
}


/* Returns the path of a .NET frame; "" if unknown. */
static sym_status_t
path_of(sentry_t *s, const sentry_stack_t *stack, const sentry_frame_t *frame,
        sym_str_t *path)
{
    const sentry_field_t *own = sentry_field(frame, SENTRY_ABS_PATH);
    sentry_answer_t *a = s->answer;
    sentry_place_t place;
    sym_il_frame_t found;
    size_t len;

    *path = own != NULL ? own->value.text : SYM_STR("");
    sentry_locate(s, stack, frame, 0, &place);
    if (!place.is_il || !sentry_look_up_il(s, frame, &place, &found)) {
        return SYM_OK;
    }

    len = found.folder.len + found.file.len;
    if (len > a->path_room) {
        a->path_room = 2 * len;
        a->path = sym_arena_alloc(s->base.arena, a->path_room);
        if (a->path == NULL) {
            a->path_room = 0;
            return SYM_NOMEM;
        }
    }

    if (len != 0) {
        memcpy(a->path, found.folder.data, found.folder.len);
        memcpy(a->path + found.folder.len, found.file.data, found.file.len);
    }
    *path = sym_str(a->path, len);
    return SYM_OK;
}


static bool
has_links(const sym_sources_t *sources)
{
    sym_sources_link_t link;

    return sources != NULL && sym_sources_link(sources, 0, &link) == SYM_OK;
}


static sym_status_t
note_link(sentry_t *s, uint32_t module, uint32_t need)
{
    struct sentry_sources_s *c = s->answer->sources;

    if (c->links == NULL) {
        c->links = sym_arena_calloc(s->base.arena, SYM_REQUEST_LINKS_MAX,
                                    sizeof(*c->links));
        if (c->links == NULL) {
            return SYM_NOMEM;
        }
    }

    for (uint32_t i = 0; i < c->n_links; i++) {
        if (c->links[i].need == need) {
            return SYM_OK;
        }
    }

    c->links[c->n_links++] = (link_t){ module, need };
    return SYM_OK;
}


bool
sentry_link(const sentry_t *s, uint32_t n, uint32_t *module,
            const sym_need_t **need)
{
    const struct sentry_sources_s *c = s->answer->sources;

    if (c == NULL || n >= c->n_links) {
        return false;
    }

    *module = c->links[n].module;
    *need = &s->base.needs[c->links[n].need];
    return true;
}


static sym_status_t
add_link_need(sentry_t *s, const sentry_stack_t *stack,
              const sentry_frame_t *frame)
{
    uint32_t module = sentry_module_of(&s->request, frame), need;
    const sym_sources_t *sources =
        module == SENTRY_NO_MODULE ? NULL : open_sources(s, module);
    sentry_context_t context;
    sym_sources_file_t file;
    sym_str_t path;
    sym_status_t rc;

    if (!has_links(sources)) {
        return SYM_OK;
    }

    rc = path_of(s, stack, frame, &path);
    if (rc != SYM_OK || path.len == 0
        || (sym_sources_find(sources, path, &file) == SYM_OK && !file.is_url))
    {
        return rc;
    }

    context.link_len = 0;
    rc = find_link(sources, path, &context);
    if (rc == SYM_OK && context.link_len != 0) {
        rc = sym_request_need_text(
            &s->base, sym_str(context.link, context.link_len), true, &need);
        rc = rc != SYM_OK ? rc : note_link(s, module, need);
    }

    return rc == SYM_NOMEM ? SYM_NOMEM : SYM_OK;
}


/* Visits each frame once, in several steps. */
static sym_status_t
need_links(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sentry_t *s = (sentry_t *) r;
    struct sentry_sources_s *c = s->answer->sources;
    const sentry_request_t *q = &s->request;

    (void) out;
    for (; c->module < q->n_modules; c->module++, --*budget) {
        if (*budget == 0) {
            return SYM_AGAIN;
        }
        c->has_links = c->has_links || has_links(open_sources(s, c->module));
    }

    for (; c->has_links && c->stack < q->n_stacks; c->stack++, c->frame = 0) {
        const sentry_stack_t *stack = &q->stacks[c->stack];

        for (; c->frame < stack->n; c->frame++, --*budget) {
            if (*budget == 0) {
                return SYM_AGAIN;
            }
            if (add_link_need(s, stack,
                              sentry_frame(q, stack->first + c->frame))
                != SYM_OK) {
                return SYM_NOMEM;
            }
        }
    }

    r->step = c->then;
    return SYM_OK;
}


/* Returns the text at the URL if it was fetched; otherwise NULL. */
static sym_status_t
open_text(sentry_t *s, sym_str_t url, const sym_sources_t **sources)
{
    struct sentry_sources_s *c = s->answer->sources;
    sym_error_t err = { 0 };
    uint32_t need;
    text_t *t;

    *sources = NULL;
    if (s->base.request_sources == NULL
        || s->base.request_sources->links == NULL
        || sym_request_need_text(&s->base, url, false, &need) != SYM_OK
        || s->base.needs[need].found != SYM_NEED_FOUND)
    {
        return SYM_OK;
    }

    if (c->texts == NULL) {
        c->texts = sym_arena_calloc(s->base.arena, SYM_REQUEST_LINKS_MAX,
                                    sizeof(*c->texts));
        if (c->texts == NULL) {
            return SYM_NOMEM;
        }
    }

    for (uint32_t i = 0; i < c->n_texts; i++) {
        if (c->texts[i].need == need) {
            *sources = c->texts[i].is_open ? &c->texts[i].sources : NULL;
            return SYM_OK;
        }
    }

    t = &c->texts[c->n_texts++];
    t->need = need;
    t->is_open = sym_sources_open(&t->sources, sym_artifact_extent,
                                  &s->base.needs[need].artifact, &err)
                 == SYM_OK;
    *sources = t->is_open ? &t->sources : NULL;
    return SYM_OK;
}


/* --- frames --- */

static sym_status_t
read_lines(sentry_t *s, const sym_sources_t *sources,
           const sym_sources_file_t *file, uint64_t line,
           sentry_context_t *context)
{
    struct sentry_sources_s *c = s->answer->sources;
    uint64_t unpacked = c->text.unpacked;
    sym_context_text_t text;
    sym_status_t rc;

    if (c->bytes >= CONTEXT_MAX) {
        return SYM_OK;
    }

    text = sym_source_text(&c->text, sources, file);
    rc = sym_context_read(&text, line, 0, &context->lines);
    s->answer->cost += (uint32_t) (c->text.unpacked - unpacked) * BLOCK_COST;
    context->has_lines = rc == SYM_OK;
    c->bytes += context->has_lines ? context->lines.bytes : 0;
    return rc == SYM_NOMEM ? SYM_NOMEM : SYM_OK;
}


static sym_status_t
find_linked(sentry_t *s, const sym_sources_t *sources, sym_str_t path,
            uint64_t line, sentry_context_t *context)
{
    const sym_sources_t *text = NULL;
    sym_sources_file_t file;
    sym_status_t rc = find_link(sources, path, context);

    if (rc == SYM_OK && context->link_len != 0) {
        rc = open_text(s, sym_str(context->link, context->link_len), &text);
    }

    return text != NULL
                   && sym_sources_find(text, SYM_STR(SYM_SOURCES_TEXT_NAME),
                                       &file)
                          == SYM_OK
               ? read_lines(s, text, &file, line, context)
               : rc;
}


sym_status_t
sentry_find_context(sentry_t *s, uint32_t module, sym_str_t path, uint64_t line,
                    sentry_context_t *context)
{
    struct sentry_sources_s *c = s->answer->sources;
    const sym_sources_t *sources;
    sym_sources_file_t file;

    context->is_found = context->has_lines = false;
    context->link_len = 0;
    if (c == NULL || module == SENTRY_NO_MODULE || path.len == 0) {
        return SYM_OK;
    }

    sources = open_sources(s, module);
    if (sources == NULL) {
        return SYM_OK;
    }

    /* the names of scripts are URLs, not paths */
    if (sym_sources_find(sources, path, &file) != SYM_OK || file.is_url) {
        return find_linked(s, sources, path, line, context);
    }

    context->is_found = true;
    return read_lines(s, sources, &file, line, context);
}


bool
sentry_context_replaces(const sentry_context_t *context, sentry_key_t key)
{
    switch (key) {
    case SENTRY_SOURCE_LINK:
        return context->is_found;
    case SENTRY_PRE_CONTEXT:
    case SENTRY_CONTEXT_LINE:
    case SENTRY_POST_CONTEXT:
        return context->has_lines;
    default:
        return false;
    }
}


static void
write_lines(sym_str_t key, const sym_str_t *lines, unsigned n, sym_out_t *out)
{
    if (n == 0) {
        return;
    }

    sym_out_raw(out, key);
    for (unsigned i = 0; i < n; i++) {
        sym_out_raw(out, i == 0 ? SYM_STR("[") : SYM_STR(", "));
        sym_out_string(out, lines[i]);
    }
    sym_out_raw(out, SYM_STR("]"));
}


void
sentry_write_context(const sentry_context_t *context, sym_out_t *out)
{
    const sym_context_t *c = &context->lines;

    if (context->has_lines) {
        write_lines(SYM_STR(", \"pre_context\": "), c->lines, c->before, out);
        sym_out_raw(out, SYM_STR(", \"context_line\": "));
        sym_out_string(out, c->lines[c->before]);
        write_lines(SYM_STR(", \"post_context\": "), &c->lines[c->before + 1],
                    c->n - c->before - 1, out);
    }

    if (context->link_len != 0) {
        sym_out_raw(out, SYM_STR(", \"source_link\": "));
        sym_out_string(out, sym_str(context->link, context->link_len));
    }
}
