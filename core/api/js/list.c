#include "api/js/js.h"

#include <strings.h>

#define LIST_MEMORY ((size_t) 8 << 20)
#define ENTRIES_MAX 1024u

static bool
copy(js_t *j, const json_t *object, const char *key, sym_str_t *text)
{
    const json_t *value = json_object_get(object, key);

    *text = SYM_STR("");
    if (json_is_string(value) && json_string_length(value) <= JS_URL_MAX) {
        *text =
            sym_arena_copy(j->base.arena, sym_str(json_string_value(value),
                                                  json_string_length(value)));
    }

    return text->data != NULL;
}


/* Makes the name of an entry in Sentry's store. */
static bool
make_uri(js_t *j, sym_str_t id, sym_str_t *uri)
{
    const sym_str_t scheme = SYM_STR("sentry://project_debug_file/");
    char *text = sym_arena_alloc(j->base.arena, scheme.len + id.len), *p = text;

    if (text == NULL) {
        return false;
    }

    (void) sym_str_append(&p, scheme);
    (void) sym_str_append(&p, id);
    *uri = sym_str(text, scheme.len + id.len);
    return true;
}


static bool
read_reference(js_t *j, const json_t *headers, js_entry_t *entry)
{
    static const char *const names[] = { "sourcemap", "x-sourcemap" };

    entry->has_headers = json_object_size(headers) != 0;
    for (size_t i = 0; i < 2 && entry->reference.data == NULL; i++) {
        const char *key;
        json_t *value;

        json_object_foreach((json_t *) (uintptr_t) headers, key, value)
        {
            if (strcasecmp(key, names[i]) == 0 && json_is_string(value)
                && json_string_length(value) <= JS_URL_MAX)
            {
                entry->reference = sym_arena_copy(
                    j->base.arena, sym_str(json_string_value(value),
                                           json_string_length(value)));
                if (entry->reference.data == NULL) {
                    return false;
                }
            }
        }
    }

    return true;
}


static bool
is_word(const json_t *value, const char *word)
{
    return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}


/* *is_read: the entry is complete, and its type is known. */
static bool
read_entry(js_t *j, const json_t *value, js_entry_t *entry, bool *is_read)
{
    const json_t *type = json_object_get(value, "type");
    sym_str_t id;

    *entry = (js_entry_t){ .is_bundle = is_word(type, "bundle") };
    if (!copy(j, value, "id", &id) || !copy(j, value, "url", &entry->url)
        || !copy(j, value, "abs_path", &entry->abs_path)
        || !copy(j, value, "resolved_with", &entry->resolved_with)
        || !make_uri(j, id, &entry->uri)
        || !read_reference(j, json_object_get(value, "headers"), entry))
    {
        return false;
    }

    *is_read = (entry->is_bundle || is_word(type, "file")) && id.len != 0
               && entry->url.len != 0;
    return true;
}


sym_status_t
js_list_read(js_t *j, sym_str_t text, js_list_t *list)
{
    sym_json_t json;
    sym_error_t err = { 0 };
    js_entry_t *entries;
    size_t n;
    sym_status_t rc = sym_json_load(&json, text, LIST_MEMORY, 0,
                                    "the list of artifacts is no JSON", &err);

    *list = (js_list_t){ .n = 0 };
    if (rc != SYM_OK || !json_is_array(json.root)) {
        sym_json_drop(&json);
        return rc == SYM_NOMEM ? rc : SYM_OK;
    }

    n = json_array_size(json.root);
    n = n < ENTRIES_MAX ? n : ENTRIES_MAX;
    entries = sym_arena_calloc(j->base.arena, n + 1, sizeof(*entries));
    rc = entries != NULL ? SYM_OK : SYM_NOMEM;

    for (size_t i = 0; rc == SYM_OK && i < n; i++) {
        bool is_read;

        if (!read_entry(j, json_array_get(json.root, i), &entries[list->n],
                        &is_read)) {
            rc = SYM_NOMEM;
        } else {
            list->n += is_read;
        }
    }

    list->entries = entries;
    sym_json_drop(&json);
    return rc;
}
