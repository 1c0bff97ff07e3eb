#include "artifacts/cfi/write/cfi_writer.h"

#include <stdlib.h>

#include "artifacts/symcache/write/extents.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "base/sort.h"

/* At least this many ranges are allowed, even for a short input. */
#define RANGES_MIN 4096

typedef struct {
    uint32_t start, end;
    uint32_t rules;
    bool is_fallback;
} range_t;

/* Encoded rules: `len` bytes at `at` in the text. */
typedef struct {
    size_t at;
    uint32_t len;
    uint32_t rows; /* rows that have these rules */
} kept_t;

typedef struct {
    uint32_t address, rules; /* 0: none */
} row_t;

typedef struct {
    row_t *rows;
    size_t n;
} rows_t;

struct sym_cfi_writer_s {
    sym_unwind_arch_t arch;
    uint32_t flags;
    uint64_t ranges_max;
    sym_error_t *err;

    range_t *ranges;
    size_t n_ranges, ranges_cap;

    sym_buffer_t text;
    kept_t *kept;
    size_t n_kept, kept_cap;
    uint32_t *table; /* hash table of numbers; 0: free */
    size_t table_size;
    sym_hash_key_t key;
    sym_buffer_t code; /* rules under construction */

    rows_t rows;
    size_t n_fallbacks;
    sym_extents_t extents;
};


static sym_status_t
no_memory(sym_cfi_writer_t *w)
{
    return sym_fail(w->err, SYM_NOMEM, NULL);
}


sym_cfi_writer_t *
sym_cfi_writer_create(sym_unwind_arch_t arch, uint32_t flags,
                      uint64_t input_bytes, sym_error_t *err)
{
    sym_cfi_writer_t *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        (void) sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    w->arch = arch;
    w->flags = flags;
    w->ranges_max = input_bytes > RANGES_MIN ? input_bytes : RANGES_MIN;
    w->err = err;
    w->key = sym_hash_key();
    return w;
}


void
sym_cfi_writer_free(sym_cfi_writer_t *w)
{
    if (w == NULL) {
        return;
    }

    sym_extents_free(&w->extents);
    sym_buffer_free(&w->text);
    sym_buffer_free(&w->code);
    free(w->ranges);
    free(w->kept);
    free(w->table);
    free(w->rows.rows);
    free(w);
}


/* --- rules --- */

static void
put_uleb(sym_buffer_t *b, uint64_t value)
{
    uint8_t bytes[SYM_LEB_MAX];

    sym_buffer_put(b, bytes, (size_t) (sym_uleb_write(bytes, value) - bytes));
}


static void
put_sleb(sym_buffer_t *b, int64_t value)
{
    uint8_t bytes[SYM_LEB_MAX];

    sym_buffer_put(b, bytes, (size_t) (sym_sleb_write(bytes, value) - bytes));
}


static void
put_byte(sym_buffer_t *b, unsigned byte)
{
    const uint8_t value = (uint8_t) byte;

    sym_buffer_put(b, &value, 1);
}


static void
put_program(sym_buffer_t *b, sym_str_t program)
{
    put_uleb(b, program.len);
    sym_buffer_put(b, program.data, program.len);
}


static void
put_offset(sym_buffer_t *b, int64_t offset, int64_t word)
{
    put_sleb(b, offset % word == 0 ? offset / word * 2
                                   : (int64_t) ((uint64_t) offset * 2 + 1));
}


static void
put_rule(sym_buffer_t *b, const sym_cfi_rule_t *rule, unsigned number,
         int64_t word)
{
    put_byte(b, SYM_CFI_RULE(rule->how, number));

    switch (rule->how) {
    case SYM_CFI_REGISTER:
    case SYM_CFI_AT_REGISTER:
        put_byte(b, rule->base);
        put_offset(b, rule->offset, word);
        break;
    case SYM_CFI_CFA:
    case SYM_CFI_AT_CFA:
        put_offset(b, rule->offset, word);
        break;
    case SYM_CFI_VALUE:
    case SYM_CFI_AT_VALUE:
        put_program(b, rule->program);
        break;
    default:
        break;
    }
}


static void
encode(sym_buffer_t *b, const sym_cfi_rules_t *rules, int64_t word)
{
    b->len = 0;

    if (rules->program.len != 0) {
        put_byte(b, SYM_CFI_PROGRAM);
        put_uleb(b, rules->parameter_bytes);
        put_program(b, rules->program);
        return;
    }

    put_byte(b, (unsigned) __builtin_popcountll(rules->has)
                    | (rules->is_signal ? SYM_CFI_SIGNAL : 0));
    put_rule(b, &rules->cfa, 0, word);

    for (unsigned i = 0; i < SYM_UNWIND_REGISTERS; i++) {
        if ((rules->has >> i & 1) != 0) {
            put_rule(b, &rules->rule[i], i, word);
        }
    }
}


static sym_str_t
text_of(const sym_cfi_writer_t *w, uint32_t number)
{
    const kept_t *k = &w->kept[number - 1];

    return sym_str((const char *) w->text.data + k->at, k->len);
}


/* The slot of a text, or a free slot for it. */
static uint32_t *
find_slot(const sym_cfi_writer_t *w, sym_str_t text)
{
    size_t at = (size_t) sym_hash(&w->key, text) & (w->table_size - 1);

    while (w->table[at] != 0 && !sym_str_eq(text_of(w, w->table[at]), text)) {
        at = (at + 1) & (w->table_size - 1);
    }

    return &w->table[at];
}


/* The table is at most half full. */
static bool
grow_table(sym_cfi_writer_t *w)
{
    if (2 * (w->n_kept + 1) <= w->table_size) {
        return true;
    }

    w->table_size = w->table_size != 0 ? 2 * w->table_size : 1024;
    free(w->table);
    w->table = calloc(w->table_size, sizeof(*w->table));

    if (w->table == NULL) {
        return false;
    }

    for (uint32_t i = 1; i <= w->n_kept; i++) {
        *find_slot(w, text_of(w, i)) = i;
    }

    return true;
}


sym_status_t
sym_cfi_writer_rules(sym_cfi_writer_t *w, const sym_cfi_rules_t *rules,
                     uint32_t *number)
{
    sym_str_t text;
    uint32_t *slot;

    encode(&w->code, rules, sym_unwind_arch(w->arch)->word_bytes);

    if (w->code.failed || !grow_table(w)) {
        return no_memory(w);
    }

    if (w->code.len > SYM_CFI_RULES_BYTES_MAX) {
        return sym_fail(w->err, SYM_LIMIT, "unwind rules are too long");
    }

    text = sym_str((const char *) w->code.data, w->code.len);
    slot = find_slot(w, text);

    if (*slot == 0) {
        if (w->n_kept == SYM_CFI_RULES_MAX) {
            return sym_fail(w->err, SYM_LIMIT, "too many unwind rules");
        }

        if (!SYM_ARRAY_ROOM(w->kept, w->n_kept + 1, w->kept_cap)) {
            return no_memory(w);
        }

        w->kept[w->n_kept++] =
            (kept_t){ .at = w->text.len, .len = (uint32_t) text.len };
        sym_buffer_put(&w->text, text.data, text.len);
        *slot = (uint32_t) w->n_kept;
    }

    *number = *slot;
    return w->text.failed ? no_memory(w) : SYM_OK;
}


/* --- ranges --- */

static sym_status_t
add_range(sym_cfi_writer_t *w, uint64_t start, uint64_t end, uint32_t number,
          bool is_fallback)
{
    if (start >= end || end > UINT32_MAX) {
        return SYM_OK;
    }

    if (w->n_ranges == w->ranges_max) {
        return sym_fail(w->err, SYM_LIMIT,
                        "more unwind rules than the file has bytes");
    }

    if (!SYM_ARRAY_ROOM(w->ranges, w->n_ranges + 1, w->ranges_cap)) {
        return no_memory(w);
    }

    w->ranges[w->n_ranges++] =
        (range_t){ (uint32_t) start, (uint32_t) end, number, is_fallback };
    w->n_fallbacks += is_fallback;
    return SYM_OK;
}


sym_status_t
sym_cfi_writer_range(sym_cfi_writer_t *w, uint64_t start, uint64_t end,
                     uint32_t number)
{
    return add_range(w, start, end, number, false);
}


sym_status_t
sym_cfi_writer_fallback(sym_cfi_writer_t *w, uint64_t start, uint64_t end,
                        uint32_t number)
{
    return add_range(w, start, end, number, true);
}


size_t
sym_cfi_writer_ranges(const sym_cfi_writer_t *w)
{
    return w->n_ranges;
}


/* Order: by start, then longer ranges first, then earlier ones first. */
static sym_sort_item_t *
sorted(sym_cfi_writer_t *w, bool are_fallbacks, size_t *n)
{
    sym_sort_item_t *items = malloc((w->n_ranges + 1) * sizeof(*items));

    *n = 0;
    if (items == NULL) {
        return NULL;
    }

    for (size_t i = 0; i < w->n_ranges; i++) {
        const range_t *r = &w->ranges[i];

        if (r->is_fallback == are_fallbacks) {
            items[(*n)++] = (sym_sort_item_t){
                (uint64_t) r->start << 32 | (uint32_t) ~r->end, (uint32_t) i
            };
        }
    }

    if (!sym_sort(items, *n)) {
        free(items);
        return NULL;
    }

    return items;
}


/* From this address on these rules apply. */
static void
add_row(rows_t *to, uint32_t address, uint32_t rules)
{
    if (to->n != 0 && to->rows[to->n - 1].address == address) {
        to->n--;
    }

    if ((to->n != 0 ? to->rows[to->n - 1].rules : 0) != rules) {
        to->rows[to->n++] = (row_t){ address, rules };
    }
}


/* Closes the open ranges that end at or before an address. */
static size_t
close_ranges(rows_t *to, const range_t **open, size_t n, uint32_t before)
{
    while (n != 0 && open[n - 1]->end <= before) {
        const uint32_t end = open[n - 1]->end;

        while (n != 0 && open[n - 1]->end <= end) {
            n--;
        }

        add_row(to, end, n != 0 ? open[n - 1]->rules : 0);
    }

    return n;
}


static void
flatten(const sym_cfi_writer_t *w, const sym_sort_item_t *items, size_t n_items,
        const range_t **open, rows_t *to)
{
    size_t n = 0;

    for (size_t i = 0; i < n_items; i++) {
        const range_t *r = &w->ranges[items[i].at];

        n = close_ranges(to, open, n, r->start);

        if (n != 0 && open[n - 1]->start == r->start
            && open[n - 1]->end == r->end) {
            continue;
        }

        add_row(to, r->start, r->rules);
        open[n++] = r;
    }

    (void) close_ranges(to, open, n, UINT32_MAX);
}


/* Each range begins one row, and ends at most one. */
static sym_status_t
make_rows(sym_cfi_writer_t *w, bool are_fallbacks, rows_t *to)
{
    size_t n;
    sym_sort_item_t *items = sorted(w, are_fallbacks, &n);
    const range_t **open = malloc((n + 1) * sizeof(range_t *));

    to->rows = malloc((2 * n + 1) * sizeof(*to->rows));
    to->n = 0;

    if (items != NULL && open != NULL && to->rows != NULL) {
        flatten(w, items, n, open, to);
    } else {
        (void) no_memory(w);
    }

    free(items);
    free(open);
    return w->err->status;
}


/* Merges the rows of `over` with those of `under` in the gaps of `over`. */
static void
join(const rows_t *over, const rows_t *under, rows_t *to)
{
    uint32_t upper = 0, lower = 0;
    size_t i = 0, j = 0;

    while (i < over->n || j < under->n) {
        const bool is_over =
            j == under->n
            || (i < over->n && over->rows[i].address <= under->rows[j].address);
        const row_t *row = is_over ? &over->rows[i++] : &under->rows[j++];

        upper = is_over ? row->rules : upper;
        lower = is_over ? lower : row->rules;
        add_row(to, row->address, upper != 0 ? upper : lower);
    }
}


static sym_status_t
make_all_rows(sym_cfi_writer_t *w)
{
    rows_t over = { NULL, 0 }, under = { NULL, 0 };

    if (w->n_fallbacks == 0) {
        return make_rows(w, false, &w->rows);
    }

    if (make_rows(w, false, &over) == SYM_OK
        && make_rows(w, true, &under) == SYM_OK)
    {
        w->rows.rows = malloc((over.n + under.n + 1) * sizeof(*over.rows));

        if (w->rows.rows != NULL) {
            join(&over, &under, &w->rows);
        } else {
            (void) no_memory(w);
        }
    }

    free(over.rows);
    free(under.rows);
    return w->err->status;
}


/* --- finishing --- */

static uint8_t *
alloc(sym_cfi_writer_t *w, size_t size, uint32_t *ref)
{
    return sym_extents_alloc(&w->extents, SYM_LANE_MAIN, size, SYM_PLACE_ANY,
                             ref);
}


static sym_status_t
put_bytes(sym_cfi_writer_t *w, const void *data, size_t len, uint32_t *ref)
{
    uint8_t *room = alloc(w, len, ref);

    if (room == NULL) {
        return w->err->status;
    }

    memcpy(room, data, len);
    return SYM_OK;
}


/* Orders the rules in use by frequency, because numbers of frequent rules are
 * short in rows.  ranks: new number by old number. */
static sym_sort_item_t *
rank(sym_cfi_writer_t *w, uint32_t *ranks, uint32_t *n_used)
{
    sym_sort_item_t *items = malloc((w->n_kept + 1) * sizeof(*items));
    size_t n = 0;

    if (items == NULL) {
        return NULL;
    }

    for (size_t i = 0; i < w->rows.n; i++) {
        if (w->rows.rows[i].rules != 0) {
            w->kept[w->rows.rows[i].rules - 1].rows++;
        }
    }

    for (size_t i = 0; i < w->n_kept; i++) {
        if (w->kept[i].rows != 0) {
            items[n++] = (sym_sort_item_t){ UINT32_MAX - w->kept[i].rows,
                                            (uint32_t) i + 1 };
        }
    }

    if (!sym_sort(items, n)) {
        free(items);
        return NULL;
    }

    ranks[0] = 0;
    for (size_t i = 0; i < n; i++) {
        ranks[items[i].at] = (uint32_t) i + 1;
    }

    *n_used = (uint32_t) n;
    return items;
}


/* Writes the rules by rank, then the table of their refs. */
static sym_status_t
put_rules(sym_cfi_writer_t *w, const sym_sort_item_t *items, uint32_t n,
          uint32_t *table)
{
    uint32_t *refs = malloc(((size_t) n + 1) * sizeof(*refs));

    if (refs == NULL) {
        return no_memory(w);
    }

    for (uint32_t i = 0; i < n && w->err->status == SYM_OK; i++) {
        sym_str_t text = text_of(w, items[i].at);

        (void) put_bytes(w, text.data, text.len, &refs[i]);
    }

    for (uint32_t i = 0; i < n && w->err->status == SYM_OK; i++) {
        uint32_t ref;
        uint8_t *r = alloc(w, SYM_CFI_RULE_BYTES, &ref);

        if (r != NULL) {
            sym_put32(r, refs[i]);
            *table = i == 0 ? ref : *table;
        }
    }

    free(refs);
    return w->err->status;
}


static bool
is_far(uint32_t gap)
{
    return gap == SYM_CFI_GAP_FAR || gap > UINT8_MAX;
}


static sym_status_t
put_page(sym_cfi_writer_t *w, const row_t *rows, size_t n,
         const uint32_t *ranks, uint32_t *ref)
{
    uint8_t page[1 + SYM_CFI_PAGE_ROWS * (2 + 2 * SYM_LEB_MAX)], *p = page;

    *p++ = (uint8_t) n;
    for (size_t i = 1; i < n; i++) {
        const uint32_t gap = rows[i].address - rows[i - 1].address;

        *p++ = (uint8_t) (is_far(gap) ? SYM_CFI_GAP_FAR : gap);
    }

    for (size_t i = 0; i < n; i++) {
        const uint32_t rank = ranks[rows[i].rules];

        *p++ = (uint8_t) (rank < SYM_CFI_RULE_FAR ? rank : SYM_CFI_RULE_FAR);
    }

    for (size_t i = 1; i < n; i++) {
        const uint32_t gap = rows[i].address - rows[i - 1].address;

        p = is_far(gap) ? sym_uleb_write(p, gap) : p;
    }

    for (size_t i = 0; i < n; i++) {
        const uint32_t rank = ranks[rows[i].rules];

        p = rank < SYM_CFI_RULE_FAR ? p : sym_uleb_write(p, rank);
    }

    return put_bytes(w, page, (size_t) (p - page), ref);
}


typedef struct {
    uint32_t address, ref;
} page_t;

static sym_status_t
put_table(sym_cfi_writer_t *w, const page_t *pages, size_t n, uint32_t *table)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t ref;
        uint8_t *r = alloc(w, SYM_CFI_PAGE_BYTES, &ref);

        if (r == NULL) {
            return w->err->status;
        }

        sym_put32(r, pages[i].address);
        sym_put32(r + 4, pages[i].ref);
        *table = i == 0 ? ref : *table;
    }

    return SYM_OK;
}


static sym_status_t
put_pages(sym_cfi_writer_t *w, const uint32_t *ranks, uint32_t *n_pages,
          uint32_t *table)
{
    page_t *pages = NULL;
    size_t n = 0, room = 0, at = 0, rows;

    while (at < w->rows.n && w->err->status == SYM_OK) {
        if (!SYM_ARRAY_ROOM(pages, n + 1, room)) {
            (void) no_memory(w);
            break;
        }

        rows = w->rows.n - at < SYM_CFI_PAGE_ROWS ? w->rows.n - at
                                                  : SYM_CFI_PAGE_ROWS;
        pages[n].address = w->rows.rows[at].address;
        (void) put_page(w, w->rows.rows + at, rows, ranks, &pages[n++].ref);
        at += rows;
    }

    if (w->err->status == SYM_OK) {
        (void) put_table(w, pages, n, table);
    }

    *n_pages = (uint32_t) n;
    free(pages);
    return w->err->status;
}


/* A longer name is not the name of a file. */
static sym_status_t
put_name(sym_cfi_writer_t *w, sym_str_t name, uint32_t *ref)
{
    uint8_t record[1 + UINT8_MAX] = { (uint8_t) name.len };

    if (name.len == 0 || name.len > UINT8_MAX) {
        return SYM_OK;
    }

    memcpy(record + 1, name.data, name.len);
    return put_bytes(w, record, 1 + name.len, ref);
}


static sym_status_t
put_artifact(sym_cfi_writer_t *w, sym_str_t debug_file, uint32_t *ranks,
             sym_writer_stats_t *stats)
{
    uint32_t n_rules = 0, n_pages = 0, rules = 0, pages = 0, name = 0;
    uint8_t h[SYM_CFI_HEADER_BYTES] = { 0 };
    sym_sort_item_t *items = rank(w, ranks, &n_rules);
    sym_status_t rc =
        items != NULL ? put_rules(w, items, n_rules, &rules) : no_memory(w);

    free(items);
    rc = rc != SYM_OK ? rc : put_pages(w, ranks, &n_pages, &pages);
    rc = rc != SYM_OK ? rc : put_name(w, debug_file, &name);
    rc = rc != SYM_OK ? rc : sym_extents_flush(&w->extents);
    if (rc != SYM_OK) {
        return rc;
    }

    sym_put32(h, SYM_CFI_MAGIC);
    sym_put32(h + 4, SYM_CFI_VERSION);
    sym_put32(h + 8, w->extents.next_number);
    sym_put32(h + 12, w->arch);
    sym_put32(h + 16, w->flags);
    sym_put32(h + 20, n_pages);
    sym_put32(h + 24, pages);
    sym_put32(h + 28, n_rules);
    sym_put32(h + 32, rules);
    sym_put32(h + 36, name);
    sym_put64(h + 40, w->rows.n);
    sym_put64(h + 48, sym_extents_bytes(&w->extents));

    *stats = (sym_writer_stats_t){
        .bytes = sym_extents_bytes(&w->extents),
        .extents = w->extents.next_number,
        .quality = w->rows.n != 0 ? SYM_CFI_HAS_RULES : SYM_CFI_NO_RULES,
    };
    return sym_extents_end(&w->extents, h, sizeof(h));
}


sym_status_t
sym_cfi_finish(sym_cfi_writer_t *w, sym_str_t debug_file, sym_extent_put_pt put,
               void *ctx, sym_writer_stats_t *stats)
{
    uint32_t *ranks = malloc((w->n_kept + 1) * sizeof(*ranks));

    if (ranks == NULL) {
        return no_memory(w);
    }

    if (make_all_rows(w) == SYM_OK
        && sym_extents_begin(&w->extents, put, ctx, SYM_CFI_HEADER_BYTES,
                             w->err)
               == SYM_OK)
    {
        (void) put_artifact(w, debug_file, ranks, stats);
    }

    free(ranks);
    return w->err->status;
}
