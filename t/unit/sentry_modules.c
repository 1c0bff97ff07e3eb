/*
 * Which module a frame belongs to: the tests of Symbolicator (module_lookup.rs)
 * and the edge cases of its rules.
 */
#include "sentry_kit.h"
#include "tap.h"

static const sym_request_options_t options = { .now_s = kit_clock };

static sentry_t *
read(sym_arena_t *arena, const char *modules)
{
    char body[2048];
    sym_status_t status;
    sentry_t *s;

    (void) snprintf(body, sizeof(body), "{\"modules\": %s}", modules);
    sym_arena_init(arena, 0);
    s = kit_sentry(arena, &options, sym_arena_copy(arena, sym_cstr(body)),
                   false, UINT32_MAX, &status);
    ok(s != NULL && status == SYM_OK, "read: %s", modules);
    return s;
}


static void
test_sizes(void)
{
    sym_arena_t arena;
    sentry_t *s =
        read(&arena, "[{\"type\":\"unknown\",\"image_addr\":\"0x2000\","
                     "\"image_size\":4096},"
                     "{\"type\":\"unknown\",\"image_addr\":\"0x1000\"},"
                     "{\"type\":\"unknown\",\"image_addr\":\"0x3000\"}]");
    const sentry_module_t *m = s->request.modules;

    ok(m[0].addr == 8192 && m[0].size == 4096, "a size that was sent");
    ok(m[1].addr == 4096 && m[1].has_size && m[1].size == 4096,
       "a size up to the next module");
    ok(m[2].addr == 12288 && !m[2].has_size, "none for the last one");
    sym_arena_drop(&arena);
}


static void
test_lookup(void)
{
    sym_arena_t arena;
    sentry_t *s =
        read(&arena, "[{\"type\":\"unknown\",\"image_addr\":\"0x2000\","
                     "\"image_size\":4096},"
                     "{\"type\":\"unknown\",\"image_addr\":\"0x1000\"},"
                     "{\"type\":\"unknown\",\"image_addr\":\"0x4000\"}]");
    const sentry_request_t *q = &s->request;
    sentry_frame_t frame = { .addr = 0x3456, .is_relative = true };

    ok(sentry_module_at(q, 0x1234) == 1, "inside of a module");
    ok(sentry_module_at(q, 0x3456) == SENTRY_NO_MODULE, "behind one");
    ok(sentry_module_at(q, 0x4567) == 2, "inside of the one without an end");
    ok(sentry_module_at(q, UINT64_MAX) == 2, "... to the end");
    ok(sentry_module_at(q, 0x0fff) == SENTRY_NO_MODULE, "before all");
    ok(sentry_module_at(q, 0x1000) == 1, "the first byte");
    ok(sentry_module_at(q, 0x2000) == 0, "the end is the next one's beginning");
    ok(sentry_module_at(q, 0x3000) == 0, "the end is inclusive");

    ok(sentry_module_of(q, &frame) == 0, "a relative address, in any case");
    frame.relative_to = 2;
    ok(sentry_module_of(q, &frame) == 2, "... of the last");
    frame.relative_to = 3;
    ok(sentry_module_of(q, &frame) == SENTRY_NO_MODULE, "... of none");
    frame.relative_to = UINT64_MAX;
    ok(sentry_module_of(q, &frame) == SENTRY_NO_MODULE, "... far out");
    sym_arena_drop(&arena);
}


static void
test_limits(void)
{
    sym_arena_t arena;
    sentry_t *s =
        read(&arena, "[{\"type\":\"elf\",\"image_addr\":\"0xfffffffffffff000\","
                     "\"image_size\":8192}]");

    ok(sentry_module_at(&s->request, 0xfffffffffffff001) == SENTRY_NO_MODULE,
       "a module that ends beyond all addresses has none");
    sym_arena_drop(&arena);

    s = read(&arena, "[{\"type\":\"elf\",\"image_addr\":42,\"image_size\":0}]");
    ok(sentry_module_at(&s->request, 43) == 0, "size 0 is open, too");
    sym_arena_drop(&arena);

    s = read(&arena, "[{\"type\":\"elf\",\"image_addr\":\"0x10\"},"
                     "{\"type\":\"elf\",\"image_addr\":\"16\"}]");
    ok(sentry_module_at(&s->request, 16) == 1,
       "of modules at one address the last one");
    sym_arena_drop(&arena);

    s = read(&arena, "[]");
    ok(sentry_module_at(&s->request, 16) == SENTRY_NO_MODULE, "no modules");
    sym_arena_drop(&arena);
}


/* The answer of a server whose store does not exist yet. */
static void
test_no_store(void)
{
    static const sym_request_limits_t limits = { 0 };
    static const char body[] =
        "{\"modules\": [{\"type\": \"elf\", \"image_addr\": \"0x1000\","
        " \"debug_id\": \"3fa9efb3-45d2-b6fb-b8f3-0a1a2b3c4d5e\"}],"
        " \"stacktraces\": [{\"frames\": [{\"instruction_addr\":"
        " \"0x1234\"}]}]}";
    kit_result_t r = kit_sentry_answer(&limits, sym_str(body, sizeof(body) - 1),
                                       false, 0, 0);

    ok(r.status == SYM_OK && r.len != 0
           && strstr(r.text, "{\"status\": \"missing\"") != NULL,
       "without a store modules are missing");
    free(r.text);
}


int
main(void)
{
    test_sizes();
    test_lookup();
    test_limits();
    test_no_store();
    return done_testing();
}
