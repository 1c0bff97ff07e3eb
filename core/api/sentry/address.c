#include "api/sentry/address.h"

#define X86 0, 1, "eip"
#define X86_64 0, 1, "rip"
#define ARM 2, 2, "pc"
#define ARM64 4, 4, "pc"
#define PPC 4, 4, "srr0"
#define PPC64 8, 8, "srr0"
#define MIPS 4, 8, "pc"
#define WASM 4, 4, NULL

/* Names as in symcaches: see core/formats/elf/machine.c, macho/arch.c,
 * pe/arch.c, and the names in Breakpad files. */
static const sentry_arch_t archs[] = {
    { "x86_64", "x86_64", X86_64 },
    { "x86", "x86", X86 },
    { "arm64", "arm64", ARM64 },
    { "arm", "arm", ARM },
    { "arm64e", "arm64e", ARM64 },
    { "arm64v8", "arm64v8", ARM64 },
    { "x86_64h", "x86_64h", X86_64 },
    { "arm64_32", "arm64_32", ARM64 },
    { "arm64_32v8", "arm64_32_v8", ARM64 },
    { "armv4t", "arm_unknown", ARM },
    { "armv5", "armv5", ARM },
    { "armv6", "armv6", ARM },
    { "armv6m", "armv6m", ARM },
    { "armv7", "armv7", ARM },
    { "armv7f", "armv7f", ARM },
    { "armv7s", "armv7s", ARM },
    { "armv7k", "armv7k", ARM },
    { "armv7m", "armv7m", ARM },
    { "armv7em", "armv7em", ARM },
    { "armv8", "arm_unknown", ARM },
    { "ppc", "ppc", PPC },
    { "ppc64", "ppc64", PPC64 },
    { "mips", "mips", MIPS },
    { "mips64", "mips64", MIPS },
    { "wasm32", "wasm32", WASM },
};

static const sentry_arch_t unknown = { "", "unknown", 0, 1, NULL };


const sentry_arch_t *
sentry_arch(sym_str_t stored)
{
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        if (sym_str_eq(sym_cstr(archs[i].stored), stored)) {
            return &archs[i];
        }
    }

    return &unknown;
}


bool
sentry_is_crash_signal(uint32_t signal)
{
    return signal == 4 || signal == 10 || signal == 11;
}


/* Whether the address is a return address. */
static bool
is_return(uint64_t addr, const sentry_call_t *call)
{
    switch (call->adjust) {
    case SENTRY_ADJUST_YES:
        return true;
    case SENTRY_ADJUST_NO:
        return false;
    default:
        return !call->is_innermost
               || (call->is_crash && call->has_ip && call->ip != addr);
    }
}


uint64_t
sentry_call_address(const sentry_arch_t *arch, uint64_t addr,
                    const sentry_call_t *call)
{
    uint64_t aligned = arch->align == 0 ? addr : addr - addr % arch->align;

    return is_return(addr, call) ? aligned - arch->back : aligned;
}
