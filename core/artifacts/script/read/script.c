#include "artifacts/script/read/script.h"

#include <string.h>

/* Reads a ULEB128 of up to 32 bits.  NULL: it is truncated or larger, or pos is
 * NULL. */
static const uint8_t *
read_uleb(const uint8_t *pos, const uint8_t *end, uint32_t *value)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; pos != NULL && pos < end && shift < 35; shift += 7)
    {
        uint8_t byte = *pos++;

        sum |= (uint64_t) (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = (uint32_t) sum;
            return sum <= UINT32_MAX ? pos : NULL;
        }
    }

    return NULL;
}


/* --- the header --- */

sym_status_t
sym_script_open(sym_script_t *s, sym_extent_get_pt get, void *ctx,
                sym_error_t *err)
{
    const uint8_t *h;
    uint32_t flags;
    size_t len;

    *s = (sym_script_t){ .in = { get, ctx, NULL, 1 } };
    h = sym_extent_rest(&s->in, 0, &len);

    if (h == NULL || len < SYM_SCRIPT_HEADER_BYTES
        || sym_get32(h) != SYM_SCRIPT_MAGIC)
    {
        return sym_fail(err, SYM_DAMAGED, "not an artifact of kind script");
    }

    if (sym_get32(h + 4) != SYM_SCRIPT_VERSION) {
        return sym_fail(err, SYM_VERSION, "a script of another version");
    }

    s->in.n = sym_get32(h + 8);
    s->n_bounds = sym_get32(h + 12);
    s->n_scopes = sym_get32(h + 16);
    s->bounds_ref = sym_get32(h + 20);
    s->scopes_ref = sym_get32(h + 24);
    s->reference_ref = sym_get32(h + 28);
    flags = sym_get32(h + 32);
    s->has_map = (flags & SYM_SCRIPT_HAS_MAP) != 0;
    s->is_unparsed = (flags & SYM_SCRIPT_UNPARSED) != 0;
    if ((flags & SYM_SCRIPT_HAS_ID) != 0) {
        s->debug_id.form = SYM_DEBUG_ID_UUID;
        memcpy(s->debug_id.signature, h + 36, SYM_UUID_BYTES);
    }

    return s->in.n != 0 && s->in.n <= SYM_EXTENTS_LIMIT
               ? SYM_OK
               : sym_fail(err, SYM_DAMAGED, "damaged header of a script");
}


void
sym_script_remember(sym_script_t *s, sym_extent_view_t *table)
{
    s->in.cache = table;
}


/* --- functions --- */

sym_status_t
sym_script_bound(const sym_script_t *s, uint32_t number,
                 sym_script_position_t *at, uint32_t *scope)
{
    const uint8_t *r = number < s->n_bounds
                           ? sym_extent_record(&s->in, s->bounds_ref, number,
                                               SYM_SCRIPT_BOUND_BYTES)
                           : NULL;

    if (r == NULL) {
        return SYM_DAMAGED;
    }

    at->line = sym_get32(r);
    at->column = sym_get32(r + 4);
    *scope = sym_get32(r + 8) - 1;
    return SYM_OK;
}


sym_status_t
sym_script_find(const sym_script_t *s, uint32_t line, uint32_t column,
                uint32_t *scope)
{
    uint32_t low = 0, high = s->n_bounds;
    sym_script_position_t at;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (sym_script_bound(s, middle, &at, scope) != SYM_OK) {
            return SYM_DAMAGED;
        }

        if (at.line < line || (at.line == line && at.column <= column)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    if (low == 0) {
        return SYM_NOT_FOUND;
    }

    if (sym_script_bound(s, low - 1, &at, scope) != SYM_OK) {
        return SYM_DAMAGED;
    }

    return *scope != SYM_SCRIPT_NONE ? SYM_OK : SYM_NOT_FOUND;
}


sym_status_t
sym_script_scope(const sym_script_t *s, uint32_t number,
                 sym_script_scope_t *scope)
{
    const uint8_t *r = number < s->n_scopes
                           ? sym_extent_record(&s->in, s->scopes_ref, number,
                                               SYM_SCRIPT_SCOPE_BYTES)
                           : NULL;
    const uint8_t *pos;
    uint32_t has_end;
    size_t len;

    *scope = (sym_script_scope_t){ .n_parts = 0 };
    if (r == NULL) {
        return SYM_DAMAGED;
    }

    pos = sym_extent_rest(&s->in, sym_get32(r), &len);
    scope->limit = pos != NULL ? pos + len : NULL;
    pos = read_uleb(pos, scope->limit, &scope->n_parts);
    pos = read_uleb(pos, scope->limit, &scope->last.line);
    pos = read_uleb(pos, scope->limit, &scope->last.column);
    pos = read_uleb(pos, scope->limit, &has_end);

    if (pos != NULL && has_end != 0) {
        scope->has_end = true;
        pos = read_uleb(pos, scope->limit, &scope->end.line);
        pos = read_uleb(pos, scope->limit, &scope->end.column);
    }

    scope->pos = pos;
    return pos != NULL && scope->n_parts <= SYM_SCRIPT_PARTS_MAX ? SYM_OK
                                                                 : SYM_DAMAGED;
}


sym_status_t
sym_script_part(sym_script_scope_t *scope, sym_script_part_t *part)
{
    const uint8_t *pos;
    uint32_t len = 0;

    *part = (sym_script_part_t){ .is_identifier = false };
    pos = read_uleb(scope->pos, scope->limit, &len);

    if ((len & 1) != 0) {
        part->is_identifier = true;
        pos = read_uleb(pos, scope->limit, &part->at.line);
        pos = read_uleb(pos, scope->limit, &part->at.column);
    }

    if (pos == NULL || len / 2 > (size_t) (scope->limit - pos)) {
        return SYM_DAMAGED;
    }

    part->text = sym_str((const char *) pos, len / 2);
    scope->pos = pos + len / 2;
    return SYM_OK;
}


sym_status_t
sym_script_reference(const sym_script_t *s, sym_str_t *reference)
{
    const uint8_t *data, *pos;
    uint32_t n;
    size_t len;

    if (s->reference_ref == 0) {
        return SYM_NOT_FOUND;
    }

    data = sym_extent_rest(&s->in, s->reference_ref, &len);
    pos = data != NULL ? read_uleb(data, data + len, &n) : NULL;

    if (pos == NULL || n > SYM_SCRIPT_REFERENCE_MAX
        || n > len - (size_t) (pos - data))
    {
        return SYM_DAMAGED;
    }

    *reference = sym_str((const char *) pos, n);
    return SYM_OK;
}


/* --- all of it --- */

static bool
check_scope(const sym_script_t *s, uint32_t number)
{
    sym_script_scope_t scope;
    sym_script_part_t part;

    if (sym_script_scope(s, number, &scope) != SYM_OK) {
        return false;
    }

    for (uint32_t i = 0; i < scope.n_parts; i++) {
        if (sym_script_part(&scope, &part) != SYM_OK) {
            return false;
        }
    }

    return true;
}


sym_status_t
sym_script_check(const sym_script_t *s, sym_error_t *err)
{
    sym_script_position_t at, last = { 0, 0 };
    sym_str_t reference;
    uint32_t scope;

    for (uint32_t i = 0; i < s->n_bounds; i++) {
        if (sym_script_bound(s, i, &at, &scope) != SYM_OK || at.line < last.line
            || (at.line == last.line && at.column < last.column)
            || (scope != SYM_SCRIPT_NONE && scope >= s->n_scopes))
        {
            return sym_fail(err, SYM_DAMAGED, "damaged bounds of a script");
        }
        last = at;
    }

    for (uint32_t i = 0; i < s->n_scopes; i++) {
        if (!check_scope(s, i)) {
            return sym_fail(err, SYM_DAMAGED, "damaged function of a script");
        }
    }

    return sym_script_reference(s, &reference) != SYM_DAMAGED
               ? SYM_OK
               : sym_fail(err, SYM_DAMAGED, "damaged reference of a script");
}
