/*
 * Memory runs out while a name is demangled: each allocation in turn fails,
 * those of libiberty included.
 */
#include "symbolicate/cache/names.h"
#include "oom.h"
#include "artifacts/symcache/format.h"
#include "tap.h"
#include "base/language.h"


/* Repeats with more memory each time, until the name is demangled. */
static void
sweep(const char *name, unsigned style, const char *want)
{
    char out[SYM_DEMANGLED_MAX];
    unsigned long n = 0;
    size_t len = 0;

    for (; len == 0 && n < 100; n++) {
        allocations_left = n;
        len = sym_demangle(sym_cstr(name), SYM_LANG_UNKNOWN, style, out,
                           sizeof(out));
        allocations_left = (unsigned long) -1;
    }

    is_str(sym_str(out, len), want, name);
    ok(n > 1, "... without memory it stays mangled");
}


static void
sweep_create(void)
{
    sym_names_t *names = NULL;
    unsigned long n = 0;

    for (; names == NULL && n < 100; n++) {
        allocations_left = n;
        names = sym_names_create((size_t) 64 * 1024);
        allocations_left = (unsigned long) -1;
    }

    ok(names != NULL && n > 2, "a memo");
    sym_names_free(names);
}


int
main(void)
{
    sweep("_ZN1A1bI1CEEvT_", SYM_DEMANGLE_PARAMS, "A::b<C>(C)");
    sweep("_ZN1A1bI1CEEvT_", SYM_DEMANGLE_FULL, "void A::b<C>(C)");
    sweep("_RNvC7mycrateu8gdel_5qa", SYM_DEMANGLE_PARAMS,
          "mycrate::g\xc3\xb6"
          "del");
    sweep("?b@A@@YAXVC@1@@Z", SYM_DEMANGLE_FULL, "A::b(A::C)");
    sweep_create();
    return done_testing();
}
