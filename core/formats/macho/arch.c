#include "formats/macho/arch.h"

#include <stddef.h>

/* The upper byte holds capabilities: LIB64, the ABI of pointer signatures. */
#define SUBTYPE_MASK 0x00ffffffu

#define ANY UINT32_MAX

typedef struct {
    uint32_t cpu, subtype;
    const char *name;
} arch_t;

/* Names from <mach/machine.h>.  The last row of a processor is for all its
 * other subtypes. */
static const arch_t archs[] = {
    { 0x00000007, ANY, "x86" },      { 0x01000007, 8, "x86_64h" },
    { 0x01000007, ANY, "x86_64" },   { 0x0000000c, 5, "armv4t" },
    { 0x0000000c, 6, "armv6" },      { 0x0000000c, 7, "armv5" },
    { 0x0000000c, 9, "armv7" },      { 0x0000000c, 10, "armv7f" },
    { 0x0000000c, 11, "armv7s" },    { 0x0000000c, 12, "armv7k" },
    { 0x0000000c, 13, "armv8" },     { 0x0000000c, 14, "armv6m" },
    { 0x0000000c, 15, "armv7m" },    { 0x0000000c, 16, "armv7em" },
    { 0x0000000c, ANY, "arm" },      { 0x0100000c, 1, "arm64v8" },
    { 0x0100000c, 2, "arm64e" },     { 0x0100000c, ANY, "arm64" },
    { 0x0200000c, 1, "arm64_32v8" }, { 0x0200000c, ANY, "arm64_32" },
    { 0x00000012, ANY, "ppc" },      { 0x01000012, ANY, "ppc64" },
};


const char *
sym_macho_arch(uint32_t cpu, uint32_t cpu_subtype)
{
    cpu_subtype &= SUBTYPE_MASK;

    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        if (archs[i].cpu == cpu
            && (archs[i].subtype == cpu_subtype || archs[i].subtype == ANY))
        {
            return archs[i].name;
        }
    }

    return "unknown";
}
