#include "cli/string_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "demangle/demangle.h"
#include "base/pages.h"
#include "base/json_plain.h"
#include "cli/output.h"
#include "common/large_array.h"

/* Forms of what is kept under a slot's strings: a text with the name as it is kept
 * or as a name of a language, the same for any file, or a file's alone. */
#define FORM_KEPT 1u
#define FORM_NAME(lang) ((lang) + 2u)
#define FORM_LANG(form) ((uint8_t) ((form) -2))
#define FORM_ANY_FILE 0x200u
#define FORM_FILE 0x400u

/* An escape in JSON has six bytes. */
#define PRINTED_ROOM(len) ((size_t) 6 * (len))

/* What a name of one part takes before it is known: most are as they are kept. */
#define NAME_ROOM (sizeof(text_head_t) + SYM_PART_ROOM)

/* The names and files of 100,000 addresses all over a program are 20 MB.  Memory
 * that is not written to costs nothing. */
#define BYTES_MANY ((size_t) 64 << 20)
#define BYTES_FIRST ((size_t) 64 << 10)
#define SLOTS_FIRST 4096u
#define SLOTS_NEXT 131072u

typedef struct {
    sym_string_ref_t name, file;
    uint32_t form; /* 0: free */
    text_t text;
} slot_t;

struct string_cache_s {
    string_cache_style_t style;
    module_t *module;
    uint64_t module_id;
    char *bytes;
    size_t used, size;
    slot_t *slots;
    uint32_t n_slots, n_used;
    bool has_failed;
    char demangled[SYM_DEMANGLED_MAX];
    char *printed;
    size_t printed_room;
};


string_cache_t *
string_cache_create(const string_cache_style_t *style)
{
    string_cache_t *t = calloc(1, sizeof(*t));

    if (t != NULL) {
        t->style = *style;
        t->bytes = malloc(BYTES_FIRST);
        t->size = BYTES_FIRST;
        t->slots = calloc(SLOTS_FIRST, sizeof(*t->slots));
        t->n_slots = SLOTS_FIRST;
    }

    if (t == NULL || t->bytes == NULL || t->slots == NULL) {
        fprintf(stderr, "symloader: out of memory\n");
        string_cache_free(t);
        return NULL;
    }

    /* at 0 is the one without a name and a file */
    t->used = sizeof(text_head_t);
    memset(t->bytes, 0, sizeof(text_head_t));
    return t;
}


void
string_cache_free(string_cache_t *t)
{
    if (t != NULL) {
        free(t->bytes);
        free(t->printed);
        free(t->slots);
        free(t);
    }
}


void
string_cache_forget(string_cache_t *t)
{
    memset(t->slots, 0, t->n_slots * sizeof(*t->slots));
    t->n_used = 0;
    t->used = sizeof(text_head_t);
}


void
string_cache_begin(string_cache_t *t, module_t *m)
{
    if (t->module_id != m->record.module_id || t->used > BYTES_MANY / 2) {
        string_cache_forget(t);
    }

    t->module = m;
    t->module_id = m->record.module_id;
}


bool
string_cache_are_many(const string_cache_t *t)
{
    return t->used > BYTES_MANY;
}


bool
string_cache_failed(const string_cache_t *t)
{
    return t->has_failed;
}


/* --- which text --- */

static uint32_t
name_form(const string_cache_t *t, const sym_answer_t *answer, uint32_t level)
{
    return t->module->cache.has_linker_names && !t->style.is_mangled
               ? FORM_NAME(sym_answer_lang(answer, level))
               : FORM_KEPT;
}


static inline slot_t
key_of(const string_cache_t *t, const sym_answer_t *answer, uint32_t level)
{
    return (slot_t){ .name = answer->levels[level].name,
                     .file = answer->levels[level].file,
                     .form = name_form(t, answer, level) };
}


/* Where a name is found that was much work, whatever file it was met with. */
static inline slot_t
any_file(const slot_t *key)
{
    return (slot_t){ .name = key->name, .form = key->form | FORM_ANY_FILE };
}


static inline bool
is_key(const slot_t *slot, const slot_t *key)
{
    return slot->name == key->name && slot->file == key->file
           && slot->form == key->form;
}


static inline slot_t *
first_slot(const string_cache_t *t, const slot_t *key)
{
    uint64_t strings = (uint64_t) key->name << 32 | key->file;
    uint64_t hash = (strings + key->form) * 0x9e3779b97f4a7c15u;

    return &t->slots[(hash ^ hash >> 32) & (t->n_slots - 1)];
}


/* The key's slot, or the free one where it belongs. */
static inline slot_t *
find(const string_cache_t *t, const slot_t *key)
{
    slot_t *slot = first_slot(t, key), *end = t->slots + t->n_slots;

    while (!is_key(slot, key) && slot->form != 0) {
        slot = slot + 1 == end ? t->slots : slot + 1;
    }

    return slot;
}


static bool
grow_slots(string_cache_t *t)
{
    slot_t *old = t->slots, *slots = NULL;
    uint32_t n = t->n_slots;
    uint32_t more = n < SLOTS_NEXT ? SLOTS_NEXT : 2 * n;

    if (n <= UINT32_MAX / 2) {
        slots = sym_pages_alloc(more * sizeof(slot_t));
    }

    if (slots == NULL) {
        return false;
    }

    memset(slots, 0, more * sizeof(slot_t));
    t->slots = slots;
    t->n_slots = more;

    for (uint32_t i = 0; i < n; i++) {
        if (old[i].form != 0) {
            *find(t, &old[i]) = old[i];
        }
    }

    free(old);
    return true;
}


/* Fills the free slot that was found for the key. */
static void
fill(string_cache_t *t, slot_t *slot, const slot_t *key, text_t text)
{
    *slot = *key;
    slot->text = text;
    t->n_used++;

    if (t->n_used > t->n_slots / 2 && !grow_slots(t)) {
        t->has_failed = true;
    }
}


/* --- making one --- */

/* Room for so many bytes more. */
static bool
make_room(string_cache_t *t, size_t need)
{
    size_t size = t->size;
    char *grown;

    if (size - t->used >= need) {
        return true;
    }

    size = size < BYTES_MANY ? BYTES_MANY : 2 * size;
    grown = large_array_grow(t->bytes, t->used, size);

    if (grown == NULL) {
        t->has_failed = true;
        return false;
    }

    t->bytes = grown;
    t->size = size;
    return true;
}

_Static_assert(BYTES_FIRST > NAME_ROOM
                   && BYTES_MANY > PRINTED_ROOM(SYM_STRING_MAX) + NAME_ROOM,
               "growing once is enough");


/* Puts it behind what is kept. */
static void
put(string_cache_t *t, sym_str_t s)
{
    if (make_room(t, s.len + TEXT_SLACK)) {
        memcpy(t->bytes + t->used, s.data, s.len);
        t->used += s.len;
    }
}


/* Room to escape so many bytes. */
static bool
make_printed(string_cache_t *t, size_t len)
{
    size_t need =
        PRINTED_ROOM(len < SYM_PART_BYTES_MAX ? SYM_PART_BYTES_MAX : len);

    if (t->printed_room < need) {
        free(t->printed);
        t->printed = malloc(need);
        t->printed_room = t->printed != NULL ? need : 0;
        t->has_failed = t->has_failed || t->printed == NULL;
    }

    return t->printed != NULL;
}


/* What begins at `from` is no text that can be printed as it stands. */
static void
escape(string_cache_t *t, size_t from)
{
    output_t out;
    const sym_str_t s = sym_str(t->bytes + from, t->used - from);

    if (!make_printed(t, s.len)) {
        t->used = from;
        return;
    }

    out = (output_t){ .json = sym_out_fixed(t->printed, t->printed_room) };

    if (t->style.is_json) {
        sym_out_escaped(&out.json, s);
    } else {
        output_text(&out, s);
    }

    t->used = from;
    put(t, sym_str(t->printed, (size_t) (out.json.pos - t->printed)));
}


/* A name as it is shown, in its place; gives its length. */
static size_t
demangle(string_cache_t *t, char *name, size_t len, uint8_t lang)
{
    size_t n = sym_demangle(sym_str(name, len), lang, SYM_DEMANGLE_FULL,
                            t->demangled, sizeof(t->demangled));

    if (n == 0) {
        return len;
    }

    memcpy(name, t->demangled, n);
    return n;
}


/* Unpacks it behind what is kept, where there is room for one part; 0: "", or
 * it cannot be. */
static size_t
unpack(string_cache_t *t, sym_string_ref_t ref)
{
    sym_symcache_t *cache = &t->module->cache;
    size_t len, n;
    bool is_plain;

    n = sym_symcache_string_within(cache, ref, t->bytes + t->used,
                                   SYM_PART_ROOM, &is_plain);
    if (n != 0 || sym_symcache_string_len(cache, ref, &len, &is_plain) != SYM_OK
        || len <= SYM_PART_BYTES_MAX
        || !make_room(t, sizeof(text_head_t) + len + SYM_STRING_SLACK))
    {
        return n;
    }

    return sym_symcache_string_within(cache, ref, t->bytes + t->used,
                                      len + SYM_STRING_SLACK, &is_plain);
}


/* The string, as the form says, and what follows it; most are put where they
 * stay. */
static void
put_string(string_cache_t *t, sym_string_ref_t ref, uint32_t form, char last)
{
    size_t from = t->used, len;
    char *to;

    if (ref == SYM_NO_REF || !make_room(t, NAME_ROOM)) {
        return;
    }

    len = unpack(t, ref);
    to = t->bytes + from;

    if (len == 0) {
        return;
    }

    if (form != FORM_KEPT) {
        len = demangle(t, to, len, FORM_LANG(form));
    }

    t->used += len;

    if (!sym_is_plain(sym_str(to, len))) {
        escape(t, from);
    }

    t->bytes[t->used++] = last;
}

_Static_assert(SYM_DEMANGLED_MAX <= SYM_PART_BYTES_MAX, "as much room");


static size_t
begin_text(string_cache_t *t)
{
    size_t place = t->used;

    if (make_room(t, NAME_ROOM)) {
        t->used += sizeof(text_head_t);
    }

    return place;
}


/* What was put since begin_text() is the name. */
static text_t
end_text(string_cache_t *t, size_t place, text_t file)
{
    const size_t len = t->used - place - sizeof(text_head_t);
    const text_head_t head = { (uint32_t) len, file };

    if ((len == 0 && file == 0) || t->has_failed) {
        t->used = place;
        return 0;
    }

    memcpy(t->bytes + place, &head, sizeof(head));
    t->used = (t->used + TEXT_ALIGN - 1) & ~(size_t) (TEXT_ALIGN - 1);
    return (text_t) (place / TEXT_ALIGN);
}


/* The name of a text that was made, with another file. */
static text_t
again(string_cache_t *t, text_t made, text_t file)
{
    const size_t place = begin_text(t);

    /* bytes may move */
    if (make_room(t, string_cache_head(t->bytes, made).name_len + TEXT_SLACK)) {
        put(t, string_cache_name(t->bytes, made));
    }

    return end_text(t, place, file);
}


/* A text with the file for its name. */
static text_t
file_text(string_cache_t *t, sym_string_ref_t ref)
{
    const slot_t key = { .file = ref, .form = FORM_FILE };
    slot_t *slot = find(t, &key);
    text_t text;
    size_t place;

    if (slot->form != 0) {
        return slot->text;
    }

    place = begin_text(t);
    put_string(t, ref, FORM_KEPT, t->style.file_end);
    text = end_text(t, place, 0);
    fill(t, slot, &key, text);
    return text;
}


static text_t
make(string_cache_t *t, const slot_t *key)
{
    const text_t file = file_text(t, key->file);
    const size_t place = begin_text(t);

    put_string(t, key->name, key->form, t->style.name_end);
    return end_text(t, place, file);
}


/* A name that is much work is made once, whatever files it is met with. */
static text_t
make_costly(string_cache_t *t, const slot_t *key)
{
    const slot_t any = any_file(key), *known = find(t, &any);
    text_t text = known->text;

    if (known->form != 0) {
        return again(t, text, file_text(t, key->file));
    }

    text = make(t, key);
    fill(t, find(t, &any), &any, text);
    return text;
}


/* --- for answers --- */

void
string_cache_expect(const string_cache_t *t, const sym_answer_t *answer)
{
    for (uint32_t i = 0; i < answer->n_levels; i++) {
        const slot_t key = key_of(t, answer, i);

        __builtin_prefetch(first_slot(t, &key));
    }
}


text_t
string_cache_find(const string_cache_t *t, const sym_answer_t *answer,
                  uint32_t level)
{
    const slot_t key = key_of(t, answer, level);
    const slot_t *slot = find(t, &key);

    if (slot->form != 0) {
        return slot->text;
    }

    if (key.form != FORM_KEPT) {
        const slot_t any = any_file(&key);

        __builtin_prefetch(first_slot(t, &any));
    }

    sym_symcache_expect(&t->module->cache, key.name);
    return TEXT_MISSING;
}


text_t
string_cache_make(string_cache_t *t, const sym_answer_t *answer, uint32_t level)
{
    const slot_t key = key_of(t, answer, level);
    const slot_t *slot = find(t, &key);
    text_t text;

    if (slot->form != 0 || t->has_failed) {
        return slot->text;
    }

    text = key.form == FORM_KEPT ? make(t, &key) : make_costly(t, &key);
    fill(t, find(t, &key), &key, text);
    return text;
}


const char *
string_cache_bytes(const string_cache_t *t)
{
    return t->bytes;
}
