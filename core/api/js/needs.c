#include "api/js/js.h"

#include <time.h>

#include "base/hash.h"
#include "base/sha256.h"

#define HOUR 3600

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


/* Finds or adds a need. */
sym_status_t
js_need(js_t *j, const sym_object_ref_t *ref, sym_kind_t kind, bool is_artifact,
        uint32_t *need)
{
    uint64_t hash = sym_object_ref_hash(ref)
                    + ((uint64_t) kind << 1 | is_artifact) * 0x9e3779b97f4a7c15;
    const sym_hash_key_t key = sym_hash_key();
    bool is_new;
    uint32_t *number;

    if (ref->has_digest) {
        hash += sym_hash(
            &key, sym_str((const char *) ref->digest, sizeof(ref->digest)));
    }
    number = js_table_at(j, &j->table, hash, &is_new);

    if (number == NULL
        || (is_new && add_need(j, ref, kind, is_artifact, number) != SYM_OK))
    {
        return SYM_NOMEM;
    }

    *need = *number;
    return SYM_OK;
}


/* a need that was added in this pass is not open yet */
js_state_t
js_state_of(js_t *j, uint32_t need)
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
    sym_object_ref_t ref = *n->ref;
    sym_status_t rc;

    /* a script and its map may have the same debug id */
    if (ref.url.len == 0 && n->artifact.has_digest) {
        ref = (sym_object_ref_t){ .has_digest = true, .role = n->ref->role };
        memcpy(ref.digest, n->artifact.digest, sizeof(ref.digest));
    }

    rc = js_need(j, &ref, kind, n->is_artifact, need);

    *waits = rc == SYM_OK && js_state_of(j, *need) == JS_WAITS;
    return rc;
}


sym_status_t
js_find_needed(js_t *j, sym_object_ref_t *ref, bool is_artifact,
               js_file_t *file)
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
    if (js_need(j, ref, types[file->key.type].kind, is_artifact, &file->need)
        != SYM_OK)
    {
        return SYM_NOMEM;
    }

    file->state = js_state_of(j, file->need);
    return js_note_try(j, &(js_try_t){ .file = js_file_words[file->key.type],
                                       .by = file->resolved_with,
                                       .uri = file->uri,
                                       .need = file->need });
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


/* Returns a text of up to `max` bytes; data NULL: longer, damaged, or no
 * memory. */
sym_str_t
js_read_text(js_t *j, const sym_sources_t *sources, sym_str_t name, size_t max)
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


/* --- URLs --- */

/* Returns the start of the hour in which the URL is fetched.  Hours begin at
 * different times for different URLs, to spread the fetches. */
uint32_t
js_hour_of(sym_str_t url)
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


void
js_write_url(sym_text_t *t, sym_arena_t *arena, const sym_url_t *url)
{
    sym_str_t authority = sym_url_authority(arena, url);

    sym_text_add(t, url->is_https ? SYM_STR("https://") : SYM_STR("http://"));
    sym_text_add(t, authority);
    sym_text_add(t, url->path);
    t->failed = t->failed || authority.data == NULL;
}
