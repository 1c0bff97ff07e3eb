/*
 * symbols.c - the symbols of all tables of a file, each address once.
 */
#include "base/sort.h"
#include "formats/elf/file.h"
#include "formats/elf/mini.h"
#include "formats/elf/symtab.h"
#include "artifacts/symcache/format.h"

#include <ctype.h>
#include <stdlib.h>

/* Longer names are cut one byte above the symcache's limit, so that its writer
   notices. */
#define NAME_MAX_BYTES ((size_t) SYM_NAME_BYTES_MAX + 1)
#define LATER_NAME_MAX_BYTES ((size_t) SYM_PART_BYTES_MAX + 1)

typedef struct {
    sym_elf_candidates_t list;
    sym_elf_symbol_stats_t *stats;
    uint64_t seen; /* number of tables, also of unreadable ones */
} collect_t;


/* Only a lack of memory makes everything fail. */
static sym_status_t
settle(collect_t *c, size_t n_before, const sym_error_t *why, sym_error_t *err)
{
    if (why->status == SYM_NOMEM) {
        *err = *why;
        return SYM_NOMEM;
    }

    if (why->status == SYM_OK) {
        c->stats->tables++;
        return SYM_OK;
    }

    c->list.n = n_before; /* half a table could give code the wrong name */
    if (c->stats->broken++ == 0) {
        c->stats->first_why = *why;
    }
    return SYM_OK;
}


static sym_status_t
collect_type(collect_t *c, sym_elf_t *e, uint32_t type, const char *name,
             sym_error_t *err)
{
    for (size_t i = 1; i < e->n_sections; i++) {
        sym_elf_section_t *s = &e->sections[i];
        sym_error_t why = { 0 };
        size_t n = c->list.n;

        if (s->type == type && s->size != 0) {
            c->seen++;
            (void) sym_elf_read_symtab(e, s, name, &c->list, &c->stats->bad,
                                       &why);
            /* a file has at most one of each type */
            return settle(c, n, &why, err);
        }
    }

    return SYM_OK;
}


static sym_status_t
collect_mini(collect_t *c, sym_elf_t *e, sym_error_t *err)
{
    sym_elf_t *mini;
    sym_error_t why = { 0 };
    sym_status_t rc = sym_elf_mini(e, &mini, &why);

    if (rc == SYM_NOT_FOUND) {
        return SYM_OK;
    }

    if (rc == SYM_OK) {
        return collect_type(c, mini, SYM_SHT_SYMTAB, ".gnu_debugdata", err);
    }

    c->seen++;
    return settle(c, c->list.n, &why, err);
}


/*
 * Takes the largest of several symbols at one address, and the last of equal
 * ones, like llvm-symbolizer.  Linkers write local symbols first, so global
 * ones win.  A function may have many global names; the choice must be
 * llvm-symbolizer's.
 */
static bool
is_better(const sym_elf_candidate_t *a, const sym_elf_candidate_t *b)
{
    uint64_t a_size = a->has_size ? a->end - a->addr : 0;
    uint64_t b_size = b->has_size ? b->end - b->addr : 0;

    return a_size != b_size ? a_size > b_size : a->order > b->order;
}


static bool
is_version_byte(char c)
{
    return isalnum((uint8_t) c) || c == '_' || c == '.' || c == '-' || c == '+';
}


/*
 * Removes the version that a linker adds: "memcpy@@GLIBC_2.14",
 * "f@libold.so.1".  A version comes last and begins like a name.  An
 * assembler's labels ("..@2.loop") and Zig's names ("main.@\"a b\"",
 * "f(@as(u8,1)).g") are not cut.
 */
static sym_str_t
plain_name(const char *name, uint64_t *long_bytes)
{
    size_t most = *long_bytes < SYM_LONG_BYTES_MAX ? NAME_MAX_BYTES
                                                   : LATER_NAME_MAX_BYTES;
    size_t len = strnlen(name, most), end = len;

    /* many symbols may share one long name */
    *long_bytes += len > SYM_PART_BYTES_MAX ? len : 0;

    while (end > 0 && is_version_byte(name[end - 1])) {
        end--;
    }

    if (end == len || end < 2 || name[end - 1] != '@'
        || isdigit((uint8_t) name[end]))
    {
        return sym_str(name, len);
    }

    end -= end > 2 && name[end - 2] == '@' ? 2 : 1;
    return sym_str(name, end);
}


typedef struct {
    const sym_elf_t *e;
    const sym_elf_candidate_t *all;
    sym_elf_symbol_pt each;
    void *ctx;
    sym_elf_symbol_stats_t *stats;
    uint64_t sized_end; /* highest end of the functions with a size so far */
} hand_out_t;


/* The best of n candidates at one address, or NULL.  A label inside a function
 * with a size is a jump target, not a function. */
static const sym_elf_candidate_t *
best_of(hand_out_t *h, const sym_sort_item_t *of, size_t n)
{
    const sym_elf_candidate_t *best = NULL;

    for (size_t i = 0; i < n; i++) {
        const sym_elf_candidate_t *c = &h->all[of[i].at];

        if (c->is_code && !(c->is_label && c->addr < h->sized_end)
            && (best == NULL || is_better(c, best)))
        {
            best = c;
        }
    }

    if (best != NULL && best->has_size && best->end > h->sized_end) {
        h->sized_end = best->end;
    }

    return best;
}


/* Handles the n candidates at one address; the next ones are at `next`. */
static sym_status_t
hand_out(hand_out_t *h, const sym_sort_item_t *of, size_t n, uint64_t next,
         sym_error_t *err)
{
    const sym_elf_candidate_t *best = best_of(h, of, n);
    sym_elf_symbol_t symbol;
    uint64_t end;

    if (best == NULL || best->addr < h->e->info.image_base) {
        return SYM_OK;
    }

    end = !best->has_size && next < best->end ? next : best->end;
    symbol.addr = best->addr - h->e->info.image_base;
    symbol.size = end - best->addr;
    symbol.is_open = !best->has_size;
    symbol.name = plain_name(best->name, &h->stats->long_bytes);
    h->stats->symbols++;
    return h->each(h->ctx, &symbol, err);
}


static sym_status_t
hand_out_all(hand_out_t *h, const sym_sort_item_t *sorted, size_t n,
             sym_error_t *err)
{
    sym_status_t rc = SYM_OK;
    size_t end;

    for (size_t i = 0; i < n && rc == SYM_OK; i = end) {
        for (end = i + 1; end < n; end++) {
            if (sorted[end].key != sorted[i].key) {
                break;
            }
        }

        rc = hand_out(h, &sorted[i], end - i,
                      end < n ? sorted[end].key : UINT64_MAX, err);
    }

    return rc;
}


static sym_status_t
sort_and_hand_out(hand_out_t *h, size_t n, sym_error_t *err)
{
    sym_sort_item_t *sorted = malloc((n + 1) * sizeof(*sorted));

    for (size_t i = 0; sorted != NULL && i < n; i++) {
        sorted[i] = (sym_sort_item_t){ h->all[i].addr, (uint32_t) i };
    }

    if (sorted == NULL || !sym_sort(sorted, n)) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for symbols");
    } else {
        (void) hand_out_all(h, sorted, n, err);
    }

    free(sorted);
    return err->status;
}


sym_status_t
sym_elf_symbols(sym_elf_t *e, sym_elf_symbol_pt each, void *ctx,
                sym_elf_symbol_stats_t *stats, sym_error_t *err)
{
    collect_t c = { .stats = stats };
    sym_status_t rc;

    *stats = (sym_elf_symbol_stats_t){ 0 };

    /* later tables win, because linkers made them */
    if (collect_mini(&c, e, err) == SYM_OK
        && collect_type(&c, e, SYM_SHT_DYNSYM, ".dynsym", err) == SYM_OK)
    {
        (void) collect_type(&c, e, SYM_SHT_SYMTAB, ".symtab", err);
    }

    rc = err->status;
    if (rc == SYM_OK && c.seen == 0) {
        rc = SYM_NOT_FOUND;
    }

    if (rc == SYM_OK) {
        hand_out_t h = { .e = e,
                         .all = c.list.items,
                         .each = each,
                         .ctx = ctx,
                         .stats = stats };

        rc = sort_and_hand_out(&h, c.list.n, err);
    }

    free(c.list.items);
    return rc;
}
