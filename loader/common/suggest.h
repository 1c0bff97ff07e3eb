/*
 * suggest.h - "did you mean": the known word that is closest to a mistyped one.
 *
 * The caller offers each known word in turn; the first of the closest wins.
 */
#ifndef SYMLOADER_COMMON_SUGGEST_H
#define SYMLOADER_COMMON_SUGGEST_H

typedef struct {
    const char *typed;
    const char *best; /* NULL: no word is close enough */
    unsigned distance;
} suggest_t;

#define SUGGEST_TEXT 128

suggest_t suggest_begin(const char *typed);
void suggest_offer(suggest_t *s, const char *word);

/* Returns `shown`; if a word is close, in buf and with "; did you mean
 * PREFIXWORD?". */
const char *suggest_text(const suggest_t *s, const char *shown,
                         const char *prefix, char buf[SUGGEST_TEXT]);

#endif
