#include "api/jvm/jvm.h"

/* The need of an earlier module of the same file. */
static bool
find_earlier(const jvm_t *j, uint32_t n, const jvm_module_t *m, uint32_t *need)
{
    const jvm_module_t *modules = j->request.modules.items;

    for (uint32_t i = 0; i < n; i++) {
        if (modules[i].is_source == m->is_source
            && sym_debug_id_eq(&modules[i].ref.debug_id, &m->ref.debug_id))
        {
            *need = modules[i].need;
            return true;
        }
    }

    return false;
}


sym_status_t
jvm_find_needs(jvm_t *j)
{
    static const sym_object_ref_t nothing = { .is_either = false };
    jvm_module_t *modules = j->request.modules.items;
    bool has_source = j->base.request_sources->n != 0;
    uint32_t n = 0;

    j->base.needs = sym_arena_calloc(j->base.arena, j->request.modules.n,
                                     sizeof(*j->base.needs));
    if (j->base.needs == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < j->request.modules.n; i++) {
        jvm_module_t *m = &modules[i];

        if (find_earlier(j, i, m, &m->need)) {
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
    j->base.stats.frames = j->request.n_frames;
    j->base.stats.modules = n;
    return SYM_OK;
}
