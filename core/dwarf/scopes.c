#include "dwarf/scopes.h"

#include "dwarf/constants.h"
#include "dwarf/grow.h"
#include "dwarf/names.h"

/* Names of more levels are cut at the outside; templates nest some ten. */
#define SCOPES_MAX 64

static bool
has_scopes(uint16_t language)
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


static sym_status_t
add_scope(sym_dw_context_t *x, sym_dw_open_t *u, const sym_dw_abbrev_t *a,
          uint64_t start, uint32_t parent, const sym_dw_die_t *die,
          sym_error_t *err)
{
    sym_dw_scopes_t *s = &u->scopes;
    sym_dw_scope_t scope = {
        .start = start, .end = u->unit->end, .parent = parent, .tag = a->tag
    };
    const sym_dw_info_t *info;

    if (!SYM_DW_ROOM(s->items, s->n, s->size)) {
        return sym_fail(err, SYM_NOMEM, "no memory for scopes");
    }

    if (sym_dw_has(die, SYM_DW_NAME)) {
        scope.name = sym_dw_text(x, u, die->values[SYM_DW_NAME]);
    }

    if (sym_dw_has(die, SYM_DW_SPECIFICATION)
        && (!sym_dw_target(x, u, die->values[SYM_DW_SPECIFICATION], &info,
                           &scope.specification)
            || info != u->info || scope.specification >= u->unit->end
            || scope.specification < u->unit->first))
    {
        scope.specification = 0;
    }

    s->items[s->n++] = scope;
    return SYM_OK;
}


/* Goes over the whole unit once.  A broken one has the scopes up to there. */
static sym_status_t
make(sym_dw_context_t *x, sym_dw_open_t *u, sym_error_t *err)
{
    sym_dw_scopes_t *s = &u->scopes;
    uint32_t stack[SYM_DWARF_DEPTH_MAX];
    sym_error_t bad = { 0 };
    sym_dw_bytes_t b = sym_dw_unit_at(u, u->unit->first, &bad);
    uint32_t parent = SYM_DW_NO_SCOPE;
    size_t depth = 0;
    sym_dw_die_t die;

    s->is_made = true;

    do {
        uint64_t start = sym_dw_offset(&b);
        uint64_t code = sym_dw_uleb(&b);
        const sym_dw_abbrev_t *a;
        bool is_scope;

        if (code == 0) {
            if (parent != SYM_DW_NO_SCOPE && depth > 0
                && stack[depth - 1] != parent) {
                s->items[parent].end = sym_dw_offset(&b);
            }
            parent = depth > 0 ? stack[--depth] : SYM_DW_NO_SCOPE;
            continue;
        }

        a = sym_dw_abbrev(u->abbrevs, code);
        if (a == NULL || depth == SYM_DWARF_DEPTH_MAX) {
            break;
        }

        is_scope = a->kind == SYM_DW_SCOPE && a->has_children;
        if (is_scope) {
            sym_dw_die_read(&b, u->abbrevs, a, u->unit->shape, &die);
        } else {
            sym_dw_die_pass(&b, u->abbrevs, a, u->unit->shape);
        }

        if (a->has_children) {
            stack[depth++] = parent;
        }

        if (is_scope) {
            if (add_scope(x, u, a, start, parent, &die, err) != SYM_OK) {
                return err->status;
            }
            parent = (uint32_t) s->n - 1;
        }
    } while (depth != 0 && sym_dw_left(&b) != 0);

    return SYM_OK;
}


/* The innermost scope around the entry at offset. */
static uint32_t
scope_at(const sym_dw_scopes_t *s, uint64_t offset)
{
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
        at = s->items[at].parent;
    }

    return at;
}


static sym_str_t
name_of(const sym_dw_scope_t *scope)
{
    if (scope->name.len != 0) {
        return scope->name;
    }

    switch (scope->tag) {
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


/* The name of the entry that declares a scope, which has none of its own. */
static sym_str_t
declared_name(const sym_dw_context_t *x, const sym_dw_open_t *u,
              uint64_t offset)
{
    sym_error_t bad = { 0 };
    sym_dw_bytes_t b = sym_dw_unit_at(u, offset, &bad);
    const sym_dw_abbrev_t *a = sym_dw_abbrev(u->abbrevs, sym_dw_uleb(&b));
    sym_dw_die_t die;

    if (a == NULL) {
        return sym_str(NULL, 0);
    }

    sym_dw_die_read(&b, u->abbrevs, a, u->unit->shape, &die);
    return sym_ok(&b.c) && sym_dw_has(&die, SYM_DW_NAME)
               ? sym_dw_text(x, u, die.values[SYM_DW_NAME])
               : sym_str(NULL, 0);
}


sym_status_t
sym_dw_qualify(sym_dw_context_t *x, sym_dw_open_t *u, uint64_t offset,
               sym_buffer_t *out, sym_error_t *err)
{
    sym_str_t names[SCOPES_MAX];
    size_t n = 0;
    uint32_t at;

    if (!has_scopes(u->language)) {
        return SYM_OK;
    }

    if (!u->scopes.is_made) {
        sym_error_t spent = { 0 };

        if (sym_dw_spend(x, u->unit->end - u->unit->first, &spent) != SYM_OK) {
            return SYM_OK; /* names stay plain */
        }

        if (make(x, u, err) != SYM_OK) {
            return err->status;
        }
    }

    at = scope_at(&u->scopes, offset);
    for (; at != SYM_DW_NO_SCOPE && n < SCOPES_MAX;) {
        const sym_dw_scope_t *scope = &u->scopes.items[at];

        names[n] = name_of(scope);
        at = scope->parent;

        /* what is defined apart stands in the scopes of its declaration */
        if (scope->specification != 0) {
            if (scope->name.len == 0) {
                names[n] = declared_name(x, u, scope->specification);
            }
            at = scope_at(&u->scopes, scope->specification);
        }
        n++;
    }

    while (n > 0) {
        n--;
        sym_buffer_put(out, names[n].data, names[n].len);
        sym_buffer_put(out, "::", 2);
    }

    return out->failed ? sym_fail(err, SYM_NOMEM, "no memory for names")
                       : SYM_OK;
}
