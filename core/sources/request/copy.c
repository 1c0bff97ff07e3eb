#include "sources/request/reading.h"

#define PATH(member) offsetof(sym_request_source_t, member)

static const size_t texts[SOURCE_TEXTS] = {
    PATH(id),
    PATH(scope),
    PATH(url.userinfo),
    PATH(url.host),
    PATH(url.path),
    PATH(url.query),
    PATH(path),
    PATH(bucket),
    PATH(prefix),
    PATH(region),
    PATH(access_key),
    PATH(secret_key),
    PATH(session_token),
    PATH(private_key),
    PATH(client_email),
    PATH(token),
    PATH(cookies),
};


sym_str_t *
source_text(const sym_request_source_t *s, size_t i)
{
    return (sym_str_t *) ((char *) (uintptr_t) s + texts[i]);
}


void
source_clear_texts(sym_request_source_t *s)
{
    for (size_t i = 0; i < SOURCE_TEXTS; i++) {
        *source_text(s, i) = SYM_STR("");
    }
}


/* --- copies --- */

static bool
copy_to(sym_arena_t *arena, sym_str_t *text)
{
    *text = sym_arena_copy(arena, *text);
    return text->data != NULL;
}


static bool
copy_source(sym_arena_t *arena, const sym_request_source_t *from,
            sym_request_source_t *to)
{
    sym_str_t *patterns;
    sym_request_source_header_t *headers;
    bool is_whole = true;

    *to = *from;
    for (size_t i = 0; i < SOURCE_TEXTS; i++) {
        is_whole &= copy_to(arena, source_text(to, i));
    }

    patterns =
        sym_arena_calloc(arena, from->n_patterns + 1u, sizeof(*patterns));
    headers = sym_arena_calloc(arena, from->n_headers + 1u, sizeof(*headers));
    if (patterns == NULL || headers == NULL) {
        return false;
    }

    for (uint32_t i = 0; i < from->n_patterns; i++) {
        patterns[i] = from->patterns[i];
        is_whole &= copy_to(arena, &patterns[i]);
    }

    for (uint32_t i = 0; i < from->n_headers; i++) {
        headers[i] = from->headers[i];
        is_whole &= copy_to(arena, &headers[i].name)
                    && copy_to(arena, &headers[i].value);
    }

    to->patterns = to->rules.patterns = patterns;
    to->headers = headers;
    return is_whole;
}


static bool
copy_one(sym_arena_t *arena, const sym_request_source_t *from,
         const sym_request_source_t **to)
{
    sym_request_source_t *copy;

    if (from == NULL) {
        return true;
    }

    copy = sym_arena_calloc(arena, 1, sizeof(*copy));
    *to = copy;
    return copy != NULL && copy_source(arena, from, copy);
}


bool
sym_request_sources_copy(sym_arena_t *arena, const sym_request_sources_t *from,
                         sym_request_sources_t *to)
{
    sym_request_source_t *sources =
        sym_arena_calloc(arena, from->n + 1u, sizeof(*sources));

    *to = (sym_request_sources_t){ sources, 0, NULL, NULL };
    if (sources == NULL) {
        return false;
    }

    if (!copy_one(arena, from->links, &to->links)
        || !copy_one(arena, from->artifacts, &to->artifacts))
    {
        return false;
    }

    for (uint32_t i = 0; i < from->n; i++) {
        if (!copy_source(arena, &from->sources[i], &sources[i])) {
            return false;
        }
        to->n++;
    }

    return true;
}


static void
wipe(sym_str_t text)
{
    if (text.len > 0) {
        sym_wipe((void *) (uintptr_t) text.data, text.len);
    }
}


static void
wipe_source(const sym_request_source_t *s)
{
    for (size_t k = 0; k < SOURCE_TEXTS; k++) {
        wipe(*source_text(s, k));
    }
    for (uint32_t k = 0; k < s->n_headers; k++) {
        wipe(s->headers[k].value);
    }
}


void
sym_request_sources_wipe(const sym_request_sources_t *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        wipe_source(&list->sources[i]);
    }

    if (list->links != NULL) {
        wipe_source(list->links);
    }

    if (list->artifacts != NULL) {
        wipe_source(list->artifacts);
    }
}
