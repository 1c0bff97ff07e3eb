#include "sources/request/sentry_files.h"

#include "base/text.h"
#include "base/uri.h"
#include "json/load.h"

#define ID_MAX 128
#define LIST_MEMORY ((size_t) 8 << 20)


static void
add_parameter(sym_text_t *t, sym_str_t name, sym_str_t value)
{
    char encoded[3];

    if (t->len > 0) {
        sym_text_byte(t, '&');
    }
    sym_text_add(t, name);
    for (size_t i = 0; i < value.len; i++) {
        sym_text_add(
            t, sym_str(encoded, sym_uri_encode_byte(value.data[i], encoded)));
    }
}


static sym_status_t
finish_url(const sym_url_t *base, sym_text_t *t, sym_url_t *url)
{
    *url = *base;
    url->query = sym_text_end(t);
    return t->failed ? SYM_NOMEM : SYM_OK;
}


sym_status_t
sym_sentry_list_url(sym_arena_t *arena, const sym_url_t *base,
                    const sym_object_ref_t *object, sym_url_t *url)
{
    sym_text_t t = { .arena = arena };
    char text[SYM_ID_TEXT_MAX];
    size_t len = sym_debug_id_write_sentry(&object->debug_id, text);

    if (len == 0 && object->code_id.len == 0) {
        return SYM_NOT_FOUND;
    }

    sym_text_add(&t, base->query);
    if (len > 0) {
        add_parameter(&t, SYM_STR("debug_id="), sym_str(text, len));
    }
    if (object->code_id.len > 0) {
        add_parameter(&t, SYM_STR("code_id="),
                      sym_str(object->code_id.text, object->code_id.len));
    }

    return finish_url(base, &t, url);
}


sym_status_t
sym_sentry_file_url(sym_arena_t *arena, const sym_url_t *base, sym_str_t id,
                    sym_url_t *url, sym_str_t *shown)
{
    sym_text_t t = { .arena = arena }, s = { .arena = arena };

    sym_text_add(&t, base->query);
    add_parameter(&t, SYM_STR("id="), id);

    sym_text_add(&s, SYM_STR("sentry://project_debug_file/"));
    sym_text_add(&s, id);
    *shown = sym_text_end(&s);

    return s.failed ? SYM_NOMEM : finish_url(base, &t, url);
}


static bool
read_file(sym_arena_t *arena, const json_t *value, sym_sentry_file_t *file)
{
    const json_t *id = json_object_get(value, "id");
    const json_t *type = json_object_get(value, "symbolType");

    *file = (sym_sentry_file_t){ { "", 0 }, 0 };

    if (!json_is_string(id) || !json_is_string(type)
        || json_string_length(id) > ID_MAX)
    {
        return true;
    }

    file->files = sym_source_files_find(
        sym_str(json_string_value(type), json_string_length(type)));
    file->id = sym_arena_copy(
        arena, sym_str(json_string_value(id), json_string_length(id)));
    return file->id.data != NULL;
}


sym_status_t
sym_sentry_files_read(sym_arena_t *arena, sym_str_t text,
                      sym_sentry_file_t *files, uint32_t *n, sym_error_t *err)
{
    sym_json_t json;
    const json_t *value;
    size_t i;
    sym_status_t rc = sym_json_load(&json, text, LIST_MEMORY, 0,
                                    "the list of files is not JSON", err);

    *n = 0;
    if (rc == SYM_OK && !json_is_array(json.root)) {
        rc = sym_fail(err, SYM_MALFORMED, "the list of files is not a list");
    }

    for (i = 0; rc == SYM_OK && i < json_array_size(json.root)
                && *n < SYM_SENTRY_FILES_MAX;
         i++)
    {
        value = json_array_get(json.root, i);
        if (!read_file(arena, value, &files[*n])) {
            rc = SYM_NOMEM;
        }
        *n += files[*n].files != 0;
    }

    sym_json_drop(&json);
    return rc;
}


/* --- pages --- */

static bool
has_word(sym_str_t s, const char *word)
{
    return s.len != 0 && memmem(s.data, s.len, word, strlen(word)) != NULL;
}


/* format: <URL>; rel="next"; results="true"; cursor="...", <URL>; ... */
bool
sym_sentry_next_page(sym_str_t link, sym_str_t *url)
{
    const char *end = link.data + link.len, *open = NULL;

    if (link.len != 0) {
        open = memchr(link.data, '<', link.len);
    }

    while (open != NULL) {
        const char *close = memchr(open, '>', (size_t) (end - open)), *next;
        sym_str_t rest;

        if (close == NULL) {
            return false;
        }

        next = memchr(close, '<', (size_t) (end - close));
        rest = sym_str(close, (size_t) ((next != NULL ? next : end) - close));
        if (has_word(rest, "rel=\"next\"")
            && !has_word(rest, "results=\"false\"")) {
            *url = sym_str(open + 1, (size_t) (close - open - 1));
            return true;
        }

        open = next;
    }

    return false;
}
