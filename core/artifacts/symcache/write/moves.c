#include "artifacts/symcache/write/moves.h"

#include <stdlib.h>

/* Negative: a is before the position. */
static int
compare(const sym_move_t *a, uint32_t file, uint32_t line)
{
    if (a->file != file) {
        return a->file < file ? -1 : 1;
    }

    return a->line == line ? 0 : a->line < line ? -1 : 1;
}


static int
compare_moves(const void *a, const void *b)
{
    const sym_move_t *x = a, *y = b;
    int c = compare(x, y->file, y->line);

    /* the same one of two moves for one position always wins */
    return c != 0 ? c
                  : compare(&(sym_move_t){ x->to_file, x->to_line, 0, 0 },
                            y->to_file, y->to_line);
}


void
sym_moves_sort(sym_moves_t *moves)
{
    if (moves->n != 0) {
        qsort(moves->list, moves->n, sizeof(*moves->list), compare_moves);
    }
}


void
sym_moves_apply(const sym_moves_t *moves, uint32_t *file, uint32_t *line)
{
    size_t low = 0, high = moves->n;
    const sym_move_t *m;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(&moves->list[middle], *file, *line) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    if (low == 0) {
        return;
    }

    m = &moves->list[low - 1];
    if (m->file == *file && *line - m->line <= SYM_MOVE_LINES_MAX) {
        *file = m->to_file;
        *line = m->to_line;
    }
}


void
sym_moves_free(sym_moves_t *moves)
{
    free(moves->list);
    *moves = (sym_moves_t){ 0 };
}
