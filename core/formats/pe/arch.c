#include "formats/pe/arch.h"

#include "formats/pe/pe.h"

const char *
sym_pe_arch(uint16_t machine)
{
    switch (machine) {
    case SYM_PE_I386:
        return "x86";
    case SYM_PE_AMD64:
        return "x86_64";
    case SYM_PE_ARM64:
    case 0xa641: /* ARM64EC */
    case 0xa64e: /* ARM64X */
        return "arm64";
    case 0x01c0: /* ARM */
    case 0x01c2: /* THUMB */
    case SYM_PE_ARMNT:
        return "arm";
    default:
        return "unknown";
    }
}
