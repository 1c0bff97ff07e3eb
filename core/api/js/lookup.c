#include "api/js/js.h"

#include "artifacts/sources/bundle_name.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/uri.h"

/* Maximum length of a list; longer ones count as empty. */
#define LIST_MAX ((size_t) 1 << 20)

/* Maximum number of bundles and of single files for a request. */
#define ENTRIES_MAX 4096u

/* No file has a longer path: it is looked up by its debug id only. */
#define ABS_PATH_MAX ((size_t) 64 << 10)

/* Costs, counted in frames of an answer: of a file, of a search in a bundle,
 * and of 1,024 bytes of a list. */
#define FILE_COST 16
#define BUNDLES_OF_FRAME 8
#define LIST_COST 32

/* --- lists --- */

static void
add_parameter(sym_text_t *t, const char *name, sym_str_t value)
{
    char encoded[3];

    if (t->failed) {
        return;
    }

    if (t->data[t->len - 1] != '?') {
        sym_text_byte(t, '&');
    }
    sym_text_add(t, sym_cstr(name));
    for (size_t i = 0; i < value.len; i++) {
        sym_text_add(
            t, sym_str(encoded, sym_uri_encode_byte(value.data[i], encoded)));
    }
}


/* Returns true if the item was not yet requested in this pass. */
static bool
is_new(js_t *j, uint64_t hash, bool *failed)
{
    bool is_added;
    uint32_t *pass = js_table_at(j, &j->asked, hash, &is_added);

    if (pass == NULL) {
        *failed = true;
        return false;
    }

    is_added = is_added || *pass != j->pass;
    *pass = j->pass;
    return is_added;
}


/* Makes the URL of the list for a file; "": there is no list to request.  Its
 * first `without_dist` bytes are the URL without the dist. */
static sym_status_t
list_url(js_t *j, const js_key_t *key, sym_str_t *url, size_t *without_dist)
{
    const sym_url_t *base = &j->base.request_sources->artifacts->url;
    sym_hash_key_t hash = sym_hash_key();
    sym_text_t t = { .arena = j->base.arena };
    char id[SYM_ID_TEXT_MAX];
    size_t id_len = sym_debug_id_write_sentry(&key->debug_id, id);
    sym_str_t stem =
        key->abs_path.data != NULL ? js_stem(key->abs_path) : SYM_STR("");
    bool has_stem =
        key->abs_path.data != NULL && j->request.release.data != NULL;
    bool failed = false;

    *url = SYM_STR("");
    if (!has_stem && id_len == 0) {
        return SYM_OK;
    }

    id_len =
        id_len != 0 && is_new(j, sym_hash(&hash, sym_str(id, id_len)), &failed)
            ? id_len
            : 0;
    has_stem = has_stem && is_new(j, ~sym_hash(&hash, stem), &failed);
    if (!has_stem && id_len == 0) {
        return failed ? SYM_NOMEM : SYM_OK;
    }

    js_write_url(&t, j->base.arena, base);
    sym_text_byte(&t, '?');
    sym_text_add(&t, base->query);
    if (j->request.release.data != NULL) {
        add_parameter(&t, "release=", j->request.release);
    }
    if (has_stem) {
        add_parameter(&t, "url=", stem);
    }
    if (id_len != 0) {
        add_parameter(&t, "debug_id=", sym_str(id, id_len));
    }
    *without_dist = t.len;
    if (j->request.dist.data != NULL) {
        add_parameter(&t, "dist=", j->request.dist);
    }

    *url = sym_text_end(&t);
    return failed || t.failed ? SYM_NOMEM : SYM_OK;
}


/* Keeps the order of the list: the highest URI is first. */
static sym_status_t
add_bundle(js_t *j, const js_entry_t *entry)
{
    const sym_object_ref_t ref = { .url = entry->url, .role = SYM_TEXT_BUNDLE };
    js_bundle_t *bundle = sym_arena_calloc(j->base.arena, 1, sizeof(*bundle));
    js_bundle_t **list;
    uint32_t at;

    if (bundle == NULL
        || sym_list_add(j->base.arena, &j->bundles, sizeof(*list)) == NULL
        || js_need(j, &ref, SYM_KIND_SOURCES, true, &bundle->need) != SYM_OK)
    {
        return SYM_NOMEM;
    }

    bundle->entry = entry;
    list = j->bundles.items;
    for (at = j->bundles.n - 1;
         at > 0 && sym_str_cmp(list[at - 1]->entry->uri, entry->uri) < 0; at--)
    {
        list[at] = list[at - 1];
    }

    list[at] = bundle;
    j->lists_wait |= js_state_of(j, bundle->need) == JS_WAITS;
    return SYM_OK;
}


/* Finds the single file with this path; NULL: no list in this pass contained
 * it. */
static const js_entry_t *
find_single(const js_t *j, sym_str_t abs_path)
{
    const js_entry_t *const *singles = j->singles.items;

    for (uint32_t i = 0; i < j->singles.n; i++) {
        if (sym_str_eq(singles[i]->abs_path, abs_path)) {
            return singles[i];
        }
    }

    return NULL;
}


static sym_status_t
add_single(js_t *j, const js_entry_t *entry)
{
    const js_entry_t **single =
        sym_list_add(j->base.arena, &j->singles, sizeof(*single));

    if (single == NULL) {
        return SYM_NOMEM;
    }

    *single = entry;
    return SYM_OK;
}


/* Each bundle and each path counts only once in a pass. */
static sym_status_t
add_entries(js_t *j, const js_list_t *list, bool *has_news)
{
    const sym_hash_key_t hash = sym_hash_key();
    sym_status_t rc = SYM_OK;

    for (uint32_t i = 0; rc == SYM_OK && i < list->n; i++) {
        const js_entry_t *entry = &list->entries[i];
        sym_str_t name = entry->is_bundle ? entry->uri : entry->abs_path;
        bool failed = false;

        if (j->bundles.n + j->singles.n == ENTRIES_MAX) {
            break;
        }

        if (is_new(j, sym_hash(&hash, name), &failed)) {
            rc = entry->is_bundle ? add_bundle(j, entry) : add_single(j, entry);
            *has_news = true;
        }
        rc = failed ? SYM_NOMEM : rc;
    }

    return rc;
}


/* A list stays in memory for later passes. */
typedef struct {
    uint32_t need;
    js_list_t list;
} js_read_t;

static sym_status_t
read_list(js_t *j, uint32_t need, const js_list_t **list)
{
    js_read_t **known = j->lists.items, *read;
    js_view_t view = { .time = 0 };
    sym_str_t text;

    for (uint32_t i = 0; i < j->lists.n; i++) {
        if (known[i]->need == need) {
            *list = &known[i]->list;
            return SYM_OK;
        }
    }

    read = sym_arena_calloc(j->base.arena, 1, sizeof(*read));
    known = sym_list_add(j->base.arena, &j->lists, sizeof(*known));
    if (read == NULL || known == NULL) {
        return SYM_NOMEM;
    }

    *known = read;
    read->need = need;
    *list = &read->list;
    if (!js_open(j, need, js_open_sources, &view)) {
        return SYM_OK;
    }

    text = js_read_text(j, &view.as.sources, SYM_STR(SYM_SOURCES_TEXT_NAME),
                        LIST_MAX);
    j->cost += LIST_COST * (uint32_t) (1 + text.len / 1024);
    return text.data != NULL ? js_list_read(j, text, &read->list) : SYM_OK;
}


/* Explains an empty list: files are often uploaded without the dist that events
 * contain, or with a dist that events lack. */
static sym_status_t
explain_dist(js_t *j, sym_str_t url, js_state_t *state)
{
    sym_object_ref_t ref = { .role = SYM_TEXT_LIST,
                             .url = url,
                             .since = js_hour_of(url) };
    const js_list_t *list = NULL;
    uint32_t need;

    if (js_need(j, &ref, SYM_KIND_SOURCES, true, &need) != SYM_OK) {
        return SYM_NOMEM;
    }

    *state = js_state_of(j, need);
    j->lists_wait = *state == JS_WAITS;
    if (*state == JS_FOUND && read_list(j, need, &list) != SYM_OK) {
        return SYM_NOMEM;
    }

    return js_note_try(
        j, &(js_try_t){ .file = "list",
                        .by = SYM_STR("list without dist"),
                        .uri = url,
                        .need = need,
                        .result = list != NULL && list->n != 0
                                      ? "lists files: uploaded without the "
                                        "dist of the request"
                                      : "lists nothing" });
}


/* Requests the list that may contain the file. */
static sym_status_t
ask_list(js_t *j, const js_key_t *key, js_state_t *state, bool *has_news)
{
    sym_object_ref_t ref = { .role = SYM_TEXT_LIST };
    const js_list_t *list;
    uint32_t need;
    size_t without_dist = 0;
    sym_status_t rc = list_url(j, key, &ref.url, &without_dist);

    *state = JS_ABSENT;
    if (rc != SYM_OK || ref.url.len == 0) {
        return rc;
    }

    if (j->lists_wait) {
        *state = JS_WAITS;
        j->waits = true;
        return SYM_OK;
    }

    ref.since = js_hour_of(ref.url);
    if (js_need(j, &ref, SYM_KIND_SOURCES, true, &need) != SYM_OK) {
        return SYM_NOMEM;
    }

    *state = js_state_of(j, need);
    j->lists_wait = *state == JS_WAITS;
    rc = js_note_try(j, &(js_try_t){ .file = "list",
                                     .by = SYM_STR("list"),
                                     .uri = ref.url,
                                     .need = need });
    if (rc != SYM_OK || *state != JS_FOUND) {
        return rc;
    }

    rc = read_list(j, need, &list);
    if (rc == SYM_OK && list->n == 0 && j->request.options.explains
        && !j->is_writing && without_dist != ref.url.len)
    {
        return explain_dist(j, sym_str(ref.url.data, without_dist), state);
    }

    return rc == SYM_OK ? add_entries(j, list, has_news) : rc;
}


/* --- bundles and single files --- */

static sym_status_t
found_in(js_t *j, js_bundle_t *b, const sym_sources_file_t *found,
         sym_str_t resolved_with, js_file_t *file)
{
    sym_object_ref_t ref = { .url = b->entry->url,
                             .member = found->number + 1 };
    char name[SYM_SOURCES_PATH_MAX + 1];

    file->origin = JS_IN_BUNDLE;
    file->uri = b->entry->uri;
    file->resolved_with = resolved_with;

    if (found->path.len < sizeof(name)) {
        name[0] = SYM_BUNDLE_REFERENCE;
        memcpy(name + 1, found->path.data, found->path.len);
        file->reference =
            js_read_text(j, &b->view.as.sources,
                         sym_str(name, found->path.len + 1), JS_URL_MAX);
    }

    return js_find_needed(j, &ref, true, file);
}


static js_bundle_t *
open_bundle(js_t *j, uint32_t i, bool *waits)
{
    js_bundle_t *b = ((js_bundle_t **) j->bundles.items)[i];
    js_state_t state = js_state_of(j, b->need);

    *waits = *waits || state == JS_WAITS;
    return state == JS_FOUND && js_open(j, b->need, js_open_sources, &b->view)
               ? b
               : NULL;
}


static sym_str_t
type_word(js_type_t type)
{
    return type == JS_SCRIPT      ? SYM_STR(SYM_BUNDLE_SCRIPT)
           : type == JS_SOURCEMAP ? SYM_STR(SYM_BUNDLE_SOURCEMAP)
                                  : SYM_STR(SYM_BUNDLE_SOURCE);
}


/* Explains that a file was found by its URL, but is of another build. */
static sym_status_t
note_other_id(js_t *j, const js_bundle_t *b, const js_file_t *file,
              const sym_sources_file_t *found)
{
    const char *result = js_bundle_result(j, b, &file->key, found);

    return result == NULL
               ? SYM_OK
               : js_note_try(j,
                             &(js_try_t){ .file = js_file_words[file->key.type],
                                          .by = SYM_STR("debug-id"),
                                          .uri = b->entry->uri,
                                          .need = b->need,
                                          .result = result });
}


/* SYM_NOT_FOUND: no bundle contains the file; file->state is JS_WAITS if a
 * missing bundle may contain it. */
static sym_status_t
find_in_bundles(js_t *j, const sym_str_t *names, unsigned n, js_file_t *file)
{
    char text[SYM_BUNDLE_NAME_MAX];
    sym_str_t name =
        sym_bundle_name(type_word(file->key.type), &file->key.debug_id, text);
    sym_sources_file_t found;
    bool waits = false;
    js_bundle_t *b;

    for (uint32_t i = 0; i < j->bundles.n && name.len != 0; i++) {
        b = open_bundle(j, i, &waits);
        if (b != NULL
            && sym_sources_find(&b->view.as.sources, name, &found) == SYM_OK
            && !found.is_url)
        {
            return found_in(j, b, &found, SYM_STR("debug-id"), file);
        }
    }

    for (unsigned k = 0; k < n; k++) {
        for (uint32_t i = 0; i < j->bundles.n; i++) {
            b = open_bundle(j, i, &waits);
            if (b != NULL
                && sym_sources_find(&b->view.as.sources, names[k], &found)
                       == SYM_OK
                && found.is_url)
            {
                return note_other_id(j, b, file, &found) != SYM_OK
                           ? SYM_NOMEM
                           : found_in(j, b, &found, b->entry->resolved_with,
                                      file);
            }
        }
    }

    if (waits) {
        file->state = JS_WAITS;
        return SYM_NOT_FOUND;
    }

    for (uint32_t i = 0; i < j->bundles.n; i++) {
        b = ((js_bundle_t **) j->bundles.items)[i];
        if (js_note_try(j, &(js_try_t){ .file = js_file_words[file->key.type],
                                        .by = SYM_STR("bundle"),
                                        .uri = b->entry->uri,
                                        .need = b->need,
                                        .result = js_bundle_result(
                                            j, b, &file->key, NULL) })
            != SYM_OK)
        {
            return SYM_NOMEM;
        }
    }

    return SYM_NOT_FOUND;
}


/* Hermes bytecode is uploaded as an empty file; its headers refer to the
 * map. */
static void
take_empty(const js_entry_t *entry, js_file_t *file)
{
    if (file->state == JS_ABSENT && entry->has_headers) {
        file->is_empty = true;
        file->state = file->key.type == JS_SOURCEMAP ? JS_MALFORMED : JS_FOUND;
    }
}


static sym_status_t
find_known(js_t *j, const sym_str_t *names, unsigned n, js_file_t *file)
{
    sym_status_t rc = find_in_bundles(j, names, n, file);

    for (unsigned k = 0;
         rc == SYM_NOT_FOUND && file->state != JS_WAITS && k < n; k++)
    {
        const js_entry_t *entry = find_single(j, names[k]);

        if (entry != NULL) {
            sym_object_ref_t ref = { .url = entry->url };

            file->origin = JS_ALONE;
            file->uri = entry->uri;
            file->resolved_with = entry->resolved_with;
            file->reference = entry->reference;
            rc = js_find_needed(j, &ref, true, file);
            take_empty(entry, file);
        }
    }

    return rc;
}


/* --- files --- */

void
js_begin_pass(js_t *j)
{
    j->waits = j->lists_wait = false;
    j->bundles.n = j->singles.n = 0;
    j->attempts.n = j->errors.n = j->tries.n = 0;
    j->next = j->stack = j->frame = 0;
}


sym_status_t
js_find_file(js_t *j, const js_key_t *key, js_file_t *file)
{
    sym_str_t names[JS_CANDIDATES];
    bool has_news = false;
    unsigned n = 0;
    js_state_t asked;
    sym_status_t rc;

    *file = (js_file_t){ .state = JS_ABSENT, .key = *key };
    if (key->abs_path.len > ABS_PATH_MAX) {
        file->key.abs_path = sym_str(NULL, 0);
        key = &file->key;
    }

    j->cost += FILE_COST + (j->bundles.n + j->singles.n) / BUNDLES_OF_FRAME;
    if (j->request.is_own) {
        return js_find_own(j, file);
    }

    if (key->abs_path.data != NULL) {
        n = js_candidates(j->base.arena, key->abs_path, names);
        if (n == 0) {
            return SYM_NOMEM;
        }
    }

    rc = find_known(j, names, n, file);
    if (rc == SYM_NOT_FOUND && file->state != JS_WAITS) {
        rc = ask_list(j, key, &asked, &has_news);
        if (rc == SYM_OK && asked == JS_WAITS) {
            file->state = JS_WAITS;
            return SYM_OK;
        }
        rc = rc != SYM_OK ? rc
             : has_news   ? find_known(j, names, n, file)
                          : SYM_NOT_FOUND;
    }

    if (rc == SYM_NOT_FOUND) {
        return file->state == JS_WAITS ? SYM_OK : js_scrape(j, file);
    }

    return rc == SYM_OK && key->abs_path.data != NULL ? js_note_attempt(
               j, key->abs_path, &(js_attempt_t){ .state = JS_NOT_ATTEMPTED })
                                                      : rc;
}
