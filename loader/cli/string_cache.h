/*
 * string_cache.h - names and files of a module, as a command prints them.
 *
 * Unpacking a name, demangling it and looking for what a terminal must not see
 * is most of the work of an answer, and the same names come again and again: a
 * text that was made is kept, and copied from then on.  None is lost between
 * string_cache_begin() and the last answer that was made since; who answers much asks
 * now and then whether there is still room.
 */
#ifndef SYMLOADER_CLI_STRING_CACHE_H
#define SYMLOADER_CLI_STRING_CACHE_H

#include "common/module.h"

typedef struct string_cache_s string_cache_t;

typedef struct {
    char name_end, file_end; /* what follows a name, a file */
    bool is_json;            /* escaped; else what output_text() lets through */
    bool is_mangled;         /* names stay as they are kept */
} string_cache_style_t;

/* A text that is kept, by its place: a name and the file that it is met with,
 * which is nearly always the same one.  0: neither. */
typedef uint32_t text_t;
#define TEXT_MISSING UINT32_MAX

/* NULL: out of memory, told on stderr. */
string_cache_t *string_cache_create(const string_cache_style_t *style);
void string_cache_free(string_cache_t *t);

/* What follows is of this module.  Forgets the texts of another one, and all of
 * them if they leave less than half of the room to new ones. */
void string_cache_begin(string_cache_t *t, module_t *m);
void string_cache_forget(string_cache_t *t);

/* More is kept than should be. */
bool string_cache_are_many(const string_cache_t *t);

/* Some text could not be kept: out of memory.  It is "". */
bool string_cache_failed(const string_cache_t *t);

/* The levels of an answer will be asked for soon: fetches what that needs. */
void string_cache_expect(const string_cache_t *t, const sym_answer_t *answer);

/* The text of a level; TEXT_MISSING: it is to be made, and what that needs is
 * fetched. */
text_t string_cache_find(const string_cache_t *t, const sym_answer_t *answer,
                         uint32_t level);
text_t string_cache_make(string_cache_t *t, const sym_answer_t *answer,
                         uint32_t level);

/* Where texts are kept, until one more is made. */
const char *string_cache_bytes(const string_cache_t *t);

/* So many bytes behind a name or a file can be read. */
#define TEXT_SLACK 64u

/* What a text begins with, at a multiple of TEXT_ALIGN; its name follows.  Names
 * are many, files few: those are kept once, as the names of other texts, and
 * stay in the cache. */
#define TEXT_ALIGN 8u

typedef struct {
    uint32_t name_len;
    text_t file;
} text_head_t;

static inline text_head_t
string_cache_head(const char *bytes, text_t text)
{
    text_head_t head;

    memcpy(&head, bytes + (size_t) text * TEXT_ALIGN, sizeof(head));
    return head;
}


/* Each with what follows it; "": none. */
static inline sym_str_t
string_cache_name(const char *bytes, text_t text)
{
    return sym_str(bytes + (size_t) text * TEXT_ALIGN + sizeof(text_head_t),
                   string_cache_head(bytes, text).name_len);
}


static inline sym_str_t
string_cache_file(const char *bytes, text_t text)
{
    return string_cache_name(bytes, string_cache_head(bytes, text).file);
}


/* It will be asked for soon. */
static inline void
string_cache_fetch(const char *bytes, text_t text)
{
    const char *p = bytes + (size_t) text * TEXT_ALIGN;

    __builtin_prefetch(p);
    __builtin_prefetch(p + 64);
}

#endif
