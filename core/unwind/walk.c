#include "unwind/ways.h"

#include <string.h>

/* macOS signs addresses above bit 46. */
#define ADDRESS_BITS_MIN 47

/* The ways to find a caller, in the order in which they are tried. */
enum { WAY_CFI, WAY_FRAME_POINTER, WAY_SCAN, WAYS };

/* --- the process --- */

/* The bits that addresses need, up to the end of the last image. */
static uint64_t
mask_of(const sym_image_t *images, uint32_t n)
{
    uint64_t mask = (UINT64_C(1) << ADDRESS_BITS_MIN) - 1, end;

    if (n == 0
        || __builtin_add_overflow(images[n - 1].addr, images[n - 1].size, &end))
    {
        return n == 0 ? mask : UINT64_MAX;
    }

    /* the end itself need not be addressable */
    while (mask != UINT64_MAX && end - 1 > mask) {
        mask = mask << 1 | 1;
    }

    return mask;
}


void
sym_process_init(sym_process_t *p, sym_unwind_arch_t arch, sym_os_t os,
                 const sym_image_t *images, uint32_t n_images,
                 const sym_walk_owner_t *owner)
{
    *p = (sym_process_t){
        .arch = arch,
        .os = os,
        .images = images,
        .n_images = n_images,
        .pointer_mask =
            arch == SYM_UNWIND_ARM64 ? mask_of(images, n_images) : UINT64_MAX,
        .owner = owner,
    };
}


uint32_t
sym_image_at(const sym_process_t *p, uint64_t addr)
{
    uint32_t low = 0, high = p->n_images;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (p->images[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low != 0 && addr - p->images[low - 1].addr < p->images[low - 1].size
               ? low - 1
               : SYM_NO_IMAGE;
}


/* --- memory --- */

/* Reads at most 8 bytes of the stack. */
static bool
read_stack(sym_walk_t *w, uint64_t addr, unsigned size, uint64_t *value)
{
    uint64_t at = addr - w->stack.addr, left;
    uint8_t bytes[8] = { 0 };

    if (addr < w->stack.addr || at >= w->stack.size
        || size > w->stack.size - at) {
        return false;
    }

    if (at < w->cached || at - w->cached + size > w->n_cached) {
        left = w->stack.size - at;
        w->cached = at;
        w->n_cached = left < sizeof(w->cache) ? (uint32_t) left
                                              : (uint32_t) sizeof(w->cache);
        if (!w->process->owner->read(w->process->owner->ctx, w->stack.at + at,
                                     w->cache, w->n_cached))
        {
            w->n_cached = 0;
            return false;
        }
    }

    memcpy(bytes, w->cache + (at - w->cached), size);
    *value = sym_get64(bytes);
    return true;
}


bool
sym_walk_word(sym_walk_t *w, uint64_t addr, uint64_t *value)
{
    return read_stack(w, addr, sym_unwind_arch(w->process->arch)->word_bytes,
                      value);
}


static bool
read_for_rules(void *ctx, uint64_t addr, unsigned size, uint64_t *value)
{
    return size <= 8 && read_stack(ctx, addr, size, value);
}


/* --- the ways --- */

static sym_status_t
by_cfi(sym_walk_t *w, sym_unwind_registers_t *caller)
{
    const sym_walk_owner_t *owner = w->process->owner;
    const sym_unwind_memory_t memory = { read_for_rules, w };
    const sym_unwind_arch_row_t *arch = sym_unwind_arch(w->process->arch);
    const sym_walk_frame_t *frame = sym_walk_last(w);
    sym_status_t rc;

    if (frame->image == SYM_NO_IMAGE
        || !sym_unwind_has(&w->registers, arch->sp)) {
        return SYM_NOT_FOUND;
    }

    rc = owner->unwind(owner->ctx, frame->image,
                       frame->addr - w->process->images[frame->image].addr,
                       &w->registers, &memory, caller);

    if (rc != SYM_OK) {
        return rc == SYM_AGAIN ? rc : SYM_NOT_FOUND;
    }

    if (w->process->arch == SYM_UNWIND_ARM64) {
        caller->value[arch->pc] = sym_walk_strip(w, caller->value[arch->pc]);
        caller->value[arch->lr] = sym_walk_strip(w, caller->value[arch->lr]);
        caller->value[arch->fp] = sym_walk_strip(w, caller->value[arch->fp]);
    }

    return SYM_OK;
}


/* Distance from the address after a call instruction back into the
 * instruction. */
static unsigned
bytes_of_call(sym_unwind_arch_t arch)
{
    switch (arch) {
    case SYM_UNWIND_ARM:
        return 2; /* the size of Thumb's smallest calls */
    case SYM_UNWIND_ARM64:
        return 4;
    case SYM_UNWIND_MIPS:
    case SYM_UNWIND_MIPS64:
        return 8; /* the instruction and its delay slot */
    default:
        return 1;
    }
}


/* Whether the stack ends before the caller. */
static sym_walk_end_t
end_before(const sym_walk_t *w, const sym_unwind_registers_t *caller,
           sym_trust_t trust)
{
    uint64_t pc = sym_unwind_pc(caller), sp = sym_unwind_sp(caller);
    uint64_t last_sp = sym_unwind_sp(&w->registers);

    if (trust == SYM_TRUST_CFI
        && !sym_unwind_has(caller, sym_unwind_arch(caller->arch)->pc))
    {
        return SYM_WALK_OUTERMOST;
    }

    if (pc < 4096) {
        return SYM_WALK_NULL;
    }

    /* The innermost function may be a leaf that does not change the stack
     * pointer.  Its return address is in a register. */
    if (sp > last_sp
        || (sp == last_sp && sym_walk_last(w)->trust == SYM_TRUST_CONTEXT
            && sym_unwind_arch(w->process->arch)->lr != SYM_UNWIND_NO_REGISTER))
    {
        return SYM_WALK_NOT_ENDED;
    }

    return SYM_WALK_BACKWARDS;
}


static void
add_frame(sym_walk_t *w, const sym_unwind_registers_t *registers,
          sym_trust_t trust)
{
    sym_walk_frame_t *frame = &w->frames[w->n_frames++];

    w->registers = *registers;
    frame->pc = sym_unwind_pc(registers);
    frame->is_interrupted = registers->is_interrupted;
    frame->addr =
        frame->pc
        - (frame->is_interrupted ? 0 : bytes_of_call(w->process->arch));
    frame->trust = trust;
    frame->image = sym_image_at(w->process, frame->addr);
    w->way = WAY_CFI;
    w->word = 0;

    if (w->n_frames == w->max_frames) {
        w->end = SYM_WALK_LIMIT;
    }
}


void
sym_walk_begin(sym_walk_t *w, const sym_process_t *process,
               const sym_unwind_registers_t *registers,
               const sym_stack_memory_t *stack, uint32_t max_frames)
{
    sym_unwind_registers_t context;

    w->process = process;
    w->stack = *stack;
    w->n_frames = 0;
    w->max_frames =
        max_frames < SYM_WALK_FRAMES_MAX ? max_frames : SYM_WALK_FRAMES_MAX;
    w->end = SYM_WALK_NOT_ENDED;
    w->cached = w->n_cached = 0;

    if (registers == NULL || process->arch == SYM_UNWIND_UNKNOWN
        || w->max_frames == 0)
    {
        w->end = SYM_WALK_NO_CONTEXT;
        return;
    }

    context = *registers;
    context.is_interrupted = true;
    add_frame(w, &context, SYM_TRUST_CONTEXT);

    if (stack->size == 0 || stack->addr + (stack->size - 1) < stack->addr) {
        w->end = SYM_WALK_NO_STACK;
    }
}


sym_status_t
sym_walk_step(sym_walk_t *w, uint32_t *budget)
{
    static const sym_trust_t trusts[] = { SYM_TRUST_CFI, SYM_TRUST_FP,
                                          SYM_TRUST_SCAN };

    while (w->end == SYM_WALK_NOT_ENDED) {
        sym_unwind_registers_t caller;
        sym_status_t rc;

        if (*budget == 0) {
            return SYM_AGAIN;
        }

        rc = w->way == WAY_CFI ? by_cfi(w, &caller)
             : w->way == WAY_FRAME_POINTER
                 ? sym_walk_by_frame_pointer(w, &caller)
                 : sym_walk_by_scan(w, &caller, budget);

        if (rc == SYM_AGAIN) {
            return rc;
        }

        if (rc == SYM_OK) {
            sym_trust_t trust = trusts[w->way];

            w->end = end_before(w, &caller, trust);
            if (w->end == SYM_WALK_NOT_ENDED) {
                add_frame(w, &caller, trust);
                *budget -= *budget != 0;
            }
        } else if (++w->way == WAYS) {
            w->end = SYM_WALK_NO_CALLER;
        }
    }

    return SYM_OK;
}


/* --- texts --- */

const char *
sym_walk_end_text(sym_walk_end_t end)
{
    static const char *const texts[SYM_WALK_ENDS] = {
        [SYM_WALK_NOT_ENDED] = "the walk goes on",
        [SYM_WALK_NO_CONTEXT] = "the dump does not have its registers",
        [SYM_WALK_NO_STACK] = "the dump does not have its stack",
        [SYM_WALK_OUTERMOST] = "the rules say that nothing called it",
        [SYM_WALK_NO_CALLER] = "no rules, frame pointer or scan find one",
        [SYM_WALK_NULL] = "the return address is in the first page",
        [SYM_WALK_BACKWARDS] = "the caller's frame is not beyond the callee's",
        [SYM_WALK_LIMIT] = "no more frames are shown",
    };

    return texts[end];
}
