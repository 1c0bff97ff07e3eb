/*
 * crash.c - a program that prints a request for /symbolicate/v5 about its own
 * stack, with its build id as debug id.
 *
 *     gcc -g -o crash crash.c
 */
#define _GNU_SOURCE
#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The debug id that Breakpad derives from a build id: the first 16 bytes as a
 * GUID, whose first three fields have the processor's byte order, and an age of
 * 0. */
static void
print_debug_id(const uint8_t id[16])
{
    static const int order[16] = { 3, 2,  1,  0,  5,  4,  7,  6,
                                   8, 9, 10, 11, 12, 13, 14, 15 };
    int i;

    for (i = 0; i < 16; i++) {
        printf("%02X", id[order[i]]);
    }
    printf("0");
}

/* The first object is the program itself. */
static int
print_module(struct dl_phdr_info *info, size_t size, void *base)
{
    const ElfW(Phdr) *ph;
    const ElfW(Nhdr) *note;
    const char *p, *end;

    (void) size;
    *(uintptr_t *) base = info->dlpi_addr;
    for (ph = info->dlpi_phdr; ph < info->dlpi_phdr + info->dlpi_phnum; ph++) {
        p = (const char *) info->dlpi_addr + ph->p_vaddr;
        end = p + ph->p_memsz;
        while (ph->p_type == PT_NOTE && p < end) {
            note = (const void *) p;
            p += sizeof(*note) + (note->n_namesz + 3) / 4 * 4;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz >= 16) {
                print_debug_id((const uint8_t *) p);
                return 1;
            }
            p += (note->n_descsz + 3) / 4 * 4;
        }
    }
    return 1;
}

static void
crash(int depth)
{
    void *stack[16];
    uintptr_t base;
    int i, n;

    if (depth > 0) {
        crash(depth - 1);
        return;
    }
    n = backtrace(stack, 16);
    printf("{\"memoryMap\": [[\"crash\", \"");
    dl_iterate_phdr(print_module, &base);
    printf("\"]], \"stacks\": [[");
    /* the last three frames are the callers of main */
    for (i = 0; i < n - 3; i++) {
        /* a caller's address is that of the call, not the return address */
        printf("%s[0, %lu]", i > 0 ? ", " : "",
               (unsigned long) ((uintptr_t) stack[i] - base - 1));
    }
    printf("]]}\n");
}

int
main(void)
{
    crash(2);
    return 0;
}
