#include "formats/dwarf/scopes.h"

#include "formats/dwarf/constants.h"
#include "formats/dwarf/grow.h"
#include "formats/dwarf/names.h"

/* Deeper names, and names above SYM_NAME_BYTES_MAX, lose their outer scopes.
 * Templates nest about ten levels. */
#define SCOPES_MAX 64

bool
sym_dw_has_scopes(uint16_t language)
{
    switch (language) {
    case 0:
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_C17:
    case DW_LANG_ObjC: /* "-[Class method]" is complete */
    case DW_LANG_Go:   /* "package.(*Type).Method" is complete */
    case DW_LANG_Swift:
        return false;
    default:
        return true;
    }
}


bool
sym_dw_scope_begin(sym_dw_scopes_t *s, uint64_t start, sym_dw_level_t *around)
{
    if (!SYM_DW_ROOM(s->items, s->n, s->size)) {
        return false;
    }

    /* end is set later */
    s->items[s->n] =
        (sym_dw_scope_t){ start, UINT64_MAX, around->function, around->scope };
    around->function = 0;
    around->scope = (uint32_t) s->n++;
    return true;
}


/* Reads the scopes of a unit that is not being walked.  A broken unit gives the
 * scopes before the error. */
static sym_status_t
make(sym_dw_open_t *u, sym_error_t *err)
{
    sym_dw_scopes_t *s = &u->scopes;
    sym_dw_level_t stack[SYM_DWARF_DEPTH_MAX];
    sym_error_t bad = { 0 };
    sym_dw_bytes_t b = sym_dw_unit_at(u, u->unit->first, &bad);
    sym_dw_level_t around = { .scope = SYM_DW_NO_SCOPE };
    size_t depth = 0;

    s->is_made = true;

    do {
        uint64_t start = sym_dw_offset(&b);
        uint64_t code = sym_dw_uleb(&b);
        const sym_dw_abbrev_t *a;

        if (code == 0) {
            if (depth == 0) {
                break;
            }
            sym_dw_scope_end(s, start, &around, stack[--depth]);
            continue;
        }

        a = sym_dw_abbrev(u->abbrevs, code);
        if (a == NULL || depth == SYM_DWARF_DEPTH_MAX) {
            break;
        }

        sym_dw_die_pass(&b, u->abbrevs, a, u->unit->shape);
        if (!a->has_children) {
            continue;
        }

        stack[depth++] = around;
        if (!sym_dw_scope_enter(s, a->kind, start, &around)) {
            return sym_fail(err, SYM_NOMEM, "no memory for scopes");
        }
    } while (depth != 0 && sym_dw_left(&b) != 0);

    return SYM_OK;
}


/* The innermost scope around the entry at offset. */
static uint32_t
scope_at(sym_dw_context_t *x, const sym_dw_scopes_t *s, uint64_t offset)
{
    sym_error_t spent = { 0 };
    size_t low = 0, high = s->n;
    uint32_t at;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->items[middle].start < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    at = low == 0 ? SYM_DW_NO_SCOPE : (uint32_t) low - 1;
    while (at != SYM_DW_NO_SCOPE && s->items[at].end <= offset) {
        at = sym_dw_spend(x, 1, &spent) == SYM_OK ? s->items[at].parent
                                                  : SYM_DW_NO_SCOPE;
    }

    return at;
}


/* A function that has no name is skipped. */
static sym_str_t
anonymous(uint16_t tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
        return sym_str(NULL, 0);
    case DW_TAG_namespace:
        return SYM_STR("(anonymous namespace)");
    case DW_TAG_structure_type:
        return SYM_STR("(anonymous struct)");
    case DW_TAG_union_type:
        return SYM_STR("(anonymous union)");
    default:
        return SYM_STR("(anonymous class)");
    }
}


/*
 * Finds the scope around f, and its name.  A separate definition has the scope
 * of its declaration; f then moves to the declaration.  *function is the
 * function around f inside any scope (0: unknown), before and after.  False: f
 * has no scope, or the scope cannot be read.
 */
static bool
go_out(sym_dw_context_t *x, sym_dw_open_t *current, sym_dw_found_t *f,
       uint64_t *function, sym_error_t *err)
{
    sym_error_t spent = { 0 };
    sym_dw_open_t *u = sym_dw_unit_of(x, current, f->info, f->offset, err);
    const sym_dw_info_t *info = f->info;
    uint64_t place = *function;
    uint32_t at;

    if (u == NULL) {
        return false;
    }

    *function = 0;
    if (place == 0) {
        if (!u->scopes.is_made
            && (sym_dw_spend(x, u->unit->end - u->unit->first, &spent) != SYM_OK
                || make(u, err) != SYM_OK))
        {
            return false;
        }

        at = scope_at(x, &u->scopes, f->offset);
        if (at == SYM_DW_NO_SCOPE) {
            return false;
        }

        place = u->scopes.items[at].start;
        *function = u->scopes.items[at].function;
    }

    *f = (sym_dw_found_t){ .info = info, .offset = place, .is_scope = true };
    sym_dw_find(x, current, f, err);
    if (f->info != info || f->offset != place) {
        *function = 0;
    }

    if (f->plain.len == 0) {
        f->plain = anonymous(f->tag);
    }
    return true;
}


sym_status_t
sym_dw_qualify(sym_dw_context_t *x, sym_dw_open_t *current, sym_dw_found_t f,
               sym_buffer_t *out, sym_error_t *err)
{
    sym_str_t names[SCOPES_MAX];
    sym_error_t bad = { 0 };
    uint64_t function = 0;
    size_t n = 0, bytes = f.plain.len;

    while (n < SCOPES_MAX && go_out(x, current, &f, &function, &bad)) {
        bytes += f.plain.len + 2;
        if (bytes > SYM_NAME_BYTES_MAX) {
            break;
        }
        names[n++] = f.plain;
    }

    if (bad.status == SYM_NOMEM) {
        return sym_fail(err, SYM_NOMEM, "no memory for scopes");
    }

    while (n > 0) {
        n--;
        if (names[n].len != 0) {
            sym_buffer_put(out, names[n].data, names[n].len);
            sym_buffer_put(out, "::", 2);
        }
    }

    return out->failed ? sym_fail(err, SYM_NOMEM, "no memory for names")
                       : SYM_OK;
}
