/*
 * texts.h - rendered names and files of a batch of answers.
 *
 * A batch uses the same names repeatedly, and unpacking, demangling and
 * escaping them is most of its work.  So each text is made only once.  Texts
 * are made while the questions are looked up in the order of their addresses,
 * which is also the order of a symcache's strings.  The answers are then
 * written in the order of the questions: each has the positions of its texts,
 * so no search is needed.
 *
 * The size is fixed.  Texts without room are left out.
 */
#ifndef SYM_SYMBOLICATE_CACHE_TEXTS_H
#define SYM_SYMBOLICATE_CACHE_TEXTS_H

#include "base/arena.h"
#include "json/out.h"
#include "artifacts/symcache/read/reader.h"

/* Position of a text; 0: there was no room for it. */
typedef uint32_t sym_text_t;

typedef struct {
    sym_string_ref_t ref; /* SYM_NO_REF: free */
    uint32_t form;        /* form of the text, chosen by the caller */
    sym_text_t text;
} sym_text_slot_t;

typedef struct {
    sym_text_slot_t *slots;
    uint32_t mask, n_free;
    char *bytes, *pos, *end;
    bool is_full; /* a text did not fit */
} sym_texts_t;

/* Makes room for the answers to n questions.  False: out of memory. */
bool sym_texts_init(sym_texts_t *texts, sym_arena_t *arena, uint32_t n);

/* Drops all texts. */
void sym_texts_forget(sym_texts_t *texts);

/* First slot in the search for a text, for prefetching. */
static inline sym_text_slot_t *
sym_texts_first(const sym_texts_t *texts, sym_string_ref_t ref, uint32_t form)
{
    uint64_t h = ((uint64_t) form << 32 | ref) * 0x9e3779b97f4a7c15u;

    return &texts->slots[(uint32_t) (h >> 32) & texts->mask];
}


/* Returns the text's slot, or a free one for it; ref must not be SYM_NO_REF. */
static inline sym_text_slot_t *
sym_texts_find(const sym_texts_t *texts, sym_string_ref_t ref, uint32_t form)
{
    sym_text_slot_t *slot = sym_texts_first(texts, ref, form);

    while (slot->ref != SYM_NO_REF && (slot->ref != ref || slot->form != form))
    {
        slot = slot == texts->slots + texts->mask ? texts->slots : slot + 1;
    }

    return slot;
}


/* To add a text, write it to its final position, then fill the slot. */
sym_out_t sym_texts_begin(const sym_texts_t *texts);
void sym_texts_end(sym_texts_t *texts, const sym_out_t *out,
                   sym_text_slot_t *slot, sym_string_ref_t ref, uint32_t form);

/* Texts begin at multiples of this, after a word with their length; this many
 * bytes after their end are readable. */
#define SYM_TEXT_ALIGN 8u
#define SYM_TEXT_SLACK 64u

static inline const char *
sym_texts_at(const sym_texts_t *texts, sym_text_t text)
{
    return texts->bytes + (size_t) text * SYM_TEXT_ALIGN;
}


static inline sym_str_t
sym_texts_get(const sym_texts_t *texts, sym_text_t text)
{
    const char *p = sym_texts_at(texts, text);
    uint32_t len;

    memcpy(&len, p, sizeof(len));
    return sym_str(p + sizeof(len), len);
}


/* Copies most texts in one step that does not depend on their length. */
static inline void
sym_texts_write(const sym_texts_t *texts, sym_text_t text, sym_out_t *out)
{
    const sym_str_t s = sym_texts_get(texts, text);

    if (s.len + SYM_TEXT_SLACK > (size_t) (out->end - out->pos)) {
        sym_out_windows(out, s);
        return;
    }

    memcpy(out->pos, s.data, SYM_TEXT_SLACK);
    if (s.len > SYM_TEXT_SLACK) {
        memcpy(out->pos + SYM_TEXT_SLACK, s.data + SYM_TEXT_SLACK,
               s.len - SYM_TEXT_SLACK);
    }
    out->pos += s.len;
}

#endif
