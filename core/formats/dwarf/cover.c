#include "formats/dwarf/grow.h"
#include "formats/dwarf/walker.h"

/*
 * Ranges should nest like their entries.  Where they do not, an address belongs
 * to the last entry in the unit, as in LLVM's tools.
 */

/* Fewer pieces are sorted by insertion, which is faster. */
#define RADIX_MIN 64

/* Limit on moves on the stack, for ranges that overlap badly. */
#define MOVES_PER_PIECE 64

/* Flag in a piece's call: the piece is outside its function. */
#define OUTSIDE ((uint32_t) 1 << 31)

typedef struct {
    sym_dw_walker_t *w;
    size_t depth;
    uint64_t at; /* addresses up to here are assigned */
    uint64_t moves_left;
} sweep_t;


/* --- calls outside their function --- */

/*
 * DWARF 2 has no range lists.  So gcc writes the cold part of a function as a
 * separate entry (__second_sect_of_f), last in the unit, but leaves the calls
 * inlined into that part below the function.  Such a call takes precedence over
 * any function, so that its addresses do not lose it.
 */
static void
mark_outside(sym_dw_walker_t *w)
{
    sym_dw_piece_t *p = w->pieces;

    for (size_t i = 0; i < w->n_pieces; i++) {
        sym_dw_call_t *root = &w->calls[w->calls[p[i].call].root];
        const sym_dw_piece_t *function;

        if (w->calls[p[i].call].parent == SYM_DW_NONE) {
            root->node = (uint32_t) i; /* the function's last range, for the
                                          calls that follow */
            continue;
        }

        function = &p[root->node];
        if (&w->calls[function->call] == root
            && (root->node == 0 || function[-1].call != function->call)
            && (p[i].last < function->low || p[i].low > function->last))
        {
            p[i].call |= OUTSIDE;
        }
    }
}


/* --- stable sort by low --- */

static void
sort_few(sym_dw_piece_t *p, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        sym_dw_piece_t item = p[i];
        size_t at = i;

        for (; at > 0 && p[at - 1].low > item.low; at--) {
            p[at] = p[at - 1];
        }
        p[at] = item;
    }
}


static bool
is_sorted(const sym_dw_piece_t *p, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (p[i - 1].low > p[i].low) {
            return false;
        }
    }

    return true;
}


/* One pass of a radix sort, over eight bits.  False: the bits are equal in all
 * keys. */
static bool
sort_digit(const sym_dw_piece_t *from, sym_dw_piece_t *to, size_t n,
           unsigned shift)
{
    size_t places[256] = { 0 }, place = 0;

    for (size_t i = 0; i < n; i++) {
        places[from[i].low >> shift & 0xff]++;
    }

    if (places[from[0].low >> shift & 0xff] == n) {
        return false;
    }

    for (size_t i = 0; i < 256; i++) {
        size_t count = places[i];

        places[i] = place;
        place += count;
    }

    for (size_t i = 0; i < n; i++) {
        to[places[from[i].low >> shift & 0xff]++] = from[i];
    }

    return true;
}


static bool
sort_pieces(sym_dw_walker_t *w)
{
    if (is_sorted(w->pieces, w->n_pieces)) {
        return true;
    }

    if (w->n_pieces < RADIX_MIN) {
        sort_few(w->pieces, w->n_pieces);
        return true;
    }

    /* the arrays swap roles, so both need the same size */
    if (w->spare_size < w->pieces_size
        && !sym_dw_grow((void **) &w->spare, &w->spare_size, w->pieces_size - 1,
                        sizeof(*w->spare)))
    {
        return false;
    }

    for (unsigned shift = 0; shift < 32; shift += 8) {
        if (sort_digit(w->pieces, w->spare, w->n_pieces, shift)) {
            sym_dw_piece_t *pieces = w->pieces;
            size_t size = w->pieces_size;

            w->pieces = w->spare;
            w->pieces_size = w->spare_size;
            w->spare = pieces;
            w->spare_size = size;
        }
    }

    return true;
}


/* --- the sweep --- */

/* The function that owns the topmost piece. */
static uint32_t
root_of_top(sweep_t *s)
{
    const sym_dw_walker_t *w = s->w;
    const sym_dw_piece_t *top = &w->cover[s->depth - 1], *p = top;

    while ((p->call & OUTSIDE || p->last < s->at) && p != w->cover
           && s->moves_left != 0)
    {
        p--;
        s->moves_left--;
    }

    if (p->call & OUTSIDE || p->last < s->at) {
        p = top; /* no entry */
    }
    return w->calls[p->call & ~OUTSIDE].root;
}


/* Assigns the addresses up to limit to the topmost entry. */
static sym_status_t
go_on(sweep_t *s, uint64_t limit)
{
    sym_dw_walker_t *w = s->w;

    while (s->depth != 0 && s->at < limit) {
        const sym_dw_piece_t *top = &w->cover[s->depth - 1];
        uint64_t end = (uint64_t) top->last + 1;
        uint64_t to = end < limit ? end : limit;

        if (end <= s->at) {
            s->depth--;
            continue;
        }

        if (sym_dw_emit(w, s->at, to, top->call & ~OUTSIDE, root_of_top(s))
            != SYM_OK) {
            return w->err->status;
        }
        s->at = to;
    }

    s->at = limit;
    return SYM_OK;
}


static void
push(sweep_t *s, const sym_dw_piece_t *p)
{
    sym_dw_piece_t *cover = s->w->cover;
    size_t at = s->depth;

    /* pieces that have ended may stay in any order */
    while (at > 0 && cover[at - 1].last < p->low) {
        at--;
    }

    for (s->depth = at + 1;
         at > 0 && cover[at - 1].call > p->call && s->moves_left != 0; at--)
    {
        cover[at] = cover[at - 1];
        s->moves_left--;
    }

    cover[at] = *p;
}


sym_status_t
sym_dw_cover(sym_dw_walker_t *w)
{
    sweep_t s = { .w = w,
                  .moves_left = (uint64_t) w->n_pieces * MOVES_PER_PIECE };

    if (w->n_pieces == 0) {
        return SYM_OK;
    }

    if (w->u.unit->shape.version == 2) {
        mark_outside(w);
    }

    if (!sort_pieces(w)
        || (w->cover_size < w->n_pieces
            && !sym_dw_grow((void **) &w->cover, &w->cover_size,
                            w->n_pieces - 1, sizeof(*w->cover))))
    {
        return sym_fail(w->err, SYM_NOMEM, "no memory for ranges");
    }

    for (size_t i = 0; i < w->n_pieces; i++) {
        if (go_on(&s, w->pieces[i].low) != SYM_OK) {
            return w->err->status;
        }
        w->calls[w->pieces[i].call & ~OUTSIDE].range = w->pieces[i].low;
        push(&s, &w->pieces[i]);
    }

    return go_on(&s, UINT64_MAX);
}
