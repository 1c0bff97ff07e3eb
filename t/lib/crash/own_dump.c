/*
 * own_dump.c - the program that crashes writes a minidump of itself as clients of
 * Breakpad do: registers and stack of the thread, modules with their build ids, the
 * signal.  The dump goes to the file that the first argument names.
 */
#define _GNU_SOURCE

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "client.h"

#define MODULES_MAX 64

static FILE *out;
static const char *path;

/* --- the minidump --- */

static uint32_t
here(void)
{
    return (uint32_t) ftell(out);
}


static void
put(const void *data, size_t len)
{
    if (fwrite(data, 1, len, out) != len) {
        _exit(3);
    }
}


static void
put32(uint32_t value)
{
    put(&value, sizeof(value));
}


static void
put64(uint64_t value)
{
    put(&value, sizeof(value));
}


static void
put_zeros(size_t len)
{
    while (len-- != 0) {
        put("", 1);
    }
}


/* CONTEXT of x64, as far as it has general registers. */
static uint32_t
put_context(const ucontext_t *u)
{
    static const int order[] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
    uint32_t at = here();

    put_zeros(48);
    put32(0x10000b);
    put_zeros(120 - 52);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        put64((uint64_t) u->uc_mcontext.gregs[order[i]]);
    }
    put_zeros(at + 1232 - here());
    return at;
}


typedef struct {
    uint64_t base, size;
    uint32_t name, record, record_bytes;
} module_t;

static module_t modules[MODULES_MAX];
static uint32_t n_modules;


/* MINIDUMP_STRING */
static uint32_t
put_name(const char *name)
{
    uint32_t at = here();

    put32((uint32_t) strlen(name) * 2);
    for (; *name != '\0'; name++) {
        put(name, 1);
        put("", 1);
    }
    put_zeros(2);
    return at;
}


/* Breakpad's record of a build id: "BpEL", then the id. */
static void
put_id(module_t *m, const char *note, const char *end)
{
    while (end - note > (long) sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *n = (const void *) note;
        const char *id = note + sizeof(*n) + ((n->n_namesz + 3) & ~3u);

        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4) {
            m->record = here();
            m->record_bytes = 4 + n->n_descsz;
            put32(0x4270454c);
            put(id, n->n_descsz);
            return;
        }
        note = id + ((n->n_descsz + 3) & ~3u);
    }
}


static int
add_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
    module_t *m = &modules[n_modules];
    char self[4096] = "";
    const char *name = info->dlpi_name;

    (void) size;
    (void) ctx;
    if (n_modules == MODULES_MAX) {
        return 1;
    }

    if (name[0] == '\0' && readlink("/proc/self/exe", self, sizeof(self) - 1) > 0) {
        name = self;
    }

    m->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > m->size) {
            m->size = p->p_vaddr + p->p_memsz;
        }
        if (p->p_type == PT_NOTE && m->record == 0) {
            const char *note = (const char *) info->dlpi_addr + p->p_vaddr;

            put_id(m, note, note + p->p_memsz);
        }
    }

    m->name = put_name(name);
    n_modules++;
    return 0;
}


static uint64_t
end_of_stack(void)
{
    char line[512];
    unsigned long from, to, end = 0;
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        if (strstr(line, "[stack]") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2) {
            end = to;
        }
    }
    return end;
}


static void
write_dump(int number, siginfo_t *info, void *ctx)
{
    const ucontext_t *u = ctx;
    uint64_t sp = (uint64_t) u->uc_mcontext.gregs[REG_RSP] - 128; /* the red zone */
    uint32_t context, stack, system, list, threads, exception, directory;

    out = fopen(path, "wb");
    put("MDMP", 4);
    put32(0xa793);
    put32(4);
    put32(0); /* place of the directory: later */
    put32(0);
    put32((uint32_t) time(NULL));
    put64(0);

    context = put_context(u);
    stack = here();
    put((const void *) sp, end_of_stack() - sp);
    dl_iterate_phdr(add_module, NULL);

    system = here();
    put("\x09\0\0\0\0\0\1\0", 8); /* x64; one processor */
    put32(6);
    put32(1);
    put32(0);
    put32(0x8201); /* Linux */
    put_zeros(56 - 24);

    list = here();
    put32(n_modules);
    for (uint32_t i = 0; i < n_modules; i++) {
        put64(modules[i].base);
        put32((uint32_t) modules[i].size);
        put_zeros(8);
        put32(modules[i].name);
        put_zeros(52);
        put32(modules[i].record_bytes);
        put32(modules[i].record);
        put_zeros(24);
    }

    threads = here();
    put32(1);
    put32((uint32_t) getpid());
    put_zeros(20);
    put64(sp);
    put32((uint32_t) (end_of_stack() - sp));
    put32(stack);
    put32(1232);
    put32(context);

    exception = here();
    put32((uint32_t) getpid());
    put32(0);
    put32((uint32_t) number);
    put32((uint32_t) info->si_code);
    put64(0);
    put64((uint64_t) (uintptr_t) info->si_addr);
    put_zeros(128);
    put32(1232);
    put32(context);

    directory = here();
    put32(7), put32(56), put32(system);
    put32(4), put32(4 + 108 * n_modules), put32(list);
    put32(3), put32(52), put32(threads);
    put32(6), put32(168), put32(exception);
    fseek(out, 12, SEEK_SET);
    put32(directory);
    _exit(fclose(out) == 0 ? 0 : 3);
}


void
crash_client_start(char **argv)
{
    struct sigaction action = { .sa_sigaction = write_dump, .sa_flags = SA_SIGINFO };

    path = argv[1];
    sigaction(SIGSEGV, &action, NULL);
}
