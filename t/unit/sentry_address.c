/*
 * Return addresses: symbolic's examples (symbolic-common, heuristics.rs), and
 * Symbolicator's rules for each processor as a table.
 */
#include <stdio.h>

#include "api/sentry/address.h"
#include "tap.h"

#define AUTO SENTRY_ADJUST_AUTO
#define YES SENTRY_ADJUST_YES
#define NO SENTRY_ADJUST_NO

static const struct {
    const char *arch;
    const char *name;
    sentry_adjust_t adjust;
    bool is_innermost;
    uint32_t signal;
    uint64_t addr, ip; /* ip 0: unknown */
    uint64_t want;
} cases[] = {
    /* symbolic's examples */
    { "arm64", "arm64", AUTO, true, 11, 0x1337, 0x4242, 0x1330 },
    { "arm64", "arm64", NO, false, 0, 0x1337, 0, 0x1334 },
    { "arm64", "arm64", YES, true, 0, 0x1337, 0, 0x1330 },
    { "x86", "x86", YES, true, 0, 0x1337, 0, 0x1336 },
    { "arm64", "arm64", AUTO, true, 0, 0x1337, 0, 0x1334 },
    { "arm64", "arm64", AUTO, false, 0, 0x1337, 0, 0x1330 },

    /* the register matters only with a crash signal, only if it differs, and
     * only if the request leaves it open */
    { "x86_64", "x86_64", AUTO, true, 11, 0x1337, 0x1337, 0x1337 },
    { "x86_64", "x86_64", AUTO, true, 6, 0x1337, 0x4242, 0x1337 },
    { "x86_64", "x86_64", AUTO, true, 4, 0x1337, 0x4242, 0x1336 },
    { "x86_64", "x86_64", AUTO, true, 10, 0x1337, 0x4242, 0x1336 },
    { "x86_64", "x86_64", NO, true, 10, 0x1337, 0x4242, 0x1337 },

    /* sizes of instructions */
    { "arm", "arm", YES, false, 0, 0x1337, 0, 0x1334 },
    { "armv7k", "armv7k", YES, false, 0, 0x1337, 0, 0x1334 },
    { "armv8", "arm_unknown", YES, false, 0, 0x1337, 0, 0x1334 },
    { "arm64_32v8", "arm64_32_v8", YES, false, 0, 0x1337, 0, 0x1330 },
    { "ppc", "ppc", YES, false, 0, 0x1337, 0, 0x1330 },
    { "ppc64", "ppc64", YES, false, 0, 0x1337, 0, 0x1328 },
    { "mips", "mips", YES, false, 0, 0x1337, 0, 0x132c },
    { "wasm32", "wasm32", YES, false, 0, 0x1337, 0, 0x1330 },
    { "x86_64h", "x86_64h", YES, false, 0, 0x1337, 0, 0x1336 },
    { "sparc", "unknown", YES, false, 0, 0x1337, 0, 0x1336 },
    { "", "unknown", NO, false, 0, 0x1337, 0, 0x1337 },

    /* below zero */
    { "x86_64", "x86_64", YES, false, 0, 0, 0, UINT64_MAX },
};


int
main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const sentry_arch_t *arch = sentry_arch(sym_cstr(cases[i].arch));
        const sentry_call_t call = {
            .adjust = cases[i].adjust,
            .is_innermost = cases[i].is_innermost,
            .is_crash = sentry_is_crash_signal(cases[i].signal),
            .has_ip = cases[i].ip != 0,
            .ip = cases[i].ip,
        };
        uint64_t got = sentry_call_address(arch, cases[i].addr, &call);

        if (!ok(got == cases[i].want, "%zu: %s", i, cases[i].arch)) {
            printf("#   got %llx, want %llx\n", (unsigned long long) got,
                   (unsigned long long) cases[i].want);
        }
        ok(strcmp(arch->name, cases[i].name) == 0, "... is %s to Sentry",
           cases[i].name);
    }

    ok(strcmp(sentry_arch(SYM_STR("x86"))->ip, "eip") == 0
           && strcmp(sentry_arch(SYM_STR("x86_64"))->ip, "rip") == 0
           && strcmp(sentry_arch(SYM_STR("arm64"))->ip, "pc") == 0
           && strcmp(sentry_arch(SYM_STR("mips"))->ip, "pc") == 0
           && strcmp(sentry_arch(SYM_STR("ppc"))->ip, "srr0") == 0
           && sentry_arch(SYM_STR("wasm32"))->ip == NULL,
       "names of the program counter");

    return done_testing();
}
