/*
 * walk.h - walks the stack of one thread: from its registers to its calls.
 *
 * Each caller is found by the first way that works: the rules of unwind tables
 * (CFI), the frame pointer, or a scan of the stack for a code address.  The
 * ways, and when their results are accepted, are those of Symbolicator
 * (minidump-unwind 0.26), so that stacks are equal.
 *
 * The walker reads no file and allocates nothing.  It asks its owner for stack
 * memory, rules and symbols.  If the owner has to fetch a table first,
 * sym_walk_step() returns SYM_AGAIN, and later continues at the same step, even
 * at the same word of a scan.  Work is charged in steps: one for a frame, and
 * one for SYM_WALK_WORDS words of a scan.
 */
#ifndef SYM_UNWIND_WALK_H
#define SYM_UNWIND_WALK_H

#include <stddef.h>

#include "artifacts/cfi/read/cfi.h"
#include "base/error.h"

/* Symbolicator shows at most this many frames of a thread. */
#define SYM_WALK_FRAMES_MAX 256

#define SYM_WALK_WORDS 16

typedef enum {
    SYM_TRUST_CONTEXT, /* the registers of the thread */
    SYM_TRUST_CFI,
    SYM_TRUST_FP,
    SYM_TRUST_SCAN
} sym_trust_t;

/* These numbers are part of crash records (artifacts/crash/format.h). */
typedef enum {
    SYM_OS_UNKNOWN,
    SYM_OS_WINDOWS,
    SYM_OS_MACOS,
    SYM_OS_IOS,
    SYM_OS_LINUX,
    SYM_OS_SOLARIS,
    SYM_OS_ANDROID,
    SYM_OS_PS3,
    SYM_OS_NACL,
    SYM_OSES
} sym_os_t;

/* Why a walk ended. */
typedef enum {
    SYM_WALK_NOT_ENDED,
    SYM_WALK_NO_CONTEXT, /* the registers are unknown */
    SYM_WALK_NO_STACK,   /* the stack's memory is unknown */
    SYM_WALK_OUTERMOST,  /* the rules say that there is no caller */
    SYM_WALK_NO_CALLER,  /* no way found a caller */
    SYM_WALK_NULL,       /* the return address is in the first page */
    SYM_WALK_BACKWARDS,  /* the caller's frame is not beyond the callee's */
    SYM_WALK_LIMIT,      /* the limit on frames was reached */
    SYM_WALK_ENDS
} sym_walk_end_t;

#define SYM_NO_IMAGE UINT32_MAX

typedef struct {
    uint64_t pc;   /* the return address, unless the caller was interrupted */
    uint64_t addr; /* address in the instruction that is executed */
    bool is_interrupted; /* pc is the address of that instruction */
    sym_trust_t trust;
    uint32_t image; /* image that contains addr, or SYM_NO_IMAGE */
} sym_walk_frame_t;

/* A module's range in memory.  Images are sorted by address and do not
 * overlap. */
typedef struct {
    uint64_t addr, size;
} sym_image_t;

/* The owner's callbacks.  Offsets are relative to an image. */
typedef struct {
    /* Reads the bytes [at, at + len) of the stack's memory, which exist. */
    bool (*read)(void *ctx, uint64_t at, void *to, size_t len);

    /* Applies the rules at an offset (sym_cfi_unwind()).  SYM_OK; SYM_AGAIN:
     * the table arrives later; any other status: there are no usable rules. */
    sym_status_t (*unwind)(void *ctx, uint32_t image, uint64_t offset,
                           const sym_unwind_registers_t *callee,
                           const sym_unwind_memory_t *memory,
                           sym_unwind_registers_t *caller);

    /* Whether a scan may treat an offset as a code address.  SYM_NOT_FOUND: no;
     * SYM_AGAIN: as above. */
    sym_status_t (*is_code)(void *ctx, uint32_t image, uint64_t offset);
    void *ctx;
} sym_walk_owner_t;

/* A process: the data that the walks of all its threads share. */
typedef struct {
    sym_unwind_arch_t arch;
    sym_os_t os;
    const sym_image_t *images;
    uint32_t n_images;
    uint64_t pointer_mask; /* bits of an address on arm64; other bits may be
                              a signature (pointer authentication) */
    const sym_walk_owner_t *owner;
} sym_process_t;

void sym_process_init(sym_process_t *p, sym_unwind_arch_t arch, sym_os_t os,
                      const sym_image_t *images, uint32_t n_images,
                      const sym_walk_owner_t *owner);

/* The image at an address, or SYM_NO_IMAGE. */
uint32_t sym_image_at(const sym_process_t *p, uint64_t addr);

/* A thread's stack: size bytes at addr.  In the owner's data they begin at
 * `at`. */
typedef struct {
    uint64_t addr, size, at;
} sym_stack_memory_t;

typedef struct {
    const sym_process_t *process;
    sym_stack_memory_t stack;
    sym_unwind_registers_t registers; /* registers of the last frame */
    uint32_t n_frames, max_frames;
    sym_walk_end_t end;

    /* the current step */
    unsigned way;
    uint32_t word; /* the scan's next word */

    uint64_t cached;   /* offset in the stack of the bytes in `cache` */
    uint32_t n_cached; /* 0: none */
    uint8_t cache[512];
    sym_walk_frame_t frames[SYM_WALK_FRAMES_MAX];
} sym_walk_t;

/* Begins with a thread's registers; NULL: the registers are unknown.
 * max_frames: at most SYM_WALK_FRAMES_MAX. */
void sym_walk_begin(sym_walk_t *w, const sym_process_t *process,
                    const sym_unwind_registers_t *registers,
                    const sym_stack_memory_t *stack, uint32_t max_frames);

/* Continues the walk.  SYM_OK: the walk is over, and w->end is the reason.
 * SYM_AGAIN: the budget is spent (0), or a table is needed first. */
sym_status_t sym_walk_step(sym_walk_t *w, uint32_t *budget);

/* The second half of a sentence: "the return address is in the first page". */
const char *sym_walk_end_text(sym_walk_end_t end);

#endif
