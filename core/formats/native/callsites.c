#include "formats/native/callsites.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/little.h"

#define TEXT(number) #number
#define TEXT_OF(number) TEXT(number)

/* The interface that capstone's headers declare. */
#define SONAME "libcapstone.so." TEXT_OF(CS_API_MAJOR)

#define ARM64_BYTES 4

/* ISO C cannot convert a pointer to an object to one to a function; POSIX
 * guarantees that both have the same representation. */
_Static_assert(sizeof(void *) == sizeof(void (*)(void)), "POSIX, dlsym()");

typedef struct {
    __typeof__(cs_open) *open;
    __typeof__(cs_close) *close;
    __typeof__(cs_malloc) *malloc;
    __typeof__(cs_free) *free;
    __typeof__(cs_disasm_iter) *disasm_iter;
} capstone_t;

struct sym_callsites_s {
    void *library;
    capstone_t capstone;
    csh handle;
    cs_insn *instruction; /* NULL: x86-64 cannot be decoded */
    bool is_arm64;
};


static bool
find_functions(sym_callsites_t *s)
{
    static const struct {
        const char *name;
        size_t at;
    } functions[] = {
        { "cs_open", offsetof(capstone_t, open) },
        { "cs_close", offsetof(capstone_t, close) },
        { "cs_malloc", offsetof(capstone_t, malloc) },
        { "cs_free", offsetof(capstone_t, free) },
        { "cs_disasm_iter", offsetof(capstone_t, disasm_iter) },
    };

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *address = dlsym(s->library, functions[i].name);

        if (address == NULL) {
            return false;
        }

        memcpy((char *) &s->capstone + functions[i].at, &address,
               sizeof(address));
    }

    return true;
}


sym_callsites_t *
sym_callsites_create(void)
{
    sym_callsites_t *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return NULL;
    }

    s->library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
    if (s->library != NULL && find_functions(s)
        && s->capstone.open(CS_ARCH_X86, CS_MODE_64, &s->handle) == CS_ERR_OK)
    {
        s->instruction = s->capstone.malloc(s->handle);
    }

    return s;
}


void
sym_callsites_free(sym_callsites_t *s)
{
    if (s == NULL) {
        return;
    }

    if (s->instruction != NULL) {
        s->capstone.free(s->instruction, 1);
    }

    if (s->handle != 0) {
        (void) s->capstone.close(&s->handle);
    }

    if (s->library != NULL) {
        dlclose(s->library);
    }

    free(s);
}


sym_status_t
sym_callsites_begin(sym_callsites_t *s, sym_str_t arch, sym_error_t *err)
{
    s->is_arm64 = sym_str_eq(arch, SYM_STR("arm64"));

    if (s->is_arm64) {
        return SYM_OK;
    }

    if (!sym_str_eq(arch, SYM_STR("x86_64"))) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "return pads are made for x86_64 and arm64 only");
    }

    return s->instruction != NULL
               ? SYM_OK
               : sym_fail(err, SYM_UNSUPPORTED, "libcapstone is not installed");
}


/* --- arm64 --- */

/* Arm Architecture Reference Manual, C4.1: BL, BLR and SVC.  Instructions are
 * aligned words, so bytes that are no instruction do not hide others. */
static bool
is_arm64_call(uint32_t word)
{
    return (word & 0xfc000000) == 0x94000000
           || (word & 0xfffffc1f) == 0xd63f0000
           || (word & 0xffe0001f) == 0xd4000001;
}


static bool
next_arm64(const uint8_t *code, size_t len, size_t *at, size_t *size)
{
    for (*at = 0; len - *at >= ARM64_BYTES; *at += ARM64_BYTES) {
        if (is_arm64_call(sym_get32(code + *at))) {
            *size = ARM64_BYTES;
            return true;
        }
    }

    return false;
}


/* --- x86-64 --- */

/* A breakpoint (INT3) is no call. */
static bool
is_x86_call(unsigned id)
{
    return id == X86_INS_CALL || id == X86_INS_LCALL || id == X86_INS_SYSCALL
           || id == X86_INS_INT || id == X86_INS_INTO;
}


/* After an instruction that is newer than capstone, or data, the next bytes are
 * tried: instructions are soon found again, and a pad where no call is does no
 * harm, because nothing returns there. */
static bool
next_x86(sym_callsites_t *s, const uint8_t *code, size_t len, size_t *at,
         size_t *size)
{
    const uint8_t *pos = code;
    uint64_t address = 0;

    while (len != 0) {
        if (!s->capstone.disasm_iter(s->handle, &pos, &len, &address,
                                     s->instruction)) {
            pos++;
            len--;

        } else if (is_x86_call(s->instruction->id)) {
            *size = s->instruction->size;
            *at = (size_t) (pos - code) - *size;
            return true;
        }
    }

    return false;
}


bool
sym_callsites_next(sym_callsites_t *s, const uint8_t *code, size_t len,
                   size_t *at, size_t *size)
{
    return s->is_arm64 ? next_arm64(code, len, at, size)
                       : next_x86(s, code, len, at, size);
}


size_t
sym_callsites_first(sym_callsites_t *s, const uint8_t *code, size_t len)
{
    uint64_t address = 0;

    if (s->is_arm64) {
        return len >= ARM64_BYTES ? ARM64_BYTES : 0;
    }

    return s->capstone.disasm_iter(s->handle, &code, &len, &address,
                                   s->instruction)
               ? s->instruction->size
               : 0;
}
