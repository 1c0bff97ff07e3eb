/*
 * Unwind rules: records of a symbol file become rules of addresses, and these
 * give the registers of a frame's caller.  Expected values are from Breakpad's
 * symbol_files.md, or calculated by hand from the meaning of each record.
 */
#include <stdlib.h>

#include "memory_extents.h"
#include "tap.h"
#include "artifacts/cfi/read/cfi.h"
#include "artifacts/cfi/write/cfi_writer.h"
#include "artifacts/kinds.h"
#include "formats/breakpad/breakpad.h"

#define STACK 0x7000 /* address of the first word of memory */
#define WORDS 64

static uint64_t words[WORDS];
static unsigned word_bytes;


static bool
read_word(void *ctx, uint64_t address, unsigned size, uint64_t *value)
{
    const uint64_t at = (address - STACK) / word_bytes;

    (void) ctx;
    if (size != word_bytes || address < STACK || at >= WORDS) {
        return false;
    }

    *value = words[at];
    return true;
}


static const sym_unwind_memory_t memory = { read_word, NULL };

typedef struct {
    memory_extents_t extents;
    sym_cfi_t cfi;
    uint64_t dropped;
} module_t;


static void
close_module(module_t *m)
{
    memory_free(&m->extents);
}


static void
read_text(module_t *m, const char *text)
{
    sym_error_t err = { 0 };
    sym_writer_stats_t stats;
    sym_writer_t *w = sym_writer_create(&err);
    sym_breakpad_t *b = sym_breakpad_create(w, &err);

    *m = (module_t){ .dropped = 0 };
    sym_breakpad_want(b, false, true);
    if (sym_breakpad_feed(b, text, strlen(text)) == SYM_OK
        && sym_breakpad_end(b) == SYM_OK && sym_breakpad_cfi(b) != NULL)
    {
        (void) sym_cfi_finish(sym_breakpad_cfi(b), SYM_STR(""), memory_put,
                              &m->extents, &stats);
        (void) sym_cfi_open(&m->cfi, memory_get, &m->extents, &err);
    }

    ok(err.status == SYM_OK && sym_cfi_check(&m->cfi, &err) == SYM_OK,
       "the rules are read, and the artifact is sound");
    m->dropped = sym_breakpad_stats(b)->stack_dropped;
    sym_breakpad_free(b);
    sym_writer_free(w);
}


static void
fill(unsigned bytes)
{
    word_bytes = bytes;
    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = 0x1000 + i;
    }
}


static uint64_t
reg(const sym_unwind_registers_t *r, const char *name)
{
    return sym_unwind_get(r, sym_unwind_register(r->arch, sym_cstr(name)));
}


static void
set(sym_unwind_registers_t *r, const char *name, uint64_t value)
{
    sym_unwind_set(r, sym_unwind_register(r->arch, sym_cstr(name)), value);
}


/* --- STACK CFI --- */

static const char x86_64_text[] =
    "MODULE Linux x86_64 000000000000000000000000000000000 a\n"
    "STACK CFI INIT 100 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
    "STACK CFI 101 .cfa: $rsp 16 + $rbp: .cfa -16 + ^\n"
    "STACK CFI 104 .cfa: $rbp 16 +\n"
    "STACK CFI INIT 140 10 .cfa: $rsp 8 + 16 @ .ra: .cfa 8 - ^ $r12: .undef "
    "$rbx: $r13\n"
    "STACK CFI INIT 150 10 .cfa: $rsp .ra: $r11 9 / 3 * 4 %\n"
    "STACK CFI INIT 160 10 .cfa: $rsp 8 +\n"
    "STACK CFI INIT 170 10 .cfa: $rsp + .ra: .cfa ^\n"
    "STACK CFI 174 .cfa: $rsp 8 +\n";

static void
test_cfi(void)
{
    sym_unwind_registers_t r = { .arch = SYM_UNWIND_X86_64 }, caller;
    sym_error_t err = { 0 };
    module_t m;

    fill(8);
    read_text(&m, x86_64_text);
    ok(m.dropped == 2, "an expression that lacks an operand is dropped, and "
                       "its function ends");
    set(&r, "rip", 0x100);
    set(&r, "$rsp", STACK + 8);
    set(&r, "rbp", STACK + 80);
    set(&r, "rbx", 7);
    set(&r, "rax", 8);
    set(&r, "r13", 9);
    set(&r, "r11", 50);

    ok(sym_cfi_unwind(&m.cfi, 0x100, &r, &memory, &caller, &err) == SYM_OK
           && sym_unwind_pc(&caller) == 0x1001
           && sym_unwind_sp(&caller) == STACK + 16
           && reg(&caller, "rbp") == STACK + 80,
       "the first instruction");
    ok(reg(&caller, "rbx") == 7
           && !sym_unwind_has(
               &caller, sym_unwind_register(SYM_UNWIND_X86_64, SYM_STR("rax"))),
       "saved registers are kept, others are unknown");
    ok(sym_cfi_unwind(&m.cfi, 0x103, &r, &memory, &caller, &err) == SYM_OK
           && sym_unwind_pc(&caller) == 0x1002 && reg(&caller, "rbp") == 0x1001,
       "a later record changes some of the rules");
    ok(sym_cfi_unwind(&m.cfi, 0x11f, &r, &memory, &caller, &err) == SYM_OK
           && sym_unwind_sp(&caller) == STACK + 96
           && sym_unwind_pc(&caller) == 0x1000 + 11,
       "up to the end of the function");
    ok(sym_cfi_unwind(&m.cfi, 0x120, &r, &memory, &caller, &err)
               == SYM_NOT_FOUND
           && err.what != NULL,
       "but not after it");
    err = (sym_error_t){ 0 };
    ok(sym_cfi_unwind(&m.cfi, 0xff, &r, &memory, &caller, &err)
           == SYM_NOT_FOUND,
       "and not before it");
    err = (sym_error_t){ 0 };
    ok(sym_cfi_unwind(&m.cfi, 0x148, &r, &memory, &caller, &err) == SYM_OK
           && sym_unwind_sp(&caller) == STACK + 16 && reg(&caller, "rbx") == 9
           && !sym_unwind_has(
               &caller, sym_unwind_register(SYM_UNWIND_X86_64, SYM_STR("r12"))),
       "alignment, another register, and one that is lost");
    ok(sym_cfi_unwind(&m.cfi, 0x150, &r, &memory, &caller, &err) == SYM_OK
           && sym_unwind_pc(&caller) == 50 / 9 * 3 % 4,
       "arithmetic");
    ok(sym_cfi_unwind(&m.cfi, 0x160, &r, &memory, &caller, &err)
           == SYM_NOT_FOUND,
       "rules without a return address are dropped");
    err = (sym_error_t){ 0 };
    set(&r, "rsp", STACK + 8 * WORDS);
    ok(sym_cfi_unwind(&m.cfi, 0x100, &r, &memory, &caller, &err)
           == SYM_TRUNCATED,
       "unknown memory");
    err = (sym_error_t){ 0 };
    r.valid = 0;
    ok(sym_cfi_unwind(&m.cfi, 0x100, &r, &memory, &caller, &err)
           == SYM_UNSUPPORTED,
       "an unknown register");
    close_module(&m);
}


/* --- leaf functions --- */

/* "x64 exception handling": a function that has no entry in the table leaves the
 * stack alone, so its return address is at the stack pointer. */
static void
test_leaf(void)
{
    static const char windows[] =
        "MODULE windows x86_64 000000000000000000000000000000000 a\n"
        "STACK CFI INIT 100 20 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n";
    sym_unwind_registers_t r = { .arch = SYM_UNWIND_X86_64,
                                 .is_interrupted = true },
                           caller;
    sym_error_t err = { 0 };
    module_t m;

    fill(8);
    set(&r, "rip", 0x50);
    set(&r, "rsp", STACK + 8);
    set(&r, "rbx", 7);
    set(&r, "rax", 8);

    read_text(&m, windows);
    ok(sym_cfi_unwind(&m.cfi, 0x50, &r, &memory, &caller, &err) == SYM_OK,
       "a leaf function on Windows");
    ok(reg(&caller, "rip") == 0x1001 && reg(&caller, "rsp") == STACK + 16,
       "... has its return address at the stack pointer");
    ok(reg(&caller, "rbx") == 7
           && !sym_unwind_has(&caller,
                              sym_unwind_register(r.arch, SYM_STR("rax")))
           && !caller.is_interrupted,
       "... and saved registers as they are");

    r.is_interrupted = false;
    ok(sym_cfi_unwind(&m.cfi, 0x50, &r, &memory, &caller, &err)
           == SYM_NOT_FOUND,
       "a function that called another is no leaf");
    close_module(&m);

    r.is_interrupted = true;
    err = (sym_error_t){ 0 };
    read_text(&m, x86_64_text);
    ok(sym_cfi_unwind(&m.cfi, 0x50, &r, &memory, &caller, &err)
           == SYM_NOT_FOUND,
       "elsewhere functions without rules are unknown");
    close_module(&m);
}


/* --- STACK WIN --- */

static const char x86_text[] =
    "MODULE windows x86 000000000000000000000000000000000 a\n"
    "STACK WIN 0 100 20 0 0 8 4 c 0 0 0\n"
    "STACK WIN 4 100 10 0 0 14 0 0 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ "
    "= $esp $T0 8 + =\n"
    "STACK WIN 4 104 c 0 0 14 0 0 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 "
    "+ =\n"
    "STACK WIN 0 140 20 0 0 8 c 8 0 0 1\n"
    "STACK WIN 4 180 10 0 0 14 0 0 0 1 $eip 4 + = =\n"
    "STACK WIN 4 190 10 0 0 14 0 0 0 1 $T0 4 =\n";

static void
test_win(void)
{
    sym_unwind_registers_t r = { .arch = SYM_UNWIND_X86 }, caller;
    sym_error_t err = { 0 };
    module_t m;

    fill(4);
    read_text(&m, x86_text);
    ok(m.dropped == 1, "a program without operands is dropped");
    set(&r, "eip", 0x100);
    set(&r, "esp", STACK + 16);
    set(&r, "ebp", STACK + 64);
    r.callee_parameter_bytes = 4;

    ok(sym_cfi_unwind(&m.cfi, 0x103, &r, &memory, &caller, &err) == SYM_OK
           && reg(&caller, "eip") == 0x1000 + 17
           && reg(&caller, "ebp") == 0x1000 + 16
           && reg(&caller, "esp") == STACK + 72
           && caller.callee_parameter_bytes == 0x14,
       "frame data counts before FPO, and its program sets the registers");
    ok(sym_cfi_unwind(&m.cfi, 0x104, &r, &memory, &caller, &err) == SYM_OK
           && reg(&caller, "eip") == 0x1000 + 5
           && reg(&caller, "esp") == STACK + 24
           && reg(&caller, "ebp") == STACK + 64,
       "the innermost record counts, and callee's parameters are skipped");
    ok(sym_cfi_unwind(&m.cfi, 0x118, &r, &memory, &caller, &err) == SYM_OK
           && reg(&caller, "eip") == 0x1000 + 4 + 5
           && reg(&caller, "esp") == STACK + 16 + 20 + 4
           && caller.callee_parameter_bytes == 8,
       "FPO where there is no frame data");
    ok(sym_cfi_unwind(&m.cfi, 0x150, &r, &memory, &caller, &err) == SYM_OK
           && reg(&caller, "ebp") == 0x1000 + 4 + 1 + 1
           && reg(&caller, "eip") == 0x1000 + 4 + 6,
       "FPO with a base pointer that has another use");
    ok(sym_cfi_unwind(&m.cfi, 0x190, &r, &memory, &caller, &err)
           == SYM_MALFORMED,
       "a program that finds no return address");
    close_module(&m);
}


/* --- damage --- */

static bool
survives(module_t *m)
{
    sym_unwind_registers_t r = { .arch = m->cfi.arch, .valid = UINT64_MAX },
                           caller;
    sym_cfi_t cfi;
    sym_error_t err = { 0 };

    if (sym_cfi_open(&cfi, memory_get, &m->extents, &err) != SYM_OK) {
        return true;
    }

    (void) sym_cfi_check(&cfi, &err);
    for (uint32_t address = 0xf0; address < 0x1a0; address++) {
        err = (sym_error_t){ 0 };
        (void) sym_cfi_unwind(&cfi, address, &r, &memory, &caller, &err);
    }

    return true;
}


static void
test_damage(const char *text)
{
    module_t m;

    read_text(&m, text);
    for (size_t at = 0; at < m.extents.extents[0].len; at++) {
        uint8_t *byte = &m.extents.extents[0].data[at], before = *byte;

        for (unsigned bit = 0; bit < 8; bit++) {
            *byte = (uint8_t) (before ^ 1u << bit);
            (void) survives(&m);
        }
        *byte = before;
    }

    ok(survives(&m), "the reader survives each changed bit");
    close_module(&m);
}


/* --- many ranges --- */

#define RANGES 20000
#define SPAN 100000

static void
test_random(void)
{
    static uint32_t owner[SPAN + 200];
    sym_error_t err = { 0 };
    sym_writer_stats_t stats;
    memory_extents_t extents = { 0 };
    sym_cfi_writer_t *w = sym_cfi_writer_create(SYM_UNWIND_X86_64, 0,
                                                (uint64_t) RANGES * 2, &err);
    uint32_t seed = 1, wrong = 0;
    sym_cfi_rules_t rules;
    sym_cfi_t c;

    /* disjoint, in random order */
    for (uint32_t i = 0; i < RANGES; i++) {
        uint32_t at = (i * 7919u % RANGES) * 5, number;

        seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
        rules = (sym_cfi_rules_t){ .program = { "", 0 } };
        rules.cfa.how = SYM_CFI_REGISTER;
        rules.cfa.base = 7;
        rules.cfa.offset = (int64_t) (seed >> 20) * 8 - 4096;
        (void) sym_cfi_writer_rules(w, &rules, &number);
        (void) sym_cfi_writer_range(w, at, at + 1 + seed % 5, number);
        for (uint32_t j = 0; j < 1 + seed % 5; j++) {
            owner[at + j] = (seed >> 20) + 1;
        }
    }

    ok(sym_cfi_finish(w, SYM_STR(""), memory_put, &extents, &stats) == SYM_OK
           && sym_cfi_open(&c, memory_get, &extents, &err) == SYM_OK
           && sym_cfi_check(&c, &err) == SYM_OK && stats.extents == extents.n
           && stats.extents > 1,
       "many ranges");

    for (uint32_t i = 0; i < SPAN + 100; i++) {
        sym_status_t rc = sym_cfi_lookup(&c, i, &rules);

        wrong += owner[i] == 0
                     ? rc != SYM_NOT_FOUND
                     : rc != SYM_OK
                           || rules.cfa.offset
                                  != (int64_t) (owner[i] - 1) * 8 - 4096;
    }

    ok(wrong == 0, "each address has its rules");
    ok(sym_kind_find(SYM_KIND_CFI)->good == stats.quality, "quality");
    memory_free(&extents);
    sym_cfi_writer_free(w);
}


int
main(void)
{
    test_cfi();
    test_leaf();
    test_win();
    test_damage(x86_64_text);
    test_damage(x86_text);
    test_random();
    return done_testing();
}
