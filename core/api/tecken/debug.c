#include "api/tecken/answer.h"

/*
 * The block that a Debug header asks for (Eliot's keys in Eliot's order, then
 * `stacks` of the older server).  What a request does not do here is absent:
 * symbols are parsed and kept by another process.
 */

static void
write_count(sym_out_t *out, sym_str_t key, uint64_t value)
{
    sym_out_raw(out, key);
    sym_out_dec(out, value);
}


static void
write_time(sym_out_t *out, sym_str_t key, double seconds)
{
    sym_out_raw(out, key);
    sym_out_seconds(out, seconds);
}


/* A key of a map: both parts are as sent, of characters that JSON takes. */
static void
write_module(sym_out_t *out, sym_str_t name, sym_str_t id)
{
    sym_out_raw(out, name);
    sym_out_raw(out, SYM_STR("/"));
    sym_out_raw(out, id);
}


void
debug_head(const sym_tecken_t *t, sym_out_t *out)
{
    const sym_request_stats_t *stats = &t->base.stats;

    write_count(out, SYM_STR(", \"debug\": {\"cache_lookups\": {\"count\": "),
                stats->modules);
    if (stats->modules != 0) {
        write_count(out, SYM_STR(", \"hits\": "), t->base.hits);
    }
    write_time(out, SYM_STR(", \"time\": "), stats->lookup_s);

    write_count(out, SYM_STR("}, \"downloads\": {\"count\": "), stats->fetched);
}


/* True if the map tells of the module: of what came, or of what was waited for
 * and did not come. */
static bool
is_in_map(const sym_need_t *m, debug_map_t map)
{
    bool has_come = m->is_fetched && m->found == SYM_NEED_FOUND;

    return m->is_waited
           && (map == DEBUG_FAIL_TIMES ? m->found != SYM_NEED_FOUND : has_come);
}


static sym_str_t
map_start(debug_map_t map)
{
    switch (map) {
    case DEBUG_SIZES:
        return SYM_STR(", \"size_per_module\": {\"");
    case DEBUG_TIMES:
        return SYM_STR(", \"time_per_module\": {\"");
    default:
        return SYM_STR(", \"fail_time_per_module\": {\"");
    }
}


bool
debug_map(sym_tecken_t *t, debug_map_t map, uint32_t *budget, sym_out_t *out)
{
    answer_t *a = t->answer;

    for (; a->next<t->base.stats.modules && * budget> 0 && !out->is_full;
         a->next++, --*budget)
    {
        const sym_need_t *m = &t->base.needs[a->next];
        char id[SYM_ID_TEXT_MAX];

        if (!is_in_map(m, map)) {
            continue;
        }

        sym_out_raw(out, a->is_first ? map_start(map) : SYM_STR(", \""));
        write_module(out, m->ref->debug_file, sym_object_ref_sent(m->ref, id));
        a->is_first = false;

        if (map == DEBUG_SIZES) {
            write_count(out, SYM_STR("\": "), m->fetched_bytes);
        } else {
            write_time(out, SYM_STR("\": "), m->waited_s);
        }
    }

    if (a->next != t->base.stats.modules) {
        return false;
    }

    if (!a->is_first) {
        sym_out_raw(out, SYM_STR("}"));
    }

    return true;
}


void
debug_totals(const sym_tecken_t *t, double spent_s, sym_out_t *out)
{
    const sym_request_stats_t *stats = &t->base.stats;

    write_count(out, SYM_STR(", \"size\": "), stats->fetched_bytes);
    write_time(out, SYM_STR(", \"time\": "), stats->waited_s);

    write_time(out, SYM_STR("}, \"time\": "), spent_s);
    write_count(out, SYM_STR(", \"modules\": {\"count\": "),
                t->answer->settled);
}


void
debug_modules(sym_tecken_t *t, uint32_t *budget, sym_out_t *out)
{
    answer_t *a = t->answer;
    const pair_t *pairs = t->request.pairs.items;

    for (; a->next<t->request.pairs.n && * budget> 0 && !out->is_full;
         a->next++, --*budget)
    {
        const pair_t *pair = &pairs[a->next];

        if (pair->stacks == 0) {
            continue;
        }

        sym_out_raw(out, a->is_first ? SYM_STR(", \"stacks_per_module\": {\"")
                                     : SYM_STR(", \""));
        write_module(out, pair->name, pair->id);
        write_count(out, SYM_STR("\": "), pair->stacks);
        a->is_first = false;
    }
}


void
debug_tail(const sym_tecken_t *t, sym_out_t *out)
{
    sym_out_raw(out, t->answer->is_first ? SYM_STR("}") : SYM_STR("}}"));
    write_count(out, SYM_STR(", \"stacks\": {\"count\": "),
                t->base.stats.frames);
    write_count(out, SYM_STR(", \"real\": "), t->request.n_real);
    sym_out_raw(out, SYM_STR("}}"));
}
