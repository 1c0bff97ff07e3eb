#include "api/sentry/sentry.h"

sym_status_t
sentry_sort_modules(sentry_t *s)
{
    sentry_request_t *q = &s->request;
    sentry_module_t *m = q->modules;

    q->order = sym_arena_alloc(s->base.arena, q->n_modules * sizeof(*q->order));
    if (q->order == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < q->n_modules; i++) {
        q->order[i] = (sym_sort_item_t){ m[i].addr, i };
    }

    if (!sym_sort(q->order, q->n_modules)) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < q->n_modules; i++) {
        const sym_sort_item_t *item = &q->order[i];

        if (i + 1 < q->n_modules && m[item->at].size == 0) {
            m[item->at].size = item[1].key - item->key;
            m[item->at].has_size = true;
        }
    }

    return SYM_OK;
}


uint32_t
sentry_module_at(const sentry_request_t *q, uint64_t addr)
{
    const sym_sort_item_t *item = q->order;
    const sentry_module_t *m;

    /* the last module at or below the address, found without unpredictable
     * branches */
    for (uint32_t n = q->n_modules; n > 1; n -= n / 2) {
        item += item[n / 2].key <= addr ? n / 2 : 0;
    }

    if (q->n_modules == 0 || item->key > addr) {
        return SENTRY_NO_MODULE;
    }

    m = &q->modules[item->at];
    if (m->addr + m->size < m->addr
        || (m->size != 0 && addr > m->addr + m->size)) {
        return SENTRY_NO_MODULE;
    }

    return item->at;
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

static sym_str_t
text_of_object(sym_str_t text)
{
    return text.len <= SYM_OBJECT_TEXT_MAX ? text : SYM_STR("");
}


static void
fill_need(sentry_t *s, sentry_module_t *m, sym_need_t *need)
{
    static const sym_object_ref_t nothing = { .is_either = false };
    bool has_source =
        s->base.request_sources == NULL || s->base.request_sources->n != 0;

    m->ref.debug_file = text_of_object(m->debug_file);
    m->ref.code_file = text_of_object(m->code_file);
    m->ref.checksum = text_of_object(m->debug_checksum);

    *need = (sym_need_t){
        .ref = has_source ? &m->ref : &nothing,
        .is_thorough = s->request.has_candidates,
        .kind = m->ref.type == SYM_OBJECT_PE_DOTNET ? SYM_KIND_PPDB
                                                    : SYM_KIND_SYMCACHE,
        .found = SYM_NEED_MISSING,
    };
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
            fill_need(s, &q->modules[i], &s->base.needs[n]);
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
        sentry_frame_t *frame;

        if (budget == 0) {
            return SYM_AGAIN;
        }

        frame = sentry_frame(q, s->next);
        frame->module = sentry_module_of(q, frame);
        if (frame->module != SENTRY_NO_MODULE) {
            q->modules[frame->module].need = 1;
        }
    }

    s->base.stats.jobs = 1;
    s->base.stats.stacks = q->n_stacks;
    s->base.stats.frames = q->n_frames;
    return collect_needs(s);
}
