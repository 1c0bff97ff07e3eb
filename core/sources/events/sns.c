#include "sources/events/sns.h"

#include "base/json_plain.h"
#include "json/load.h"

static bool
is_address(sym_str_t s)
{
    return s.len <= SYM_SNS_URL_MAX && sym_str_starts(s, SYM_STR("https://"))
           && sym_is_plain(s) && memchr(s.data, ' ', s.len) == NULL;
}


bool
sym_sns_subscribe_url(sym_arena_t *arena, sym_str_t text, sym_str_t *url)
{
    sym_error_t err = { 0 };
    sym_json_t json;
    const char *type;
    const json_t *value;

    (void) sym_json_load(&json, text, SYM_JSON_MEMORY_MAX, JSON_ALLOW_NUL,
                         "no JSON", &err);
    type = json_string_value(json_object_get(json.root, "Type"));
    value = json_object_get(json.root, "SubscribeURL");
    *url = sym_str(NULL, 0);

    if (type != NULL && strcmp(type, "SubscriptionConfirmation") == 0
        && json_is_string(value))
    {
        *url = sym_str(json_string_value(value), json_string_length(value));
        *url =
            is_address(*url) ? sym_arena_copy(arena, *url) : sym_str(NULL, 0);
    }

    sym_json_drop(&json);
    return url->data != NULL;
}
