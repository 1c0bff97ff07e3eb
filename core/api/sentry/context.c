/*
 * The lines of source around a frame.  As in Symbolicator each module that a frame
 * refers to is asked for its sources, whether or not the frame has a path: the
 * features of the module also show them.
 *
 * A text comes out of a source bundle, or out of a portable PDB, which may instead
 * say at which URL the text lies (its source links).
 */
#include "api/sentry/sentry.h"

#include "base/text.h"
#include "sources/url.h"
#include "symbolicate/source_text.h"

/* Text of all lines that an answer shows; frames that come later show none. */
#define CONTEXT_MAX (32u << 20)

/* What unpacking a block costs, in frames. */
#define BLOCK_COST 64

typedef struct {
    sym_sources_t sources;
    uint32_t need; /* 1 + that of its sources; 0: it is not asked for any */
    bool is_tried, is_open;
    bool owns_frame; /* of the answer */
} module_t;

struct sentry_sources_s {
    module_t *modules;
    uint32_t next; /* module whose need is noted next */
    sym_source_text_t text;
    size_t bytes; /* shown so far */
};


/* --- needs --- */

static sym_status_t
add_needs(sentry_t *s, struct sentry_sources_s *c, uint32_t *budget)
{
    const sentry_request_t *q = &s->request;

    for (; c->next < q->n_modules; c->next++) {
        const sentry_module_t *m = &q->modules[c->next];
        sym_keyed_question_t question = { .module = m->need - 1,
                                          .by = SYM_KEY_PATH };
        sym_status_t rc;

        if (m->need == 0) {
            continue;
        }

        if (*budget == 0) {
            return SYM_AGAIN;
        }
        --*budget;

        rc = sym_request_need(&s->base, &question, &c->modules[c->next].need);
        if (rc != SYM_OK) {
            return rc;
        }
        c->modules[c->next].need++;
    }

    return SYM_OK;
}


sym_status_t
sentry_context_needs(sentry_t *s, uint32_t *budget)
{
    sentry_answer_t *a = s->answer;
    sym_status_t rc;

    if (a->sources == NULL) {
        sym_arena_t *arena = s->base.arena;
        struct sentry_sources_s *c = sym_arena_calloc(arena, 1, sizeof(*c));

        if (c == NULL) {
            return SYM_NOMEM;
        }

        c->modules =
            sym_arena_calloc(arena, s->request.n_modules, sizeof(*c->modules));
        if (c->modules == NULL) {
            return SYM_NOMEM;
        }

        c->text.arena = arena;
        a->sources = c;
    }

    rc = add_needs(s, a->sources, budget);
    return rc != SYM_OK ? rc
                        : sym_request_open_needs(&s->base, a->resolver, budget);
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


/* NULL: the module has no readable sources. */
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


/* --- frames --- */

/* The URL in its normal form.  SYM_MALFORMED: not a URL that may be shown. */
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


/* Finds the URL of a text that is elsewhere.  Only http and https are shown:
 * other URLs might lead into a file system. */
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


sym_status_t
sentry_find_context(sentry_t *s, uint32_t module, sym_str_t path, uint64_t line,
                    sentry_context_t *context)
{
    struct sentry_sources_s *c = s->answer->sources;
    const sym_sources_t *sources;
    sym_sources_file_t file;
    sym_context_text_t text;
    uint64_t unpacked;
    sym_status_t rc;

    context->is_found = context->has_lines = false;
    context->link_len = 0;
    if (c == NULL || module == SENTRY_NO_MODULE || path.len == 0) {
        return SYM_OK;
    }

    sources = open_sources(s, module);
    if (sources == NULL) {
        return SYM_OK;
    }

    /* URLs are names of scripts, not paths */
    if (sym_sources_find(sources, path, &file) != SYM_OK || file.is_url) {
        return find_link(sources, path, context);
    }

    context->is_found = true;
    if (c->bytes >= CONTEXT_MAX) {
        return SYM_OK;
    }

    unpacked = c->text.unpacked;
    text = sym_source_text(&c->text, sources, &file);
    rc = sym_context_read(&text, line, 0, &context->lines);
    s->answer->cost += (uint32_t) (c->text.unpacked - unpacked) * BLOCK_COST;
    context->has_lines = rc == SYM_OK;
    c->bytes += context->has_lines ? context->lines.bytes : 0;
    return rc == SYM_NOMEM ? SYM_NOMEM : SYM_OK;
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
