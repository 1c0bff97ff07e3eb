#include "formats/elf/machine.h"

#include <stddef.h>

#include "formats/elf/file.h"

typedef struct {
    uint16_t machine;
    const char *name;
} machine_t;

/* Breakpad, common/linux/dump_symbols.cc, ElfArchitecture(). */
static const machine_t machines[] = {
    { 2, "sparc" },
    { SYM_EM_386, "x86" },
    { SYM_EM_MIPS, "mips" },
    { 20, "ppc" },
    { SYM_EM_PPC64, "ppc64" },
    { 22, "s390" },
    { SYM_EM_ARM, "arm" },
    { 43, "sparcv9" },
    { 62, "x86_64" },
    { 167, "nds32" },
    { SYM_EM_AARCH64, "arm64" },
    { SYM_EM_RISCV, "riscv" },
};


const char *
sym_elf_machine_name(uint16_t machine)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        if (machines[i].machine == machine) {
            return machines[i].name;
        }
    }

    return "unknown";
}
