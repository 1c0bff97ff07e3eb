/*
 * A .sym file made from a symcache gives the same answers.  The modules are
 * random, with overlapping functions and with symbols of known size, for which
 * the format has no record.
 */
#include "formats/breakpad/breakpad.h"
#include "artifacts/symcache/export/breakpad.h"
#include "memory_extents.h"
#include "tap.h"

#define SPACE 1024u

/* Beyond all of them. */
#define TOP 1500u

/* A symbol that reaches to the end of the address space. */
#define ENDLESS UINT64_MAX

/* A random module and its queries. */
typedef struct {
    memory_extents_t memory;
    sym_symcache_t sc;
    sym_level_t levels[SYM_LEVELS_MAX];
    sym_answer_t answer;
    char text[SYM_STRING_MAX + SYM_STRING_SLACK];
} module_t;

static sym_error_t err;
static uint64_t state = 9;
static char text[1 << 18];


static uint32_t
any(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (state >> 33) % below;
}


static uint32_t
name(sym_writer_t *w, const char *kind, uint32_t n)
{
    char t[32];
    uint32_t id = 0;

    (void) snprintf(t, sizeof(t), "%s%u", kind, n);
    (void) sym_writer_string(w, sym_cstr(t), &id);
    return id;
}


static void
add_function(sym_writer_t *w, uint32_t number)
{
    sym_line_t lines[8];
    sym_inline_t inlines[4];
    uint32_t size = 1 + any(60), at = any(SPACE - 60);
    sym_function_t f = { .addr = at,
                         .size = size,
                         .name = name(w, "f", number),
                         .lines = lines,
                         .inlines = inlines };

    for (f.n_lines = 0; f.n_lines < any(9); f.n_lines++) {
        at += any(5);
        lines[f.n_lines] =
            (sym_line_t){ at, 1 + any(9), 1 + any(100), name(w, "c", any(3)) };
        at += lines[f.n_lines].size;
    }

    for (f.n_inlines = 0; f.n_inlines < any(5); f.n_inlines++) {
        inlines[f.n_inlines] = (sym_inline_t){
            f.addr + any(size),      1 + any(20), any(2),
            name(w, "call", any(5)), 1 + any(50), name(w, "c", any(3))
        };
    }

    (void) sym_writer_function(w, &f);
}


static void
add_symbol(sym_writer_t *w, uint32_t number)
{
    const uint64_t sizes[] = { 0, 1 + any(8), 1 + any(80), ENDLESS };
    uint32_t addr = any(SPACE);

    /* where compilers leave symbols: at the start of a cold part, for
     * example */
    (void) sym_writer_symbol(w, any(3) != 0 ? addr : addr & ~15u,
                             sizes[any(9) == 0 ? 3 : any(3)],
                             name(w, "s", number));
}


static bool
finish(sym_writer_t *w, module_t *m)
{
    const sym_module_info_t info = { .debug_id = SYM_STR("ABC1") };

    memory_free(&m->memory);
    (void) sym_writer_finish(w, &info, memory_put, &m->memory, NULL);
    sym_writer_free(w);
    return err.status == SYM_OK
           && sym_symcache_open(&m->sc, memory_get, &m->memory, &err) == SYM_OK;
}


static bool
make(module_t *m, uint32_t functions, uint32_t symbols)
{
    sym_writer_t *w = sym_writer_create(&err);

    for (uint32_t i = 0; i < functions; i++) {
        add_function(w, i);
    }

    for (uint32_t i = 0; i < symbols; i++) {
        add_symbol(w, i);
    }

    return finish(w, m);
}


/* Length of the text, without the NUL. */
static size_t
export_text(module_t *m)
{
    const sym_module_key_t key = { .scope = SYM_STR(""),
                                   .name = SYM_STR("name"),
                                   .id = SYM_STR("ABC1") };
    const sym_dump_t options = { .key = &key };
    sym_out_t out = sym_out_fixed(text, sizeof(text) - 1);

    if (sym_breakpad_export(&m->sc, &options, &out, &err) != SYM_OK
        || out.failed) {
        return 0;
    }

    *out.pos = '\0';
    return (size_t) (out.pos - text);
}


/* A debug id that is valid in a MODULE record. */
#define HEAD "MODULE Linux x86_64 000000000000000000000000000000ABC1 name\n"

static bool
read_text(module_t *m, size_t len)
{
    const char *rest = memchr(text, '\n', len);
    sym_writer_t *w = sym_writer_create(&err);
    sym_breakpad_t *b = sym_breakpad_create(w, &err);

    rest = rest == NULL ? text + len : rest + 1;
    (void) sym_breakpad_feed(b, HEAD, sizeof(HEAD) - 1);
    (void) sym_breakpad_feed(b, rest, (size_t) (text + len - rest));
    (void) sym_breakpad_end(b);
    sym_breakpad_free(b);
    return finish(w, m);
}


static sym_str_t
string(module_t *m, sym_string_ref_t ref)
{
    bool is_plain;

    return sym_str(m->text,
                   sym_symcache_string(&m->sc, ref, m->text, &is_plain));
}


static bool
is_same(module_t *a, module_t *b, uint64_t addr)
{
    (void) sym_symcache_lookup(&a->sc, addr, a->levels, &a->answer);
    (void) sym_symcache_lookup(&b->sc, addr, b->levels, &b->answer);

    if (a->answer.n_levels != b->answer.n_levels) {
        return false;
    }

    for (uint32_t i = 0; i < a->answer.n_levels; i++) {
        const sym_level_t *x = &a->levels[i], *y = &b->levels[i];

        if (!sym_str_eq(string(a, x->name), string(b, y->name))
            || !sym_str_eq(string(a, x->file), string(b, y->file))
            || x->line != y->line)
        {
            return false;
        }
    }

    return a->answer.n_levels == 0
           || a->answer.function_addr == b->answer.function_addr;
}


static void
check(module_t *first, module_t *second, uint32_t number)
{
    static const uint64_t far[] = { 1u << 20, UINT32_MAX - 1, UINT32_MAX };
    size_t len = export_text(first);
    bool is_read = len != 0 && read_text(second, len);
    uint64_t n_wrong = 0, wrong = 0;

    for (uint64_t i = 0; is_read && i < TOP + 3; i++) {
        uint64_t addr = i < TOP ? i : far[i - TOP];

        if (!is_same(first, second, addr)) {
            wrong = n_wrong++ == 0 ? addr : wrong;
        }
    }

    if (!ok(is_read && n_wrong == 0, "module %u by chance", number)) {
        printf("# %" PRIu64 " answers differ, the first at %" PRIx64 "\n",
               n_wrong, wrong);
        for (char *line = text, *end; (end = strchr(line, '\n')) != NULL;
             line = end + 1)
        {
            printf("# %.*s\n", (int) (end - line), line);
        }
    }
}


int
main(void)
{
    static module_t first, second;

    for (uint32_t i = 0; i < 400; i++) {
        err = (sym_error_t){ 0 };
        if (!make(&first, any(i < 200 ? 3 : 12), 1 + any(i < 200 ? 4 : 20))) {
            return ok(false, "a module is made");
        }
        check(&first, &second, i);
    }

    /* an end, and what follows it */
    err = (sym_error_t){ 0 };
    {
        sym_writer_t *w = sym_writer_create(&err);

        (void) sym_writer_symbol(w, 0x10, 0x8, name(w, "ends", 0));
        (void) sym_writer_symbol(w, 0x20, 0x10, name(w, "touches", 0));
        (void) sym_writer_symbol(w, 0x30, 0, name(w, "endless", 0));
        ok(finish(w, &first) && export_text(&first) != 0, "symbols");
    }

    ok(strstr(text, "\nFUNC 10 8 0 ends0\nPUBLIC 20 0 touches0\n"
                    "PUBLIC 30 0 endless0\n")
           != NULL,
       "a PUBLIC that would reach too far becomes a FUNC");

    memory_free(&first.memory);
    memory_free(&second.memory);
    return done_testing();
}
