#include "unwind/ways.h"


/* Windows compilers may point the frame pointer up to 240 bytes into the frame,
 * in steps of 16 (x64 calling convention, "frame register"). */
#define WINDOWS_FRAME_STEPS 16
#define WINDOWS_FRAME_STEP 16

/* Number of words that a scan reads.  After the first frame, which is often
 * damaged, it reads more. */
#define SCAN_WORDS 40
#define SCAN_WORDS_FIRST 160

/* MIPS: number of bytes that a scan reads; words that a 32-bit function
 * reserves for arguments of its callees. */
#define MIPS_SCAN_BYTES 1024
#define MIPS_ARGUMENTS 4

/* Limit on frames of x86, which are hardly ever larger. */
#define FRAME_BYTES_MAX 131072


bool
sym_walk_is_canonical(sym_unwind_arch_t arch, uint64_t addr)
{
    switch (arch) {
    case SYM_UNWIND_X86_64:
        return addr <= UINT64_C(0x7fffffffffff)
               || addr >= UINT64_C(0xffff800000000000);
    case SYM_UNWIND_ARM64:
        return addr >= 0x1000 && addr <= UINT64_C(0xfffffffffffff);
    default:
        return true;
    }
}


/* Sets the caller's registers, of which only these are known. */
static void
set_caller(const sym_walk_t *w, uint64_t pc, uint64_t sp,
           sym_unwind_registers_t *caller)
{
    const sym_unwind_arch_row_t *arch = sym_unwind_arch(w->process->arch);

    *caller = (sym_unwind_registers_t){ .arch = w->process->arch };
    sym_unwind_set(caller, arch->pc, pc);
    sym_unwind_set(caller, arch->sp, sp);
}


/* Reads the frame pointer's word and the next one: the caller's frame
 * pointer, and the return address.  All processors with frame pointers use
 * this layout. */
static bool
read_frame_record(sym_walk_t *w, uint64_t fp, uint64_t *caller_fp, uint64_t *pc)
{
    unsigned word = sym_unwind_arch(w->process->arch)->word_bytes;

    return sym_walk_word(w, fp, caller_fp) && sym_walk_word(w, fp + word, pc);
}


/* --- frame pointers --- */

static sym_status_t
x86_frame(sym_walk_t *w, uint64_t fp, sym_unwind_registers_t *caller)
{
    uint64_t caller_fp, pc;

    if (!read_frame_record(w, fp, &caller_fp, &pc)) {
        return SYM_NOT_FOUND;
    }

    set_caller(w, pc, fp + 8, caller);
    sym_unwind_set(caller, sym_unwind_arch(SYM_UNWIND_X86)->fp, caller_fp);
    return SYM_OK;
}


static sym_status_t
x86_64_frame(sym_walk_t *w, uint64_t fp, sym_unwind_registers_t *caller)
{
    unsigned steps = w->process->os == SYM_OS_WINDOWS ? WINDOWS_FRAME_STEPS : 1;
    uint64_t sp = sym_unwind_sp(&w->registers);

    for (unsigned i = 0; i < steps; i++) {
        uint64_t at = fp + (uint64_t) i * WINDOWS_FRAME_STEP,
                 caller_sp = at + 16;
        uint64_t caller_fp, pc, unused;

        if (!read_frame_record(w, at, &caller_fp, &pc)) {
            return SYM_NOT_FOUND;
        }

        if (caller_sp <= fp || caller_fp < caller_sp) {
            continue;
        }

        if (!sym_walk_word(w, caller_fp, &unused)) {
            return SYM_NOT_FOUND;
        }

        if (sym_walk_is_canonical(SYM_UNWIND_X86_64, pc) && caller_sp > sp
            && sym_walk_word(w, caller_sp, &unused))
        {
            set_caller(w, pc, caller_sp, caller);
            sym_unwind_set(caller, sym_unwind_arch(SYM_UNWIND_X86_64)->fp,
                           caller_fp);
            return SYM_OK;
        }
    }

    return SYM_NOT_FOUND;
}


/* A frame pointer of 0 ends the stack: the caller is at address 0. */
static sym_status_t
arm_frame(sym_walk_t *w, uint64_t fp, sym_unwind_registers_t *caller)
{
    const sym_unwind_arch_row_t *arch = sym_unwind_arch(w->process->arch);
    uint64_t caller_fp = 0, pc = 0, sp = sym_unwind_sp(&w->registers);

    if (fp != 0) {
        if (!read_frame_record(w, fp, &caller_fp, &pc)) {
            return SYM_NOT_FOUND;
        }
        sp = fp + UINT64_C(2) * arch->word_bytes;
    }

    pc = sym_walk_strip(w, pc);
    if (!sym_walk_is_canonical(w->process->arch, pc)) {
        return SYM_NOT_FOUND;
    }

    set_caller(w, pc, sp, caller);
    sym_unwind_set(caller, arch->fp, sym_walk_strip(w, caller_fp));
    return SYM_OK;
}


sym_status_t
sym_walk_by_frame_pointer(sym_walk_t *w, sym_unwind_registers_t *caller)
{
    const sym_unwind_arch_row_t *arch = sym_unwind_arch(w->process->arch);
    uint64_t most = arch->word_bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t fp = sym_unwind_get(&w->registers, arch->fp);

    if (!sym_unwind_has(&w->registers, arch->fp)
        || (w->process->arch != SYM_UNWIND_X86
            && !sym_unwind_has(&w->registers, arch->sp))
        || fp >= most - UINT64_C(2) * arch->word_bytes)
    {
        return SYM_NOT_FOUND;
    }

    switch (w->process->arch) {
    case SYM_UNWIND_X86:
        return x86_frame(w, fp, caller);
    case SYM_UNWIND_X86_64:
        return x86_64_frame(w, fp, caller);
    case SYM_UNWIND_ARM64:
        return arm_frame(w, fp, caller);
    case SYM_UNWIND_ARM:
        /* Only iOS defines which register is the frame pointer (ARM Procedure
         * Call Standard, 6.1.2). */
        return w->process->os == SYM_OS_IOS ? arm_frame(w, fp, caller)
                                            : SYM_NOT_FOUND;
    default:
        return SYM_NOT_FOUND;
    }
}


/* --- scans --- */

/* SYM_OK; SYM_NOT_FOUND: the address does not follow a call; SYM_AGAIN. */
static sym_status_t
is_return_address(const sym_walk_t *w, uint64_t pc)
{
    const sym_walk_owner_t *owner = w->process->owner;
    sym_unwind_arch_t arch = w->process->arch;
    bool is_mips = arch == SYM_UNWIND_MIPS || arch == SYM_UNWIND_MIPS64;
    uint32_t image;

    /* A call of a function that never returns may be the last instruction of
     * its function. */
    if (pc < 2 || (is_mips && pc < 0x1000) || !sym_walk_is_canonical(arch, pc)
        || (image = sym_image_at(w->process, pc - 1)) == SYM_NO_IMAGE)
    {
        return SYM_NOT_FOUND;
    }

    return owner->is_code(owner->ctx, image,
                          pc - 1 - w->process->images[image].addr);
}


/* The frame pointer of a caller on x86, or 0.  Either it was saved below the
 * return address, which was found at `at`, or the callee did not change it. */
static uint64_t
find_frame_pointer(sym_walk_t *w, uint64_t at)
{
    const sym_unwind_arch_row_t *arch = sym_unwind_arch(w->process->arch);
    bool is_known = sym_unwind_has(&w->registers, arch->fp);
    bool is_x64 = w->process->arch == SYM_UNWIND_X86_64;
    uint64_t last = sym_unwind_get(&w->registers, arch->fp);
    uint64_t saved_at = at - arch->word_bytes, saved, unused;

    if (w->word == 0 || (is_x64 && !is_known)
        || !sym_walk_word(w, saved_at, &saved))
    {
        return 0;
    }

    if (saved > at && saved - saved_at <= FRAME_BYTES_MAX
        && (!is_x64 || last == saved_at))
    {
        return sym_walk_word(w, saved, &unused) ? saved : 0;
    }

    return is_known && last >= at + arch->word_bytes
                   && (is_x64 || sym_walk_word(w, last, &unused))
               ? last
               : 0;
}


/* The number of words to scan, and the address of the first one. */
static uint32_t
scan_range(const sym_walk_t *w, uint64_t *from)
{
    bool is_first = sym_walk_last(w)->trust == SYM_TRUST_CONTEXT;

    *from = sym_unwind_sp(&w->registers);

    switch (w->process->arch) {
    case SYM_UNWIND_MIPS64:
        return MIPS_SCAN_BYTES / 8;
    case SYM_UNWIND_MIPS:
        *from += is_first ? 0 : 4 * MIPS_ARGUMENTS;
        return MIPS_SCAN_BYTES / 4 - (is_first ? 0 : MIPS_ARGUMENTS);
    default:
        return is_first ? SCAN_WORDS_FIRST : SCAN_WORDS;
    }
}


sym_status_t
sym_walk_by_scan(sym_walk_t *w, sym_unwind_registers_t *caller,
                 uint32_t *budget)
{
    const sym_unwind_arch_row_t *arch = sym_unwind_arch(w->process->arch);
    uint64_t from, pc;
    uint32_t n = scan_range(w, &from);

    if (!sym_unwind_has(&w->registers, arch->sp)) {
        return SYM_NOT_FOUND;
    }

    for (; w->word < n; w->word++) {
        uint64_t at = from + (uint64_t) w->word * arch->word_bytes;
        sym_status_t rc;

        if (at < from || !sym_walk_word(w, at, &pc)) {
            return SYM_NOT_FOUND;
        }

        rc = is_return_address(w, pc);
        if (rc == SYM_AGAIN) {
            return rc;
        }

        if (rc == SYM_OK) {
            uint64_t fp = 0;

            set_caller(w, pc, at + arch->word_bytes, caller);
            if (w->process->arch == SYM_UNWIND_X86
                || w->process->arch == SYM_UNWIND_X86_64) {
                fp = find_frame_pointer(w, at);
            }
            if (fp != 0) {
                sym_unwind_set(caller, arch->fp, fp);
            }
            return SYM_OK;
        }

        if (w->word % SYM_WALK_WORDS == SYM_WALK_WORDS - 1) {
            *budget -= *budget != 0;
            if (*budget == 0) {
                w->word++;
                return SYM_AGAIN;
            }
        }
    }

    return SYM_NOT_FOUND;
}
