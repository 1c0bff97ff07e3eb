#include "symbolicate/cache/texts.h"

/* Answers to random addresses of a large C++ program need one text of 150 bytes
 * for every two questions; few answers need five texts.  Unused memory costs
 * nothing, because its pages are never touched. */
#define SLOTS_PER_QUESTION 2
#define BYTES_PER_QUESTION 512

/* An empty cache has room for any text that has one part. */
#define BYTES_MIN ((size_t) 1 << 20)

#define HEAD sizeof(uint32_t)


bool
sym_texts_init(sym_texts_t *texts, sym_arena_t *arena, uint32_t n)
{
    uint32_t slots = 1;
    size_t bytes = (size_t) n * BYTES_PER_QUESTION;

    while (slots / SLOTS_PER_QUESTION < n) {
        slots *= 2;
    }

    bytes = bytes < BYTES_MIN ? BYTES_MIN : bytes;
    texts->mask = slots - 1;
    texts->slots = sym_arena_alloc(arena, slots * sizeof(*texts->slots));
    texts->bytes = sym_arena_alloc(arena, bytes + SYM_TEXT_SLACK);

    if (texts->slots == NULL || texts->bytes == NULL) {
        return false;
    }

    texts->end = texts->bytes + bytes;
    sym_texts_forget(texts);
    return true;
}


void
sym_texts_forget(sym_texts_t *texts)
{
    if (texts->slots == NULL) {
        return; /* there is no batch */
    }

    memset(texts->slots, 0, ((size_t) texts->mask + 1) * sizeof(*texts->slots));
    texts->n_free = texts->mask / 2 + 1;        /* limits the load of the table,
                                                   so that searches are short */
    texts->pos = texts->bytes + SYM_TEXT_ALIGN; /* offset 0 means that there is
                                                   no text */
    texts->is_full = false;
}


sym_out_t
sym_texts_begin(const sym_texts_t *texts)
{
    size_t room = (size_t) (texts->end - texts->pos);

    return texts->n_free != 0 && room > HEAD
               ? sym_out_fixed(texts->pos + HEAD, room - HEAD)
               : sym_out_fixed(texts->pos, 0);
}


void
sym_texts_end(sym_texts_t *texts, const sym_out_t *out, sym_text_slot_t *slot,
              sym_string_ref_t ref, uint32_t form)
{
    uint32_t len;

    if (out->failed) {
        texts->is_full = true;
        return;
    }

    if (out->pos <= texts->pos + HEAD) {
        return; /* the text is empty or damaged */
    }

    len = (uint32_t) ((size_t) (out->pos - texts->pos) - HEAD);
    memcpy(texts->pos, &len, HEAD);
    *slot = (sym_text_slot_t){
        ref, form,
        (sym_text_t) ((size_t) (texts->pos - texts->bytes) / SYM_TEXT_ALIGN)
    };
    texts->n_free--;
    texts->pos +=
        (HEAD + len + SYM_TEXT_ALIGN - 1) / SYM_TEXT_ALIGN * SYM_TEXT_ALIGN;

    if (texts->pos > texts->end) {
        texts->pos = texts->end;
    }
}
