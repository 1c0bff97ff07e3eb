#include "api/registry.h"
#include "api/tecken/answer.h"
#include "api/tecken/readers.h"

#include <strings.h>

/* Forms of this API's texts in the cache. */
enum { FORM_NONE, FORM_DEMANGLED, FORM_AS_KEPT };


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
    sym_status_t rc = direct_read(t, budget == 0 ? 1 : budget);

    if (rc == SYM_UNSUPPORTED) {
        return general_read(t);
    }

    return rc == SYM_OK ? request_finish(t) : rc;
}


sym_status_t
sym_tecken_parse_general(sym_request_t *r)
{
    return general_read((sym_tecken_t *) r);
}


/* Frames of a job refer to indexes in its memoryMap. */
static void
count_frames(const sym_request_t *r, uint32_t max, uint32_t *counts)
{
    const request_t *q = &((const sym_tecken_t *) r)->request;
    const job_t *jobs = q->jobs.items;
    const uint32_t *stacks = q->stacks.items, *entries = q->entries.items;
    const pair_t *pairs = q->pairs.items;
    uint32_t at = 0;

    for (uint32_t j = 0; j < q->jobs.n; j++) {
        for (uint32_t s = 0; s < jobs[j].n_stacks; s++) {
            uint32_t end = at + stacks[jobs[j].first_stack + s];

            for (; at < end && at < max; at++) {
                uint32_t place =
                    request_frame_at(q, at).place & FRAME_MODULE_MASK;

                if (place < jobs[j].n_entries) {
                    const pair_t *pair =
                        &pairs[entries[jobs[j].first_entry + place]];

                    if (pair->used != 0) {
                        counts[pair->used - 1]++;
                    }
                }
            }
        }
    }
}


static const sym_request_ops_t ops = {
    .size = sizeof(sym_tecken_t),
    .parse = parse,
    .begin = tecken_begin,
    .resume = tecken_resume,
    .count_frames = count_frames,
};


static void
set(sym_request_t *r, unsigned version, bool has_debug)
{
    sym_tecken_t *t = (sym_tecken_t *) r;

    t->version = version;
    t->has_debug = has_debug;
    r->is_timed = has_debug;
    /* v4 writes only a name: not worth caching */
    r->form = version != 5                ? FORM_NONE
              : r->options->names != NULL ? FORM_DEMANGLED
                                          : FORM_AS_KEPT;
}


sym_request_t *
sym_tecken_create(sym_arena_t *arena, const sym_tecken_options_t *options,
                  sym_str_t body)
{
    sym_request_t *r = sym_request_create(arena, &ops, &options->common, body);

    if (r != NULL) {
        set(r, options->version, options->debug);
    }

    return r;
}


static bool
is_word(sym_str_t s, const char *word)
{
    return s.len == strlen(word) && strncasecmp(s.data, word, s.len) == 0;
}


bool
sym_tecken_debug_wanted(unsigned version, sym_str_t header)
{
    /* the newer server takes any value, even "0" and "false" */
    if (version != 4) {
        return header.len > 0;
    }

    return is_word(header, "1") || is_word(header, "true")
           || is_word(header, "yes");
}


static bool
init(sym_request_t *r, const sym_api_call_t *call, unsigned version)
{
    sym_str_t debug = call->header(call->ctx, "Debug");

    set(r, version,
        debug.data != NULL && sym_tecken_debug_wanted(version, debug));
    return true;
}


static bool
init_v4(sym_request_t *r, const sym_api_call_t *call)
{
    return init(r, call, 4);
}


static bool
init_v5(sym_request_t *r, const sym_api_call_t *call)
{
    return init(r, call, 5);
}


#define ROUTE(path, n)                                                         \
    .suffix = (path), .version = #n, .methods = SYM_METHOD_POST, .ops = &ops,  \
    .init = init_v##n

const sym_api_t sym_tecken_api = {
    .name = "tecken",
    .routes = { { ROUTE("/", 4), .is_root = true },
                { ROUTE("/symbolicate/v4", 4) },
                { ROUTE("/symbolicate/v5", 5) },
                { ROUTE("/v4", 4), .needs_base = true },
                { ROUTE("/v5", 5), .needs_base = true } },
    .answers = { "application/json" },
};
