/*
 * A command looks up frames in batches, and renders text along the way.
 * Answers are the same whether or not there was room to keep a text, wherever
 * the module's extents were moved in between, and never come from another
 * module.
 */
#include "memory_extents.h"
#include "symbolicate/resolver.h"
#include "tap.h"

#define BATCH 4
#define FUNCTIONS 8
#define DEPTH 10

static sym_error_t err;
static sym_arena_t arena;
static sym_resolver_t *resolver;
static sym_question_t questions[BATCH];


static uint32_t
text_id(sym_writer_t *w, const char *prefix, unsigned i, const char *suffix)
{
    char text[64];
    uint32_t id = 0;

    (void) snprintf(text, sizeof(text), "%s%u%s", prefix, i, suffix);
    (void) sym_writer_string(w, sym_cstr(text), &id);
    return id;
}


/* Functions of 0x100 bytes, one every 0x1000; of those with odd numbers all calls
 * down to DEPTH were inlined. */
static void
make_module(memory_extents_t *memory, const char *prefix)
{
    sym_writer_t *w = sym_writer_create(&err);
    sym_module_info_t info = { .debug_id = SYM_STR("ABC1"),
                               .debug_file = SYM_STR("module.pdb") };
    sym_writer_stats_t stats;

    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        uint32_t file = text_id(w, "\"dir\"/f", i, ".c");
        uint32_t addr = 0x1000 * (i + 1);
        sym_line_t line = { addr, 0x100, i + 1, file };
        sym_inline_t inlines[DEPTH];
        sym_function_t f = { .addr = addr,
                             .size = 0x100,
                             .name = text_id(w, prefix, i, "\x1b"),
                             .lines = &line,
                             .n_lines = 1,
                             .inlines = inlines,
                             .n_inlines = i % 2 == 1 ? DEPTH : 0 };

        for (uint32_t d = 0; d < DEPTH; d++) {
            inlines[d] =
                (sym_inline_t){ addr,    0x100, d, text_id(w, "call", d, ""),
                                100 + d, file };
        }

        (void) sym_writer_function(w, &f);
    }

    memory_free(memory);
    is_status(sym_writer_finish(w, &info, memory_put, memory, &stats), SYM_OK,
              &err, "a module");
    sym_writer_free(w);
}


static void
begin(uint32_t batch, sym_text_style_t style)
{
    sym_arena_drop(&arena);
    err = (sym_error_t){ 0 };
    resolver = sym_resolver_create_batch(&arena, batch, style);
}


static void
attach(memory_extents_t *memory, uint64_t id)
{
    const sym_extent_source_t extents = { memory_get, memory, memory->n };

    is_status(sym_resolver_attach(resolver, 0, id, &extents, &err), SYM_OK,
              &err, "attached");
}


/* Looks up the functions first, first + 1, ..., in reverse order. */
static void
ask(uint32_t first)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        questions[i] = (sym_question_t){ 0, 0x1000 * (first + BATCH - i) + i };
    }

    sym_resolver_ask(resolver, questions, BATCH);
}


/* "name@file:line" of each level, innermost first. */
static sym_str_t
describe(uint32_t i)
{
    static char text[4096];
    sym_out_t out = sym_out_fixed(text, sizeof(text));
    sym_answer_t answer;

    if (sym_resolver_answer(resolver, i, &answer) != SYM_OK) {
        return SYM_STR("damaged");
    }

    for (uint32_t k = 0; k < answer.n_levels; k++) {
        sym_out_raw(&out, k == 0 ? SYM_STR("") : SYM_STR(" < "));
        sym_resolver_write_name(resolver, 0, &answer, k, &out);
        sym_out_raw(&out, SYM_STR("@"));
        sym_resolver_write_file(resolver, 0, &answer, k, &out);
        sym_out_raw(&out, SYM_STR(":"));
        sym_out_dec(&out, sym_resolver_line(resolver, &answer, k));
    }

    return sym_str(text, (size_t) (out.pos - text));
}


static void
is_function(uint32_t i, uint32_t number, const char *prefix)
{
    char want[4096], label[64];
    size_t used = 0;
    uint32_t line = number + 1;

    for (uint32_t d = number % 2 == 1 ? DEPTH : 0; d-- > 0; line = 100 + d) {
        used +=
            (size_t) snprintf(want + used, sizeof(want) - used,
                              "call%u@\"dir\"/f%u.c:%u < ", d, number, line);
    }

    (void) snprintf(want + used, sizeof(want) - used, "%s%u?@\"dir\"/f%u.c:%u",
                    prefix, number, number, line);
    (void) snprintf(label, sizeof(label), "%s%u", prefix, number);
    is_str(describe(i), want, label);
}


static void
is_chunk(uint32_t first, const char *prefix)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        is_function(i, first + BATCH - 1 - i, prefix);
    }
}


static void
test_room(memory_extents_t *memory)
{
    begin(1024, SYM_TEXT_TERMINAL);
    attach(memory, 7);
    ask(0);
    is_chunk(0, "fn");

    /* room for few texts, and for no levels after the first calls: the rest is
     * looked up when it is written */
    begin(BATCH, SYM_TEXT_TERMINAL);
    attach(memory, 7);

    for (uint32_t first = 0; first + BATCH <= FUNCTIONS; first++) {
        ask(first);
        is_chunk(first, "fn");
    }
}


static void
test_attached_again(memory_extents_t *memory, memory_extents_t *other)
{
    memory_extents_t moved = { 0 };

    make_module(&moved, "fn");
    begin(1024, SYM_TEXT_TERMINAL);
    attach(&moved, 7);
    ask(0);

    /* the same module in another snapshot: earlier lookups are still
     * answered */
    attach(memory, 7);
    memory_free(&moved);
    is_chunk(0, "fn");
    ask(2);
    is_chunk(2, "fn");

    /* another module, with its strings at the same positions */
    attach(other, 8);
    ask(0);
    is_chunk(0, "xy");
}


static void
test_style(memory_extents_t *memory)
{
    begin(1024, SYM_TEXT_JSON);
    attach(memory, 7);
    ask(0);
    is_str(describe(1), "fn2\\u001b@\\\"dir\\\"/f2.c:3", "inside of strings");
}


static void
test_frame(memory_extents_t *memory)
{
    sym_answer_t answer;
    sym_frame_t frame;

    begin(1024, SYM_TEXT_TERMINAL);
    attach(memory, 7);
    ask(0);
    (void) sym_resolver_answer(resolver, 1, &answer);
    sym_resolver_fetch_ahead(resolver, 1);

    if (ok(sym_resolver_frame(resolver, &answer, 0, &frame), "both texts")) {
        is_str(frame.function, "fn2?", "function");
        is_str(frame.file, "\"dir\"/f2.c", "file");
        is_u64(frame.line, 3, "line");
    }
}


static void
test_damage(memory_extents_t *memory)
{
    memory_extents_t none = { 0 };
    sym_extent_source_t extents = { memory_get, &none, 0 };
    sym_answer_t answer;

    begin(1024, SYM_TEXT_TERMINAL);
    is_status(sym_resolver_attach(resolver, 0, 7, &extents, &err), SYM_DAMAGED,
              NULL, "no extents");
    extents = (sym_extent_source_t){ memory_get, memory, memory->n + 1 };
    err = (sym_error_t){ 0 };
    is_status(sym_resolver_attach(resolver, 0, 7, &extents, &err), SYM_DAMAGED,
              NULL, "more levels than it has");
    extents = (sym_extent_source_t){ memory_get, &none, 0 };
    (void) sym_resolver_attach(resolver, 0, 7, &extents, &err);
    err = (sym_error_t){ 0 };
    ask(0);
    is_status(sym_resolver_answer(resolver, 0, &answer), SYM_DAMAGED, NULL,
              "nothing can be read");
    is_u64(answer.n_levels, 0, "and nothing is reported");
    attach(memory, 7);
    ask(0);
    is_chunk(0, "fn");
    questions[0].addr = 0x1100;
    sym_resolver_ask(resolver, questions, 1);
    is_status(sym_resolver_answer(resolver, 0, &answer), SYM_OK, NULL,
              "an address without code is no error");
    is_u64(answer.n_levels, 0, "and nothing is reported");
}


int
main(void)
{
    memory_extents_t memory = { 0 }, other = { 0 };

    arena.has_large_pages = true;
    make_module(&memory, "fn");
    make_module(&other, "xy");
    test_room(&memory);
    test_attached_again(&memory, &other);
    test_style(&memory);
    test_frame(&memory);
    test_damage(&memory);
    sym_arena_drop(&arena);
    memory_free(&memory);
    memory_free(&other);
    return done_testing();
}
