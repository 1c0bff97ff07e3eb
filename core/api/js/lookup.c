#include "api/js/js.h"

#include <stdio.h>
#include <time.h>

#include "api/download.h"
#include "artifacts/sources/bundle_name.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/uri.h"
#include "sources/guard/origins.h"

/* How long lists and scraped files count. */
#define HOUR 3600

/* Bytes of a list; a longer one counts as empty. */
#define LIST_MAX ((size_t) 1 << 20)

/* Bundles and single files of a request. */
#define ENTRIES_MAX 4096u

/* Work in frames of an answer: of a file, of a bundle that is searched, of 1,024
 * bytes of a list. */
#define FILE_COST 16
#define BUNDLES_OF_FRAME 8
#define LIST_COST 32

#define DETAILS_MAX 1024

/* --- needs --- */

struct js_table_s {
    uint64_t *hashes; /* 0: free */
    uint32_t *numbers;
    size_t size, n;
};


static bool
grow(js_t *j, struct js_table_s *t)
{
    struct js_table_s old = *t;

    t->size = old.size == 0 ? 64 : 2 * old.size;
    t->hashes = sym_arena_calloc(j->base.arena, t->size, sizeof(*t->hashes));
    t->numbers = sym_arena_calloc(j->base.arena, t->size, sizeof(*t->numbers));
    if (t->hashes == NULL || t->numbers == NULL) {
        return false;
    }

    for (size_t i = 0; i < old.size; i++) {
        size_t at = old.hashes[i] & (t->size - 1);

        if (old.hashes[i] == 0) {
            continue;
        }

        while (t->hashes[at] != 0) {
            at = (at + 1) & (t->size - 1);
        }
        t->hashes[at] = old.hashes[i];
        t->numbers[at] = old.numbers[i];
    }

    return true;
}


static sym_status_t
add_need(js_t *j, const sym_object_ref_t *ref, sym_kind_t kind,
         bool is_artifact, uint32_t *need)
{
    sym_object_ref_t *copy = sym_arena_alloc(j->base.arena, sizeof(*copy));

    if (copy == NULL) {
        return SYM_NOMEM;
    }

    *copy = *ref;
    copy->url = sym_arena_copy(j->base.arena, ref->url);
    if (copy->url.data == NULL
        || sym_request_need_object(&j->base, copy, kind, need) != SYM_OK)
    {
        return SYM_NOMEM;
    }

    j->base.needs[*need].is_artifact = is_artifact;
    return SYM_OK;
}


uint32_t *
js_table_at(js_t *j, struct js_table_s **table, uint64_t hash, bool *is_new)
{
    struct js_table_s *t = *table;
    size_t at;

    hash |= 1;
    if (t == NULL) {
        t = *table = sym_arena_calloc(j->base.arena, 1, sizeof(*t));
    }

    if (t == NULL || (2 * (t->n + 1) > t->size && !grow(j, t))) {
        return NULL;
    }

    at = hash & (t->size - 1);
    while (t->hashes[at] != 0 && t->hashes[at] != hash) {
        at = (at + 1) & (t->size - 1);
    }

    *is_new = t->hashes[at] == 0;
    t->hashes[at] = hash;
    t->n += *is_new;
    return &t->numbers[at];
}


/* Finds or adds the need. */
static sym_status_t
need_text(js_t *j, const sym_object_ref_t *ref, sym_kind_t kind,
          bool is_artifact, uint32_t *need)
{
    uint64_t hash = sym_object_ref_hash(ref)
                    + ((uint64_t) kind << 1 | is_artifact) * 0x9e3779b97f4a7c15;
    bool is_new;
    uint32_t *number = js_table_at(j, &j->table, hash, &is_new);

    if (number == NULL
        || (is_new && add_need(j, ref, kind, is_artifact, number) != SYM_OK))
    {
        return SYM_NOMEM;
    }

    *need = *number;
    return SYM_OK;
}


/* A need that this pass added is not open yet. */
static js_state_t
state_of(js_t *j, uint32_t need)
{
    const sym_need_t *n = &j->base.needs[need];

    if (need >= j->base.n_opened) {
        j->waits = true;
        return JS_WAITS;
    }

    return n->found == SYM_NEED_FOUND                 ? JS_FOUND
           : n->missing.state == SYM_MODULE_MALFORMED ? JS_MALFORMED
                                                      : JS_ABSENT;
}


sym_status_t
js_further(js_t *j, uint32_t of, sym_kind_t kind, uint32_t *need, bool *waits)
{
    const sym_need_t *n = &j->base.needs[of];
    sym_status_t rc = need_text(j, n->ref, kind, n->is_artifact, need);

    *waits = rc == SYM_OK && state_of(j, *need) == JS_WAITS;
    return rc;
}


/* --- views --- */

bool
js_open(js_t *j, uint32_t need, js_open_pt open, js_view_t *view)
{
    const sym_need_t *n = &j->base.needs[need];
    sym_error_t err = { 0 };

    if (view->time != j->time) {
        view->time = j->time;
        view->found = n->artifact;
        view->is_open = n->found == SYM_NEED_FOUND && need < j->base.n_opened
                        && open(view, &err) == SYM_OK;
    }

    return view->is_open;
}


sym_status_t
js_open_sources(js_view_t *view, sym_error_t *err)
{
    return sym_sources_open(&view->as.sources, sym_artifact_extent,
                            &view->found, err);
}


/* A text of up to `max` bytes; data NULL: longer, damaged, or no memory. */
static sym_str_t
read_text(js_t *j, const sym_sources_t *sources, sym_str_t name, size_t max)
{
    sym_sources_file_t file;
    size_t at = 0;
    char *text, *block;

    if (sym_sources_find(sources, name, &file) != SYM_OK || file.len > max) {
        return sym_str(NULL, 0);
    }

    text = sym_arena_alloc(j->base.arena, (size_t) file.len + 1);
    block = sym_arena_alloc(j->base.arena, SYM_SOURCES_BLOCK_TEXT);

    for (uint32_t i = 0; i < file.n_blocks; i++) {
        uint64_t line;
        size_t len;

        if (text == NULL || block == NULL
            || sym_sources_block(sources, &file, i, block, &len, &line)
                   != SYM_OK
            || len > file.len - at)
        {
            return sym_str(NULL, 0);
        }
        memcpy(text + at, block, len);
        at += len;
    }

    return sym_str(text, at);
}


/* --- lists --- */

/* The start of the hour in which the URL is asked: hours of URLs begin at
 * different times. */
static uint32_t
hour_of(sym_str_t url)
{
    uint64_t now = (uint64_t) time(NULL), offset = 0;
    sym_sha256_t digest;

    if (sym_sha256(url, &digest)) {
        for (unsigned i = 8; i-- > 0;) {
            offset = offset << 8 | digest.bytes[i];
        }
    }

    offset %= HOUR;
    return (uint32_t) ((now - offset) / HOUR * HOUR + offset);
}


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


static void
add_url(sym_text_t *t, sym_arena_t *arena, const sym_url_t *url)
{
    sym_str_t authority = sym_url_authority(arena, url);

    sym_text_add(t, url->is_https ? SYM_STR("https://") : SYM_STR("http://"));
    sym_text_add(t, authority);
    sym_text_add(t, url->path);
    t->failed = t->failed || authority.data == NULL;
}


/* Whether it was not asked for in this pass. */
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


/* The address of the list for a file; "": there is nothing to ask for. */
static sym_status_t
list_url(js_t *j, const js_key_t *key, sym_str_t *url)
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

    add_url(&t, j->base.arena, base);
    sym_text_byte(&t, '?');
    sym_text_add(&t, base->query);
    if (j->request.release.data != NULL) {
        add_parameter(&t, "release=", j->request.release);
    }
    if (has_stem) {
        add_parameter(&t, "url=", stem);
    }
    if (j->request.dist.data != NULL) {
        add_parameter(&t, "dist=", j->request.dist);
    }
    if (id_len != 0) {
        add_parameter(&t, "debug_id=", sym_str(id, id_len));
    }

    *url = sym_text_end(&t);
    return failed || t.failed ? SYM_NOMEM : SYM_OK;
}


/* Keeps the order of the list: the highest URI is the first. */
static sym_status_t
add_bundle(js_t *j, const js_entry_t *entry)
{
    const sym_object_ref_t ref = { .url = entry->url, .role = SYM_TEXT_BUNDLE };
    js_bundle_t *bundle = sym_arena_calloc(j->base.arena, 1, sizeof(*bundle));
    js_bundle_t **list;
    uint32_t at;

    if (bundle == NULL
        || sym_list_add(j->base.arena, &j->bundles, sizeof(*list)) == NULL
        || need_text(j, &ref, SYM_KIND_SOURCES, true, &bundle->need) != SYM_OK)
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
    j->lists_wait |= state_of(j, bundle->need) == JS_WAITS;
    return SYM_OK;
}


/* The single file of this path; NULL: none was listed in this pass. */
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


/* Each bundle and each path counts once in a pass. */
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


/* A list that was read stays for later passes. */
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

    text = read_text(j, &view.as.sources, SYM_STR(SYM_SOURCES_TEXT_NAME),
                     LIST_MAX);
    j->cost += LIST_COST * (uint32_t) (1 + text.len / 1024);
    return text.data != NULL ? js_list_read(j, text, &read->list) : SYM_OK;
}


/* Asks for the list that may have the file. */
static sym_status_t
ask_list(js_t *j, const js_key_t *key, js_state_t *state, bool *has_news)
{
    sym_object_ref_t ref = { .role = SYM_TEXT_LIST };
    const js_list_t *list;
    uint32_t need;
    sym_status_t rc = list_url(j, key, &ref.url);

    *state = JS_ABSENT;
    if (rc != SYM_OK || ref.url.len == 0) {
        return rc;
    }

    if (j->lists_wait) {
        *state = JS_WAITS;
        j->waits = true;
        return SYM_OK;
    }

    ref.since = hour_of(ref.url);
    if (need_text(j, &ref, SYM_KIND_SOURCES, true, &need) != SYM_OK) {
        return SYM_NOMEM;
    }

    *state = state_of(j, need);
    j->lists_wait = *state == JS_WAITS;
    if (*state != JS_FOUND) {
        return SYM_OK;
    }

    rc = read_list(j, need, &list);
    return rc == SYM_OK ? add_entries(j, list, has_news) : rc;
}


/* --- bundles and single files --- */

static sym_status_t
find_needed(js_t *j, sym_object_ref_t *ref, bool is_artifact, js_file_t *file)
{
    static const struct {
        sym_text_role_t role;
        sym_kind_t kind;
    } types[] = {
        [JS_SCRIPT] = { SYM_TEXT_SCRIPT, SYM_KIND_SCRIPT },
        [JS_SOURCEMAP] = { SYM_TEXT_SOURCEMAP, SYM_KIND_SOURCEMAP },
        [JS_SOURCE] = { SYM_TEXT_SOURCE, SYM_KIND_SOURCES },
    };

    ref->role = types[file->key.type].role;
    if (need_text(j, ref, types[file->key.type].kind, is_artifact, &file->need)
        != SYM_OK)
    {
        return SYM_NOMEM;
    }

    file->state = state_of(j, file->need);
    return SYM_OK;
}


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
            read_text(j, &b->view.as.sources,
                      sym_str(name, found->path.len + 1), JS_URL_MAX);
    }

    return find_needed(j, &ref, true, file);
}


static js_bundle_t *
open_bundle(js_t *j, uint32_t i, bool *waits)
{
    js_bundle_t *b = ((js_bundle_t **) j->bundles.items)[i];
    js_state_t state = state_of(j, b->need);

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


/* SYM_NOT_FOUND: no bundle has it; file->state is JS_WAITS if one may. */
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
                return found_in(j, b, &found, b->entry->resolved_with, file);
            }
        }
    }

    if (waits) {
        file->state = JS_WAITS;
    }

    return SYM_NOT_FOUND;
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
            rc = find_needed(j, &ref, true, file);
        }
    }

    return rc;
}


/* --- scraping --- */

/* The first attempt at a URL in a pass counts. */
static sym_status_t
note_attempt(js_t *j, sym_str_t url, const js_attempt_t *attempt)
{
    const sym_hash_key_t hash = sym_hash_key();
    js_attempt_t *next;
    bool is_added;
    uint32_t *pass =
        js_table_at(j, &j->attempted, sym_hash(&hash, url), &is_added);

    if (pass == NULL) {
        return SYM_NOMEM;
    }

    if (!is_added && *pass == j->pass) {
        return SYM_OK;
    }

    *pass = j->pass;
    next = sym_list_add(j->base.arena, &j->attempts, sizeof(*next));
    if (next == NULL) {
        return SYM_NOMEM;
    }

    *next = *attempt;
    next->url = url;
    return SYM_OK;
}


static sym_status_t
refuse(js_t *j, js_file_t *file, const char *reason, const char *format,
       sym_str_t text)
{
    size_t size = text.len + 64;
    char *details = sym_arena_alloc(j->base.arena, size);
    int len = details != NULL
                  ? snprintf(details, size, format, (int) text.len, text.data)
                  : -1;

    file->state = JS_ABSENT;
    return len < 0 ? SYM_NOMEM
                   : note_attempt(j, file->key.abs_path,
                                  &(js_attempt_t){
                                      .state = JS_REFUSED,
                                      .reason = reason,
                                      .details = sym_str(details, (size_t) len),
                                  });
}


static sym_status_t
scrape_url(js_t *j, const sym_url_t *url, js_file_t *file)
{
    sym_text_t t = { .arena = j->base.arena }, shown = { .arena = t.arena };
    sym_object_ref_t ref = { .role = SYM_TEXT_SOURCE };
    char slot[16];
    sym_status_t rc;

    add_url(&t, j->base.arena, url);
    if (url->query.len != 0) {
        sym_text_byte(&t, '?');
        sym_text_add(&t, url->query);
    }

    ref.url = sym_text_end(&t);
    if (t.failed) {
        return SYM_NOMEM;
    }

    if (!sym_origins_have(j->request.origins, j->request.n_origins, url,
                          ref.url)) {
        return refuse(j, file, "invalid_host",
                      "%.*s is not an allowed download origin",
                      file->key.abs_path);
    }

    ref.since = hour_of(ref.url);
    sym_text_add(&shown, ref.url);
    (void) snprintf(slot, sizeof(slot), "#%u", ref.since);
    sym_text_add(&shown, sym_cstr(slot));
    file->uri = sym_text_end(&shown);
    file->origin = JS_SCRAPED;
    file->resolved_with = SYM_STR("scraping");
    rc = shown.failed ? SYM_NOMEM : find_needed(j, &ref, false, file);

    return rc != SYM_OK ? rc
                        : note_attempt(j, file->key.abs_path,
                                       &(js_attempt_t){ .state = JS_TRIED,
                                                        .need = file->need });
}


static sym_status_t
scrape(js_t *j, js_file_t *file)
{
    sym_str_t abs_path = file->key.abs_path;
    sym_error_t err = { 0 };
    sym_url_t url;
    sym_status_t rc;

    file->state = JS_ABSENT;
    if (abs_path.data == NULL || !js_is_url(abs_path)) {
        return SYM_OK;
    }

    if (!j->request.may_scrape) {
        rc = refuse(j, file, "disabled", "%.*s", SYM_STR(""));
        file->state = JS_DISABLED;
        return rc;
    }

    rc = sym_url_read(j->base.arena, abs_path, &url, &err);
    if (rc == SYM_UNSUPPORTED) {
        return refuse(j, file, "invalid_host",
                      "`%.*s` is not an allowed download scheme",
                      js_scheme(abs_path));
    }

    return rc == SYM_OK ? scrape_url(j, &url, file)
           : rc == SYM_NOMEM
               ? rc
               : refuse(j, file, "other", "%.*s", sym_cstr(err.what));
}


typedef struct {
    const js_attempt_t *attempt;
    const sym_need_t *need;
    js_t *j;
    const char *reason;
    sym_str_t details;
} result_t;

/* The reason of a text that is not UTF-8 is Symbolicator's. */
static bool
find_utf8(sym_str_t reason, sym_str_t *text)
{
    static const char *const words[] = { "invalid utf-8", "incomplete utf-8" };

    for (size_t i = 0; i < 2 && reason.len != 0; i++) {
        const char *at =
            memmem(reason.data, reason.len, words[i], strlen(words[i]));

        if (at != NULL) {
            *text = sym_str(at, (size_t) (reason.data + reason.len - at));
            return true;
        }
    }

    return false;
}


/* A failed attempt, by its outcome as in protocol/attempts.h. */
static void
tell(result_t *r, sym_str_t outcome, uint64_t ms)
{
    const sym_attempt_t attempt = { .outcome = outcome };
    sym_download_t end = { .location = r->attempt->url,
                           .outcome = outcome,
                           .ms = ms,
                           .status = sym_download_of(&attempt) };
    char details[DETAILS_MAX];

    r->details = SYM_STR("");
    switch (end.status) {
    case SYM_DOWNLOAD_NOT_FOUND:
        r->reason = "not_found";
        return;
    case SYM_DOWNLOAD_OK: /* it was empty */
        r->reason = "success";
        return;
    case SYM_DOWNLOAD_NOPERM:
        r->reason = "permission_denied";
        break;
    default:
        r->reason = sym_str_eq(outcome, SYM_STR("timeout")) ? "timeout"
                                                            : "download_error";
    }

    /* Symbolicator shows both statuses as one */
    if (sym_str_eq(outcome, SYM_STR("401"))) {
        end.outcome = SYM_STR("403");
    }

    r->details =
        sym_arena_copy(r->j->base.arena,
                       sym_str(details, sym_download_details(&end, "", details,
                                                             sizeof(details))));
}


static void
read_record(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    result_t *r = ctx;
    sym_str_t text = record != NULL ? record->attempts : SYM_STR("");
    sym_attempt_t attempt;
    bool has_attempt = false;

    (void) scope;
    while (sym_attempts_next(&text, &attempt)) {
        has_attempt = true;
    }

    if (!has_attempt) {
        return;
    }

    if (record->state == SYM_MODULE_MALFORMED) {
        r->reason = "success";
        r->details = SYM_STR("");
        if (find_utf8(record->reason, &text)) {
            r->reason = "other";
            r->details = sym_arena_copy(r->j->base.arena, text);
        }
        return;
    }

    tell(r, attempt.outcome, attempt.ms);
}


/* The store has no record of it any more: "source "NAME": WHY: STATUS". */
static void
read_reason(result_t *r)
{
    sym_str_t reason = r->need->missing.reason;
    size_t at = reason.len;
    const char *why;

    while (at > 0 && reason.data[at - 1] >= '0' && reason.data[at - 1] <= '9') {
        at--;
    }

    if (r->need->missing.state == SYM_MODULE_ABSENT) {
        r->reason = "not_found";
    } else if (r->need->missing.state == SYM_MODULE_MALFORMED) {
        r->reason = "success";
    } else if (at < reason.len && reason.len - at == 3) {
        tell(r, sym_str(reason.data + at, 3), 0);
    } else if (reason.len != 0) {
        why = memmem(reason.data, reason.len, "\": ", 3);
        r->details = why != NULL ? sym_str(
                         why + 3, reason.len - 3 - (size_t) (why - reason.data))
                                 : reason;
    }
}


const char *
js_attempt_result(js_t *j, const js_attempt_t *attempt, sym_str_t *details)
{
    sym_need_t *need = &j->base.needs[attempt->need];
    result_t result = { .attempt = attempt,
                        .need = need,
                        .j = j,
                        .reason = "download_error",
                        .details = SYM_STR("") };
    sym_ref_key_t key;

    *details = SYM_STR("");
    if (need->found == SYM_NEED_FOUND) {
        return "success";
    }

    if (need->found == SYM_NEED_PENDING) {
        return "timeout";
    }

    read_reason(&result);
    if (sym_request_key(&j->base, need, &key)) {
        sym_resolver_record(j->base.resolver, key.key.scope, need->ref,
                            need->kind, read_record, &result);
    }

    *details = result.details.data != NULL ? result.details : SYM_STR("");
    return result.reason;
}


/* --- files --- */

void
js_begin_pass(js_t *j)
{
    j->waits = j->lists_wait = false;
    j->bundles.n = j->singles.n = 0;
    j->attempts.n = j->errors.n = 0;
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
    j->cost += FILE_COST + (j->bundles.n + j->singles.n) / BUNDLES_OF_FRAME;
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
        return file->state == JS_WAITS ? SYM_OK : scrape(j, file);
    }

    return rc == SYM_OK && key->abs_path.data != NULL ? note_attempt(
               j, key->abs_path, &(js_attempt_t){ .state = JS_NOT_ATTEMPTED })
                                                      : rc;
}
