#include "cli/probe.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/elf/elf.h"
#include "formats/macho/macho.h"

/* More than the headers of both take up to the type. */
#define PEEK_BYTES 64

/* <elf.h>, e_type */
#define ELF_DATA_AT 5
#define ELF_DATA_BIG 2
#define ELF_TYPE_AT 16
#define ELF_REL 1
#define ELF_CORE 4

/* <mach-o/loader.h>, filetype: four bytes, of which three are zero */
#define MACHO_TYPE_AT 12
#define MACHO_OBJECT 1
#define MACHO_CORE 4


static size_t
read_head(const char *path, uint8_t head[PEEK_BYTES])
{
    /* it may have become a pipe meanwhile */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t n;

    if (fd < 0) {
        return 0;
    }

    n = pread(fd, head, PEEK_BYTES, 0);
    close(fd);
    return n > 0 ? (size_t) n : 0;
}


static bool
is_elf_module(const uint8_t *head)
{
    bool is_big = head[ELF_DATA_AT] == ELF_DATA_BIG;
    unsigned type = head[ELF_TYPE_AT + (is_big ? 1 : 0)];

    return type != ELF_REL && type != ELF_CORE;
}


/* The slices of a fat file are for the converter. */
static bool
is_macho_module(const uint8_t *head)
{
    unsigned type = head[MACHO_TYPE_AT] | head[MACHO_TYPE_AT + 3];
    bool is_fat = head[0] == 0xca;

    return is_fat || (type != MACHO_OBJECT && type != MACHO_CORE);
}


bool
probe_is_module(const char *path)
{
    uint8_t head[PEEK_BYTES] = { 0 };
    size_t n = read_head(path, head);

    return sym_elf_is(head, n)     ? is_elf_module(head)
           : sym_macho_is(head, n) ? is_macho_module(head)
                                   : false;
}
