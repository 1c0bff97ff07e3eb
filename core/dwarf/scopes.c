#include "dwarf/scopes.h"

#include "dwarf/constants.h"
#include "dwarf/grow.h"
#include "dwarf/names.h"

/* Names of more levels are cut at the outside; templates nest some ten. */
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
    case DW_LANG_ObjC: /* "-[Class method]" has all in it */
    case DW_LANG_Go:   /* as has "package.(*Type).Method" */
    case DW_LANG_Swift:
        return false;
    default:
        return true;
    }
}


bool
sym_dw_scope_begin(sym_dw_scopes_t *s, uint64_t start, uint32_t *around)
{
    if (!SYM_DW_ROOM(s->items, s->n, s->size)) {
        return false;
    }

    /* until its end is met it goes on */
    s->items[s->n] = (sym_dw_scope_t){ start, UINT64_MAX, *around };
    *around = (uint32_t) s->n++;
    return true;
}


/* Goes over a unit that is not being walked.  A broken one has the scopes up to
 * there. */
static sym_status_t
make(sym_dw_open_t *u, sym_error_t *err)
{
    sym_dw_scopes_t *s = &u->scopes;
    uint32_t stack[SYM_DWARF_DEPTH_MAX];
    sym_error_t bad = { 0 };
    sym_dw_bytes_t b = sym_dw_unit_at(u, u->unit->first, &bad);
    uint32_t around = SYM_DW_NO_SCOPE;
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
        if (a->kind == SYM_DW_SCOPE && !sym_dw_scope_begin(s, start, &around)) {
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


static sym_str_t
anonymous(uint16_t tag)
{
    switch (tag) {
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
 * The name of the scope at *offset.  What is defined apart has that of its
 * declaration, and *offset becomes where that stands.
 */
static sym_str_t
name_of(sym_dw_context_t *x, const sym_dw_open_t *u, uint64_t *offset)
{
    sym_str_t name = { NULL, 0 };
    uint16_t tag = 0;

    for (unsigned i = 0; i < SYM_DWARF_CHAIN_MAX && name.len == 0; i++) {
        sym_error_t bad = { 0 };
        sym_dw_bytes_t b = sym_dw_unit_at(u, *offset, &bad);
        const sym_dw_abbrev_t *a = sym_dw_abbrev(u->abbrevs, sym_dw_uleb(&b));
        const sym_dw_info_t *info;
        sym_dw_die_t die;
        uint64_t to;

        if (a == NULL) {
            break;
        }

        tag = a->tag;
        sym_dw_die_read(&b, u->abbrevs, a, u->unit->shape, &die);
        if (!sym_ok(&b.c)
            || sym_dw_spend(x, sym_dw_offset(&b) - *offset, &bad) != SYM_OK)
        {
            break;
        }

        if (sym_dw_has(&die, SYM_DW_NAME)) {
            name = sym_dw_text(x, u, die.values[SYM_DW_NAME]);
        }

        if (!sym_dw_has(&die, SYM_DW_SPECIFICATION)
            || !sym_dw_target(x, u, die.values[SYM_DW_SPECIFICATION], &info,
                              &to)
            || info != u->info || to < u->unit->first || to >= u->unit->end)
        {
            break;
        }
        *offset = to;
    }

    return name.len != 0 ? name : anonymous(tag);
}


sym_status_t
sym_dw_qualify(sym_dw_context_t *x, sym_dw_open_t *u, uint64_t offset,
               sym_buffer_t *out, sym_error_t *err)
{
    sym_str_t names[SCOPES_MAX];
    sym_error_t spent = { 0 };
    uint32_t at;
    size_t n = 0;

    if (!u->scopes.is_made) {
        if (sym_dw_spend(x, u->unit->end - u->unit->first, &spent) != SYM_OK) {
            return SYM_OK; /* names stay plain */
        }

        if (make(u, err) != SYM_OK) {
            return err->status;
        }
    }

    at = scope_at(x, &u->scopes, offset);
    while (at != SYM_DW_NO_SCOPE && n < SCOPES_MAX) {
        uint64_t place = u->scopes.items[at].start;

        names[n++] = name_of(x, u, &place);
        at = place == u->scopes.items[at].start
                 ? u->scopes.items[at].parent
                 : scope_at(x, &u->scopes, place);
    }

    while (n > 0) {
        n--;
        sym_buffer_put(out, names[n].data, names[n].len);
        sym_buffer_put(out, "::", 2);
    }

    return out->failed ? sym_fail(err, SYM_NOMEM, "no memory for names")
                       : SYM_OK;
}
