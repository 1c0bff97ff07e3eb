#include "common/suggest.h"

#include <stdio.h>
#include <string.h>

/* Longer words are not compared, because no command or option is that long. */
#define WORD_MAX 32

/* At most two typing errors, and fewer than the word has letters. */
#define DISTANCE_MAX 2


static unsigned
least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}


/* Returns the optimal string alignment distance: each inserted, deleted or
 * changed letter, and each pair of swapped neighbours, counts 1. */
static unsigned
distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned d[WORD_MAX + 1][WORD_MAX + 1];

    for (size_t i = 0; i <= a_len; i++) {
        for (size_t j = 0; j <= b_len; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = (unsigned) (i + j);
                continue;
            }

            d[i][j] = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = least(d[i][j], least(d[i - 1][j], d[i][j - 1]) + 1);

            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }

    return d[a_len][b_len];
}


suggest_t
suggest_begin(const char *typed)
{
    return (suggest_t){ .typed = typed, .distance = DISTANCE_MAX + 1 };
}


void
suggest_offer(suggest_t *s, const char *word)
{
    size_t typed_len = strlen(s->typed), len = strlen(word);
    unsigned d;

    if (typed_len > WORD_MAX || len > WORD_MAX) {
        return;
    }

    d = distance(s->typed, typed_len, word, len);

    if (d < s->distance && d < len && d < typed_len) {
        s->distance = d;
        s->best = word;
    }
}


const char *
suggest_text(const suggest_t *s, const char *shown, const char *prefix,
             char buf[SUGGEST_TEXT])
{
    if (s->best == NULL) {
        return shown;
    }

    snprintf(buf, SUGGEST_TEXT, "%.60s; did you mean %s%s?", shown, prefix,
             s->best);
    return buf;
}
