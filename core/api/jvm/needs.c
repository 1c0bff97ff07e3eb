#include "api/jvm/jvm.h"

static bool
is_same(const jvm_module_t *a, const jvm_module_t *b)
{
    return a->is_source == b->is_source
           && sym_debug_id_eq(&a->ref.debug_id, &b->ref.debug_id);
}


/* Sets `need` of each module; modules with the same file share the number of
 * the first one.  SYM_NOMEM. */
static sym_status_t
find_first(jvm_t *j)
{
    jvm_module_t *modules = j->request.modules.items;
    uint32_t n = j->request.modules.n, first = 0;
    sym_sort_item_t *order =
        sym_arena_alloc(j->base.arena, ((size_t) n + 1) * sizeof(*order));

    if (order == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < n; i++) {
        order[i] = (sym_sort_item_t){
            sym_object_ref_hash(&modules[i].ref) ^ modules[i].is_source, i
        };
    }

    if (!sym_sort(order, n)) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < n; i++) {
        jvm_module_t *m = &modules[order[i].at];

        first = i != 0 && is_same(m, &modules[first]) ? first : order[i].at;
        m->need = first;
    }

    return SYM_OK;
}


sym_status_t
jvm_find_needs(jvm_t *j)
{
    static const sym_object_ref_t nothing = { .is_either = false };
    jvm_module_t *modules = j->request.modules.items;
    bool has_source =
        j->base.request_sources == NULL || j->base.request_sources->n != 0;
    uint32_t n = 0;

    j->base.needs = sym_arena_calloc(j->base.arena, j->request.modules.n,
                                     sizeof(*j->base.needs));
    if (j->base.needs == NULL || find_first(j) != SYM_OK) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < j->request.modules.n; i++) {
        jvm_module_t *m = &modules[i];

        if (m->need != i) {
            m->need = modules[m->need].need;
            continue;
        }

        m->need = n++;
        j->base.needs[m->need] = (sym_need_t){
            .ref = has_source ? &m->ref : &nothing,
            .kind = m->is_source ? SYM_KIND_SOURCES : SYM_KIND_JVM,
            .found = SYM_NEED_MISSING,
        };
    }

    j->base.stats.jobs = 1;
    j->base.stats.stacks = j->request.stacks.n;
    j->base.stats.frames = j->request.frames.n;
    j->base.stats.modules = n;
    return SYM_OK;
}
