#include "formats/pe/thunk.h"

#include <stdbool.h>

#include "base/cursor.h"
#include "formats/pe/pe.h"

/* jmp rel32; jmp [address], of x64 [rip + rel32], also with a REX prefix (Intel
 * SDM, 2, JMP). */
static uint32_t
x86_thunk(sym_str_t code)
{
    static const struct {
        sym_str_t opcode;
        uint32_t bytes;
    } jumps[] = { { { "\xe9", 1 }, 5 },
                  { { "\xff\x25", 2 }, 6 },
                  { { "\x48\xff\x25", 3 }, 7 } };

    for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
        if (code.len >= jumps[i].bytes && sym_str_starts(code, jumps[i].opcode))
        {
            return jumps[i].bytes;
        }
    }

    return 0;
}


/* b; adrp x16, ldr x16, [x16], br x16; adrp x16, add x16, x16, br x16 (Arm ARM,
 * C6). */
static uint32_t
arm64_thunk(sym_str_t code)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(code.data, code.len, "code", &err);
    uint32_t first = sym_u32(&c), second, third;

    if (!sym_ok(&c)) {
        return 0;
    }

    if (first >> 26 == 0x05) {
        return 4;
    }

    second = sym_u32(&c);
    third = sym_u32(&c);
    return sym_ok(&c) && (first & 0x9f00001f) == 0x90000010
                   && ((second & 0xffc003ff) == 0xf9400210
                       || (second & 0xffc003ff) == 0x91000210)
                   && third == 0xd61f0200
               ? 12
               : 0;
}


uint32_t
sym_pe_thunk(uint16_t machine, sym_str_t code)
{
    switch (machine) {
    case SYM_PE_I386:
    case SYM_PE_AMD64:
        return x86_thunk(code);
    case SYM_PE_ARM64:
        return arm64_thunk(code);
    default:
        return 0;
    }
}
