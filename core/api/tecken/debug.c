#include "api/tecken/answer.h"

/*
 * The block that a Debug header requests: Eliot's keys in Eliot's order, then
 * `stacks` of the older server.  Keys for parsing and storing symbols are
 * absent, because another process does that.
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


/* Writes a key of a map: both parts as sent, because their characters need no
 * escape. */
static void
write_module(sym_out_t *out, sym_str_t name, sym_str_t id)
{
    sym_out_raw(out, name);
    sym_out_raw(out, SYM_STR("/"));
    sym_out_raw(out, id);
}


/* The maps in `downloads`, by their values. */
typedef enum { SIZES, TIMES, FAIL_TIMES, N_MAPS } debug_map_t;

/* Makes `step` walk a list from its beginning. */
static void
begin_list(sym_request_t *r, sym_request_step_t step)
{
    answer_t *a = ((sym_tecken_t *) r)->answer;

    a->next = 0;
    a->is_first = true;
    r->step = step;
}


/* --- modules and stacks --- */

static sym_status_t
write_stacks(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    const sym_tecken_t *t = (const sym_tecken_t *) r;
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

    if (a->next == t->request.pairs.n) {
        sym_out_raw(out, a->is_first ? SYM_STR("}") : SYM_STR("}}"));
        write_count(out, SYM_STR(", \"stacks\": {\"count\": "),
                    r->stats.frames);
        write_count(out, SYM_STR(", \"real\": "), t->request.n_real);
        sym_out_raw(out, SYM_STR("}}}"));
        r->step = NULL;
    }

    return SYM_OK;
}


static sym_status_t
write_totals(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    (void) budget;
    write_count(out, SYM_STR(", \"size\": "), r->stats.fetched_bytes);
    write_time(out, SYM_STR(", \"time\": "), r->stats.waited_s);
    write_time(out, SYM_STR("}, \"time\": "), sym_request_spent_s(r));
    write_count(out, SYM_STR(", \"modules\": {\"count\": "),
                ((const sym_tecken_t *) r)->answer->settled);
    begin_list(r, write_stacks);
    return SYM_OK;
}


/* --- downloads --- */

/* Whether the map includes the module: it was fetched, or the wait for it was
 * in vain. */
static bool
is_in_map(const sym_need_t *m, unsigned map)
{
    bool has_come = m->is_fetched && m->found == SYM_NEED_FOUND;

    return m->is_waited
           && (map == FAIL_TIMES ? m->found != SYM_NEED_FOUND : has_come);
}


static sym_str_t
map_start(unsigned map)
{
    switch (map) {
    case SIZES:
        return SYM_STR(", \"size_per_module\": {\"");
    case TIMES:
        return SYM_STR(", \"time_per_module\": {\"");
    default:
        return SYM_STR(", \"fail_time_per_module\": {\"");
    }
}


static sym_status_t
write_maps(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    answer_t *a = ((sym_tecken_t *) r)->answer;

    for (; a->next<r->stats.modules && * budget> 0 && !out->is_full;
         a->next++, --*budget)
    {
        const sym_need_t *m = &r->needs[a->next];
        char id[SYM_ID_TEXT_MAX];

        if (!is_in_map(m, a->map)) {
            continue;
        }

        sym_out_raw(out, a->is_first ? map_start(a->map) : SYM_STR(", \""));
        write_module(out, m->ref->debug_file, sym_object_ref_sent(m->ref, id));
        a->is_first = false;

        if (a->map == SIZES) {
            write_count(out, SYM_STR("\": "), m->fetched_bytes);
        } else {
            write_time(out, SYM_STR("\": "), m->waited_s);
        }
    }

    if (a->next == r->stats.modules) {
        sym_out_raw(out, a->is_first ? SYM_STR("") : SYM_STR("}"));
        begin_list(r, ++a->map < N_MAPS ? write_maps : write_totals);
    }

    return SYM_OK;
}


sym_status_t
tecken_debug(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    const sym_request_stats_t *stats = &r->stats;

    (void) budget;
    write_count(out, SYM_STR(", \"debug\": {\"cache_lookups\": {\"count\": "),
                stats->modules);
    if (stats->modules != 0) {
        write_count(out, SYM_STR(", \"hits\": "), r->hits);
    }
    write_time(out, SYM_STR(", \"time\": "), stats->lookup_s);

    write_count(out, SYM_STR("}, \"downloads\": {\"count\": "), stats->fetched);
    begin_list(r, write_maps);
    return SYM_OK;
}
