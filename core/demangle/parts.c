#include "demangle/parts.h"

#include <stdlib.h>

/*
 * Limit on the steps of one search for the pack of an expansion ("Args...",
 * "sizeof...(args)").  In such a search libiberty walks shared branches
 * repeatedly.
 */
#define PACK_STEPS_MAX 4096u

/* Limit on copies.  For each reference to a parameter, libiberty copies the
 * active templates to its stack: 16 bytes each.  Both are counted twice. */
#define COPIES_MAX 8192u

/* Limit on the parts on the stack.  Each pushes two others, and stays
 * itself. */
#define OPEN_MAX(most) (2 * (most) + 2)

/* Children of a part. */
typedef enum {
    UNKNOWN,
    NOTHING,
    BRANCHES, /* two children; either may be NULL */
    CTOR,
    DTOR,
    EXTENDED_OPERATOR,
    NUMBERED,
} below_t;

static const uint8_t below[] = {
    [DEMANGLE_COMPONENT_NAME] = NOTHING,
    [DEMANGLE_COMPONENT_TEMPLATE_PARAM] = NOTHING,
    [DEMANGLE_COMPONENT_FUNCTION_PARAM] = NOTHING,
    [DEMANGLE_COMPONENT_SUB_STD] = NOTHING,
    [DEMANGLE_COMPONENT_BUILTIN_TYPE] = NOTHING,
    [DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE] = NOTHING,
    [DEMANGLE_COMPONENT_OPERATOR] = NOTHING,
    [DEMANGLE_COMPONENT_CHARACTER] = NOTHING,
    [DEMANGLE_COMPONENT_NUMBER] = NOTHING,
    [DEMANGLE_COMPONENT_UNNAMED_TYPE] = NOTHING,

    [DEMANGLE_COMPONENT_CTOR] = CTOR,
    [DEMANGLE_COMPONENT_DTOR] = DTOR,
    [DEMANGLE_COMPONENT_EXTENDED_OPERATOR] = EXTENDED_OPERATOR,
    [DEMANGLE_COMPONENT_LAMBDA] = NUMBERED,
    [DEMANGLE_COMPONENT_DEFAULT_ARG] = NUMBERED,

    [DEMANGLE_COMPONENT_QUAL_NAME] = BRANCHES,
    [DEMANGLE_COMPONENT_LOCAL_NAME] = BRANCHES,
    [DEMANGLE_COMPONENT_TYPED_NAME] = BRANCHES,
    [DEMANGLE_COMPONENT_TEMPLATE] = BRANCHES,
    [DEMANGLE_COMPONENT_VTABLE] = BRANCHES,
    [DEMANGLE_COMPONENT_VTT] = BRANCHES,
    [DEMANGLE_COMPONENT_CONSTRUCTION_VTABLE] = BRANCHES,
    [DEMANGLE_COMPONENT_TYPEINFO] = BRANCHES,
    [DEMANGLE_COMPONENT_TYPEINFO_NAME] = BRANCHES,
    [DEMANGLE_COMPONENT_TYPEINFO_FN] = BRANCHES,
    [DEMANGLE_COMPONENT_THUNK] = BRANCHES,
    [DEMANGLE_COMPONENT_VIRTUAL_THUNK] = BRANCHES,
    [DEMANGLE_COMPONENT_COVARIANT_THUNK] = BRANCHES,
    [DEMANGLE_COMPONENT_GUARD] = BRANCHES,
    [DEMANGLE_COMPONENT_TLS_INIT] = BRANCHES,
    [DEMANGLE_COMPONENT_TLS_WRAPPER] = BRANCHES,
    [DEMANGLE_COMPONENT_REFTEMP] = BRANCHES,
    [DEMANGLE_COMPONENT_HIDDEN_ALIAS] = BRANCHES,
    [DEMANGLE_COMPONENT_RESTRICT] = BRANCHES,
    [DEMANGLE_COMPONENT_VOLATILE] = BRANCHES,
    [DEMANGLE_COMPONENT_CONST] = BRANCHES,
    [DEMANGLE_COMPONENT_RESTRICT_THIS] = BRANCHES,
    [DEMANGLE_COMPONENT_VOLATILE_THIS] = BRANCHES,
    [DEMANGLE_COMPONENT_CONST_THIS] = BRANCHES,
    [DEMANGLE_COMPONENT_REFERENCE_THIS] = BRANCHES,
    [DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS] = BRANCHES,
    [DEMANGLE_COMPONENT_TRANSACTION_SAFE] = BRANCHES,
    [DEMANGLE_COMPONENT_NOEXCEPT] = BRANCHES,
    [DEMANGLE_COMPONENT_THROW_SPEC] = BRANCHES,
    [DEMANGLE_COMPONENT_VENDOR_TYPE_QUAL] = BRANCHES,
    [DEMANGLE_COMPONENT_POINTER] = BRANCHES,
    [DEMANGLE_COMPONENT_REFERENCE] = BRANCHES,
    [DEMANGLE_COMPONENT_RVALUE_REFERENCE] = BRANCHES,
    [DEMANGLE_COMPONENT_COMPLEX] = BRANCHES,
    [DEMANGLE_COMPONENT_IMAGINARY] = BRANCHES,
    [DEMANGLE_COMPONENT_VENDOR_TYPE] = BRANCHES,
    [DEMANGLE_COMPONENT_FUNCTION_TYPE] = BRANCHES,
    [DEMANGLE_COMPONENT_ARRAY_TYPE] = BRANCHES,
    [DEMANGLE_COMPONENT_PTRMEM_TYPE] = BRANCHES,
    [DEMANGLE_COMPONENT_VECTOR_TYPE] = BRANCHES,
    [DEMANGLE_COMPONENT_ARGLIST] = BRANCHES,
    [DEMANGLE_COMPONENT_TEMPLATE_ARGLIST] = BRANCHES,
    [DEMANGLE_COMPONENT_TPARM_OBJ] = BRANCHES,
    [DEMANGLE_COMPONENT_INITIALIZER_LIST] = BRANCHES,
    [DEMANGLE_COMPONENT_CAST] = BRANCHES,
    [DEMANGLE_COMPONENT_CONVERSION] = BRANCHES,
    [DEMANGLE_COMPONENT_NULLARY] = BRANCHES,
    [DEMANGLE_COMPONENT_UNARY] = BRANCHES,
    [DEMANGLE_COMPONENT_BINARY] = BRANCHES,
    [DEMANGLE_COMPONENT_BINARY_ARGS] = BRANCHES,
    [DEMANGLE_COMPONENT_TRINARY] = BRANCHES,
    [DEMANGLE_COMPONENT_TRINARY_ARG1] = BRANCHES,
    [DEMANGLE_COMPONENT_TRINARY_ARG2] = BRANCHES,
    [DEMANGLE_COMPONENT_LITERAL] = BRANCHES,
    [DEMANGLE_COMPONENT_LITERAL_NEG] = BRANCHES,
    [DEMANGLE_COMPONENT_COMPOUND_NAME] = BRANCHES,
    [DEMANGLE_COMPONENT_DECLTYPE] = BRANCHES,
    [DEMANGLE_COMPONENT_TRANSACTION_CLONE] = BRANCHES,
    [DEMANGLE_COMPONENT_NONTRANSACTION_CLONE] = BRANCHES,
    [DEMANGLE_COMPONENT_PACK_EXPANSION] = BRANCHES,
    [DEMANGLE_COMPONENT_TAGGED_NAME] = BRANCHES,
    [DEMANGLE_COMPONENT_CLONE] = BRANCHES,
};

typedef struct {
    sym_shard_t *left, *right;
} children_t;

typedef struct {
    sym_shards_t *out;
    sym_shard_t **open; /* stack of parts to close or to visit */
    uint32_t n_open, most;
    uint64_t n_templates, n_references;
    bool is_costly;
} walk_t;

/* Values that a walk writes into libiberty's counter, which is 0 at first.  0:
 * the part was not visited.  -1: it is on the path from the root to the current
 * part.  Others: number of steps through its branches; shared ones count each
 * time. */
#define IS_NEW 0
#define IS_OPEN (-1)


static below_t
below_of(const sym_shard_t *part)
{
    size_t type = (size_t) part->type;

    return type < sizeof(below) ? (below_t) below[type] : UNKNOWN;
}


static inline children_t
children_of(const sym_shard_t *part, below_t kind)
{
    switch (kind) {
    case BRANCHES:
        return (children_t){ part->u.s_binary.left, part->u.s_binary.right };
    case CTOR:
        return (children_t){ part->u.s_ctor.name, NULL };
    case DTOR:
        return (children_t){ part->u.s_dtor.name, NULL };
    case EXTENDED_OPERATOR:
        return (children_t){ part->u.s_extended_operator.name, NULL };
    case NUMBERED:
        return (children_t){ part->u.s_unary_num.sub, NULL };
    default:
        return (children_t){ NULL, NULL };
    }
}


static uint32_t
steps_of(const sym_shard_t *part)
{
    return part != NULL ? (uint32_t) part->d_counting : 0;
}


/* Adds the cost of the part's type. */
static void
weigh(walk_t *w, const sym_shard_t *part, children_t c)
{
    switch ((int) part->type) {
    case DEMANGLE_COMPONENT_TEMPLATE:
        w->n_templates++;
        break;

    case DEMANGLE_COMPONENT_REFERENCE:
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
        w->n_references +=
            c.left != NULL && c.left->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM;
        break;

    /* a search for a pack in its operand */
    case DEMANGLE_COMPONENT_PACK_EXPANSION:
        w->is_costly = w->is_costly || steps_of(c.left) > PACK_STEPS_MAX;
        break;

    /* only libiberty knows which operator is sizeof... */
    case DEMANGLE_COMPONENT_UNARY:
        w->is_costly = w->is_costly || steps_of(c.right) > PACK_STEPS_MAX;
        break;

    default:
        break;
    }
}


/* Adds a part whose descendants are known.  False: there are more parts than
 * possible. */
static inline bool
close_part(walk_t *w, sym_shard_t *part, children_t c)
{
    uint32_t steps = 1 + steps_of(c.left) + steps_of(c.right);

    if (w->out->n == w->most) {
        return false;
    }

    part->d_counting =
        (int) (steps < PACK_STEPS_MAX ? steps : PACK_STEPS_MAX + 1);
    w->out->parts[w->out->n++] = part;
    return true;
}


/* Visits a part unless it is known.  False: it is its own ancestor, or there
   are too many. */
static inline bool
push(walk_t *w, sym_shard_t *part)
{
    const children_t none = { NULL, NULL };

    if (part == NULL || part->d_counting > 0) {
        return true;
    }

    /* a third of all parts have no children */
    if (below_of(part) == NOTHING) {
        return close_part(w, part, none);
    }

    w->open[w->n_open++] = part;
    return part->d_counting == IS_NEW;
}


/* Visits or closes the part on top.  False: it is unknown, or one of its
   descendants is bad. */
static inline bool
step(walk_t *w)
{
    sym_shard_t *part = w->open[w->n_open - 1];
    const below_t kind = below_of(part);
    const children_t c = children_of(part, kind);

    if (part->d_counting == IS_NEW) {
        part->d_counting = IS_OPEN;
        return kind != UNKNOWN && w->n_open + 2 <= OPEN_MAX(w->most)
               && push(w, c.right) && push(w, c.left);
    }

    w->n_open--;

    /* if it is not open, it was closed through another path */
    if (part->d_counting == IS_OPEN) {
        weigh(w, part, c);
        return close_part(w, part, c);
    }

    return true;
}


static bool
walk(walk_t *w, sym_shard_t *root)
{
    bool is_fine = push(w, root);

    while (is_fine && w->n_open != 0) {
        is_fine = step(w);
    }

    return is_fine;
}


/* One block, because three allocations would take a fifth of a short name's
 * time. */
static bool
take_memory(walk_t *w, sym_shards_t *p)
{
    p->parts =
        malloc((w->most + OPEN_MAX((size_t) w->most)) * sizeof(*p->parts));

    if (p->parts == NULL) {
        return false;
    }

    w->open = p->parts + w->most;
    return true;
}


static void
reset(walk_t *w)
{
    for (uint32_t i = 0; i < w->out->n; i++) {
        w->out->parts[i]->d_counting = 0;
    }
}


bool
sym_shards_check(sym_shard_t *root, uint32_t most, sym_shards_t *p)
{
    walk_t w = { .out = p, .most = most };
    bool is_fine;

    p->n = 0;

    if (!take_memory(&w, p)) {
        return false;
    }

    is_fine = walk(&w, root) && !w.is_costly
              && w.n_templates * w.n_references <= COPIES_MAX;
    reset(&w);
    return is_fine;
}


void
sym_shards_spoil(void *ctx)
{
    const sym_shards_t *p = ctx;

    /* libiberty refuses to print a part that is nested in itself more than
     * twice */
    for (uint32_t i = 0; i < p->n; i++) {
        p->parts[i]->d_printing = 2;
    }
}
