/*
 * Names of C on Windows, as Microsoft's "Format of a C decorated name" has them;
 * names of C++ stay as they are.
 */
#include "formats/native/undecorate.h"

#include "tap.h"

int
main(void)
{
    static const struct {
        const char *name, *bare;
    } cases[] = {
        { "_f", "f" },     /* __cdecl */
        { "_f@8", "f" },   /* __stdcall */
        { "@f@8", "f" },   /* __fastcall */
        { "f@@8", "f" },   /* __vectorcall */
        { "f", "f" },      /* of x64 */
        { "__f", "_f" },   /* one of them is the compiler's */
        { "_f@x", "f@x" }, /* not a number of bytes */
        { "@f", "@f" },
        { "@8", "@8" },
        { "f@8", "f@8" },
        { "", "" },
        { "?f@@YAXXZ", "?f@@YAXXZ" },
        { "_a::f", "_a::f" },
        { "_f(int)", "_f(int)" },
        { "_f<int>", "_f<int>" },
        { "_Z1fi", "_Z1fi" },  /* by gcc and clang for x64 */
        { "__Z1fi", "_Z1fi" }, /* and for x86 */
        { "__Z1fi@4", "_Z1fi" },
        { "_RNvC1a1b", "_RNvC1a1b" }, /* Rust's */
        { "_RTC_CheckEsp", "RTC_CheckEsp" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sym_str_t bare = sym_undecorate(sym_cstr(cases[i].name));

        ok(sym_str_eq(bare, sym_cstr(cases[i].bare)), "%s is %s", cases[i].name,
           cases[i].bare);
    }

    return done_testing();
}
