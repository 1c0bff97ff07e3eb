/*
 * Sends the text of a source file to clients that know where it is used.
 *
 * A client names a module, an offset and a file.  As in samply, the file is
 * served only if a frame at that offset refers to it by exactly this path.  So
 * anyone with a profile of the module can see its files, but nobody can browse
 * a bundle.
 */
#include "api/profiler/profiler.h"

#include "base/steps.h"

/* Cost of unpacking a block, counted in frames. */
#define BLOCK_COST 64

/* Maximum number of bytes of a split character in the first of its two
 * blocks. */
#define CARRY_MAX 3

/* Errors begin like samply's; the text after the colon is ours. */
#define NO_SYMBOLS "Could not obtain symbols for the requested library: "
#define NO_TEXT "An error occurred when reading the file: "


/* --- whether the client may see the file --- */

static const char *
symbols_error(const sym_need_t *need)
{
    if (need->found == SYM_NEED_PENDING) {
        return NO_SYMBOLS "they are still being fetched";
    }

    switch (need->missing.state) {
    case SYM_MODULE_FAILED:
        return NO_SYMBOLS "they could not be fetched";
    case SYM_MODULE_MALFORMED:
        return NO_SYMBOLS "their file is malformed";
    default:
        return NO_SYMBOLS "no source has them";
    }
}


/* Returns an error; NULL: a frame at the offset has the file. */
static const char *
check_file(profiler_t *p, sym_status_t *rc)
{
    sym_resolver_t *resolver = p->base.resolver;
    const sym_question_t question = { 0, p->offset };
    sym_answer_t found = { 0 };
    bool has_files = false;

    if (p->base.needs[0].found != SYM_NEED_FOUND) {
        return symbols_error(&p->base.needs[0]);
    }

    sym_resolver_ask(resolver, &question, 1);
    (void) sym_resolver_answer(resolver, 0, &found);

    for (uint32_t i = 0; i < found.n_levels; i++) {
        sym_str_t path;

        if (found.levels[i].file == SYM_NO_REF) {
            continue;
        }

        if (!sym_resolver_text(resolver, 0, found.levels[i].file, &path)) {
            *rc = SYM_NOMEM;
            return NULL;
        }

        if (sym_str_eq(path, p->file)) {
            return NULL;
        }
        has_files = true;
    }

    return has_files
               ? "The requested path is not present in the symbolication frames"
               : "Don't have any debug info for the requested library";
}


/* --- the text --- */

static const char *
sources_error(const sym_need_t *need)
{
    if (need->found == SYM_NEED_PENDING) {
        return NO_TEXT "the library's sources are still being fetched";
    }

    switch (need->missing.state) {
    case SYM_MODULE_FAILED:
        return NO_TEXT "the library's sources could not be fetched";
    case SYM_MODULE_MALFORMED:
        return NO_TEXT "the bundle of the library's sources is malformed";
    default:
        return NO_TEXT "no source has the library's sources";
    }
}


/* Returns an error; NULL: the text can be written. */
static const char *
find_text(profiler_t *p, sym_status_t *rc)
{
    sym_need_t *need = &p->base.needs[p->sources];
    sym_error_t err = { 0 };

    if (need->found != SYM_NEED_FOUND) {
        return sources_error(need);
    }

    if (sym_sources_open(&p->reader, sym_artifact_extent, &need->artifact, &err)
        != SYM_OK)
    {
        return NO_TEXT "the library's sources are damaged";
    }

    /* the names of scripts are URLs, not paths */
    if (sym_sources_find(&p->reader, p->file, &p->text_file) != SYM_OK
        || p->text_file.is_url)
    {
        return NO_TEXT "the library's sources do not have it";
    }

    if (p->text == NULL) {
        p->text =
            sym_arena_alloc(p->base.arena, CARRY_MAX + SYM_SOURCES_BLOCK_TEXT);
    }

    *rc = p->text != NULL ? SYM_OK : SYM_NOMEM;
    return NULL;
}


static void
write_head(const profiler_t *p, sym_out_t *out)
{
    sym_out_raw(out, SYM_STR("{\"symbolsLastModified\":null,"
                             "\"sourceLastModified\":null,\"file\":"));
    sym_out_string(out, p->file);
    sym_out_raw(out, SYM_STR(",\"source\":\""));
}


/* Number of bytes of an incomplete character at the end of the text. */
static size_t
unfinished(const char *text, size_t len)
{
    for (size_t back = 1; back <= CARRY_MAX && back <= len; back++) {
        uint8_t c = (uint8_t) text[len - back];
        size_t whole = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

        if ((c & 0xc0) != 0x80) {
            return whole > back ? back : 0;
        }
    }

    return 0;
}


static sym_status_t
write_block(profiler_t *p, sym_out_t *out)
{
    char *block = p->text + p->carried;
    size_t len, carried;
    uint64_t line;
    sym_status_t rc = sym_sources_block(&p->reader, &p->text_file,
                                        p->next_block, block, &len, &line);

    if (rc != SYM_OK) {
        return rc;
    }

    len += p->carried;
    p->next_block++;
    carried =
        p->next_block < p->text_file.n_blocks ? unfinished(p->text, len) : 0;
    sym_out_escaped(out, sym_str(p->text, len - carried));
    memmove(p->text, p->text + len - carried, carried);
    p->carried = carried;
    return SYM_OK;
}


/* --- steps --- */

static sym_status_t
write_text(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    profiler_t *p = (profiler_t *) r;

    while (p->next_block < p->text_file.n_blocks) {
        sym_status_t rc;

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }
        sym_budget_charge(budget, BLOCK_COST);

        rc = write_block(p, out);
        if (rc != SYM_OK) {
            r->step = sym_request_cut;
            return rc == SYM_NOMEM ? SYM_NOMEM : SYM_AGAIN;
        }
    }

    sym_out_raw(out, SYM_STR("\"}"));
    r->step = NULL;
    return SYM_OK;
}


static sym_status_t
begin_text(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    profiler_t *p = (profiler_t *) r;
    sym_status_t rc = SYM_OK;
    const char *error = find_text(p, &rc);

    (void) budget;
    if (rc != SYM_OK) {
        return rc;
    }

    if (error != NULL) {
        profiler_write_error(error, out);
        r->step = NULL;
        return SYM_OK;
    }

    p->next_block = 0;
    p->carried = 0;
    write_head(p, out);
    r->step = write_text;
    return SYM_OK;
}


sym_status_t
profiler_source(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    profiler_t *p = (profiler_t *) r;
    sym_status_t rc = SYM_OK;
    const char *error = check_file(p, &rc);

    (void) budget;
    if (rc != SYM_OK) {
        return rc;
    }

    if (error != NULL) {
        profiler_write_error(error, out);
        r->step = NULL;
        return SYM_OK;
    }

    r->step = begin_text;
    return sym_request_need(r, 0, SYM_KIND_SOURCES, &p->sources);
}


bool
profiler_source_resume(sym_request_t *r)
{
    return r->step != write_text
           || r->needs[((profiler_t *) r)->sources].found == SYM_NEED_FOUND;
}
