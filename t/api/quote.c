/*
 * quote.c - "NAME ID ADDRESS" to the source line at that address: an API for
 * tests, which needs a symcache first, and then the sources of its module.
 *
 *     {"function": "main", "source": "int main()"}, either of them may be null
 */
#include "api/registry.h"
#include "artifacts/sources/read/sources.h"
#include "base/hex.h"

typedef struct {
    sym_request_t base; /* first */
    sym_object_ref_t ref;
    sym_need_t need;
    sym_question_t question;
    uint32_t sources; /* the need for sources; 0: no frame needs any */
} quote_t;


static sym_str_t
next_word(sym_str_t *rest)
{
    const char *space = memchr(rest->data, ' ', rest->len);
    size_t len = space != NULL ? (size_t) (space - rest->data) : rest->len;
    size_t taken = space != NULL ? len + 1 : len;
    sym_str_t word = sym_str(rest->data, len);

    *rest = sym_str(rest->data + taken, rest->len - taken);
    return word;
}


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    quote_t *q = (quote_t *) r;
    sym_str_t rest = r->body, name = next_word(&rest), id = next_word(&rest);
    uint64_t addr;

    (void) budget;
    sym_object_ref_named(&q->ref, name, id);
    if (q->ref.debug_id.form == SYM_DEBUG_ID_NONE || !sym_hex_read(rest, &addr)
        || addr > UINT32_MAX)
    {
        return sym_request_refuse(r, SYM_MALFORMED, "not NAME ID ADDRESS");
    }

    q->question = (sym_question_t){ 0, (uint32_t) addr };
    q->need = (sym_need_t){
        .ref = &q->ref,
        .kind = SYM_KIND_SYMCACHE,
        .found = SYM_NEED_MISSING,
    };
    r->needs = &q->need;
    r->stats.modules = 1;
    r->stats.frames = 1;
    return SYM_OK;
}


/* The frame at the address: its file and line; false: none. */
static bool
look_up(quote_t *q, sym_answer_t *answer, char file[256], sym_str_t *path,
        uint32_t *line)
{
    sym_out_t out = sym_out_fixed(file, 256);

    if (q->base.needs[0].found != SYM_NEED_FOUND) {
        return false;
    }

    sym_resolver_ask(q->base.resolver, &q->question, 1);
    (void) sym_resolver_answer(q->base.resolver, 0, answer);
    if (answer->n_levels == 0) {
        return false;
    }

    sym_resolver_write_file(q->base.resolver, 0, answer, 0, &out);
    *path = sym_str(file, (size_t) (out.pos - file));
    *line = sym_resolver_line(q->base.resolver, answer, 0);
    return true;
}


/* The line, which is in the first block of its file. */
static bool
write_line(sym_arena_t *arena, sym_artifact_found_t *artifact, sym_str_t path,
           uint32_t line, sym_out_t *out)
{
    char *text = sym_arena_alloc(arena, SYM_SOURCES_BLOCK_TEXT);
    sym_sources_file_t file;
    sym_error_t err = { 0 };
    sym_sources_t sources;
    uint64_t first;
    const char *p = text, *end;
    size_t len;

    if (text == NULL
        || sym_sources_open(&sources, sym_artifact_extent, artifact, &err)
               != SYM_OK
        || sym_sources_find(&sources, path, &file) != SYM_OK
        || sym_sources_block(&sources, &file, 0, text, &len, &first) != SYM_OK)
    {
        return false;
    }

    for (end = text + len; line > 1 && p < end; line--) {
        const char *nl = memchr(p, '\n', (size_t) (end - p));

        p = nl != NULL ? nl + 1 : end;
    }

    end = p < end ? memchr(p, '\n', (size_t) (end - p)) : NULL;
    if (end == NULL) {
        return false;
    }

    sym_out_string(out, sym_str(p, (size_t) (end - p)));
    return true;
}


static sym_status_t
write_answer(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    quote_t *q = (quote_t *) r;
    sym_need_t *need = &r->needs[q->sources];
    sym_answer_t answer = { 0 };
    char file[256];
    sym_str_t path;
    uint32_t line;

    (void) budget;
    r->step = NULL;
    if (!look_up(q, &answer, file, &path, &line)) {
        sym_out_raw(out, SYM_STR("{\"function\": null, \"source\": null}\n"));
        return SYM_OK;
    }

    sym_out_raw(out, SYM_STR("{\"function\": \""));
    sym_resolver_write_name(r->resolver, 0, &answer, 0, out);
    sym_out_raw(out, SYM_STR("\", \"source\": "));

    if (q->sources == 0 || need->found != SYM_NEED_FOUND
        || !write_line(r->arena, &need->artifact, path, line, out))
    {
        sym_out_raw(out, SYM_STR("null"));
    }

    sym_out_raw(out, SYM_STR("}\n"));
    return SYM_OK;
}


static sym_status_t
begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    quote_t *q = (quote_t *) r;
    sym_answer_t answer = { 0 };
    char file[256];
    sym_str_t path;
    uint32_t line;

    (void) out;
    (void) budget;
    r->step = write_answer;
    return look_up(q, &answer, file, &path, &line)
               ? sym_request_need(r, 0, SYM_KIND_SOURCES, &q->sources)
               : SYM_OK;
}


static const sym_request_ops_t ops = {
    .size = sizeof(quote_t),
    .parse = parse,
    .begin = begin,
};


const sym_api_t sym_quote_api = {
    .name = "quote",
    .routes = { { .suffix = "/quote",
                  .version = "1",
                  .methods = SYM_METHOD_POST,
                  .ops = &ops } },
    .answers = { "application/json" },
};
