#include "formats/script/positions.h"

#include <stdlib.h>

/* UTF-16 units that begin with the byte.  0: the byte is inside a character.
 * 2: it begins a character of four bytes. */
static inline uint32_t
units(char c)
{
    uint8_t byte = (uint8_t) c;

    return byte < 0x80 ? 1 : byte < 0xc0 ? 0 : byte < 0xf0 ? 1 : 2;
}


static void
move(sym_position_mark_t *at, const char *from, const char *to)
{
    for (; from < to; from++) {
        if (*from == '\n') {
            at->line++;
            at->column = 0;
        } else {
            at->column += units(*from);
        }
    }
}


bool
sym_positions_read(sym_positions_t *p, sym_str_t text)
{
    size_t n = text.len / SYM_POSITIONS_STEP + 1;
    sym_position_mark_t at = { 0, 0 };

    p->text = text;
    p->marks = malloc(n * sizeof(*p->marks));
    if (p->marks == NULL) {
        return false;
    }

    for (size_t i = 0; i < n; i++) {
        const char *from = text.data + i * SYM_POSITIONS_STEP;

        p->marks[i] = at;
        if (i + 1 < n) {
            move(&at, from, from + SYM_POSITIONS_STEP);
        }
    }

    return true;
}


void
sym_positions_free(sym_positions_t *p)
{
    free(p->marks);
}


bool
sym_positions_find(const sym_positions_t *p, uint32_t offset, uint32_t *line,
                   uint32_t *column)
{
    uint32_t step = offset / SYM_POSITIONS_STEP;
    sym_position_mark_t at;

    if (offset >= p->text.len) {
        return false;
    }

    at = p->marks[step];
    move(&at, p->text.data + (size_t) step * SYM_POSITIONS_STEP,
         p->text.data + offset);
    *line = at.line;
    *column = at.column;
    return true;
}
