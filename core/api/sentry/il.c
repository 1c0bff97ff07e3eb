#include "api/sentry/sentry.h"

#include "artifacts/ppdb/read/il.h"

struct sentry_il_s {
    sym_ppdb_t ppdb;
    sym_status_t opened;
    bool is_tried;
};


/* Returns the artifact of a need that was found; NULL: it cannot be read. */
static const sym_ppdb_t *
open_artifact(sentry_t *s, uint32_t need)
{
    sentry_answer_t *a = s->answer;
    struct sentry_il_s *il;
    sym_extent_source_t extents;
    sym_error_t err = { 0 };

    if (a->il == NULL) {
        a->il = sym_arena_calloc(s->base.arena, s->base.stats.modules,
                                 sizeof(*a->il));
        if (a->il == NULL) {
            return NULL;
        }
    }

    il = &a->il[need];
    if (!il->is_tried) {
        extents = sym_artifact_extents(&s->base.needs[need].artifact);
        il->is_tried = true;
        il->opened = sym_il_open(&il->ppdb, s->base.arena, &extents, &err);
    }

    return il->opened == SYM_OK ? &il->ppdb : NULL;
}


bool
sentry_has_no_own_sources(sentry_t *s, uint32_t need)
{
    const sym_need_t *n = &s->base.needs[need];
    const sym_ppdb_t *ppdb =
        n->kind == SYM_KIND_PPDB && n->found == SYM_NEED_FOUND
            ? open_artifact(s, need)
            : NULL;

    return ppdb != NULL && !ppdb->has_sources;
}


bool
sentry_look_up_il(sentry_t *s, const sentry_frame_t *frame,
                  const sentry_place_t *place, sym_il_frame_t *found)
{
    const sentry_field_t *method = sentry_field(frame, SENTRY_FUNCTION_ID);
    const sym_ppdb_t *ppdb = open_artifact(s, place->need);

    return ppdb != NULL && method != NULL
           && sym_il_answer(ppdb, (uint32_t) method->value.number,
                            (uint32_t) frame->addr, found)
                  == SYM_OK;
}
