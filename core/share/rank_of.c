#include "share/rank_of.h"

/* Whether a search for the reference requests the artifact's file. */
static bool
leads_to(sym_arena_t *arena, const sym_object_ref_t *ref,
         const sym_source_rules_t *rules, const sym_object_record_t *record)
{
    sym_source_plan_t plan;
    unsigned i = 0;

    if (sym_source_plan(arena, ref, rules,
                        sym_kind_files(record->kind, ref->type),
                        SYM_DEBUG_FILES_FIRST, &plan)
        != SYM_OK)
    {
        return false;
    }

    while (i < plan.n && !sym_str_eq(plan.at[i].path, record->path)) {
        i++;
    }

    return i < plan.n;
}


static bool
leads_with(sym_arena_t *arena, sym_object_ref_t *ref, sym_str_t code_file,
           const sym_source_rules_t *rules, const sym_object_record_t *record)
{
    ref->code_file = code_file;
    return leads_to(arena, ref, rules, record);
}


/* By the places of Mozilla's clients. */
static bool
leads_to_either(sym_arena_t *arena, sym_object_ref_t *ref,
                const sym_source_rules_t *rules,
                const sym_object_record_t *record)
{
    ref->code_file = SYM_STR("");
    ref->type = SYM_OBJECT_UNKNOWN;
    ref->is_either = true;
    return leads_to(arena, ref, rules, record);
}


bool
sym_rank_of(sym_arena_t *arena, sym_str_t source,
            const sym_source_rules_t *rules, const sym_object_record_t *record,
            char ref[SYM_REF_BYTES_MAX], sym_rank_t *rank)
{
    const sym_object_key_t *object = &record->object;
    sym_object_ref_t of = { .type = object->type,
                            .debug_id = object->debug_id,
                            .code_id = object->code_id,
                            .debug_file = object->name };

    if (!sym_object_is_shareable(record) || !record->has_path) {
        return false;
    }

    /* at symbol servers of Microsoft, the path of a code file ends in its name */
    if (!leads_to(arena, &of, rules, record)
        && !leads_with(arena, &of,
                       sym_str_after_last(record->path, SYM_STR("/")), rules,
                       record)
        && !leads_to_either(arena, &of, rules, record))
    {
        return false;
    }

    *rank = (sym_rank_t){
        .weight = SYM_RANK_USE,
        .kind = (uint8_t) record->kind,
        .source = source,
        .ref = sym_str(ref, sym_object_ref_write(&of, ref)),
    };
    return sym_rank_ref_read(rank->ref, &of);
}
