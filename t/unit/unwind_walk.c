/*
 * Walks of stacks made by hand: each ends, after a counted number of steps,
 * with a reason; and a walk continues where it stopped.
 */
#include <stdlib.h>

#include "tap.h"
#include "unwind/walk.h"

#define WORDS 4096
#define STACK 0x7ff000000000u
#define CODE 0x400000u

typedef struct {
    uint64_t words[WORDS];
    uint32_t waits; /* how often is_code() must be asked again */
    uint32_t asked; /* and has been asked */
} made_t;


static bool
read_stack(void *ctx, uint64_t at, void *to, size_t len)
{
    const made_t *s = ctx;

    if (at > sizeof(s->words) || len > sizeof(s->words) - at) {
        abort();
    }

    memcpy(to, (const char *) s->words + at, len);
    return true;
}


static sym_status_t
no_rules(void *ctx, uint32_t image, uint64_t offset,
         const sym_unwind_registers_t *callee,
         const sym_unwind_memory_t *memory, sym_unwind_registers_t *caller)
{
    (void) ctx;
    (void) image;
    (void) offset;
    (void) callee;
    (void) memory;
    (void) caller;
    return SYM_NOT_FOUND;
}


static sym_status_t
is_code(void *ctx, uint32_t image, uint64_t offset)
{
    made_t *s = ctx;

    (void) image;
    (void) offset;
    s->asked++;
    if (s->waits != 0) {
        s->waits--;
        return SYM_AGAIN;
    }

    return SYM_OK;
}


typedef struct {
    sym_walk_owner_t owner;
    sym_image_t image;
    sym_process_t process;
    sym_unwind_registers_t registers;
    sym_stack_memory_t memory;
    sym_walk_t walk;
} setup_t;


/* A thread at the image's address 0x1000. */
static setup_t *
begin(made_t *s, sym_unwind_arch_t arch, uint64_t sp, uint64_t fp)
{
    static setup_t x;
    const sym_unwind_arch_row_t *row = sym_unwind_arch(arch);

    x = (setup_t){ .owner = { read_stack, no_rules, is_code, s },
                   .image = { CODE, 0x10000 },
                   .registers = { .arch = arch },
                   .memory = { STACK, sizeof(s->words), 0 } };
    sym_process_init(&x.process, arch, SYM_OS_LINUX, &x.image, 1, &x.owner);
    sym_unwind_set(&x.registers, row->pc, CODE + 0x1000);
    sym_unwind_set(&x.registers, row->sp, sp);
    sym_unwind_set(&x.registers, row->fp, fp);
    sym_walk_begin(&x.walk, &x.process, &x.registers, &x.memory,
                   SYM_WALK_FRAMES_MAX);
    return &x;
}


/* Walks to the end in slices; returns the number of steps. */
static uint32_t
walk(setup_t *x, uint32_t slice)
{
    uint32_t steps = 0;

    for (;;) {
        uint32_t budget = slice;
        sym_status_t rc = sym_walk_step(&x->walk, &budget);

        steps += slice - budget;
        if (rc == SYM_OK) {
            return steps;
        }
        if (steps > 1000000) {
            abort();
        }
    }
}


/* Frame pointers that lead back to an earlier frame. */
static void
test_cycle(void)
{
    static made_t s;
    setup_t *x;

    s = (made_t){ .waits = 0 };
    s.words[2] = STACK + 32; /* fp: at word 4 */
    s.words[3] = CODE + 0x2000;
    s.words[4] = STACK + 16; /* back to word 2 */
    s.words[5] = CODE + 0x3000;

    x = begin(&s, SYM_UNWIND_ARM64, STACK, STACK + 16);
    (void) walk(x, 1000);
    is_u64(x->walk.end, SYM_WALK_BACKWARDS, "a cycle of frame pointers");
    is_u64(x->walk.n_frames, 3, "... ends at the first frame that goes back");
}


static void
test_limits(void)
{
    static made_t s;
    setup_t *x;
    uint32_t steps;

    for (unsigned i = 0; i < WORDS; i++) {
        s.words[i] = CODE + 0x2000;
    }

    x = begin(&s, SYM_UNWIND_X86_64, STACK, 0);
    steps = walk(x, 7);
    is_u64(x->walk.end, SYM_WALK_LIMIT, "a stack full of code addresses");
    is_u64(x->walk.n_frames, SYM_WALK_FRAMES_MAX, "... has the most frames");
    ok(steps <= 2 * SYM_WALK_FRAMES_MAX, "... in a step for each: %u", steps);

    memset(s.words, 0, sizeof(s.words));
    x = begin(&s, SYM_UNWIND_X86_64, STACK, 0);
    steps = walk(x, 3);
    is_u64(x->walk.end, SYM_WALK_NO_CALLER, "an empty stack");
    ok(steps <= 160 / SYM_WALK_WORDS + 1, "... is scanned in %u steps", steps);

    x = begin(&s, SYM_UNWIND_X86_64, UINT64_MAX - 4, UINT64_MAX - 4);
    (void) walk(x, 1000);
    is_u64(x->walk.n_frames, 1, "registers at the end of memory");
}


/* A scan that has to wait continues at the same word. */
static void
test_wait(void)
{
    static made_t s;
    setup_t *x;
    uint32_t budget = 1000;

    s = (made_t){ .waits = 1 };
    s.words[40] = CODE + 0x2000;
    x = begin(&s, SYM_UNWIND_X86_64, STACK, 0);
    is_u64(sym_walk_step(&x->walk, &budget), SYM_AGAIN, "rules are needed");
    ok(budget != 0, "... with a budget left");
    is_u64(x->walk.word, 40, "... at the word of the address");
    (void) walk(x, 1000);
    is_u64(x->walk.n_frames, 2, "... and it is found later");
    is_u64(s.asked, 2, "... with one more call");
}


/* The bits above an address are a signature: pointer authentication of
 * arm64. */
static void
test_signed(void)
{
    static made_t s;
    setup_t *x;

    s = (made_t){ .waits = 0 };
    s.words[2] = UINT64_C(0x0040000000000000) | (STACK + 32);
    s.words[3] = UINT64_C(0x1234800000000000) | (CODE + 0x2000);
    x = begin(&s, SYM_UNWIND_ARM64, STACK, STACK + 16);
    (void) walk(x, 1000);
    is_u64(x->walk.frames[1].pc, CODE + 0x2000, "a signed return address");
    is_u64(x->walk.frames[1].addr, CODE + 0x1ffc, "... of a call before it");
    is_u64(x->walk.end, SYM_WALK_NO_CALLER, "... whose caller is null");
}


int
main(void)
{
    test_cycle();
    test_limits();
    test_wait();
    test_signed();
    return done_testing();
}
