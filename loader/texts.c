#include "texts.h"

#include <stdio.h>
#include <stdlib.h>

#include "demangle/demangle.h"
#include "output.h"
#include "room.h"

/* Forms of a text: as it is kept, or as a name of a language. */
#define FORM_KEPT 0u
#define FORM_FILE 1u
#define FORM_NAME(lang) ((lang) + 2u)
#define FORM_LANG(form) ((uint8_t) ((form) -2))

/* An escape in JSON has six bytes. */
#define END_MAX 8
#define PRINTED_MAX (6 * SYM_STRING_MAX + END_MAX)

/* The names and files of 100,000 addresses all over a program are 20 MB. */
#define BYTES_MANY ((size_t) 64 << 20)
#define BYTES_FIRST ((size_t) 64 << 10)
#define SLOTS_FIRST 4096u
#define GROWTH 8

typedef struct {
    uint64_t key; /* string and form, + 1; 0: free */
    text_t text;
} slot_t;

struct texts_s {
    texts_style_t style;
    sym_str_t name_end, file_end;
    module_t *module;
    uint64_t module_id;
    char *bytes;
    size_t used, size;
    slot_t *slots;
    uint32_t n_slots, n_used;
    bool has_failed;
    char demangled[SYM_DEMANGLED_MAX];
    char printed[PRINTED_MAX];
};


texts_t *
texts_create(const texts_style_t *style)
{
    texts_t *t = calloc(1, sizeof(*t));

    if (t != NULL) {
        t->style = *style;
        t->name_end = sym_cstr(style->name_end);
        t->file_end = sym_cstr(style->file_end);
        t->bytes = malloc(BYTES_FIRST);
        t->size = BYTES_FIRST;
        t->slots = calloc(SLOTS_FIRST, sizeof(*t->slots));
        t->n_slots = SLOTS_FIRST;
    }

    if (t == NULL || t->bytes == NULL || t->slots == NULL) {
        fprintf(stderr, "symloader: out of memory\n");
        texts_free(t);
        return NULL;
    }

    /* at 0 is "" */
    t->used = TEXT_ALIGN;
    memset(t->bytes, 0, TEXT_ALIGN);
    return t;
}


void
texts_free(texts_t *t)
{
    if (t != NULL) {
        free(t->bytes);
        free(t->slots);
        free(t);
    }
}


void
texts_forget(texts_t *t)
{
    memset(t->slots, 0, t->n_slots * sizeof(*t->slots));
    t->n_used = 0;
    t->used = TEXT_ALIGN;
}


void
texts_begin(texts_t *t, module_t *m)
{
    if (t->module_id != m->record.module_id || t->used > BYTES_MANY / 2) {
        texts_forget(t);
    }

    t->module = m;
    t->module_id = m->record.module_id;
}


bool
texts_are_many(const texts_t *t)
{
    return t->used > BYTES_MANY;
}


bool
texts_failed(const texts_t *t)
{
    return t->has_failed;
}


/* --- which text --- */

static uint64_t
key_of(sym_string_ref_t ref, uint32_t form)
{
    return ((uint64_t) form << 32 | ref) + 1;
}


static uint32_t
name_form(const texts_t *t, const sym_answer_t *answer, uint32_t level)
{
    return t->module->cache.has_linker_names && !t->style.is_mangled
               ? FORM_NAME(sym_answer_lang(answer, level))
               : FORM_KEPT;
}


static slot_t *
first_slot(const texts_t *t, uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15u >> 32;

    return &t->slots[hash & (t->n_slots - 1)];
}


/* The key's slot, or the free one where it belongs. */
static slot_t *
find(const texts_t *t, uint64_t key)
{
    slot_t *slot = first_slot(t, key), *end = t->slots + t->n_slots;

    while (slot->key != key && slot->key != 0) {
        slot = slot + 1 == end ? t->slots : slot + 1;
    }

    return slot;
}


static bool
grow_slots(texts_t *t)
{
    slot_t *old = t->slots;
    uint32_t n = t->n_slots;
    size_t bytes = (size_t) n * GROWTH * sizeof(slot_t);
    slot_t *slots = n <= UINT32_MAX / GROWTH ? room_grow(NULL, 0, bytes) : NULL;

    if (slots == NULL) {
        return false;
    }

    memset(slots, 0, bytes);
    t->slots = slots;
    t->n_slots = n * GROWTH;

    for (uint32_t i = 0; i < n; i++) {
        if (old[i].key != 0) {
            *find(t, old[i].key) = old[i];
        }
    }

    free(old);
    return true;
}


/* --- making one --- */

static bool
grow_bytes(texts_t *t, size_t need)
{
    size_t size = t->size;
    char *grown;

    while (size - t->used < need) {
        size *= GROWTH;
    }

    grown = room_grow(t->bytes, t->used, size);

    if (grown == NULL) {
        return false;
    }

    t->bytes = grown;
    t->size = size;
    return true;
}


/* 0: out of memory. */
static text_t
keep(texts_t *t, sym_str_t text)
{
    size_t need = (sizeof(uint32_t) + text.len + TEXT_ALIGN - 1)
                  & ~(size_t) (TEXT_ALIGN - 1);
    uint32_t len = (uint32_t) text.len;
    size_t place = t->used;

    if (t->size - place < need && !grow_bytes(t, need)) {
        return 0;
    }

    memcpy(t->bytes + place, &len, sizeof(len));
    memcpy(t->bytes + place + sizeof(len), text.data, text.len);
    t->used += need;
    return (text_t) (place / TEXT_ALIGN);
}


/* What the string is printed as, in t->printed. */
static sym_str_t
print(texts_t *t, sym_string_ref_t ref, uint32_t form)
{
    output_t out = { .json = sym_out_fixed(t->printed, sizeof(t->printed)) };
    sym_str_t text = module_string(t->module, ref);
    size_t len = 0;

    if (text.len == 0) {
        return text;
    }

    if (form >= FORM_NAME(0)) {
        len = sym_demangle(text, FORM_LANG(form), SYM_DEMANGLE_FULL,
                           t->demangled, sizeof(t->demangled));
    }

    if (len != 0) {
        text = sym_str(t->demangled, len);
    }

    if (t->style.is_json) {
        sym_out_escaped(&out.json, text);

    } else {
        output_text(&out, text);
    }

    sym_out_raw(&out.json, form == FORM_FILE ? t->file_end : t->name_end);
    return sym_str(t->printed, (size_t) (out.json.pos - t->printed));
}


static text_t
make(texts_t *t, slot_t *slot, sym_string_ref_t ref, uint32_t form)
{
    sym_str_t printed = print(t, ref, form);
    text_t text = 0;

    if (printed.len != 0) {
        text = keep(t, printed);
        t->has_failed = t->has_failed || text == 0;
    }

    *slot = (slot_t){ key_of(ref, form), text };
    t->n_used++;

    if (t->n_used > t->n_slots / 2 && !grow_slots(t)) {
        t->has_failed = true;
    }

    return text;
}


static text_t
get(texts_t *t, sym_string_ref_t ref, uint32_t form)
{
    const uint64_t key = key_of(ref, form);
    slot_t *slot;

    if (ref == SYM_NO_REF || t->has_failed) {
        return 0;
    }

    slot = find(t, key);
    return slot->key == key ? slot->text : make(t, slot, ref, form);
}


/* --- for answers --- */

void
texts_expect(const texts_t *t, const sym_answer_t *answer)
{
    for (uint32_t i = 0; i < answer->n_levels; i++) {
        const sym_level_t *level = &answer->levels[i];

        __builtin_prefetch(
            first_slot(t, key_of(level->name, name_form(t, answer, i))));
        __builtin_prefetch(first_slot(t, key_of(level->file, FORM_FILE)));
    }
}


text_t
texts_name(texts_t *t, const sym_answer_t *answer, uint32_t level)
{
    return get(t, answer->levels[level].name, name_form(t, answer, level));
}


text_t
texts_file(texts_t *t, const sym_level_t *level)
{
    return get(t, level->file, FORM_FILE);
}


const char *
texts_bytes(const texts_t *t)
{
    return t->bytes;
}
