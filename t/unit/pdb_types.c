/*
 * formats/pdb/types.h: names of functions from records written by hand.
 * Expected is what Sentry's reader (crate pdb-addr2line 0.12) writes for the
 * same records.
 */
#include "formats/pdb/hashes.h"
#include "formats/pdb/types.h"
#include "pdb_kit.h"
#include "tap.h"
#include "thread_pool_kit.h"

#define T_VOID 0x03u
#define T_INT 0x74u
#define T_CHAR 0x70u
#define T_64PVOID 0x603u
#define T_64PCHAR 0x670u

/* LF_POINTER: 64 bits wide; modes of cvinfo.h */
#define PTR 0x1000cu
#define REF (PTR | 1u << 5)
#define MEMBER (PTR | 2u << 5)
#define METHOD (PTR | 3u << 5)
#define RVALUE (PTR | 4u << 5)
#define PTR_CONST 0x400u

typedef struct {
    kit_stream_t types, ids;
    sym_str_t tpi, ipi;
    sym_pdb_types_t open;
    sym_pdb_scratch_t *scratch;
} pdb_t;

static sym_status_t
open_streams(sym_pdb_types_t *types, sym_str_t tpi, sym_str_t ipi,
             sym_error_t *err)
{
    return sym_pdb_types_open(types, &(sym_pdb_type_stream_t){ .records = tpi },
                              &(sym_pdb_type_stream_t){ .records = ipi }, NULL,
                              err);
}


static void
open_pdb(pdb_t *p)
{
    sym_error_t err = { 0 };

    p->tpi = kit_stream(&p->types);
    p->ipi = kit_stream(&p->ids);
    ok(open_streams(&p->open, p->tpi, p->ipi, &err) == SYM_OK, "opens");
    p->scratch = sym_pdb_scratch_create(&p->open);
}


static void
close_pdb(pdb_t *p)
{
    sym_pdb_scratch_free(p->scratch);
    sym_pdb_types_close(&p->open);
    free((void *) p->tpi.data);
    free((void *) p->ipi.data);
    sym_buffer_free(&p->types.bytes);
    sym_buffer_free(&p->ids.bytes);
}


static void
is_function(pdb_t *p, uint32_t type, const char *want, const char *what)
{
    sym_str_t got;

    for (int i = 0; i < 2; i++) { /* the second time from the memo */
        if (sym_pdb_types_function_name(p->scratch, SYM_STR("f"), type, false,
                                        &got)
            != SYM_OK)
        {
            got = SYM_STR("out of memory");
        }
        is_str(got, want, what);
    }
}


static void
is_inlinee(pdb_t *p, uint32_t id, const char *want, const char *what)
{
    sym_str_t got;

    for (int i = 0; i < 2; i++) {
        if (sym_pdb_types_inlinee_name(p->scratch, id, &got) != SYM_OK) {
            got = SYM_STR("not found");
        }
        is_str(got, want, what);
    }
}


static uint32_t
pointer(pdb_t *p, uint32_t to, uint32_t attributes)
{
    return kit_record(&p->types, SYM_LF_POINTER, "ww", to, attributes);
}


static uint32_t
constant(pdb_t *p, uint32_t of)
{
    return kit_record(&p->types, SYM_LF_MODIFIER, "wh", of, 1u);
}


static uint32_t class(pdb_t *p, const char *name)
{
    return kit_record(&p->types, SYM_LF_CLASS, "hhwwwhs", 0u, 0u, 0u, 0u, 0u,
                      12u, name);
}


static uint32_t
procedure(pdb_t *p, uint32_t returns, uint32_t arguments)
{
    return kit_record(&p->types, SYM_LF_PROCEDURE, "whhw", returns, 0u, 1u,
                      arguments);
}


/* f(of) */
static uint32_t
taking(pdb_t *p, uint32_t of)
{
    return procedure(p, T_VOID,
                     kit_record(&p->types, SYM_LF_ARGLIST, "ww", 1u, of));
}


typedef struct {
    uint32_t type;
    const char *text;
} argument_t;

#define ARGUMENTS_MAX 32

/* Opens the PDB, names f(A) for each type A, and closes it. */
static void
are_arguments(pdb_t *p, const argument_t *all, size_t n)
{
    uint32_t functions[ARGUMENTS_MAX];
    char want[64];

    for (size_t i = 0; i < n; i++) {
        functions[i] = taking(p, all[i].type);
    }

    open_pdb(p);
    for (size_t i = 0; i < n; i++) {
        (void) snprintf(want, sizeof(want), "f(%s)", all[i].text);
        is_function(p, functions[i], want, all[i].text);
    }
    close_pdb(p);
}


static uint32_t
method(pdb_t *p, uint32_t of, uint32_t this, uint32_t attributes,
       uint32_t arguments)
{
    return kit_record(&p->types, SYM_LF_MFUNCTION, "wwwhhww", T_INT, of, this,
                      attributes, 1u, arguments, 0u);
}


static void
test_functions(void)
{
    pdb_t p = { 0 };
    uint32_t none = kit_record(&p.types, SYM_LF_ARGLIST, "w", 0u);
    uint32_t two =
        kit_record(&p.types, SYM_LF_ARGLIST, "www", 2u, T_INT, T_64PCHAR);
    uint32_t more = kit_record(&p.types, SYM_LF_ARGLIST, "www", 2u, T_INT, 0u);
    uint32_t a = class(&p, "ns::A<int>");
    uint32_t this = pointer(&p, a, PTR | PTR_CONST);
    uint32_t const_this = pointer(&p, constant(&p, a), PTR | PTR_CONST);
    uint32_t f0 = procedure(&p, T_VOID, none), f2 = procedure(&p, T_INT, two);
    uint32_t printf_like = procedure(&p, T_INT, more);
    uint32_t m = method(&p, a, this, 0, two);
    uint32_t m_const = method(&p, a, const_this, 0, two);
    uint32_t m_static = method(&p, a, 0, 0, two);
    uint32_t rust = method(&p, a, T_64PCHAR, 0, two);
    uint32_t rust_alone = method(&p, a, T_64PCHAR, 0, none);
    uint32_t no_list = procedure(&p, T_INT, 0x9999);
    uint32_t method_no_list = method(&p, a, this, 0, 0x9999);
    sym_str_t got;

    open_pdb(&p);
    is_function(&p, f0, "f()", "no arguments");
    is_function(&p, f2, "f(int, char*)", "two");
    is_function(&p, printf_like, "f(int, <NoType>)", "any number");
    is_function(&p, m, "f(int, char*)", "a method");
    is_function(&p, m_const, "f(int, char*) const", "a const method");
    is_function(&p, m_static, "f(int, char*)", "a static method");
    is_function(&p, rust, "f(char*, int, char*)", "rustc's argument in `this`");
    is_function(&p, rust_alone, "f(char*)", "only that argument");
    is_function(&p, no_list, "f(<missing type 0x9999>)", "no list");
    is_function(&p, method_no_list, "f", "a method without a list");
    is_function(&p, 0, "f", "no type");
    is_function(&p, a, "f", "a type that is not a function's");
    is_function(&p, T_INT, "f", "a simple type");
    is_function(&p, 0x80000001, "f", "an index of another module");
    is_function(&p, 0x5555, "f", "a type that does not exist");
    (void) sym_pdb_types_function_name(p.scratch, SYM_STR(""), f0, false, &got);
    is_str(got, "<name omitted>()", "no name");
    close_pdb(&p);
}


static void
test_pointers(void)
{
    pdb_t p = { 0 };
    uint32_t a = class(&p, "A");
    uint32_t const_char = constant(&p, T_CHAR);
    uint32_t to_const = pointer(&p, const_char, PTR);
    uint32_t ptr = pointer(&p, T_INT, PTR);
    uint32_t args = kit_record(&p.types, SYM_LF_ARGLIST, "ww", 1u, T_CHAR);
    uint32_t fn = procedure(&p, T_INT, args);
    uint32_t member_fn = method(&p, a, pointer(&p, a, PTR), 0, args);
    uint32_t constructor = method(&p, a, pointer(&p, a, PTR), 0x200, args);
    argument_t all[] = {
        { ptr, "int*" },
        { pointer(&p, ptr, PTR), "int**" },
        { pointer(&p, ptr, REF), "int*&" },
        { pointer(&p, a, REF), "A&" },
        { pointer(&p, a, RVALUE), "A&&" },
        { to_const, "char const*" },
        { pointer(&p, constant(&p, a), REF), "A const&" },
        { pointer(&p, T_INT, PTR | PTR_CONST), "int* const" },
        { pointer(&p, to_const, PTR), "char const**" },
        { pointer(&p, constant(&p, to_const), PTR), "char const* const*" },
        { constant(&p, ptr), "int* const" },
        { const_char, "const char" },
        { constant(&p, T_64PVOID), "void const*" },
        { constant(&p, a), "const A" },
        { pointer(&p, fn, PTR), "int (*)(char)" },
        { pointer(&p, fn, REF), "int (&)(char)" },
        { pointer(&p, pointer(&p, fn, PTR), PTR), "int (**)(char)" },
        { pointer(&p, member_fn, METHOD), "int (A::*)(char)" },
        { pointer(&p, constructor, METHOD), "(A::*)(char)" },
        { kit_record(&p.types, SYM_LF_POINTER, "wwwh", T_INT, MEMBER, a, 0u),
          "int::*" },
        { pointer(&p, 0x7777, PTR), "<missing type 0x7777>" },
        { fn, "()(char)" },
    };

    are_arguments(&p, all, sizeof(all) / sizeof(*all));
}


static void
test_classes(void)
{
    pdb_t p = { 0 };
    kit_stream_t *t = &p.types;
    argument_t all[] = {
        { class(&p, "C"), "C" },
        { kit_record(t, SYM_LF_STRUCTURE, "hhwwwhs", 0u, 0u, 0u, 0u, 0u, 4u,
                     "S"),
          "S" },
        { kit_record(t, SYM_LF_INTERFACE, "hhwwwhs", 0u, 0u, 0u, 0u, 0u, 4u,
                     "I"),
          "I" },
        { kit_record(t, SYM_LF_UNION, "hhwhs", 0u, 0u, 0u, 4u, "U"), "U" },
        { kit_record(t, SYM_LF_ENUM, "hhwws", 0u, 0u, T_INT, 0u, "E"), "E" },
        { kit_record(t, SYM_LF_CLASS_ST, "hhwwwhp", 0u, 0u, 0u, 0u, 0u, 4u,
                     "Old"),
          "Old" },
        { kit_record(t, SYM_LF_UNION_ST, "hhwhp", 0u, 0u, 0u, 4u, "OldU"),
          "OldU" },
        { kit_record(t, SYM_LF_ENUM_ST, "hhwwp", 0u, 0u, T_INT, 0u, "OldE"),
          "OldE" },
        { kit_record(t, SYM_LF_STRUCTURE2, "wwwwhhs", 0u, 0u, 0u, 0u, 0u, 4u,
                     "New"),
          "New" },
        /* sizes of 32 bits: LF_ULONG */
        { kit_record(t, SYM_LF_CLASS, "hhwwwhws", 0u, 0u, 0u, 0u, 0u, 0x8004u,
                     100000u, "Large"),
          "Large" },
        { kit_record(t, 0x000a, "h", 0u), "<unimplemented type kind 0xa>" },
        { 0x10b, "<missing type 0x10b>" },
        { 0x20, "unsigned char" },
        { 0x30, "bool" },
        { 0x71, "wchar_t" },
        { 0x477, "uint64_t*" },
    };

    are_arguments(&p, all, sizeof(all) / sizeof(*all));
}


static uint32_t
array(pdb_t *p, uint32_t of, unsigned bytes)
{
    return kit_record(&p->types, SYM_LF_ARRAY, "wwhs", of, 0x23u, bytes, "");
}


static void
test_arrays(void)
{
    pdb_t p = { 0 };
    uint32_t ints = array(&p, T_INT, 12), grid = array(&p, ints, 60);
    /* declared (forward reference, unique name), and defined after it: 24
     * bytes */
    uint32_t declared = kit_record(&p.types, SYM_LF_CLASS, "hhwwwhss", 0u,
                                   0x280u, 0u, 0u, 0u, 0u, "D", ".?AVD@@");
    uint32_t unknown = kit_record(&p.types, SYM_LF_CLASS, "hhwwwhss", 0u,
                                  0x280u, 0u, 0u, 0u, 0u, "X", ".?AVX@@");
    uint32_t f_ints = taking(&p, pointer(&p, ints, REF));
    uint32_t f_grid = taking(&p, grid);
    uint32_t f_class = taking(&p, pointer(&p, array(&p, declared, 72), REF));
    uint32_t f_unknown = taking(&p, array(&p, unknown, 72));
    uint32_t f_pointers = taking(&p, array(&p, pointer(&p, T_INT, PTR), 32));

    (void) kit_record(&p.types, SYM_LF_CLASS, "hhwwwhss", 0u, 0x200u, 0u, 0u,
                      0u, 24u, "D", ".?AVD@@");
    open_pdb(&p);
    is_function(&p, f_ints, "f(int[3]&)", "an array");
    is_function(&p, f_grid, "f(int[5][3])", "an array of arrays");
    is_function(&p, f_class, "f(D[3]&)",
                "of a class that is defined elsewhere");
    is_function(&p, f_unknown, "f(X[])", "of a class that is not defined");
    is_function(&p, f_pointers, "f(int*[4])", "of pointers");
    close_pdb(&p);
}


static void
test_ids(void)
{
    pdb_t p = { 0 };
    uint32_t a = class(&p, "ns::A");
    uint32_t args = kit_record(&p.types, SYM_LF_ARGLIST, "ww", 1u, T_INT);
    uint32_t f = procedure(&p, T_INT, args);
    uint32_t m = method(&p, a, pointer(&p, constant(&p, a), PTR), 0, args);
    uint32_t space = kit_record(&p.ids, SYM_LF_STRING_ID, "ws", 0u, "x::y");
    uint32_t nameless =
        kit_record(&p.ids, SYM_LF_STRING_ID, "ws", 0u, "?A0x1b2c3d4e");
    uint32_t alone = kit_record(&p.ids, SYM_LF_FUNC_ID, "wws", 0u, f, "g");
    uint32_t scoped = kit_record(&p.ids, SYM_LF_FUNC_ID, "wws", space, f, "g");
    uint32_t hidden =
        kit_record(&p.ids, SYM_LF_FUNC_ID, "wws", nameless, f, "g");
    uint32_t lost = kit_record(&p.ids, SYM_LF_FUNC_ID, "wws", 0x4444u, f, "g");
    uint32_t member = kit_record(&p.ids, SYM_LF_MFUNC_ID, "wws", a, m, "get");
    uint32_t typeless =
        kit_record(&p.ids, SYM_LF_FUNC_ID, "wws", space, 0x6666u, "g");
    sym_str_t got;

    open_pdb(&p);
    is_inlinee(&p, alone, "g(int)", "a function");
    is_inlinee(&p, scoped, "x::y::g(int)", "in a namespace");
    is_inlinee(&p, hidden, "`anonymous namespace'::g(int)", "without a name");
    is_inlinee(&p, lost, "<missing type 0x4444>::g(int)",
               "that does not exist");
    is_inlinee(&p, member, "ns::A::get(int) const", "a method");
    is_inlinee(&p, typeless, "x::y::g", "without a type");
    is_inlinee(&p, space, "not found", "an id that is not a function's");
    is_inlinee(&p, 0x3333, "not found", "an id that does not exist");
    (void) sym_pdb_types_function_name(p.scratch, SYM_STR("g"), scoped, true,
                                       &got);
    is_str(got, "g(int)", "a symbol that refers to an id");
    (void) sym_pdb_types_function_name(p.scratch, SYM_STR("g"), 0x3333, true,
                                       &got);
    is_str(got, "g", "that does not exist");
    close_pdb(&p);
}


/* Each type takes eight arguments of the one before: 8^20 arguments. */
static void
test_bombs(void)
{
    pdb_t p = { 0 };
    uint32_t type = T_INT, bomb, circle, self;

    for (int i = 0; i < 20; i++) {
        uint32_t args =
            kit_record(&p.types, SYM_LF_ARGLIST, "wwwwwwwww", 8u, type, type,
                       type, type, type, type, type, type);
        type = pointer(&p, procedure(&p, T_VOID, args), PTR);
    }

    bomb = taking(&p, type);
    circle = taking(&p, KIT_FIRST + p.types.n + 2);
    (void) pointer(&p, circle, PTR);
    self = taking(&p, KIT_FIRST + p.types.n + 2);
    (void) pointer(&p, KIT_FIRST + p.types.n, PTR);
    open_pdb(&p);
    is_function(&p, bomb, "f", "more arguments than any memory has");
    is_function(&p, circle, "f", "a function that takes itself");
    is_function(&p, self, "f", "a pointer to itself");
    close_pdb(&p);
}


static void
is_refused(size_t at, uint32_t value, size_t len, const char *what)
{
    pdb_t p = { 0 };
    sym_error_t err = { 0 };
    uint8_t *bytes;
    sym_status_t rc;

    (void) class(&p, "A");
    (void) class(&p, "B");
    p.tpi = kit_stream(&p.types);
    bytes = malloc(p.tpi.len);
    memcpy(bytes, p.tpi.data, p.tpi.len);
    for (size_t i = 0; i < len; i++) {
        bytes[at + i] = (uint8_t) (value >> 8 * i);
    }

    rc = open_streams(&p.open, sym_str((char *) bytes, p.tpi.len),
                      sym_str(NULL, 0), &err);
    ok((rc == SYM_MALFORMED || rc == SYM_TRUNCATED) && err.what != NULL,
       "refused: %s", what);
    sym_pdb_types_close(&p.open);
    free(bytes);
    free((void *) p.tpi.data);
    sym_buffer_free(&p.types.bytes);
}


static void
test_headers(void)
{
    static const char cut[20];
    sym_pdb_types_t types;
    sym_error_t err = { 0 };

    is_refused(4, 20, 4, "a header that is too short");
    is_refused(4, 0x10000, 4, "a header longer than the stream");
    is_refused(8, 0x0fff, 4, "indexes of simple types");
    is_refused(12, 0x0fff, 4, "an end before the first index");
    is_refused(12, 0x7fffffff, 4, "more types than bytes");
    is_refused(16, 0x7fffffff, 4, "more bytes than the stream has");
    is_refused(16, 4, 4, "fewer bytes than the types need");
    is_refused(56, 1, 2, "a record shorter than its kind");
    is_refused(56, 0xffff, 2, "a record longer than the stream");

    ok(open_streams(&types, sym_str(cut, sizeof(cut) - 1), sym_str(NULL, 0),
                    &err)
           == SYM_TRUNCATED,
       "a stream that ends in its header");
    sym_pdb_types_close(&types);
}


/* --- offsets of records, from which parallel walks start --- */

#define RECORDS 100u
#define PLACES 20u

typedef struct {
    kit_stream_t types, places;
    sym_str_t tpi; /* says where the offsets are */
} placed_t;

static void
place(placed_t *p)
{
    char *tpi;

    for (uint32_t i = 0; i < RECORDS; i++) {
        if (i % (RECORDS / PLACES) == 0) {
            kit_put(&p->places, KIT_FIRST + i, 4);
            kit_put(&p->places, p->types.bytes.len, 4);
        }
        (void) kit_record(&p->types, SYM_LF_STRUCTURE, "hhwwwhs", 0u, 0u, 0u,
                          0u, 0u, 4u, &"a long name of a class"[i % 20]);
    }

    p->tpi = kit_stream(&p->types);
    tpi = (char *) (uintptr_t) p->tpi.data;
    memcpy(tpi + 44, &(uint32_t){ PLACES * 8 }, 4);
}


/* The same offsets, or the same error, as one thread finds without the list. */
static void
is_walked(const placed_t *p, const char *what)
{
    thread_pool_t two = { .n = 2 };
    const sym_thread_pool_t pool = { run, &two };
    const sym_pdb_type_stream_t with = {
        p->tpi, { (const char *) p->places.bytes.data, p->places.bytes.len }
    };
    sym_pdb_types_t types, plain;
    sym_error_t err = { 0 }, plain_err = { 0 };
    sym_status_t rc = sym_pdb_types_open(
        &types, &with, &(sym_pdb_type_stream_t){ .hashes = with.hashes }, &pool,
        &err);

    is_u64(rc, open_streams(&plain, p->tpi, sym_str(NULL, 0), &plain_err),
           what);
    is_u64(err.offset, plain_err.offset, what);
    ok(rc != SYM_OK
           || (types.types.n == plain.types.n
               && memcmp(types.types.offsets, plain.types.offsets,
                         types.types.n * sizeof(uint32_t))
                      == 0),
       "%s: offsets", what);
    sym_pdb_types_close(&types);
    sym_pdb_types_close(&plain);
}


/* Whichever thread fails first. */
static void
test_both_broken(void)
{
    thread_pool_t two = { .n = 2 };
    const sym_thread_pool_t pool = { run, &two };
    const sym_pdb_type_stream_t cut = { .records = SYM_STR("cut") };
    sym_pdb_types_t types;
    sym_error_t err = { 0 };

    is_u64(sym_pdb_types_open(&types, &cut, &cut, &pool, &err), SYM_TRUNCATED,
           "both streams are truncated");
    is_str(sym_cstr(err.section), "TPI stream", "... the first is reported");
    sym_pdb_types_close(&types);
}


static void
test_places(void)
{
    placed_t p = { 0 };
    uint8_t *places, *records;

    place(&p);
    places = p.places.bytes.data;
    records = (uint8_t *) (uintptr_t) p.tpi.data + 56;
    is_walked(&p, "places");

    /* a wrong number in any entry: index, offset */
    for (size_t at = 0; at < (size_t) PLACES * 8; at += 4) {
        static const uint32_t wrong[] = { 0, 1, 5, 0x10000, UINT32_MAX };
        uint32_t was;

        memcpy(&was, places + at, 4);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
            const uint32_t value = was + wrong[i];

            memcpy(places + at, i == 0 ? &wrong[i] : &value, 4);
            is_walked(&p, "a wrong place");
        }
        memcpy(places + at, &was, 4);
    }

    for (size_t i = 0; i < PLACES; i++) {
        uint32_t at, inside;

        memcpy(&at, places + i * 8 + 4, 4);
        records[at]++;
        is_walked(&p, "a record that is too long");
        records[at] = (uint8_t) (records[at] - 2);
        is_walked(&p, "a record that is too short");
        records[at]++;

        /* a plausible record inside of another one */
        records[at + 8] = (uint8_t) (records[at] - 8);
        records[at + 9] = 0;
        inside = at + 8;
        memcpy(places + i * 8 + 4, &inside, 4);
        is_walked(&p, "an offset inside of a record");
        memcpy(places + i * 8 + 4, &at, 4);
    }

    p.places.bytes.len--;
    is_walked(&p, "a truncated list of offsets");
    free(records - 56);
    sym_buffer_free(&p.places.bytes);
    sym_buffer_free(&p.types.bytes);
}


/* --- definitions of classes by the hashes of their names --- */

#define ARRAYS 40u
#define BUCKETS 262143u

/* Expected values are from hash streams of Microsoft's linker and of lld. */
static void
test_hash(void)
{
    static const struct {
        const char *name;
        uint32_t hash;
    } all[] = {
        { "std::locale::id", 0x24cab },
        { "std::basic_ostream<char,std::char_traits<char> >", 0x38650 },
        { "tagPARAMDESCEX", 0x2be89 },
        { "tagPARAMDESC", 0x2e643 },
        { "absl::lts_20220623::Mutex", 0x3548b },
        { "absl::lts_20220623::MutexLock", 0x6357 },
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        is_u64(sym_pdb_hash(sym_cstr(all[i].name)) % BUCKETS, all[i].hash,
               all[i].name);
    }
}


/* Arrays of a class with several definitions of 4 bytes; the last one has
 * 8.  The hashes of the first and last definition are right or 0. */
static void
are_elements(uint32_t fours, bool has_hashes, bool first, bool last,
             const char *want)
{
    pdb_t p = { 0 };
    kit_stream_t hashes = { 0 };
    const uint32_t hash = sym_pdb_hash(SYM_STR("Twice")) % BUCKETS;
    uint32_t functions[ARRAYS];
    sym_pdb_type_stream_t tpi;
    sym_error_t err = { 0 };
    const uint32_t declared = kit_record(&p.types, SYM_LF_STRUCTURE, "hhwwwhs",
                                         0u, 0x80u, 0u, 0u, 0u, 0u, "Twice");

    for (uint32_t i = 0; i <= fours; i++) {
        (void) kit_record(&p.types, SYM_LF_STRUCTURE, "hhwwwhs", 0u, 0u, 0u, 0u,
                          0u, i < fours ? 4u : 8u, "Twice");
    }

    for (uint32_t i = 0; i < ARRAYS; i++) {
        functions[i] = taking(&p, array(&p, declared, 16));
    }

    for (uint32_t i = 0; has_hashes && i < p.types.n; i++) {
        /* the declaration's hash, which is ignored, right as well */
        kit_put(&hashes,
                i == 0 || (i == 1 && first) || (i == fours + 1 && last) ? hash
                                                                        : 0,
                4);
    }

    p.tpi = kit_stream(&p.types);
    memcpy((char *) (uintptr_t) p.tpi.data + 24,
           (uint32_t[]){ 4, BUCKETS, 0, (uint32_t) hashes.bytes.len }, 16);
    tpi = (sym_pdb_type_stream_t){
        p.tpi, { (const char *) hashes.bytes.data, hashes.bytes.len }
    };
    ok(sym_pdb_types_open(&p.open, &tpi, &(sym_pdb_type_stream_t){ 0 }, NULL,
                          &err)
           == SYM_OK,
       "opens");
    p.scratch = sym_pdb_scratch_create(&p.open);

    /* the first is found by its hash, the last ones through a list of
     * classes */
    for (uint32_t i = 0; i < ARRAYS; i++) {
        is_function(&p, functions[i], want, "elements");
    }

    close_pdb(&p);
    sym_buffer_free(&hashes.bytes);
}


static void
test_definitions(void)
{
    are_elements(1, false, false, false, "f(Twice[4])");
    are_elements(1, true, true, true, "f(Twice[4])");
    are_elements(1, true, false, true, "f(Twice[2])");
    are_elements(1, true, false, false, "f(Twice[4])");
    are_elements(70, true, false, true, "f(Twice[2])");
}


/* Arguments that do not fit after a long name must not appear in the next
 * name. */
static void
test_long_name(void)
{
    static char name[SYM_PDB_NAME_MAX - 1];
    pdb_t p = { 0 };
    const uint32_t f = taking(&p, 0x74);
    sym_str_t out;

    memset(name, 'n', sizeof(name));
    open_pdb(&p);
    (void) sym_pdb_types_function_name(p.scratch, sym_str(name, sizeof(name)),
                                       f, false, &out);
    is_u64(out.len, sizeof(name), "a name that leaves no room for arguments");
    is_function(&p, f, "f(int)", "... then the next function of that type");
    close_pdb(&p);
}


int
main(void)
{
    test_functions();
    test_pointers();
    test_classes();
    test_arrays();
    test_ids();
    test_bombs();
    test_headers();
    test_places();
    test_both_broken();
    test_hash();
    test_definitions();
    test_long_name();
    return done_testing();
}
