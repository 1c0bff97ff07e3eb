/*
 * trail.c - "NAME ID ADDRESS" to the modules of a walk: an API for tests, which
 * knows each module only from its answer about the one before.
 *
 * The function at the address in a module has the name and id of the next
 * module as its name.  The answer counts the lookups, and the snapshots that
 * they took:
 *
 *     {"modules": ["a", "b"], "lookups": 2, "rounds": 2, "is_whole": true}
 *
 * Like an unwinder with the memory of a stack, the request has much state that
 * must survive the rounds: is_whole confirms that it did.
 */
#include "api/registry.h"
#include "base/hex.h"

#define HOPS_MAX 64
#define PAGE ((size_t) 16384)

typedef struct {
    sym_request_t base; /* first */
    sym_need_t first;
    uint32_t addr;
    uint32_t at; /* need of the module that is looked up next */
    uint32_t lookups, rounds;
    sym_str_t found[HOPS_MAX]; /* one per lookup */
    uint8_t *memory;           /* a page for each lookup */
} trail_t;


static sym_str_t
next_word(sym_str_t *rest)
{
    const char *space = memchr(rest->data, ' ', rest->len);
    size_t len = space != NULL ? (size_t) (space - rest->data) : rest->len;
    size_t taken = space != NULL ? len + 1 : len;
    sym_str_t word = sym_str(rest->data, len);

    *rest = sym_str(rest->data + taken, rest->len - taken);
    return word;
}


/* The module that a text begins with; NULL: out of memory. */
static sym_object_ref_t *
read_module(sym_arena_t *arena, sym_str_t *text)
{
    sym_object_ref_t *ref = sym_arena_calloc(arena, 1, sizeof(*ref));
    sym_str_t name = next_word(text);

    if (ref != NULL) {
        sym_object_ref_named(ref, name, next_word(text));
    }

    return ref;
}


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    trail_t *t = (trail_t *) r;
    sym_str_t rest = r->body;
    sym_object_ref_t *ref = read_module(r->arena, &rest);
    uint64_t addr;

    (void) budget;
    t->memory = sym_arena_calloc(r->arena, HOPS_MAX, PAGE);
    if (ref == NULL || t->memory == NULL) {
        return SYM_NOMEM;
    }

    if (!sym_hex_read(rest, &addr) || addr > UINT32_MAX) {
        return sym_request_refuse(r, SYM_MALFORMED, "not NAME ID ADDRESS");
    }

    t->addr = (uint32_t) addr;
    t->first = (sym_need_t){ .ref = ref,
                             .kind = SYM_KIND_SYMCACHE,
                             .found = SYM_NEED_MISSING };
    r->needs = &t->first;
    r->stats.modules = 1;
    r->stats.frames = 1;
    return SYM_OK;
}


static bool
is_whole(const trail_t *t)
{
    for (size_t i = 0; i < HOPS_MAX * PAGE; i++) {
        if (t->memory[i] != (i / PAGE < t->lookups ? i / PAGE + 1 : 0)) {
            return false;
        }
    }

    return true;
}


static sym_status_t
write_answer(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    const trail_t *t = (const trail_t *) r;

    (void) budget;
    sym_out_raw(out, SYM_STR("{\"modules\": ["));
    for (uint32_t i = 0; i < t->lookups; i++) {
        sym_out_raw(out, i == 0 ? SYM_STR("") : SYM_STR(", "));
        sym_out_string(out, t->found[i]);
    }

    sym_out_raw(out, SYM_STR("], \"lookups\": "));
    sym_out_dec(out, t->lookups);
    sym_out_raw(out, SYM_STR(", \"rounds\": "));
    sym_out_dec(out, t->rounds);
    sym_out_raw(out, is_whole(t) ? SYM_STR(", \"is_whole\": true}\n")
                                 : SYM_STR(", \"is_whole\": false}\n"));
    r->step = NULL;
    return SYM_OK;
}


/* One module: it is open, or absent. */
static sym_status_t
walk(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    trail_t *t = (trail_t *) r;
    const sym_question_t question = { t->at, t->addr };
    sym_answer_t answer = { 0 };
    sym_object_ref_t *ref;
    sym_str_t name;

    (void) out;
    --*budget;
    r->step = write_answer;

    if (r->needs[t->at].found != SYM_NEED_FOUND || t->lookups == HOPS_MAX) {
        return SYM_OK;
    }

    memset(t->memory + t->lookups * PAGE, (int) t->lookups + 1, PAGE);
    t->found[t->lookups++] = r->needs[t->at].ref->debug_file;
    sym_resolver_ask(r->resolver, &question, 1);
    (void) sym_resolver_answer(r->resolver, 0, &answer);

    if (answer.n_levels == 0) {
        return SYM_OK;
    }

    if (!sym_resolver_text(r->resolver, t->at, answer.levels[0].name, &name)) {
        return SYM_NOMEM;
    }

    name = sym_arena_copy(r->arena, name);
    ref = name.data != NULL ? read_module(r->arena, &name) : NULL;
    if (ref == NULL) {
        return SYM_NOMEM;
    }

    r->step = walk;
    return sym_request_need_object(r, ref, SYM_KIND_SYMCACHE, &t->at);
}


/* Continues where the last round ended. */
static sym_status_t
begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    (void) out;
    (void) budget;
    ((trail_t *) r)->rounds++;
    r->step = walk;
    return SYM_OK;
}


static const sym_request_ops_t ops = {
    .size = sizeof(trail_t),
    .parse = parse,
    .begin = begin,
};


const sym_api_t sym_trail_api = {
    .name = "trail",
    .routes = { { .suffix = "/trail",
                  .version = "1",
                  .methods = SYM_METHOD_POST,
                  .ops = &ops } },
    .answers = { "application/json" },
};
