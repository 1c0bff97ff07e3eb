/*
 * texts.h - names and files of a module, as a command prints them.
 *
 * Unpacking a name, demangling it and looking for what a terminal must not see
 * is most of the work of an answer, and the same names come again and again: a
 * text that was made is kept, and copied from then on.  None is lost between
 * texts_begin() and the last answer that was made since; who answers much asks
 * now and then whether there is still room.
 */
#ifndef SYMLOADER_TEXTS_H
#define SYMLOADER_TEXTS_H

#include "module.h"

typedef struct texts_s texts_t;

typedef struct {
    const char *name_end, *file_end; /* what follows a name, a file; not "" */
    bool is_json;    /* escaped; else what output_text() lets through */
    bool is_mangled; /* names stay as they are kept */
} texts_style_t;

/* A text that is kept, by its place; 0: "", and nothing follows. */
typedef uint32_t text_t;

/* NULL: out of memory, told on stderr. */
texts_t *texts_create(const texts_style_t *style);
void texts_free(texts_t *t);

/* What follows is of this module.  Forgets the texts of another one, and all of
 * them if they leave less than half of the room to new ones. */
void texts_begin(texts_t *t, module_t *m);
void texts_forget(texts_t *t);

/* More is kept than should be. */
bool texts_are_many(const texts_t *t);

/* Some text could not be kept: out of memory.  It is "". */
bool texts_failed(const texts_t *t);

/* The levels of an answer will be asked for soon: fetches what that needs. */
void texts_expect(const texts_t *t, const sym_answer_t *answer);

/* The name of a level, or its file. */
text_t texts_name(texts_t *t, const sym_answer_t *answer, uint32_t level);
text_t texts_file(texts_t *t, const sym_level_t *level);

/* With what follows it.  Lives until a text is made. */
sym_str_t texts_get(const texts_t *t, text_t text);

/* It will be asked for soon. */
void texts_fetch(const texts_t *t, text_t text);

#endif
