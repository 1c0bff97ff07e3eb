#include "symbolicate/state.h"

#include "base/json_plain.h"

/* Texts are unpacked in whole words, so this much room is needed. */
#define TEXT_ROOM SYM_PART_ROOM

_Static_assert(TEXT_ROOM <= SYM_OUT_NEED_MAX, "any part fits a window");

/* Demangling this many bytes of names takes about as long as a frame. */
#define BYTES_PER_FRAME 16

/* Writes text in a style that needs escapes. */
static void
write_escaped(const sym_resolver_t *r, sym_str_t text, sym_out_t *out)
{
    if (r->style == SYM_TEXT_TERMINAL) {
        sym_out_visible(out, text);
    } else {
        sym_out_escaped(out, text);
    }
}


/* Same for a text that was unpacked to its final position. */
static void
escape_text(const sym_resolver_t *r, sym_out_t *out, size_t len)
{
    char text[TEXT_ROOM];

    memcpy(text, out->pos, len);
    write_escaped(r, sym_str(text, len), out);
}


/* Returns false if the text has several parts. */
static bool
write_part(const sym_resolver_t *r, sym_symcache_t *cache, sym_string_ref_t ref,
           sym_out_t *out)
{
    size_t len, room = (size_t) (out->end - out->pos);
    uint64_t damaged = cache->damaged;
    bool is_plain;

    if (room < TEXT_ROOM) {
        if (sym_symcache_string_len(cache, ref, &len, &is_plain) != SYM_OK) {
            return true;
        }

        if (len > SYM_PART_BYTES_MAX) {
            return false;
        }

        if (!sym_out_room(out, len + SYM_STRING_SLACK)) {
            return true;
        }
        room = (size_t) (out->end - out->pos);
    }

    len = sym_symcache_string_within(
        cache, ref, out->pos, room < TEXT_ROOM ? room : TEXT_ROOM, &is_plain);
    if (len == 0) {
        return ref == SYM_NO_REF || cache->damaged != damaged;
    }

    /* the symcache has a flag for this, but a damaged byte must not break the
     * client's document */
    if (sym_is_plain(sym_str(out->pos, len))) {
        out->pos += len;
    } else {
        escape_text(r, out, len);
    }

    return true;
}


static void
write_text(const sym_resolver_t *r, sym_symcache_t *cache, sym_string_ref_t ref,
           sym_out_t *out)
{
    sym_string_ref_t parts[SYM_PARTS_MAX];
    uint32_t n;

    if (write_part(r, cache, ref, out)) {
        return;
    }

    n = sym_symcache_parts(cache, ref, parts);
    for (uint32_t i = 0; i < n; i++) {
        (void) write_part(r, cache, parts[i], out);
    }
}


void
sym_resolver_use_style(sym_resolver_t *r, unsigned style)
{
    r->name_style = style;
    r->demangles_all = true;
}


sym_str_t
sym_resolver_show(sym_resolver_t *r, sym_str_t name, uint8_t lang)
{
    uint64_t before;
    sym_str_t shown;

    if (r->names == NULL) {
        return name;
    }

    before = sym_names_counts(r->names).demangled_bytes;
    shown = sym_names_show(r->names, name, lang, r->name_style);
    r->owed_bytes += sym_names_counts(r->names).demangled_bytes - before;
    return shown;
}


/* The name that the module itself shows for a Swift name, in the style of
 * SYM_DEMANGLE_PARAMS. */
static sym_string_ref_t
find_shown(const sym_resolver_t *r, sym_symcache_t *cache, sym_string_ref_t ref,
           uint8_t lang)
{
    return cache->n_shown_pages != 0 && r->name_style == SYM_DEMANGLE_PARAMS
                   && (lang == SYM_LANG_UNKNOWN || lang == SYM_LANG_SWIFT)
               ? sym_symcache_shown(cache, ref)
               : SYM_NO_REF;
}


static void
write_shown(sym_resolver_t *r, sym_symcache_t *cache, sym_string_ref_t ref,
            uint8_t lang, sym_out_t *out)
{
    char text[SYM_MANGLED_MAX + SYM_STRING_SLACK];
    sym_string_ref_t found = find_shown(r, cache, ref, lang);
    bool is_plain;
    size_t len;
    sym_str_t shown;

    if (found != SYM_NO_REF) {
        write_text(r, cache, found, out);
        return;
    }

    if (sym_symcache_string_len(cache, ref, &len, &is_plain) != SYM_OK
        || len > SYM_MANGLED_MAX)
    {
        write_text(r, cache, ref, out);
        return;
    }

    len = sym_symcache_string_within(cache, ref, text, sizeof(text), &is_plain);
    shown = sym_resolver_show(r, sym_str(text, len), lang);

    if (sym_is_plain(shown)) {
        sym_out_raw(out, shown);
    } else {
        write_escaped(r, shown, out);
    }
}


/* Forms of a text in the string cache: as stored, or as a name of a
 * language. */
#define FORM_KEPT 0u
#define FORM_NAME(lang) ((lang) + 1u)
#define FORM_LANG(form) ((uint8_t) ((form) -1))

static inline void
write_form(sym_resolver_t *r, sym_symcache_t *cache, sym_string_ref_t ref,
           uint32_t form, sym_out_t *out)
{
    if (form == FORM_KEPT) {
        write_text(r, cache, ref, out);
    } else {
        write_shown(r, cache, ref, FORM_LANG(form), out);
    }
}


bool
sym_resolver_text(sym_resolver_t *r, uint32_t module, sym_string_ref_t ref,
                  sym_str_t *text)
{
    sym_symcache_t *cache = &r->modules[module].cache;
    bool is_plain;
    size_t len;

    *text = SYM_STR("");
    if (sym_symcache_string_len(cache, ref, &len, &is_plain) != SYM_OK) {
        return true;
    }

    if (r->text == NULL || len + SYM_STRING_SLACK > r->text_room) {
        r->text_room = len <= SYM_PART_BYTES_MAX
                           ? SYM_PART_ROOM
                           : SYM_STRING_MAX + SYM_STRING_SLACK;
        r->text = sym_arena_alloc(r->arena, r->text_room);
        if (r->text == NULL) {
            return false;
        }
    }

    *text = sym_str(r->text, sym_symcache_string_within(
                                 cache, ref, r->text, r->text_room, &is_plain));
    return true;
}


static inline void
write_again(sym_resolver_t *r, uint32_t module, sym_string_ref_t ref,
            uint32_t form, sym_out_t *out)
{
    sym_symcache_t *cache = &r->modules[module].cache;
    sym_string_cache_slot_t *slot;
    const char *start;
    uint64_t before;

    if (r->n_texts != 0) {
        sym_string_cache_init(&r->string_cache, r->arena, r->n_texts);
        r->n_texts = 0;
    }

    if (r->string_cache.slots == NULL) {
        write_form(r, cache, ref, form, out);
        return;
    }

    slot = sym_string_cache_slot(&r->string_cache, module, ref);
    if (!sym_string_cache_meet(slot, module, ref, form)) {
        write_form(r, cache, ref, form, out);
        return;
    }

    if (slot->text != NULL) {
        sym_string_cache_write(slot, out);
        return;
    }

    start = out->pos;
    before = out->before;
    write_form(r, cache, ref, form, out);

    /* does not cache texts that span two windows */
    if (start != NULL && before == out->before && out->pos > start) {
        sym_string_cache_keep(&r->string_cache, slot, start,
                              (size_t) (out->pos - start));
    }
}


void
sym_resolver_write(sym_resolver_t *r, uint32_t module, sym_string_ref_t ref,
                   sym_out_t *out)
{
    write_again(r, module, ref, FORM_KEPT, out);
}


static uint32_t
name_form(const sym_resolver_t *r, uint32_t module, const sym_answer_t *answer,
          uint32_t level)
{
    return r->names != NULL
                   && (r->demangles_all
                       || r->modules[module].cache.has_linker_names)
               ? FORM_NAME(sym_answer_lang(answer, level))
               : FORM_KEPT;
}


bool
sym_resolver_name_text(sym_resolver_t *r, uint32_t module,
                       const sym_answer_t *answer, uint32_t level,
                       sym_str_t *shown)
{
    sym_symcache_t *cache = &r->modules[module].cache;
    const sym_string_ref_t ref = answer->levels[level].name;
    const uint32_t form = name_form(r, module, answer, level);
    sym_string_ref_t found;

    if (form == FORM_KEPT) {
        return sym_resolver_text(r, module, ref, shown);
    }

    found = find_shown(r, cache, ref, FORM_LANG(form));
    if (!sym_resolver_text(r, module, found != SYM_NO_REF ? found : ref, shown))
    {
        return false;
    }

    if (found == SYM_NO_REF && shown->len <= SYM_MANGLED_MAX) {
        *shown = sym_resolver_show(r, *shown, FORM_LANG(form));
    }

    return true;
}


/* Returns the texts of a level of a batch.  NULL: there was no room for its
 * levels. */
static const sym_level_texts_t *
level_texts(const sym_resolver_t *r, const sym_answer_t *answer, uint32_t level)
{
    return r->level_texts != NULL && answer->levels != r->spare_levels
               ? &r->level_texts[answer->levels - r->levels + level]
               : NULL;
}


static inline void
write_level(sym_resolver_t *r, uint32_t module, sym_text_t made,
            sym_string_ref_t ref, uint32_t form, sym_out_t *out)
{
    if (made != 0) {
        sym_texts_write(&r->texts, made, out);
    } else {
        write_again(r, module, ref, form, out);
    }
}


void
sym_resolver_write_name(sym_resolver_t *r, uint32_t module,
                        const sym_answer_t *answer, uint32_t level,
                        sym_out_t *out)
{
    const sym_level_texts_t *texts = level_texts(r, answer, level);

    write_level(r, module, texts != NULL ? texts->name : 0,
                answer->levels[level].name, name_form(r, module, answer, level),
                out);
}


void
sym_resolver_write_file(sym_resolver_t *r, uint32_t module,
                        const sym_answer_t *answer, uint32_t level,
                        sym_out_t *out)
{
    const sym_level_texts_t *texts = level_texts(r, answer, level);

    write_level(r, module, texts != NULL ? texts->file : 0,
                answer->levels[level].file, FORM_KEPT, out);
}


/* --- texts of a batch --- */

uint32_t
sym_resolver_line(const sym_resolver_t *r, const sym_answer_t *answer,
                  uint32_t level)
{
    const sym_level_texts_t *texts = level_texts(r, answer, level);

    return texts != NULL ? texts->line : answer->levels[level].line;
}


bool
sym_resolver_frame(const sym_resolver_t *r, const sym_answer_t *answer,
                   uint32_t level, sym_frame_t *frame)
{
    const sym_level_texts_t *texts = level_texts(r, answer, level);

    if (texts == NULL || texts->name == 0 || texts->file == 0) {
        return false;
    }

    *frame = (sym_frame_t){ .function = sym_texts_get(&r->texts, texts->name),
                            .file = sym_texts_get(&r->texts, texts->file),
                            .line = texts->line };
    return true;
}


void
sym_resolver_expect_texts(sym_resolver_t *r, const sym_answer_t *answer)
{
    for (uint32_t k = 0; k < answer->n_levels; k++) {
        uint32_t form = name_form(r, 0, answer, k);

        r->level_texts[r->n_levels + k].name = form;
        __builtin_prefetch(
            sym_texts_first(&r->texts, answer->levels[k].name, form));
    }
}


static sym_text_t
make_text(sym_resolver_t *r, sym_symcache_t *cache, sym_string_ref_t ref,
          uint32_t form)
{
    sym_text_slot_t *slot;
    sym_out_t out;

    if (ref == SYM_NO_REF) {
        return 0;
    }

    slot = sym_texts_find(&r->texts, ref, form);
    if (slot->ref != SYM_NO_REF) {
        return slot->text;
    }

    out = sym_texts_begin(&r->texts);
    write_form(r, cache, ref, form, &out);
    sym_texts_end(&r->texts, &out, slot, ref, form);
    return slot->text;
}


void
sym_resolver_make_texts(sym_resolver_t *r, uint32_t first)
{
    sym_symcache_t *cache = &r->modules[0].cache;

    /* prefetching: several texts wait for memory at the same time */
    for (uint32_t i = first; i < r->n_levels; i++) {
        sym_string_ref_t name = r->levels[i].name;

        if (sym_texts_find(&r->texts, name, r->level_texts[i].name)->ref
            == SYM_NO_REF) {
            sym_symcache_expect(cache, name);
        }
    }

    for (uint32_t i = first; i < r->n_levels; i++) {
        const sym_level_t *level = &r->levels[i];
        sym_level_texts_t *texts = &r->level_texts[i];

        texts->name = make_text(r, cache, level->name, texts->name);
        texts->file = make_text(r, cache, level->file, FORM_KEPT);
        texts->line = level->line;
    }
}


void
sym_resolver_charge(sym_resolver_t *r, uint32_t *budget)
{
    uint64_t frames = r->owed_bytes / BYTES_PER_FRAME;

    r->owed_bytes -= frames * BYTES_PER_FRAME;
    *budget -= frames < *budget ? (uint32_t) frames : *budget;
}


/* Number of bits of a form, below those of the API. */
#define NOTE_FORM 0x8000u

static sym_answer_cache_key_t
note_key(const sym_resolver_t *r, uint32_t module)
{
    return (sym_answer_cache_key_t){ r->modules[module].module_id, 0,
                                     r->form | NOTE_FORM };
}


bool
sym_resolver_recall_note(const sym_resolver_t *r, uint32_t module, void *note,
                         size_t size)
{
    sym_answer_cache_key_t key = note_key(r, module);
    sym_answer_cache_ref_t ref;
    const char *text = NULL;

    if (r->answer_cache != NULL
        && sym_answer_cache_meet(r->answer_cache, &key, &ref)
               == SYM_ANSWER_CACHE_HIT
        && ref.len == size)
    {
        text = sym_answer_cache_text(r->answer_cache, &key, &ref);
    }

    if (text == NULL) {
        return false;
    }

    memcpy(note, text, size);
    return true;
}


void
sym_resolver_keep_note(sym_resolver_t *r, uint32_t module, const void *note,
                       size_t size)
{
    sym_answer_cache_key_t key = note_key(r, module);

    if (r->answer_cache != NULL && r->modules[module].is_open
        && r->modules[module].cache.damaged == 0)
    {
        sym_answer_cache_keep(r->answer_cache, &key, note, size);
    }
}
