#include "formats/dwarf/names.h"

#include <stdlib.h>


/* Flag for keys of entries in the supplementary file. */
#define ALT_KEY ((uint64_t) 1 << 63)


void
sym_dw_names_init(sym_dw_names_t *n, sym_dw_context_t *x)
{
    *n = (sym_dw_names_t){ .x = x };
}


void
sym_dw_names_begin(sym_dw_names_t *n, sym_shard_t *part)
{
    n->part = part;
    n->missing = 0;
    sym_dw_names_forget(n);
}


void
sym_dw_names_free(sym_dw_names_t *n)
{
    sym_dw_map_free(&n->entries);
    sym_dw_map_free(&n->texts);
    sym_buffer_free(&n->scratch);
}


void
sym_dw_names_forget(sym_dw_names_t *n)
{
    sym_dw_map_forget(&n->entries);
    sym_dw_map_forget(&n->texts);
}


void
sym_dw_names_unit(sym_dw_names_t *n)
{
    sym_dw_map_forget(&n->entries);
}


static sym_status_t
out_of_memory(sym_error_t *err)
{
    return sym_fail(err, SYM_NOMEM, "no memory for names");
}


/* --- texts --- */

static void
put_char(sym_buffer_t *out, uint32_t c)
{
    uint8_t bytes[4];
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

    for (size_t i = len; i-- > 1; c >>= 6) {
        bytes[i] = (uint8_t) (0x80 | (c & 0x3f));
    }
    bytes[0] = (uint8_t) (first[len] | c);
    sym_buffer_put(out, bytes, len);
}


/* Symcaches contain only UTF-8: other bytes become U+FFFD. */
static sym_status_t
intern_mended(sym_dw_names_t *n, sym_str_t text, uint32_t *id)
{
    sym_buffer_t mended = { 0 };
    sym_status_t rc;

    for (size_t at = 0; at < text.len;) {
        put_char(&mended, sym_utf8_next(text, &at));
    }

    rc = mended.failed
             ? SYM_NOMEM
             : sym_shard_string(n->part,
                                sym_str((const char *) mended.data, mended.len),
                                false, id);
    sym_buffer_free(&mended);
    return rc;
}


sym_status_t
sym_dw_name_text(sym_dw_names_t *n, sym_str_t text, bool is_in_section,
                 uint32_t *id, sym_error_t *err)
{
    uint64_t key = (uint64_t) (uintptr_t) text.data;
    sym_error_t spent = { 0 };
    sym_status_t rc;

    if (is_in_section && sym_dw_map_get(&n->texts, key, id)) {
        return SYM_OK;
    }

    /* Limit on nested names and long paths, of which a few bytes could cost
     * much.  The rest of the budget is left for functions, which matter
     * more. */
    if (text.len > n->x->budget / 2
        || sym_dw_spend(n->x, text.len, &spent) != SYM_OK)
    {
        *id = SYM_NO_STRING;
        return SYM_OK;
    }

    rc = sym_utf8_valid(text) ? sym_shard_string(
             n->part, text, is_in_section && !n->is_passing, id)
                              : intern_mended(n, text, id);
    if (rc != SYM_OK) {
        return out_of_memory(err);
    }

    if (is_in_section && !sym_dw_map_put(&n->texts, key, *id)) {
        return out_of_memory(err);
    }

    return SYM_OK;
}


/* --- the path to a name --- */

sym_dw_open_t *
sym_dw_unit_of(sym_dw_context_t *x, sym_dw_open_t *current,
               const sym_dw_info_t *info, uint64_t offset, sym_error_t *err)
{
    const sym_dw_unit_t *unit = current->unit;

    if (info == current->info && offset >= unit->first && offset < unit->end) {
        return current;
    }

    unit = sym_dw_info_find(info, offset);
    return unit == NULL ? NULL : sym_dw_visit(x, info, unit, err);
}


/* Reads the entry at f->info, f->offset and moves to the entry that it refers
 * to.  False: it refers to none.  An invalid reference ends the path. */
static bool
follow(sym_dw_context_t *x, sym_dw_open_t *current, sym_dw_found_t *f,
       sym_error_t *bad)
{
    sym_dw_open_t *u = sym_dw_unit_of(x, current, f->info, f->offset, bad);
    const sym_dw_abbrev_t *a;
    sym_dw_bytes_t b;
    sym_dw_die_t die;
    sym_dw_slot_t next;

    if (u == NULL) {
        return false;
    }

    b = sym_dw_unit_at(u, f->offset, bad);
    a = sym_dw_abbrev(u->abbrevs, sym_dw_uleb(&b));
    if (a == NULL) {
        return false;
    }

    f->tag = a->tag;
    sym_dw_die_read(&b, u->abbrevs, a, u->unit->shape, &die);
    if (!sym_ok(&b.c)
        || sym_dw_spend(x, sym_dw_offset(&b) - f->offset, bad) != SYM_OK)
    {
        return false;
    }

    if (!f->is_scope && sym_dw_has(&die, SYM_DW_LINKAGE_NAME)) {
        f->linkage = sym_dw_text(x, u, die.values[SYM_DW_LINKAGE_NAME]);
        if (f->linkage.len != 0) {
            return false;
        }
    }

    if (f->plain.len == 0 && sym_dw_has(&die, SYM_DW_NAME)) {
        f->plain = sym_dw_text(x, u, die.values[SYM_DW_NAME]);
    }

    next =
        sym_dw_has(&die, SYM_DW_ORIGIN) ? SYM_DW_ORIGIN : SYM_DW_SPECIFICATION;
    return sym_dw_has(&die, next)
           && sym_dw_target(x, u, die.values[next], &f->info, &f->offset);
}


void
sym_dw_find(sym_dw_context_t *x, sym_dw_open_t *current, sym_dw_found_t *f,
            sym_error_t *err)
{
    for (unsigned i = 0; i < SYM_DWARF_CHAIN_MAX; i++) {
        if (!follow(x, current, f, err)) {
            break;
        }
    }
}


/* The plain name with the scopes of the entry that was read last. */
static sym_status_t
intern_plain(sym_dw_names_t *n, sym_dw_open_t *current, const sym_dw_found_t *f,
             uint32_t *id, sym_error_t *err)
{
    sym_error_t bad = { 0 };
    sym_dw_open_t *u = sym_dw_unit_of(n->x, current, f->info, f->offset, &bad);

    /* dwz's partial units have the language of the units that import them */
    n->scratch.len = 0;
    if (u != NULL
        && sym_dw_has_scopes(u->language != 0 ? u->language : current->language)
        && sym_dw_qualify(n->x, current, *f, &n->scratch, err) != SYM_OK)
    {
        return err->status;
    }

    if (n->scratch.len == 0) {
        return sym_dw_name_text(n, f->plain, true, id, err);
    }

    sym_buffer_put(&n->scratch, f->plain.data, f->plain.len);
    if (n->scratch.failed) {
        return out_of_memory(err);
    }

    return sym_dw_name_text(
        n, sym_str((const char *) n->scratch.data, n->scratch.len), false, id,
        err);
}


static sym_status_t
find_name(sym_dw_names_t *n, sym_dw_open_t *u, const sym_dw_info_t *info,
          uint64_t offset, uint32_t *id, sym_error_t *err)
{
    sym_dw_found_t f = { .info = info, .offset = offset };
    sym_error_t bad = { 0 };

    sym_dw_find(n->x, u, &f, &bad);
    if (bad.status == SYM_NOMEM) {
        return out_of_memory(err);
    }

    if (n->undecorate != NULL) {
        f.linkage = n->undecorate(f.linkage);
        f.plain = n->undecorate(f.plain);
    }

    if (f.linkage.len != 0) {
        return sym_dw_name_text(n, f.linkage, true, id, err);
    }

    if (f.plain.len != 0) {
        return intern_plain(n, u, &f, id, err);
    }

    n->missing++;
    *id = SYM_NO_STRING;
    return SYM_OK;
}


sym_status_t
sym_dw_name_of(sym_dw_names_t *n, sym_dw_open_t *u, const sym_dw_info_t *info,
               uint64_t offset, uint32_t *id, sym_error_t *err)
{
    uint64_t key = info == n->x->alt ? offset | ALT_KEY : offset;

    if (sym_dw_map_get(&n->entries, key, id)) {
        return SYM_OK;
    }

    if (find_name(n, u, info, offset, id, err) != SYM_OK) {
        return err->status;
    }

    return sym_dw_map_put(&n->entries, key, *id) ? SYM_OK : out_of_memory(err);
}
