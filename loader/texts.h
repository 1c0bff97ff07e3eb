/*
 * texts.h - names and files of a module, as a command prints them.
 *
 * Unpacking a name, demangling it and looking for what a terminal must not see
 * is most of the work of an answer, and the same names come again and again: a
 * text that was printed is kept as it was, and copied from then on.  Memory is
 * that of a resolve/recent.h: fixed.
 */
#ifndef SYMLOADER_TEXTS_H
#define SYMLOADER_TEXTS_H

#include "module.h"
#include "output.h"

typedef struct texts_s texts_t;

typedef struct {
    size_t bytes;    /* of texts that are kept */
    bool is_json;    /* escaped; else what output_text() lets through */
    bool is_mangled; /* names stay as they are kept */
} texts_style_t;

/* NULL: out of memory, told on stderr. */
texts_t *texts_create(const texts_style_t *style);
void texts_free(texts_t *t);

/* The levels of an answer will be printed soon: fetches what that needs. */
void texts_expect(texts_t *t, module_t *m, const sym_answer_t *answer);

/* The name of a level, or its file, or ""; lives until the next call. */
sym_str_t texts_name(texts_t *t, module_t *m, const sym_answer_t *answer,
                     uint32_t level);
sym_str_t texts_file(texts_t *t, module_t *m, const sym_level_t *level);

#endif
