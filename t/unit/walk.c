/*
 * A walk visits all of a symcache once: each segment is the reader's answer
 * there, between segments there is no answer, and functions, calls and files
 * are the same.  The modules are random; then their pages are damaged one byte
 * at a time, and the walk must end with a status.
 */
#include "memory_extents.h"
#include "artifacts/symcache/read/calls.h"
#include "artifacts/symcache/read/walk.h"
#include "tap.h"
#include "base/language.h"

#define SPACE 4096u

/* Beyond all of them. */
#define TOP 8192u

static sym_error_t err;
static memory_extents_t memory;
static sym_symcache_t sc;
static sym_level_t levels[SYM_LEVELS_MAX];
static uint64_t state = 1;


static uint32_t
any(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (state >> 33) % below;
}


static uint32_t
name(sym_writer_t *w, const char *kind, uint32_t n)
{
    char text[32];
    uint32_t id = 0;

    (void) snprintf(text, sizeof(text), "%s%u", kind, n);
    (void) sym_writer_string(w, sym_cstr(text), &id);
    return id;
}


static void
add_function(sym_writer_t *w, uint32_t number)
{
    sym_line_t lines[80];
    sym_inline_t inlines[40];
    uint32_t addr = any(SPACE - 300), size = 1 + any(299), at = addr;
    sym_function_t f = { .addr = addr,
                         .size = size,
                         .name = name(w, "f", number),
                         .lang = SYM_LANG_CPP,
                         .lines = lines,
                         .inlines = inlines };

    for (f.n_lines = 0; f.n_lines < any(81); f.n_lines++) {
        lines[f.n_lines] =
            (sym_line_t){ at, 1 + any(9), any(100000),
                          any(9) == 0 ? SYM_NO_STRING
                                      : name(w, "file", any(9)) };
        at += lines[f.n_lines].size + any(3);
    }

    for (f.n_inlines = 0; f.n_inlines < any(41); f.n_inlines++) {
        inlines[f.n_inlines] =
            (sym_inline_t){ addr + any(size), 1 + any(40),
                            any(4),           name(w, "call", any(20)),
                            any(50),          name(w, "file", any(9)) };
    }

    (void) sym_writer_function(w, &f);
}


static bool
make_module(uint32_t functions)
{
    const sym_module_info_t info = { .debug_id = SYM_STR("ABC1") };
    sym_writer_t *w;

    memory_free(&memory);
    err = (sym_error_t){ 0 };
    w = sym_writer_create(&err);

    for (uint32_t i = 0; i < functions; i++) {
        add_function(w, i);
        (void) sym_writer_public(w, any(SPACE), name(w, "public", i));
    }

    (void) sym_writer_finish(w, &info, memory_put, &memory, NULL);
    sym_writer_free(w);
    return err.status == SYM_OK
           && sym_symcache_open(&sc, memory_get, &memory, &err) == SYM_OK;
}


/* The walk's segment equals the reader's answer. */
static bool
is_answered(const sym_walk_function_t *f, const sym_walk_segment_t *s,
            uint64_t addr)
{
    sym_answer_t a;
    uint32_t node = s->node, file = s->file, line = s->line, i = 0;

    if (sym_symcache_lookup(&sc, addr, levels, &a) != SYM_OK
        || a.function_addr != f->addr || a.function_size != f->size
        || a.lang != f->lang || a.n_levels != f->nodes[node].depth + 1)
    {
        return false;
    }

    for (;; i++) {
        const sym_walk_node_t *n = &f->nodes[node];

        if (levels[i].name != n->name || levels[i].line != line
            || levels[i].file != sym_symcache_file(&sc, file))
        {
            return false;
        }

        if (node == 0) {
            return i + 1 == a.n_levels;
        }
        file = n->call_file;
        line = n->call_line;
        node = n->parent;
    }
}


/* Marks the segment's addresses; false: some were seen before. */
static bool
mark(bool *met, const sym_walk_segment_t *s)
{
    bool is_new = true;

    for (uint64_t at = s->addr; at < s->end && at < TOP; at++) {
        is_new = is_new && !met[at];
        met[at] = true;
    }
    return is_new;
}


/* The ranges of the calls are those of the segments. */
static bool
has_ranges(const sym_walk_function_t *f, const sym_calls_t *calls,
           const sym_walk_segment_t *s)
{
    for (uint32_t node = s->node; node != 0; node = f->nodes[node].parent) {
        const sym_call_range_t *r = NULL;

        do {
            r = sym_calls_range(calls, node, r);
        } while (r != NULL && r->end <= s->addr);

        if (r == NULL || r->addr > s->addr || r->end < s->end) {
            return false;
        }
    }
    return true;
}


/* Up to the end of the first consecutive segments. */
static uint64_t
run_end(const sym_walk_function_t *f)
{
    uint64_t end = f->segments[0].end;

    for (size_t i = 1; i < f->n_segments && f->segments[i].addr == end; i++) {
        end = f->segments[i].end;
    }

    return end;
}


/* The first address from addr on that has an answer. */
static uint64_t
answered_from(uint64_t addr)
{
    sym_answer_t a;

    for (; addr < TOP; addr++) {
        if (sym_symcache_lookup(&sc, addr, levels, &a) == SYM_OK
            && a.n_levels != 0) {
            return addr;
        }
    }

    return (uint64_t) 1 << 32;
}


static void
check_module(uint32_t number)
{
    static bool met[TOP];
    sym_walk_t *w = sym_walk_create(&sc, &err);
    sym_walk_function_t f;
    sym_calls_t calls = { 0 };
    sym_answer_t a;
    bool is_right = true, is_new = true, is_ordered = true, has_all = true,
         is_complete = true, is_next = true;
    uint64_t from = 0, n = 0, n_calls = 0;

    memset(met, 0, sizeof(met));

    while (sym_walk_next(w, &f, &err) == SYM_OK) {
        is_ordered = is_ordered && f.segments[0].addr >= from;
        from = f.segments[0].addr;
        is_next = is_next && f.next == answered_from(run_end(&f));
        n++;
        (void) sym_calls_fill(&calls, &f, &err);

        for (uint32_t node = 0; (node = sym_calls_next(&calls, node)) != 0;) {
            n_calls++;
            is_ordered = is_ordered && f.nodes[node].parent < node;
        }
        n_calls -= f.n_nodes - 1;

        for (size_t i = 0; i < f.n_segments; i++) {
            const sym_walk_segment_t *s = &f.segments[i];

            is_right = is_right && is_answered(&f, s, s->addr)
                       && is_answered(&f, s, s->end - 1);
            is_new = mark(met, s) && is_new;
            has_all = has_all && has_ranges(&f, &calls, s);
        }
    }

    for (uint32_t at = 0; at < TOP; at++) {
        is_complete = is_complete
                      && sym_symcache_lookup(&sc, at, levels, &a) == SYM_OK
                      && (a.n_levels != 0) == met[at];
    }

    ok(err.status == SYM_OK && n != 0 && is_right && is_new && is_ordered
           && has_all && is_complete && n_calls == 0 && is_next,
       "random module %u: %s%s%s%s%s%s%s", number, is_right ? "" : "r",
       is_new ? "" : "n", is_ordered ? "" : "o", has_all ? "" : "a",
       is_complete ? "" : "c", n_calls == 0 ? "" : "t", is_next ? "" : "x");
    sym_calls_free(&calls);
    sym_walk_free(w);
}


static sym_status_t
walk_all(void)
{
    sym_walk_t *w = sym_walk_create(&sc, &err);
    sym_walk_function_t f;
    sym_status_t rc;

    do {
        rc = sym_walk_next(w, &f, &err);
    } while (rc == SYM_OK);

    sym_walk_free(w);
    return rc;
}


/* A symbol over adjacent functions: it has no byte between them, and no
 * piece. */
static void
check_touching(void)
{
    sym_writer_t *w = sym_writer_create(&err);
    sym_function_t f = { .addr = 0x1010,
                         .size = 0x10,
                         .name = name(w, "function", 0) };

    (void) sym_writer_symbol(w, 0x1000, 0x100, name(w, "around", 0));
    for (; f.addr <= 0x1030; f.addr += 0x10) {
        (void) sym_writer_function(w, &f);
    }

    memory_free(&memory);
    (void) sym_writer_finish(w, &(sym_module_info_t){ .flags = 0 }, memory_put,
                             &memory, NULL);
    sym_writer_free(w);
    (void) sym_symcache_open(&sc, memory_get, &memory, &err);
    is_u64(walk_all(), SYM_NOT_FOUND, "walked to its end");
    is_u64(err.status, SYM_OK, "without damage");
}


/* Damage: whatever the byte, the walk ends or fails. */
static void
check_damage(void)
{
    uint64_t damaged = 0, other = 0;

    for (uint32_t i = 0; i < memory.n; i++) {
        for (size_t k = 0; k < memory.extents[i].len; k++) {
            uint8_t *p = memory.extents[i].data + k;
            uint8_t before = *p;
            sym_status_t rc;

            *p = (uint8_t) any(256);
            err = (sym_error_t){ 0 };
            rc = sym_symcache_open(&sc, memory_get, &memory, &err);
            rc = rc != SYM_OK ? rc : walk_all();
            damaged += rc == SYM_DAMAGED;
            other += rc != SYM_DAMAGED && rc != SYM_NOT_FOUND
                     && rc != SYM_VERSION && rc != SYM_LIMIT;
            *p = before;
        }
    }

    ok(damaged > 100, "%" PRIu64 " damaged bytes are detected", damaged);
    is_u64(other, 0, "with the others the walk ends");
}


int
main(void)
{
    for (uint32_t i = 0; i < 200; i++) {
        if (!make_module(1 + any(i < 100 ? 5 : 40))) {
            return ok(false, "a module is made");
        }
        check_module(i);
    }

    check_touching();
    (void) make_module(6);
    check_damage();
    is_u64(sym_symcache_open(&sc, memory_get, &memory, &err), SYM_OK,
           "whole again");
    memory_free(&memory);
    return done_testing();
}
