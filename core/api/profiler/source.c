/*
 * The text of a source file, for who proves to know where it is used.
 *
 * A client names a module, an offset and a file.  As with samply, the file is
 * served only if a frame at that offset has it, under that very path: who can see
 * a profile of the module sees its files, but nobody can look around in a bundle.
 */
#include "api/profiler/profiler.h"

/* What unpacking a block costs, in frames. */
#define BLOCK_COST 64

/* Of a character that two blocks share, in the first one. */
#define CARRY_MAX 3

/* Errors begin as samply's do; what follows a colon is ours. */
#define NO_SYMBOLS "Could not obtain symbols for the requested library: "
#define NO_TEXT "An error occurred when reading the file: "


/* --- whether the file may be seen --- */

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


/* NULL: a frame at the offset has the file. */
static const char *
check_file(profiler_t *p, sym_status_t *rc)
{
    profiler_answer_t *a = p->answer;
    const sym_question_t question = { 0, p->offset };
    sym_answer_t found = { 0 };
    bool has_files = false;

    if (p->base.needs[0].found != SYM_NEED_FOUND) {
        return symbols_error(&p->base.needs[0]);
    }

    sym_resolver_ask(a->resolver, &question, 1);
    (void) sym_resolver_answer(a->resolver, 0, &found);

    for (uint32_t i = 0; i < found.n_levels; i++) {
        sym_str_t path;

        if (found.levels[i].file == SYM_NO_REF) {
            continue;
        }

        if (!sym_resolver_text(a->resolver, 0, found.levels[i].file, &path)) {
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


/* NULL: the text can be written. */
static const char *
find_text(profiler_t *p, sym_status_t *rc)
{
    profiler_answer_t *a = p->answer;
    sym_need_t *need = &p->base.needs[a->sources];
    sym_error_t err = { 0 };

    if (need->found != SYM_NEED_FOUND) {
        return sources_error(need);
    }

    if (sym_sources_open(&a->reader, sym_artifact_extent, &need->artifact, &err)
        != SYM_OK)
    {
        return NO_TEXT "the library's sources are damaged";
    }

    /* URLs are names of scripts, not paths */
    if (sym_sources_find(&a->reader, p->file, &a->file) != SYM_OK
        || a->file.is_url) {
        return NO_TEXT "the library's sources do not have it";
    }

    a->text =
        sym_arena_alloc(p->base.arena, CARRY_MAX + SYM_SOURCES_BLOCK_TEXT);
    *rc = a->text != NULL ? SYM_OK : SYM_NOMEM;
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


/* Bytes at the end of the text that begin a character and do not end it. */
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
write_block(profiler_answer_t *a, sym_out_t *out)
{
    char *block = a->text + a->carried;
    size_t len, carried;
    uint64_t line;
    sym_status_t rc = sym_sources_block(&a->reader, &a->file, a->next_block,
                                        block, &len, &line);

    if (rc != SYM_OK) {
        return rc;
    }

    len += a->carried;
    a->next_block++;
    carried = a->next_block < a->file.n_blocks ? unfinished(a->text, len) : 0;
    sym_out_escaped(out, sym_str(a->text, len - carried));
    memmove(a->text, a->text + len - carried, carried);
    a->carried = carried;
    return SYM_OK;
}


static sym_status_t
write_text(profiler_t *p, sym_out_t *out, uint32_t *budget)
{
    profiler_answer_t *a = p->answer;

    while (a->next_block < a->file.n_blocks) {
        sym_status_t rc;

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }
        *budget -= *budget < BLOCK_COST ? *budget : BLOCK_COST;

        rc = write_block(a, out);
        if (rc != SYM_OK) {
            a->step = PROFILER_BROKEN;
            return rc == SYM_NOMEM ? SYM_NOMEM : SYM_AGAIN;
        }
    }

    sym_out_raw(out, SYM_STR("\"}"));
    a->step = PROFILER_DONE;
    return SYM_OK;
}


/* --- the driver --- */

static sym_status_t
answer_create(profiler_t *p, const sym_view_t *view)
{
    profiler_answer_t *a = sym_arena_calloc(p->base.arena, 1, sizeof(*a));

    if (a == NULL) {
        return SYM_NOMEM;
    }

    sym_request_open_begin(&p->base);
    a->resolver = sym_resolver_create(p->base.arena, view->store,
                                      view->snapshot, view->now_s, 1, 1);
    if (a->resolver == NULL) {
        return SYM_NOMEM;
    }

    sym_request_set_up(&p->base, a->resolver);
    p->answer = a;
    return SYM_OK;
}


static void
stop(profiler_answer_t *a, const char *error, sym_out_t *out)
{
    profiler_write_error(error, out);
    a->step = PROFILER_DONE;
}


static sym_status_t
check(profiler_t *p, sym_out_t *out)
{
    sym_status_t rc = SYM_OK;
    const char *error = check_file(p, &rc);

    if (rc != SYM_OK) {
        return rc;
    }

    if (error != NULL) {
        stop(p->answer, error, out);
        return SYM_OK;
    }

    p->answer->step = PROFILER_SOURCES;
    return sym_request_need(&p->base, 0, SYM_KIND_SOURCES, &p->answer->sources);
}


static sym_status_t
begin(profiler_t *p, sym_out_t *out)
{
    sym_status_t rc = SYM_OK;
    const char *error = find_text(p, &rc);

    if (rc != SYM_OK) {
        return rc;
    }

    if (error != NULL) {
        stop(p->answer, error, out);
        return SYM_OK;
    }

    write_head(p, out);
    p->answer->step = PROFILER_TEXT;
    return SYM_OK;
}


static sym_status_t
open_needs(profiler_t *p, profiler_step_t next, uint32_t *budget)
{
    sym_status_t rc =
        sym_request_open_needs(&p->base, p->answer->resolver, budget);

    if (rc == SYM_OK || rc == SYM_NOT_FOUND) {
        p->answer->step = next;
    }

    return rc;
}


static sym_status_t
do_step(profiler_t *p, sym_out_t *out, uint32_t *budget)
{
    switch (p->answer->step) {
    case PROFILER_SYMBOLS:
        return open_needs(p, PROFILER_CHECK, budget);
    case PROFILER_CHECK:
        return check(p, out);
    case PROFILER_SOURCES:
        return open_needs(p, PROFILER_BEGIN, budget);
    case PROFILER_BEGIN:
        return begin(p, out);
    case PROFILER_TEXT:
        return write_text(p, out, budget);
    case PROFILER_BROKEN:
        return SYM_TRUNCATED;
    case PROFILER_DONE:
        break;
    }

    return SYM_OK;
}


sym_status_t
profiler_source_answer(sym_request_t *r, const sym_view_t *view, sym_out_t *out,
                       uint32_t budget)
{
    profiler_t *p = (profiler_t *) r;
    sym_status_t rc = p->answer != NULL ? SYM_OK : answer_create(p, view);

    while (rc == SYM_OK && p->answer->step != PROFILER_DONE) {
        rc = do_step(p, out, &budget);
    }

    if (p->answer != NULL) {
        sym_request_note_damage(r, p->answer->resolver);
        r->stats.damaged = sym_resolver_damaged(p->answer->resolver);
    }

    return out->failed ? SYM_NOMEM : rc;
}


bool
profiler_source_resume(sym_request_t *r, const sym_view_t *view)
{
    profiler_t *p = (profiler_t *) r;
    const sym_need_t *sources;

    if (p->answer == NULL) {
        return true; /* /asm/v1 */
    }

    sym_resolver_resume(p->answer->resolver, view->store, view->snapshot);
    sym_request_lose_modules(r, p->answer->resolver);

    sources = &r->needs[p->answer->sources];
    return p->answer->step != PROFILER_TEXT || sources->found == SYM_NEED_FOUND;
}
