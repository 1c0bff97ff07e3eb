#include "api/sentry/sentry.h"

#include "base/sort.h"

sym_status_t
sentry_sort_modules(sentry_t *s)
{
    sentry_request_t *q = &s->request;
    sym_sort_item_t *items;
    sentry_module_t *m = q->modules;

    items = sym_arena_alloc(s->base.arena, q->n_modules * sizeof(*items));
    q->order = sym_arena_alloc(s->base.arena, q->n_modules * sizeof(*q->order));
    if (items == NULL || q->order == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < q->n_modules; i++) {
        items[i] = (sym_sort_item_t){ m[i].addr, i };
    }

    if (!sym_sort(items, q->n_modules)) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < q->n_modules; i++) {
        q->order[i] = items[i].at;

        if (i + 1 < q->n_modules && m[items[i].at].size == 0) {
            m[items[i].at].size = items[i + 1].key - items[i].key;
            m[items[i].at].has_size = true;
        }
    }

    return SYM_OK;
}


uint32_t
sentry_module_at(const sentry_request_t *q, uint64_t addr)
{
    uint32_t low = 0, high = q->n_modules;
    const sentry_module_t *m;

    /* how many lie at or below the address */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (q->modules[q->order[middle]].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    if (low == 0) {
        return SENTRY_NO_MODULE;
    }

    m = &q->modules[q->order[low - 1]];
    if (m->addr + m->size < m->addr
        || (m->size != 0 && addr > m->addr + m->size)) {
        return SENTRY_NO_MODULE;
    }

    return q->order[low - 1];
}


uint32_t
sentry_module_of(const sentry_request_t *q, const sentry_frame_t *frame)
{
    if (!frame->is_relative) {
        return sentry_module_at(q, frame->addr);
    }

    return frame->relative_to < q->n_modules ? (uint32_t) frame->relative_to
                                             : SENTRY_NO_MODULE;
}


/* --- needs --- */

/* The id stays "" if no store can find the module. */
static sym_status_t
fill_need(sentry_t *s, sentry_module_t *m, sym_need_t *need)
{
    char id[SYM_ID_MAX];
    sym_module_key_t key;

    m->id.debug_file = m->debug_file;
    m->id.code_file = m->code_file;
    m->id.debug_checksum = m->debug_checksum;
    (void) sym_object_key(&m->id, id, &key);

    if (s->base.given != NULL && s->base.given->n == 0) {
        key.id = SYM_STR(""); /* there is no source to ask */
    }

    key.id = sym_arena_copy(s->base.arena, key.id);
    if (key.name.len == 0 || key.name.data == id) {
        key.name = key.id;
    }

    *need = (sym_need_t){
        .name = key.name,
        .id = key.id,
        .key = key,
        .object = &m->id,
        .is_thorough = s->request.has_candidates,
        .kind = m->id.type == SYM_OBJECT_PE_DOTNET ? SYM_KIND_PPDB
                                                   : SYM_KIND_SYMCACHE,
        .found = SYM_NEED_MISSING,
    };
    return key.id.data != NULL ? SYM_OK : SYM_NOMEM;
}


static sym_status_t
collect_needs(sentry_t *s)
{
    sentry_request_t *q = &s->request;
    uint32_t n = 0;

    for (uint32_t i = 0; i < q->n_modules; i++) {
        n += q->modules[i].need != 0;
    }

    s->base.stats.modules = n;
    s->base.needs = sym_arena_calloc(s->base.arena, n, sizeof(*s->base.needs));
    if (s->base.needs == NULL) {
        return SYM_NOMEM;
    }

    n = 0;
    for (uint32_t i = 0; i < q->n_modules; i++) {
        if (q->modules[i].need != 0) {
            sym_status_t rc = fill_need(s, &q->modules[i], &s->base.needs[n]);

            if (rc != SYM_OK) {
                return rc;
            }
            q->modules[i].need = ++n;
        }
    }

    return SYM_OK;
}


sym_status_t
sentry_find_needs(sentry_t *s, uint32_t budget)
{
    sentry_request_t *q = &s->request;

    for (; s->next < q->n_frames; s->next++, budget--) {
        uint32_t module;

        if (budget == 0) {
            return SYM_AGAIN;
        }

        module = sentry_module_of(q, sentry_frame(q, s->next));
        if (module != SENTRY_NO_MODULE) {
            q->modules[module].need = 1;
        }
    }

    s->base.stats.jobs = 1;
    s->base.stats.stacks = q->n_stacks;
    s->base.stats.frames = q->n_frames;
    return collect_needs(s);
}
