/*
 * Demangling: the styles, names that are left alone, hostile names, and the
 * memo.  t/demangle.t compares many names with c++filt, llvm-cxxfilt and
 * rustfilt.
 */
#include <stdlib.h>
#include <time.h>

#include "base/language.h"
#include "demangle/languages.h"
#include "symbolicate/cache/names.h"
#include "tap.h"

/* More than any name should take, even with sanitizers or on a slow machine. */
#define SECONDS_MAX 5

#define PARAMS SYM_DEMANGLE_PARAMS
#define RETURN (SYM_DEMANGLE_PARAMS | SYM_DEMANGLE_RETURN)
#define TIGHT (SYM_DEMANGLE_PARAMS | SYM_DEMANGLE_TIGHT)


static void
shows_as(const char *name, uint8_t lang, unsigned style, const char *want)
{
    char out[SYM_DEMANGLED_MAX];
    size_t len = sym_demangle(sym_cstr(name), lang, style, out, sizeof(out));

    is_str(sym_str(out, len), want, name);
}


static void
shows(const char *name, const char *want)
{
    shows_as(name, SYM_LANG_UNKNOWN, PARAMS, want);
}


/* Unresolved names, which libiberty may read in two ways, also after the value
 * of a literal, which is not the length of an identifier. */
static void
test_unresolved(void)
{
    shows("_ZN1A1fILm548932EP7oopDescEEN8EnableIfIXntsr12HasDecoratorIXT_"
          "ELm2048EE5valueET0_E4typeEPv",
          "");
    shows("_ZN1A1fILin64EiEEN1BIXsr1CIXT_EE5valueEvE4typeEPv", "");
    shows("_ZN4llvm10checkedAddIiEENSt9enable_ifIXsr3stdE11is_signed_vIT_EE"
          "St8optionalIS2_EE4typeES2_S2_",
          "llvm::checkedAdd<int>(int, int)");
    shows("_Z1fI1AI1BIS1_IiEEEENSt9enable_ifIXsr1CIT_EE1vEvE4typeET_",
          "f<A<B<B<int> > > >(A<B<B<int> > >)");
    shows("_ZN1ArsI1BIiEEENSt9enable_ifIXsr1CIT_EE1vEvE4typeET_",
          "A::operator>><B<int> >(B<int>)");
    shows("_ZN1A1fIiEENSt9enable_ifIXsr1CIT_EE1vEvE4typeET_.isra.0", "");
    shows_as("_ZN1A1fIiEENSt9enable_ifIXsr1CIT_EE1vEvE4typeET_", SYM_LANG_CPP,
             0, "");
    shows("_ZN1A1fILm64EiEEvPv", "A::f<64ul, int>(void*)");
    shows("_Z1f3FOLi3src", "f(FOL, int, src)");
}


/* Parameters and return types: Itanium C++ ABI, 5.1.5. */
static void
test_styles(void)
{
    const char *name = "_Z1gI1AI1BIiEEEvT_";

    shows_as(name, SYM_LANG_CPP, 0, "g<A<B<int> > >");
    shows_as(name, SYM_LANG_CPP, PARAMS, "g<A<B<int> > >(A<B<int> >)");
    shows_as(name, SYM_LANG_CPP, RETURN, "void g<A<B<int> > >(A<B<int> >)");
    shows_as(name, SYM_LANG_CPP, TIGHT, "g<A<B<int>>>(A<B<int>>)");
    shows_as("_ZNK1A1bEv", SYM_LANG_CPP, PARAMS, "A::b() const");
    shows_as("_Z1fSs", SYM_LANG_CPP, PARAMS, "f(std::string)");
}


/* Manglings that clang 18 and later write for C++20 (Itanium C++ ABI, 5.1.5.8
 * and 5.1.5.10), and blocks.  The expected names are llvm-cxxfilt 19's. */
static void
test_llvm(void)
{
    static const char *const names[][2] = {
        { "_ZN5test21fITnDaLi1EEEvv", "void test2::f<1>()" },
        { "_Z1gITk1CiEvv", "void g<int>()" },
        { "_ZN3FooIiEC1ITkNS_3BarEiEET_", "Foo<int>::Foo<int>(int)" },
        { "_Z1fIiEvT_Q1CIS0_E", "void f<int>(int) requires C<int>" },
        { "_ZN1XF1fIiEEvT_", "void X::friend f<int>(int)" },
        { "_ZZ4mainENKUlvE_clEv", "main::'lambda'()::operator()() const" },
        { "_ZZN1A1fEvE1x_0", "A::f()::x" },
        { "_ZZN1A1fEvE1x__12_", "A::f()::x" },
        { "_ZZ1fvE1x12", "f()::x" },
        { "_Z1gI1AI1BIiEEEvT_", "void g<A<B<int>>>(A<B<int>>)" },
        { "_Z1fv.cold", "f() (.cold)" },
        { "___ZN3foo3barEv_block_invoke",
          "invocation function for block in foo::bar()" },
        { "___ZN3foo3barEv_block_invoke_2",
          "invocation function for block in foo::bar()" },
        { "___ZN3foo3barEv_block_invoke.3",
          "invocation function for block in foo::bar()" },
        /* Apple's names, with another underscore in front */
        { "____ZN3foo3barEv_block_invoke",
          "invocation function for block in foo::bar()" },
        { "_ZN3foo3barEv_block_invoke", "" },
        /* LLVM does not support transactions: libiberty's name without the
         * spaces */
        { "_ZGTtN1AI1BIiEE1fEv", "transaction clone for A<B<int>>::f()" },
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        shows_as(names[i][0], SYM_LANG_UNKNOWN, SYM_DEMANGLE_FULL, names[i][1]);
    }
}


/* D's ABI, "Name Mangling"; t/demangle.t has more of each kind. */
static void
test_d(void)
{
    shows("_D3foo3barFiZv", "foo.bar(int)");
    shows("__D3foo3barFiZv", "foo.bar(int)"); /* Apple's */
    shows("_Dmain", "D main");
    shows("_D3foo3barFNkMPiZv", "foo.bar(return scope int*)");
    shows("_D3foo3barFMNkPiZv", "foo.bar(scope return int*)");
    shows("_D", "");
    shows("_D3foo", "");
    shows("_Dmains", "");
    shows("_D3foo3barFiZv.part.0", "");
    shows("_D3f\xff\xfeZ", "");
    shows_as("_D3foo3barFiZv", SYM_LANG_D, 0, "foo.bar(int)");
    shows_as("_D3foo3barFiZv", SYM_LANG_CPP, PARAMS, "");
    shows_as("_D3foo3barFiZv", SYM_LANG_RUST, PARAMS, "");
    /* extern(C++) */
    shows_as("_Z1fv", SYM_LANG_D, PARAMS, "f()");
    shows_as("_RNvC1a1b", SYM_LANG_D, PARAMS, "");
}


/* Names of Microsoft's compilers.  Expected is what Sentry's symbolic 13.9.0
 * (PyPI) shows, and therefore Symbolicator. */
static void
test_msvc(void)
{
    static const char *const names[][2] = {
        { "?f@@YAHH@Z", "f(int)" },
        { "?f@ns@@YAXXZ", "ns::f(void)" },
        { "?f@ns@@YAXHZZ", "ns::f(int, ...)" },
        { "?\?0A@ns@@QEAA@PEBD@Z", "ns::A::A(char const*)" },
        { "?\?1A@ns@@UEAA@XZ", "ns::A::~A(void)" },
        { "?get@A@@QEBAHXZ", "A::get(void) const" },
        { "?get@A@@QEGBAHXZ", "A::get(void) const &" },
        { "?s@A@@SAHH@Z", "A::s(int)" },
        { "?\?BA@@QEBA_NXZ", "A::operator bool(void) const" },
        { "?\?$f@H@@YAXH@Z", "f<int>(int)" },
        { "?f@?$A@V?$B@H@@@@QEAAXXZ", "A<B<int> >::f(void)" },
        { "?swap@?$basic_string@DU?$char_traits@D@std@@V?$allocator@D@2"
          "@@std@@QEAAXAEAV12@@Z",
          "std::basic_string<char, std::char_traits<char>, std::allocat"
          "or<char> >::swap(std::basic_string<char, std::char_traits<ch"
          "ar>, std::allocator<char> >&)" },
        { "?f@@YAXPEAD0QEBXAEAH$$QEAJ@Z",
          "f(char*, char*, void const* const, int&, long&&)" },
        { "?f@@YAXP6AHPEAX0@Z@Z", "f(int (*)(void*, void*))" },
        { "?f@@YAXP8A@@EAAHD@Z@Z", "f(int (A::*)(char))" },
        { "?f@@YAXAEAY02H@Z", "f(int (&)[3])" },
        { "?f@@YAXW4E@@TU@@@Z", "f(E, U)" },
        { "?f@@YA?AVA@@V1@@Z", "f(A)" },
        { "?f@?A0x1b2c3d4e@@YAXXZ", "`anonymous namespace'::f(void)" },
        { "?x@?1?\?f@@YAHXZ@4HA", "`f(void)'::`2'::x" },
        { "?\?R<lambda_1>@?0?\?f@@YAXXZ@QEBA@XZ",
          "`f(void)'::`1'::<lambda_1>::operator()(void) const" },
        { "?\?$f@$0A@$0?0@@YAXXZ", "f<0, -1>(void)" },
        { "?\?_7A@@6BB@@@", "A::`vftable'{for `B'}" },
        { "?\?_R0?AVA@@@8", "A::`RTTI Type Descriptor'" },
        { "?\?_R1A@?0A@EA@A@@8",
          "A::`RTTI Base Class Descriptor at (0, -1, 0, 64)'" },
        { "?\?_9A@@$B7AA", "A::`vcall'{8, {flat}}" },
        { "?\?_GA@@UEAAPEAXI@Z",
          "A::`scalar deleting destructor'(unsigned int)" },
        { "?\?__Ex@@YAXXZ", "x::`dynamic initializer'(void)" },
        { "?x@A@@2HA", "A::x" },
        { "?f@@YA_N_J_K_W_S_U_Q@Z",
          "f(int64_t, uint64_t, wchar_t, char16_t, char32_t, char8_t)" },
        { "?\?$f@$$V@@YAXXZ", "f<>(void)" },
        { "?\?$f@$$T@@YAXXZ", "f<std::nullptr_t>(void)" },
        { "?f@@YAXXZ_E", "f(void)" },
        { "?f@A@@W7EAAXXZ", "A::f(void)" },
        { "?\?_C@_02PCEFGMJL@hi?$AA@", "`string'" },
    };

    /* Names that symbolic leaves alone or shows wrong (docs/use/demangle.md),
     * after clang's MicrosoftMangle.cpp. */
    static const char *const others[][2] = {
        { "?f@@$$J0YAXXZ", "f(void)" },
        { "?f@@YQXXZ", "f(void)" },
        { "?\?$f@$M_N$00@@YAXXZ", "f<1>(void)" },
        { "?f@@YAXPE$AAVString@Platform@@@Z", "f(Platform::String^)" },
        { "?\?_E?$A@D@std@@$4PPPPPPPM@A@EAAPEAXI@Z",
          "std::A<char>::`vector deleting destructor'(unsigned int)" },
        { "?f@@YAXPEQA@@H@Z", "f(int A::*)" },
        { "?\?__K_x@ns@@YAHO@Z", "ns::operator \"\"_x(long double)" },
        { "?\?__MA@@QEAA?AVordering@@AEBV0@@Z", "A::operator<=>(A const&)" },
        { "?\?$f@$1?g@@YAXXZ@@YAXXZ", "f<&g(void)>(void)" },
    };

    static const char *const not_shown[] = {
        "?\?@0123456789abcdef0123456789abcdef@",
        "@?f@@YAHH@Z",
        "?f@@YAHH",
        "?f",
        "?",
        "?f@@YA0@Z",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        shows(names[i][0], names[i][1]);
    }

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        shows(others[i][0], others[i][1]);
    }

    for (size_t i = 0; i < sizeof(not_shown) / sizeof(*not_shown); i++) {
        shows(not_shown[i], "");
    }

    shows_as("?f@ns@@YAHH@Z", SYM_LANG_CPP, SYM_DEMANGLE_FULL, "ns::f(int)");
    shows_as("?f@ns@@YAHH@Z", SYM_LANG_CPP, 0, "ns::f");
    shows_as("?f@ns@@YAHH@Z", SYM_LANG_RUST, PARAMS, "");
    shows_as("?f@ns@@YAHH@Z", SYM_LANG_D, PARAMS, "");
    shows_as("?f@ns@@YAHH@Z", SYM_LANG_C, PARAMS, "");
}


/* Names that symbolic shows with a space missing, or without a part of the
 * return type. */
static void
test_msvc_spelling(void)
{
    shows("?f@@YAXAEBUA1@@@Z", "f(A1 const&)");
    shows("?f@@YAP6AXH@ZD@Z", "f(char)");
    shows("?handler@@3P6AXH@ZEA", "handler");
    shows("??_8A@@7BB@@@", "A::`vbtable'{for `B'}");
}


static void
test_prefixes(void)
{
    shows("_Z1fv", "f()");
    shows("__Z1fv", "f()");
    shows("____Z1fv", "f()");
    shows("_____Z1fv", "");
    shows("Z1fv", "");
    shows("_Z1fv$0123456789abcdef0123456789ABCDEF", "f()");
    shows("_Z1fv$0123456789abcdef0123456789ABCDEG", "");
    shows("_RNvC1a1b", "a::b");
    shows("__RNvC1a1b", "a::b");
    shows("_Z1fv.part.0", "f() [clone .part.0]");
    shows("_Z1fv.isra.0", "f() [clone .isra.0]"); /* no "sra..." */
    shows("_ZN1A1fEv.isra.6", "A::f() [clone .isra.6]");
    shows("_Z1fv.isra.7.part.8", "f() [clone .isra.7] [clone .part.8]");
}


static void
test_others(void)
{
    shows("", "");
    shows("_", "");
    shows("main", "");
    shows("_Z", "");
    shows("_R", "");
    shows("_Z1fvgarbage!", "");
    shows("-[NSString length]", "");
    shows("+[A b:c:]", "");
    shows("_Z1f\xff", "");
    shows("_Z3f\xff\xfev", ""); /* an identifier that is not UTF-8 */
    shows_as("_Z1fv", SYM_LANG_C, PARAMS, "");
    shows_as("_Z1fv", SYM_LANG_SWIFT, PARAMS, "");
    shows_as("_ZN1a1b17h0123456789abcdefE", SYM_LANG_RUST, PARAMS, "a::b");
    shows_as("_ZN1a1b17h0123456789abcdefE", SYM_LANG_CPP, PARAMS,
             "a::b::h0123456789abcdef");
    is_u64(sym_demangle(SYM_STR("_Z1fv\0x"), SYM_LANG_CPP, PARAMS,
                        (char[16]){ 0 }, 16),
           0, "a NUL in a name");
}


static void
test_room(void)
{
    char out[16] = "0123456789abcde";

    is_u64(sym_demangle(SYM_STR("_ZN1A1bEi"), SYM_LANG_CPP, PARAMS, out, 9), 9,
           "just room");
    is_u64(sym_demangle(SYM_STR("_ZN1A1bEi"), SYM_LANG_CPP, PARAMS, out, 8), 0,
           "one byte less");
    is_u64(sym_demangle(SYM_STR("_RNvC1a1b"), SYM_LANG_RUST, PARAMS, out, 4), 4,
           "just room for Rust");
    is_u64(sym_demangle(SYM_STR("_RNvC1a1b"), SYM_LANG_RUST, PARAMS, out, 3), 0,
           "one byte less");
    is_u64(sym_demangle(SYM_STR("_ZN1A1bEi"), SYM_LANG_CPP, SYM_DEMANGLE_FULL,
                        out, 9),
           9, "just room for LLVM");
    is_u64(sym_demangle(SYM_STR("_ZN1A1bEi"), SYM_LANG_CPP, SYM_DEMANGLE_FULL,
                        out, 8),
           0, "one byte less");
    ok(out[9] == '9', "nothing is written past the buffer's end");
}


/* --- hostile names --- */

typedef struct {
    char text[SYM_MANGLED_MAX + 1];
    size_t len;
} name_t;


static void
add(name_t *n, const char *text, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        size_t len = strlen(text);

        if (n->len + len > SYM_MANGLED_MAX) {
            return;
        }
        memcpy(n->text + n->len, text, len);
        n->len += len;
    }
}


/* A number as in S..._ and B..._: 0 is "_", 1 is "0_", ... */
static void
add_number(name_t *n, const char *before, unsigned value, unsigned base)
{
    static const char lower[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char upper[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char digits[8];
    size_t at = sizeof(digits) - 1;

    digits[at] = '\0';
    digits[--at] = '_';
    for (unsigned v = value; v != 0; v = (v - 1) / base == 0 ? 0 : v / base) {
        digits[--at] = (base == 36 ? upper : lower)[(v - 1) % base];
        v--;
    }
    add(n, before, 1);
    add(n, digits + at, 1);
}


/* Not demangled, without delay. */
static void
refused_as(const name_t *n, unsigned style, const char *name)
{
    char out[SYM_DEMANGLED_MAX];
    clock_t start = clock();
    size_t len = sym_demangle(sym_str(n->text, n->len), SYM_LANG_UNKNOWN, style,
                              out, sizeof(out));

    is_u64(len, 0, name);
    ok(clock() - start < (clock_t) SECONDS_MAX * CLOCKS_PER_SEC,
       "... without delay");
}


/* Demangled by libiberty, and by LLVM. */
static void
refused(const name_t *n, const char *name)
{
    refused_as(n, RETURN, name);
    refused_as(n, SYM_DEMANGLE_FULL, name);
}


/* LLVM must return without delay; the result does not matter. */
static void
is_quick(const name_t *n, const char *name)
{
    char out[SYM_DEMANGLED_MAX];
    clock_t start = clock();

    for (unsigned i = 0; i < 100; i++) {
        (void) sym_demangle(sym_str(n->text, n->len), SYM_LANG_CPP,
                            SYM_DEMANGLE_FULL, out, sizeof(out));
    }

    ok(clock() - start < (clock_t) SECONDS_MAX * CLOCKS_PER_SEC, "%s", name);
}


/* Each type occurs twice in the next one: 2^100 names in all. */
static void
test_output_bombs(void)
{
    name_t cpp = { "", 0 }, rust = { "", 0 };
    unsigned last = 0;

    add(&cpp, "_Z1f1PIiiE", 1);
    for (unsigned i = 1; i < 100; i++) {
        add(&cpp, "S_I", 1);
        add_number(&cpp, "S", i, 36);
        add_number(&cpp, "S", i, 36);
        add(&cpp, "E", 1);
    }
    refused(&cpp, "a name for 2^100 names");

    add(&rust, "_RIC1aTuuE", 1);
    for (unsigned i = 0, at = 4; i < 100; i++) {
        last = at;
        at = (unsigned) rust.len - 2;
        add(&rust, "T", 1);
        add_number(&rust, "B", last, 62);
        add_number(&rust, "B", last, 62);
        add(&rust, "E", 1);
    }
    add(&rust, "E", 1);
    refused(&rust, "the same in Rust");
}


/* Names that cost much and give no output. */
static void
test_silent_bombs(void)
{
    name_t pack = { "", 0 }, length = { "", 0 }, retry = { "", 0 },
           binder = { "", 0 };

    /* an empty pack whose pattern is a tree of 2^90 branches */
    add(&pack, "_Z1fIJEEv1PIT_T_E", 1);
    for (unsigned i = 2; i < 92; i++) {
        add(&pack, "S0_I", 1);
        add_number(&pack, "S", i, 36);
        add_number(&pack, "S", i, 36);
        add(&pack, "E", 1);
    }
    add_number(&pack, "DpS", 91, 36);
    refused(&pack, "an expansion of nothing");

    /* text that is discarded each time */
    pack = (name_t){ "", 0 };
    add(&pack, "_Z1fIJEEv1PIDpT_DpT_E", 1);
    for (unsigned i = 2; i < 92; i++) {
        add(&pack, "S0_I", 1);
        add_number(&pack, "DpS", i, 36);
        add_number(&pack, "DpS", i, 36);
        add(&pack, "E", 1);
    }
    is_quick(&pack, "expansions of nothing in one another");

    /* the operand of "++" is parsed into two branches that are the same */
    add(&length, "_Z1fIiEDTsZ", 1);
    add(&length, "pp", 90);
    add(&length, "Lh1EET_", 1);
    refused(&length, "the length of a pack that is searched 2^90 times");

    add(&retry, "_ZN1AcvT_", 1);
    add(&retry, "IT_", 60);
    add(&retry, "E", 60);
    add(&retry, "Ev", 1);
    refused(&retry, "arguments that are parsed 2^60 times");

    /* few of them, with much text after them, take as long */
    shows("_Z2cvI1AEvT_IiET_IiET_IiE", "cv<A>(A<int>, A<int>, A<int>)");
    retry = (name_t){ "", 0 };
    add(&retry, "_Z2cvI1AEv", 1);
    add(&retry, "T_IiE", 7);
    add(&retry, "i", 700);
    refused_as(&retry, RETURN, "745 bytes that may be parsed 128 times");

    add(&binder, "_RMC0FGzzzzzzzzz_EuE", 1);
    refused(&binder, "2^53 lifetimes");
}


/* Q NumberBackRef, to a position in the name. */
static void
add_reference(name_t *n, size_t to)
{
    size_t distance = n->len - to;
    char text[8] = "QAAAAa";

    for (unsigned at = 5; at > 0; at--, distance /= 26) {
        text[at] = (char) (text[at] + (char) (distance % 26));
    }
    add(n, text, 1);
}


/* Each tuple contains the one before twice: 2^n of them. */
static void
add_tuples(name_t *n, unsigned times)
{
    size_t last = n->len;

    add(n, "B2ii", 1);
    for (unsigned i = 0; i < times; i++) {
        size_t at = n->len;

        add(n, "B2", 1);
        add_reference(n, last);
        add_reference(n, last);
        last = at;
    }
}


static void
test_bombs_of_d(void)
{
    name_t n = { "", 0 };

    add(&n, "_D1a1bF", 1);
    add_tuples(&n, 100);
    add(&n, "Zv", 1);
    refused(&n, "a name of D for 2^100 names");

    /* the type that a function returns is not shown */
    n = (name_t){ "", 0 };
    add(&n, "_D1a1bFZB101", 1);
    add_tuples(&n, 100);
    refused(&n, "the same without text");

    /* F may begin the signature of `a`, or the next parameter */
    n = (name_t){ "", 0 };
    add(&n, "_D1a1bF", 1);
    add(&n, "S1aF", 1000);
    refused(&n, "signatures that are parsed 2^1000 times");

    /* a length of one digit or two */
    n = (name_t){ "", 0 };
    add(&n, "_D1a", 1);
    add(&n, "__T1aS11a", 400);
    refused(&n, "lengths that are parsed 2^400 times");

    n = (name_t){ "", 0 };
    add(&n, "_D1a__T1aS", 1);
    add(&n, "0", 4000);
    add(&n, "1b", 1);
    refused(&n, "a length of 4,001 digits");

    n = (name_t){ "", 0 };
    add(&n, "_D1a", 1);
    add(&n, "6__initZ", 500);
    refused(&n, "text before text before text");

    n = (name_t){ "", 0 };
    add(&n, "_D1a1bF", 1);
    add(&n, "PA", 2000);
    add(&n, "QAAAAAAAAb", 1);
    refused(&n, "a type that contains itself");
}


/* Ten types, each a function of the one before many times, or a template of ten
 * names; deep nesting; and references to nothing. */
static void
test_bombs_of_msvc(void)
{
    name_t n = { 0 };

    add(&n, "?f@@YAX", 1);
    add(&n, "P6AXPEADPEAH@Z", 1);
    for (unsigned i = 0; i < 8; i++) {
        char reference[2] = { (char) ('0' + i), '\0' };

        add(&n, "P6AX", 1);
        add(&n, reference, 100);
        add(&n, "@Z", 1);
    }
    add(&n, "@Z", 1);
    refused(&n, "functions of functions of Microsoft's");

    n.len = 0;
    add(&n, "?f@@YAX", 1);
    add(&n, "PEA", 1000);
    add(&n, "X@Z", 1);
    refused(&n, "pointers to pointers");

    n.len = 0;
    add(&n, "?f@@YAX", 1);
    add(&n, "V?$A@", 800);
    refused(&n, "templates of templates");

    n.len = 0;
    add(&n, "?x@", 1);
    add(&n, "??", 2000);
    refused(&n, "functions in functions");

    n.len = 0;
    add(&n, "?a@@3Y", 1);
    add(&n, "OOOOOOOO@", 1);
    add(&n, "0", 4000);
    refused(&n, "dimensions");

    n.len = 0;
    add(&n, "?f@@YAX", 1);
    add(&n, "$$V", 1300);
    add(&n, "H@Z", 1);
    is_quick(&n, "packs that are empty");
}


/* Names whose text is assembled in another order, or partly discarded, need no
 * more room than their result. */
static void
test_room_of_d(void)
{
    static const char *const names[][2] = {
        { "_Dmain", "D main" },
        { "_D6__initZ", "initializer for" },
        { "_D1a1b6__initZ", "initializer for a.b" },
        { "_D1a1bFC1c7__ClassDFiZvZAAi", "a.b(c.__Class, void(int) delegate)" },
        { "_D1a1bFHAiAaPFNaiZbZv",
          "a.b(char[][int[]], bool(int) pure function)" },
        { "_D1a__T1bVS1eS1i2Z1fMxFZv", "a.b!(e(2)).f() const" },
        { "_D1a__T1bTC1c7__ClassZ1dFZv", "a.b!(ClassInfo for c).d()" },
        { "_D1a1bFDFC1c6__initZvZv",
          "a.b(voidinitializer for (c) delegate)" }, /* as binutils has it */
        { "_D1a__T1bS41c1dZ1eFZv", "a.b!(c.d).e()" },
        { "_D1a1bFS1aMiZv", "a.b(a, scope int)" },
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        sym_str_t name = sym_cstr(names[i][0]), want = sym_cstr(names[i][1]);
        size_t n_wrong = 0;

        for (size_t room = 0; room < want.len + 40; room++) {
            char *out = malloc(room + 1);
            size_t len = sym_demangle(name, SYM_LANG_D, PARAMS, out, room);

            n_wrong += !sym_str_eq(sym_str(out, len),
                                   room < want.len ? SYM_STR("") : want);
            free(out);
        }
        is_u64(n_wrong, 0, names[i][0]);
    }
}


/* Numbers that are too large for any name, or for their type. */
static void
test_numbers_of_d(void)
{
    shows("_D4294967295abc", "");
    shows("_D4294967296abc", "");
    shows("_D99999999999999999999abc", "");
    shows("_D18446744073709551617aZv", "");
    shows("_D1a1bFB4294967295iZv", "");
    shows("_D1a__T1bVAiA4294967295i1Z1cZ", "");
    shows("_D1a__T1bVHiiA4294967295i1i2Z1cZ", "");
    shows("_D1a__T1bVS1sS4294967295i1Z1cZ", "");
    shows("_D1a__T1bVAyaa4294967295_61Z1cZ", "");
    shows("_D1a__T1bX4294967295aZ1cZ", "");
    shows("_D1a1bFQZZZZZZZZZZZZZZZZZZZZZZZZZZZZbZv", "");
    shows("_D1a1bFQaZv", "");
    shows("_D1a1bFG99999999999999999999iZv", "a.b(int[99999999999999999999])");
    shows("_D1a__T1bVwi4294967295Z1cZ", "a.b!('\\Uffffffff').c");
    shows("_D1a__T1bVui4294967295Z1cZ", "a.b!('\\uffffffff').c");
}


/* Cut anywhere, in a block of its own, so that a sanitizer sees reads past the
 * end. */
static void
test_cut_d(void)
{
    static const char *const names[] = {
        "_D1a10__postblitMFZv",
        "_D1a__T1bS_D1a1cFNaZvHVAyaa2_6162VS1sS1i1VHiiA1i1i2Z1e7__ClassZ",
        "_D1a__T1bVde0X1P3Vqc0A8P1cNANS211c1dX2efZ4__S1QBnMxFNgiDFZQdMNkiYv",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (size_t len = 0; len <= strlen(names[i]); len++) {
            char *cut = malloc(len + 1), out[SYM_DEMANGLED_MAX];
            size_t n;

            memcpy(cut, names[i], len);
            cut[len] = '\0';
            n = sym_demangle_d(cut, len, out, sizeof(out));
            if ((n != 0) != (len == strlen(names[i]))) {
                is_str(sym_str(out, n), "", cut);
            }
            free(cut);
        }
    }
    ok(true, "names of D that are cut");
}


/* Names of the largest depth. */
static void
test_deep(void)
{
    static const char *const parts[][3] = {
        { "_Z1f", "P", "i" },        { "_Z1f", "PFi", "" },
        { "_Z1f", "1AI", "" },       { "_Z", "ZN1A", "" },
        { "_Z1fIX", "ng", "" },      { "_Z1fI", "J", "" },
        { "_Z1f", "A1_", "i" },      { "_Z1f", "M1A", "i" },
        { "_Z", "GV", "1av" },       { "_Z1fIX", "cvi", "Li1EE" },
        { "_RMC0", "P", "u" },       { "_R", "NvC1a", "" },
        { "_RMC0", "FE", "u" },      { "_RIC0", "T", "E" },
        { "_D1a", "P", "i" },        { "_D1aFHi", "DFZ", "Zv" },
        { "_D1a", "H", "i" },        { "_D1aF", "FZ", "Zv" },
        { "_D1a", "__T1aT", "" },    { "_D", "__T", "1aZv" },
        { "_D1a__T1aVi", "A1", "" }, { "_D1a__T1aVi", "f_D1aFZ", "" },
        { "_D1a", "B1", "i" },
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        name_t n = { "", 0 };

        add(&n, parts[i][0], 1);
        add(&n, parts[i][1],
            (unsigned) ((SYM_MANGLED_MAX - 16) / strlen(parts[i][1])));
        add(&n, parts[i][2], 1);
        refused(&n, parts[i][1]);
    }
}


static void
test_long(void)
{
    name_t n = { "", 0 };
    char out[SYM_DEMANGLED_MAX];
    size_t len;

    /* real names are longer than libiberty's own limit, 1,023 bytes */
    add(&n, "_Z1f", 1);
    add(&n, "1AIiE", 1);
    add(&n, "S0_", 600);
    len = sym_demangle(sym_str(n.text, n.len), SYM_LANG_CPP, PARAMS, out,
                       sizeof(out));
    is_u64(len, 0, "its text is too long");

    n = (name_t){ "", 0 };
    add(&n, "_ZN", 1);
    add(&n, "3abc", 400);
    add(&n, "Ev", 1);
    len = sym_demangle(sym_str(n.text, n.len), SYM_LANG_CPP, PARAMS, out,
                       sizeof(out));
    is_u64(len, 400 * 3 + 399 * 2 + 2, "a name of 1,605 bytes");
    is_u64(sym_demangle(sym_str(n.text, n.len), SYM_LANG_CPP, SYM_DEMANGLE_FULL,
                        out, sizeof(out)),
           len, "... in LLVM's style");

    n = (name_t){ "", 0 };
    add(&n, "_Z1f", 1);
    memset(n.text + n.len, 'i', SYM_MANGLED_MAX + 1 - n.len);
    is_u64(sym_demangle(sym_str(n.text, SYM_MANGLED_MAX + 1), SYM_LANG_CPP,
                        PARAMS, out, sizeof(out)),
           0, "a name that is too long");
}


/* --- the memo --- */

static void
test_memo(void)
{
    sym_names_t *names = sym_names_create((size_t) 64 * 1024);
    char name[32];
    sym_str_t shown;

    for (unsigned i = 0; i < 3; i++) {
        shown = sym_names_show(names, SYM_STR("_Z1fi"), SYM_LANG_CPP, PARAMS);
        is_str(shown, "f(int)", "the memo demangles");
    }
    is_u64(sym_names_counts(names).copied, 1, "the third time it is copied");
    is_u64(sym_names_counts(names).demangled, 2, "... twice demangled");

    shown = sym_names_show(names, SYM_STR("_Z1fi"), SYM_LANG_CPP, 0);
    is_str(shown, "f", "another style is another entry");
    shown = sym_names_show(names, SYM_STR("_Z1fi"), SYM_LANG_C, PARAMS);
    is_str(shown, "_Z1fi", "another language, too");
    shown = sym_names_show(names, SYM_STR("main"), SYM_LANG_UNKNOWN, PARAMS);
    is_str(shown, "main", "an unmangled name is not changed");

    for (unsigned i = 0; i < 3; i++) {
        shown = sym_names_show(names, SYM_STR("_Z!"), SYM_LANG_CPP, PARAMS);
        is_str(shown, "_Z!", "a name that fails is shown mangled");
    }
    is_u64(sym_names_counts(names).copied, 2, "... and remembered");

    /* more names than the memo has room for */
    for (unsigned i = 0; i < 20000; i++) {
        (void) snprintf(name, sizeof(name), "_Z5f%04xi", i / 2 & 0xffff);
        shown = sym_names_show(names, sym_cstr(name), SYM_LANG_CPP, PARAMS);
        (void) snprintf(name, sizeof(name), "f%04x(int)", i / 2 & 0xffff);
        if (!sym_str_eq(shown, sym_cstr(name))) {
            is_str(shown, name, "one of many");
            break;
        }
    }
    shown = sym_names_show(names, SYM_STR("_Z1fi"), SYM_LANG_CPP, PARAMS);
    is_str(shown, "f(int)", "an evicted name is demangled again");
    sym_names_free(names);
}


static void
test_no_memo(void)
{
    sym_names_t *names = sym_names_create(0);

    for (unsigned i = 0; i < 3; i++) {
        is_str(sym_names_show(names, SYM_STR("_Z1fi"), SYM_LANG_CPP, PARAMS),
               "f(int)", "without room it demangles, too");
    }
    is_u64(sym_names_counts(names).demangled, 3, "... again each time");
    is_u64(sym_names_counts(names).demangled_bytes, 15, "... all bytes");
    sym_names_free(names);
}


int
main(void)
{
    test_styles();
    test_unresolved();
    test_llvm();
    test_d();
    test_msvc();
    test_msvc_spelling();
    test_prefixes();
    test_others();
    test_room();
    test_output_bombs();
    test_silent_bombs();
    test_bombs_of_d();
    test_bombs_of_msvc();
    test_room_of_d();
    test_numbers_of_d();
    test_cut_d();
    test_deep();
    test_long();
    test_memo();
    test_no_memo();
    return done_testing();
}
