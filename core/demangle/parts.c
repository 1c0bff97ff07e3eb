#include "demangle/parts.h"

#include <stdlib.h>

/*
 * Looking for the pack of an expansion ("Args...", "sizeof...(args)") libiberty
 * walks shared branches again and again; so many steps it may take each time.
 */
#define PACK_STEPS_MAX 4096u

/* It copies, on its stack, the templates in force for each reference to a
 * parameter: of 16 bytes, and both are counted twice. */
#define COPIES_MAX 8192u

/* What of a part is another part. */
typedef struct {
    sym_part_t *left, *right;
    bool is_known;
} children_t;

typedef struct {
    sym_part_t *part;
    children_t children;
    bool is_left_done, is_right_done;
} open_t;

typedef struct {
    sym_parts_t *out;
    uint32_t *steps; /* of out's parts */
    open_t *open;    /* from the root down to the part at hand */
    uint32_t n_open, most;
    uint64_t n_templates, n_references;
    bool is_costly;
} walk_t;


static children_t
children_of(const sym_part_t *part)
{
    const children_t none = { .is_known = true };
    const children_t unknown = { .is_known = false };

    switch ((int) part->type) {
    case DEMANGLE_COMPONENT_NAME:
    case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
    case DEMANGLE_COMPONENT_FUNCTION_PARAM:
    case DEMANGLE_COMPONENT_SUB_STD:
    case DEMANGLE_COMPONENT_BUILTIN_TYPE:
    case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
    case DEMANGLE_COMPONENT_OPERATOR:
    case DEMANGLE_COMPONENT_CHARACTER:
    case DEMANGLE_COMPONENT_NUMBER:
    case DEMANGLE_COMPONENT_UNNAMED_TYPE:
        return none;

    case DEMANGLE_COMPONENT_CTOR:
        return (children_t){ part->u.s_ctor.name, NULL, true };
    case DEMANGLE_COMPONENT_DTOR:
        return (children_t){ part->u.s_dtor.name, NULL, true };
    case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
        return (children_t){ part->u.s_extended_operator.name, NULL, true };
    case DEMANGLE_COMPONENT_LAMBDA:
    case DEMANGLE_COMPONENT_DEFAULT_ARG:
        return (children_t){ part->u.s_unary_num.sub, NULL, true };

    case DEMANGLE_COMPONENT_QUAL_NAME:
    case DEMANGLE_COMPONENT_LOCAL_NAME:
    case DEMANGLE_COMPONENT_TYPED_NAME:
    case DEMANGLE_COMPONENT_TEMPLATE:
    case DEMANGLE_COMPONENT_VTABLE:
    case DEMANGLE_COMPONENT_VTT:
    case DEMANGLE_COMPONENT_CONSTRUCTION_VTABLE:
    case DEMANGLE_COMPONENT_TYPEINFO:
    case DEMANGLE_COMPONENT_TYPEINFO_NAME:
    case DEMANGLE_COMPONENT_TYPEINFO_FN:
    case DEMANGLE_COMPONENT_THUNK:
    case DEMANGLE_COMPONENT_VIRTUAL_THUNK:
    case DEMANGLE_COMPONENT_COVARIANT_THUNK:
    case DEMANGLE_COMPONENT_GUARD:
    case DEMANGLE_COMPONENT_TLS_INIT:
    case DEMANGLE_COMPONENT_TLS_WRAPPER:
    case DEMANGLE_COMPONENT_REFTEMP:
    case DEMANGLE_COMPONENT_HIDDEN_ALIAS:
    case DEMANGLE_COMPONENT_RESTRICT:
    case DEMANGLE_COMPONENT_VOLATILE:
    case DEMANGLE_COMPONENT_CONST:
    case DEMANGLE_COMPONENT_RESTRICT_THIS:
    case DEMANGLE_COMPONENT_VOLATILE_THIS:
    case DEMANGLE_COMPONENT_CONST_THIS:
    case DEMANGLE_COMPONENT_REFERENCE_THIS:
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
    case DEMANGLE_COMPONENT_TRANSACTION_SAFE:
    case DEMANGLE_COMPONENT_NOEXCEPT:
    case DEMANGLE_COMPONENT_THROW_SPEC:
    case DEMANGLE_COMPONENT_VENDOR_TYPE_QUAL:
    case DEMANGLE_COMPONENT_POINTER:
    case DEMANGLE_COMPONENT_REFERENCE:
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
    case DEMANGLE_COMPONENT_COMPLEX:
    case DEMANGLE_COMPONENT_IMAGINARY:
    case DEMANGLE_COMPONENT_VENDOR_TYPE:
    case DEMANGLE_COMPONENT_FUNCTION_TYPE:
    case DEMANGLE_COMPONENT_ARRAY_TYPE:
    case DEMANGLE_COMPONENT_PTRMEM_TYPE:
    case DEMANGLE_COMPONENT_VECTOR_TYPE:
    case DEMANGLE_COMPONENT_ARGLIST:
    case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST:
    case DEMANGLE_COMPONENT_TPARM_OBJ:
    case DEMANGLE_COMPONENT_INITIALIZER_LIST:
    case DEMANGLE_COMPONENT_CAST:
    case DEMANGLE_COMPONENT_CONVERSION:
    case DEMANGLE_COMPONENT_NULLARY:
    case DEMANGLE_COMPONENT_UNARY:
    case DEMANGLE_COMPONENT_BINARY:
    case DEMANGLE_COMPONENT_BINARY_ARGS:
    case DEMANGLE_COMPONENT_TRINARY:
    case DEMANGLE_COMPONENT_TRINARY_ARG1:
    case DEMANGLE_COMPONENT_TRINARY_ARG2:
    case DEMANGLE_COMPONENT_LITERAL:
    case DEMANGLE_COMPONENT_LITERAL_NEG:
    case DEMANGLE_COMPONENT_COMPOUND_NAME:
    case DEMANGLE_COMPONENT_DECLTYPE:
    case DEMANGLE_COMPONENT_TRANSACTION_CLONE:
    case DEMANGLE_COMPONENT_NONTRANSACTION_CLONE:
    case DEMANGLE_COMPONENT_PACK_EXPANSION:
    case DEMANGLE_COMPONENT_TAGGED_NAME:
    case DEMANGLE_COMPONENT_CLONE:
        return (children_t){ part->u.s_binary.left, part->u.s_binary.right,
                             true };

    default:
        return unknown;
    }
}


/* Steps through a part's branches, however often they are shared. */
static uint32_t
steps_of(const walk_t *w, const sym_part_t *part)
{
    return part != NULL ? w->steps[part->d_counting - 1] : 0;
}


static bool
is_reference(const sym_part_t *part, const children_t *c)
{
    return (part->type == DEMANGLE_COMPONENT_REFERENCE
            || part->type == DEMANGLE_COMPONENT_RVALUE_REFERENCE)
           && c->left != NULL
           && c->left->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM;
}


/* Steps of a search for a pack below it.  Which operator is sizeof..., only
 * libiberty knows. */
static uint32_t
pack_steps_of(const sym_part_t *part, uint32_t left, uint32_t right)
{
    switch ((int) part->type) {
    case DEMANGLE_COMPONENT_PACK_EXPANSION:
        return left;
    case DEMANGLE_COMPONENT_UNARY:
        return right;
    default:
        return 0;
    }
}


/* All below it is known. */
static void
close_part(walk_t *w, sym_part_t *part, const children_t *c)
{
    uint32_t left = steps_of(w, c->left), right = steps_of(w, c->right);
    uint32_t steps = 1 + left + right;

    w->n_templates += part->type == DEMANGLE_COMPONENT_TEMPLATE;
    w->n_references += is_reference(part, c);
    w->is_costly =
        w->is_costly || pack_steps_of(part, left, right) > PACK_STEPS_MAX;

    w->steps[w->out->n] = steps < PACK_STEPS_MAX ? steps : PACK_STEPS_MAX + 1;
    w->out->parts[w->out->n++] = part;
    part->d_counting = (int) w->out->n;
}


/* False: a part that is its own ancestor, or is unknown, or more of them than
 * can be. */
static inline bool
open_part(walk_t *w, sym_part_t *part)
{
    children_t children;

    if (part == NULL || part->d_counting > 0) {
        return true;
    }

    if (part->d_counting < 0 || w->n_open + w->out->n >= w->most) {
        return false;
    }

    children = children_of(part);

    /* half of them are leaves */
    if (children.left == NULL && children.right == NULL) {
        close_part(w, part, &children);
        return children.is_known;
    }

    part->d_counting = -1;
    w->open[w->n_open++] = (open_t){ .part = part, .children = children };
    return true;
}


static bool
walk(walk_t *w, sym_part_t *root)
{
    bool is_fine = open_part(w, root);

    while (is_fine && w->n_open != 0) {
        open_t *o = &w->open[w->n_open - 1];

        if (!o->is_left_done) {
            o->is_left_done = true;
            is_fine = open_part(w, o->children.left);
        } else if (!o->is_right_done) {
            o->is_right_done = true;
            is_fine = open_part(w, o->children.right);
        } else {
            w->n_open--;
            close_part(w, o->part, &o->children);
        }
    }

    return is_fine;
}


/* In one piece: three allocations cost a fifth of a short name's time. */
static bool
take_memory(walk_t *w, sym_parts_t *p)
{
    size_t each = sizeof(*p->parts) + sizeof(*w->open) + sizeof(*w->steps);

    p->parts = malloc(w->most * each);

    if (p->parts == NULL) {
        return false;
    }

    w->open = (open_t *) (p->parts + w->most);
    w->steps = (uint32_t *) (w->open + w->most);
    return true;
}


bool
sym_parts_check(sym_part_t *root, uint32_t most, sym_parts_t *p)
{
    walk_t w = { .out = p, .most = most };
    bool is_fine;

    p->n = 0;

    if (!take_memory(&w, p)) {
        return false;
    }

    is_fine = walk(&w, root) && !w.is_costly
              && w.n_templates * w.n_references <= COPIES_MAX;

    /* libiberty counts there, too, and starts from 0 */
    for (uint32_t i = 0; i < p->n; i++) {
        p->parts[i]->d_counting = 0;
    }

    return is_fine;
}


void
sym_parts_spoil(void *ctx)
{
    const sym_parts_t *p = ctx;

    /* more often than twice at a time it prints none */
    for (uint32_t i = 0; i < p->n; i++) {
        p->parts[i]->d_printing = 2;
    }
}
