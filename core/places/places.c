#include "places/places.h"

#include <stdio.h>

static const sym_source_rules_t url_rules = { .layout = SYM_LAYOUT_URL,
                                              .files = ~0U };

/* A lookup, and its places at one source. */
typedef struct {
    const sym_scopes_t *scopes;
    const sym_lookup_t *of;
    sym_arena_t *arena, before;
    sym_source_plan_t plan;
    sym_str_t paths[SYM_PLAN_MAX];
} planning_t;

static const sym_source_rules_t *
rules_of(const sym_scopes_t *scopes, uint32_t n, const sym_lookup_t *of)
{
    return scopes->rules != NULL   ? scopes->rules[n]
           : of->ref->url.len != 0 ? &url_rules
                                   : NULL;
}


/* Returns false if the source is not searched for the object. */
static bool
make_plan(const sym_scopes_t *scopes, uint32_t n, const sym_lookup_t *of,
          sym_file_order_t order, sym_arena_t *arena, sym_source_plan_t *plan)
{
    const sym_source_rules_t *rules = rules_of(scopes, n, of);

    return rules != NULL
           && sym_source_plan(arena, of->ref, rules,
                              sym_kind_files(of->kind, of->ref->type)
                                  & ~of->without,
                              order, plan)
                  == SYM_OK;
}


static bool
plan(void *ctx, uint32_t n, sym_places_t *places)
{
    planning_t *p = ctx;
    const sym_object_ref_t *ref = p->of->ref;

    /* the order of files affects only the choice among them */
    sym_arena_rewind(p->arena, &p->before);
    if (!make_plan(p->scopes, n, p->of, SYM_DEBUG_FILES_FIRST, p->arena,
                   &p->plan)) {
        return false;
    }

    for (unsigned i = 0; i < p->plan.n; i++) {
        p->paths[i] = p->plan.at[i].path;
    }

    *places = (sym_places_t){ .scope = p->scopes->names[n],
                              .checksum = ref->checksum,
                              .paths = p->paths,
                              .n = p->plan.n };
    return true;
}


sym_status_t
sym_places_choose(sym_snapshot_t *s, const sym_scopes_t *scopes,
                  const sym_lookup_t *of, int64_t now_s, sym_arena_t *arena,
                  sym_choice_t *choice, sym_error_t *err)
{
    planning_t p; /* a plan is too large to be zeroed */
    sym_status_t rc;

    p.scopes = scopes;
    p.of = of;
    p.arena = arena;
    p.before = *arena;
    rc = sym_snapshot_choose_object(s, scopes, of->ref, of->kind, plan, &p,
                                    now_s, choice, err);
    sym_arena_rewind(arena, &p.before);
    return rc;
}


/* --- for each place --- */

sym_status_t
sym_places_each(sym_snapshot_t *s, const sym_scopes_t *scopes, uint32_t n,
                const sym_lookup_t *of, sym_file_order_t order,
                sym_arena_t *arena, sym_place_each_pt fn, void *ctx,
                unsigned *n_places, sym_error_t *err)
{
    sym_asking_t asking = { .ref = of->ref,
                            .kind = of->kind,
                            .reader = sym_kinds_reader(),
                            .has_artifact = true };
    sym_path_record_t record;
    sym_source_plan_t plan;

    if (!make_plan(scopes, n, of, order, arena, &plan)) {
        plan.n = 0;
    }

    *n_places = plan.n;
    for (unsigned i = 0; i < plan.n && err->status == SYM_OK; i++) {
        sym_place_t place = { .key = { scopes->names[n], plan.at[i].path,
                                       of->ref->checksum } };

        if (sym_snapshot_path(s, &place.key, &record, err) == SYM_OK) {
            place.record = &record;
            asking.now_s = record.stored_at;
            place.state = sym_path_says(&record, &asking).state;
        }

        fn(ctx, &place);
    }

    return err->status;
}


sym_str_t
sym_place_outcome(const sym_path_record_t *record,
                  char text[SYM_PLACE_OUTCOME_MAX])
{
    int len;

    if (record->word.len != 0) {
        return record->word;
    }

    len = snprintf(text, SYM_PLACE_OUTCOME_MAX, "%u", record->status);
    return sym_str(text, (size_t) len);
}


bool
sym_place_weigh(const sym_place_t *place, sym_object_record_t *r)
{
    const sym_path_record_t *p = place->record;
    unsigned weight = sym_module_state_weight(place->state), last;
    bool decides;

    if (r->state == SYM_MODULE_READY || place->state == 0
        || place->state == SYM_MODULE_READY)
    {
        return false;
    }

    if (r->expires_at == 0 || p->expires_at < r->expires_at) {
        r->expires_at = p->expires_at;
    }

    last = r->state == 0 ? 0 : sym_module_state_weight(r->state);
    decides = weight > last
              || (weight == last && r->reason.len == 0 && p->reason.len != 0);
    if (decides) {
        r->state = place->state;
        r->reason = p->reason;
        r->stored_at = p->stored_at;
    }

    return decides;
}


bool
sym_place_is_tried(const sym_place_t *place)
{
    return place->record != NULL
           && !sym_str_eq(place->record->word, SYM_STR("unlisted"))
           && !sym_str_eq(place->record->word, SYM_STR("untried"));
}
