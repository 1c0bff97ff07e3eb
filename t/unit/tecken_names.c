/*
 * Names in answers: mangled names of a module are demangled, others are
 * unchanged; and the cost counts towards the slice, in the middle of a frame,
 * too.
 */
#include "symcache_kit.h"
#include "tecken_kit.h"
#include "base/language.h"

#define ID "0123456789ABCDEF0123456789ABCDEF1"

/* As deep as calls go. */
#define CALLS 499

static sym_store_t *reader;


/* --- modules of the store --- */

static void
add_function(sym_writer_t *w, uint32_t addr, const char *name, uint8_t lang)
{
    sym_function_t f = {
        .addr = addr, .size = 0x10, .name = intern(w, name), .lang = lang
    };

    (void) sym_writer_function(w, &f);
}


/* A C function that calls Rust, which calls C++; the file has the name of a
 * function. */
static void
add_calls(sym_writer_t *w, uint32_t addr)
{
    sym_line_t line = { addr, 0x10, 3, intern(w, "_Z1fi") };
    sym_inline_t inlines[] = {
        { addr, 0x10, 0, intern(w, "_RNvC1a1b"), 1, line.file },
        { addr, 0x10, 1, intern(w, "_Z1fi"), 2, line.file },
    };
    sym_function_t f = { .addr = addr,
                         .size = 0x10,
                         .name = intern(w, "_Z1fv"),
                         .lang = SYM_LANG_C,
                         .lines = &line,
                         .n_lines = 1,
                         .inlines = inlines,
                         .n_inlines = 2 };

    (void) sym_writer_function(w, &f);
}


static void
fill_names(sym_writer_t *w)
{
    add_calls(w, 0x100);
    add_function(w, 0x200, "_ZN1AcvT_I1BI1CEEEv", SYM_LANG_CPP);
    add_function(w, 0x210, "_ZN1a1b17h0123456789abcdefE", SYM_LANG_RUST);
    add_function(w, 0x220, "_ZN1a1b17h0123456789abcdefE", SYM_LANG_CPP);
    add_function(w, 0x230, "-[A b:]", SYM_LANG_OBJC);
    add_function(w, 0x240, "_Z2\xc3\xa9v", SYM_LANG_CPP);
    (void) sym_writer_public(w, 0x300, intern(w, "__ZN1A1bEv"));
}


/* Names of 4,000 bytes, all different. */
static void
costly_name(char name[4096], unsigned i)
{
    (void) snprintf(name, 4096, "_Z4f%03u", i);
    memset(name + 7, 'P', 4000);
    (void) snprintf(name + 4007, 8, "i");
}


static void
fill_costly(sym_writer_t *w)
{
    static sym_inline_t inlines[CALLS];
    sym_line_t line = { 0x100, 0x10, 3, intern(w, "a.cc") };
    sym_function_t f = { .addr = 0x100,
                         .size = 0x10,
                         .name = intern(w, "_Z1fv"),
                         .lang = SYM_LANG_CPP,
                         .lines = &line,
                         .n_lines = 1,
                         .inlines = inlines,
                         .n_inlines = CALLS };
    char name[4096];

    for (unsigned i = 0; i < CALLS; i++) {
        costly_name(name, i);
        inlines[i] =
            (sym_inline_t){ 0x100, 0x10, i, intern(w, name), i + 1, line.file };
    }

    (void) sym_writer_function(w, &f);
}


/* --- asking --- */

#define BODY(module, frames)                                                   \
    "{\"stacks\":[[" frames "]],\"memoryMap\":[[\"" module "\",\"" ID "\"]]}"
#define FRAMES "[0,256],[0,512],[0,528],[0,544],[0,560],[0,576],[0,768]"

/* The names of FRAMES, and of the calls in the first of them. */
#define N_FRAMES 7
typedef struct {
    const char *functions[N_FRAMES];
    const char *inner, *outer;
} names_t;

static const names_t as_kept = {
    { "_Z1fv", "_ZN1AcvT_I1BI1CEEEv", "_ZN1a1b17h0123456789abcdefE",
      "_ZN1a1b17h0123456789abcdefE", "-[A b:]", "_Z2\\u00e9v", "__ZN1A1bEv" },
    "_Z1fi",
    "_RNvC1a1b",
};

/* c++filt, rustfilt; names of C are unchanged */
static const names_t as_shown = {
    { "_Z1fv", "A::operator B<C><B<C>>()", "a::b", "a::b::h0123456789abcdef",
      "-[A b:]", "\\u00e9()", "A::b()" },
    "f(int)",
    "a::b",
};


/* The answer with these names. */
static const char *
wanted(const char *module, const names_t *names)
{
    static const unsigned offsets[N_FRAMES] = { 0x100, 0x200, 0x210, 0x220,
                                                0x230, 0x240, 0x300 };
    static char text[4096];
    int len = snprintf(text, sizeof(text), "{\"results\": [{\"stacks\": [[");

    for (unsigned i = 0; i < N_FRAMES; i++) {
        len += snprintf(text + len, sizeof(text) - (size_t) len,
                        "%s{\"frame\": %u, \"module\": \"%s\", "
                        "\"module_offset\": \"0x%x\", \"function\": \"%s\", "
                        "\"function_offset\": \"0x0\"",
                        i == 0 ? "" : ", ", i, module, offsets[i],
                        names->functions[i]);
        if (i == 0) {
            len += snprintf(text + len, sizeof(text) - (size_t) len,
                            ", \"file\": \"_Z1fi\", \"line\": 1, \"inlines\": "
                            "[{\"function\": \"%s\", \"file\": \"_Z1fi\", "
                            "\"line\": 3}, {\"function\": \"%s\", \"file\": "
                            "\"_Z1fi\", \"line\": 2}]",
                            names->inner, names->outer);
        }
        len += snprintf(text + len, sizeof(text) - (size_t) len, "}");
    }

    (void) snprintf(text + len, sizeof(text) - (size_t) len,
                    "]], \"found_modules\": {\"%s/" ID "\": true}}]}", module);
    return text;
}


static void
names_v5(kit_options_t *o, sym_names_t *names)
{
    /* each several times: the answers for one must not be used for the other */
    for (unsigned i = 0; i < 2; i++) {
        o->names = names;
        answers(o, BODY("native", FRAMES), wanted("native", &as_shown),
                "the linker's names");
        answers(o, BODY("shown", FRAMES), wanted("shown", &as_kept),
                "of a .sym file");
        o->names = NULL;
        answers(o, BODY("native", FRAMES), wanted("native", &as_kept), "raw");
    }
}


static void
names_v4(const kit_options_t *base, sym_names_t *names)
{
    kit_options_t o = *base;

    o.version = 4;
    o.names = names;
    answers(&o, BODY("native", "[0,256],[0,512],[0,768]"),
            "{\"symbolicatedStacks\": [[\"_Z1fv (in native)\", "
            "\"A::operator B<C><B<C>>() (in native)\", "
            "\"A::b() (in native)\"]], \"knownModules\": [true]}",
            "v4: the linker's names");
    answers(&o, BODY("shown", "[0,512]"),
            "{\"symbolicatedStacks\": [[\"_ZN1AcvT_I1BI1CEEEv (in shown)\"]], "
            "\"knownModules\": [true]}",
            "v4: of a .sym file");
}


/* Many files and names in a request: each is cached in its own role. */
static void
names_repeated(const kit_options_t *base, sym_names_t *names)
{
    kit_options_t o = *base;
    char body[4096] = "{\"stacks\":[[";
    kit_result_t r;
    unsigned calls = 0, files = 0;

    for (unsigned i = 0; i < 100; i++) {
        (void) strcat(body, i == 0 ? "[0,256]" : ",[0,256]");
    }
    (void) strcat(body, "]],\"memoryMap\":[[\"native\",\"" ID "\"]]}");

    o.names = names;
    r = kit_run(sym_cstr(body), &o);
    for (const char *p = r.text; (p = strstr(p, "\"f(int)\"")) != NULL; p++) {
        calls++;
    }
    for (const char *p = r.text; (p = strstr(p, "\"_Z1fi\"")) != NULL; p++) {
        files++;
    }
    is_u64(calls, 100, "a name that is also a file: shown as a name");
    is_u64(files, 300, "... and as a file");
    free(r.text);
}


/*
 * One frame with 499 names of 4,000 bytes: a slice ends when its budget is
 * spent on them, after as many names as that pays for.
 */
static void
slices(const kit_options_t *base)
{
    static const char body[] = BODY("costly", "[0,256]");
    kit_options_t o = *base;
    kit_result_t all, sliced, again;

    o.names = sym_names_create((size_t) 8 << 20);
    all = kit_run(sym_cstr(body), &o);
    ok(all.status == SYM_OK && all.calls < 10, "without slices: at once");

    o.budget = 512; /* of 16 bytes: two names and a bit */
    sliced = kit_run(sym_cstr(body), &o);
    ok(sliced.calls > CALLS / 4 && sliced.calls <= CALLS + 10,
       "demangling is taken off the slice: %u of them", sliced.calls);
    ok(sliced.len == all.len && memcmp(sliced.text, all.text, all.len) == 0,
       "... the same answer");

    again = kit_run(sym_cstr(body), &o);
    is_u64(again.calls, all.calls, "a cached name costs nothing");
    ok(again.len == all.len && memcmp(again.text, all.text, all.len) == 0,
       "... the same answer");

    free(all.text);
    free(sliced.text);
    free(again.text);
    sym_names_free(o.names);
}


static bool
make_store(void)
{
    sym_store_t *store = kit_writer((uint64_t) 64 << 20);

    if (!is_status(kit_err.status, SYM_OK, &kit_err, "a store")) {
        return false;
    }

    store_module(store, "native", ID, "", SYM_FLAG_LINKER_NAMES, fill_names);
    store_module(store, "shown", ID, "", 0, fill_names);
    store_module(store, "costly", ID, "", SYM_FLAG_LINKER_NAMES, fill_costly);
    sym_store_close(store);
    return true;
}


static void
test_names(kit_options_t *o)
{
    sym_names_t *memo = sym_names_create((size_t) 64 * 1024);
    sym_names_t *nothing = sym_names_create(0);

    names_v5(o, nothing);
    names_v5(o, memo);
    names_v4(o, memo);
    names_repeated(o, memo);
    slices(o);

    o->kept = sym_worker_cache_create(0);
    names_v5(o, memo);
    names_v4(o, memo);
    slices(o);

    sym_worker_cache_free(o->kept);
    sym_names_free(nothing);
    sym_names_free(memo);
}


int
main(void)
{
    kit_options_t o = { .version = 5 };

    kit_folder();

    if (make_store() && ok((reader = kit_reader()) != NULL, "opened")) {
        if (is_status(sym_snapshot_begin(reader, &o.snapshot, &kit_err), SYM_OK,
                      &kit_err, "a snapshot"))
        {
            test_names(&o);
            sym_snapshot_end(o.snapshot);
        }
        sym_store_close(reader);
    }

    kit_clean();
    return done_testing();
}
