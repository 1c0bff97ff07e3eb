/*
 * moves.h - maps lines of generated code to the files from which it was
 * generated.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_WRITE_MOVES_H
#define SYM_ARTIFACTS_SYMCACHE_WRITE_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A move applies from this line of a file up to the next line with a move. */
typedef struct {
    uint32_t file, line;
    uint32_t to_file, to_line; /* the same for all of these lines */
} sym_move_t;

/* A line further away from a move than this stays unchanged. */
#define SYM_MOVE_LINES_MAX 50

typedef struct {
    sym_move_t *list; /* owned */
    size_t n;
} sym_moves_t;

/* Prepares *moves for sym_moves_apply(). */
void sym_moves_sort(sym_moves_t *moves);

/* Replaces the position by the one to which it maps, if there is one. */
void sym_moves_apply(const sym_moves_t *moves, uint32_t *file, uint32_t *line);

void sym_moves_free(sym_moves_t *moves);

#endif
