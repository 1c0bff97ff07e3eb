/*
 * dump - prints what core/formats/elf finds in a file, for t/elf_*.t.
 *
 *     build/t/elfdump FILE            ids, links and contents
 *     build/t/elfdump FILE symbols    ADDR SIZE NAME, one a line, numbers in hex
 *     build/t/elfdump FILE crc        as in .gnu_debuglink, of any file
 *     build/t/elfdump FILE SECTION    the bytes of a section
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/elf/elf.h"

static const sym_elf_options_t options = { .unpacked_max = (uint64_t) 4 << 30 };

static void
print_hex(const char *name, sym_str_t bytes)
{
    printf("%s ", name);
    for (size_t i = 0; i < bytes.len; i++) {
        printf("%02x", (unsigned) (uint8_t) bytes.data[i]);
    }
    printf("\n");
}


static void
print_info(sym_elf_t *e, sym_error_t *err)
{
    const sym_elf_info_t *info = sym_elf_info(e);
    char debug_id[SYM_ELF_DEBUG_ID_LEN];
    sym_debuglink_t link;
    sym_elf_altlink_t alt;
    sym_str_t id;

    printf("class %d\norder %s\narch %s\nbase %llx\n", info->is_64bit ? 64 : 32,
           info->is_big_endian ? "big" : "little", info->arch,
           (unsigned long long) info->image_base);
    printf("has%s%s%s%s\n", info->has_code ? " code" : "",
           info->has_debug_info ? " debug" : "",
           info->has_symbols ? " symbols" : "",
           info->has_unwind_info ? " unwind" : "");

    if (sym_elf_build_id(e, &id) == SYM_OK) {
        print_hex("build-id", id);
    }
    if (sym_elf_debug_id(e, debug_id) == SYM_OK) {
        printf("debug-id %.*s\n", SYM_ELF_DEBUG_ID_LEN, debug_id);
    }
    if (sym_elf_debuglink(e, &link, err) == SYM_OK) {
        printf("debuglink %.*s %08x\n", (int) link.name.len, link.name.data,
               link.crc);
    }
    if (sym_elf_altlink(e, &alt, err) == SYM_OK) {
        printf("altlink-name %.*s\n", (int) alt.name.len, alt.name.data);
        print_hex("altlink-id", alt.id);
    }
}


static sym_status_t
print_symbol(void *ctx, const sym_elf_symbol_t *s, sym_error_t *err)
{
    (void) ctx;
    (void) err;
    printf("%llx %llx %.*s\n", (unsigned long long) s->addr,
           (unsigned long long) s->size, (int) s->name.len, s->name.data);
    return SYM_OK;
}


static void
print_symbols(sym_elf_t *e, sym_error_t *err)
{
    sym_elf_symbol_stats_t stats;
    char text[256];

    (void) sym_elf_symbols(e, print_symbol, NULL, &stats, err);
    if (stats.broken != 0) {
        fprintf(stderr, "broken: %s\n",
                sym_error_text(&stats.first_why, text, sizeof(text)));
    }
}


static void
print_section(sym_elf_t *e, const char *name, sym_error_t *err)
{
    sym_str_t bytes;

    if (sym_elf_section(e, name, &bytes, err) == SYM_OK) {
        (void) fwrite(bytes.data, 1, bytes.len, stdout);
    }
}


static int
dump(const uint8_t *data, size_t len, const char *what)
{
    sym_error_t err = { 0 };
    sym_elf_t *e = sym_elf_open(data, len, &options, &err);
    char text[256];

    if (e != NULL && what == NULL) {
        print_info(e, &err);
    } else if (e != NULL && strcmp(what, "symbols") == 0) {
        print_symbols(e, &err);
    } else if (e != NULL) {
        print_section(e, what, &err);
    }

    sym_elf_close(e);
    if (err.status != SYM_OK) {
        fprintf(stderr, "%s\n", sym_error_text(&err, text, sizeof(text)));
        return 1;
    }
    return 0;
}


int
main(int argc, char **argv)
{
    struct stat st;
    int fd = argc < 2 ? -1 : open(argv[1], O_RDONLY | O_CLOEXEC);
    void *data;
    int rc;

    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0) {
        fprintf(stderr, "usage: elfdump FILE [symbols | crc | SECTION]\n");
        return 2;
    }

    data = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        perror(argv[1]);
        return 2;
    }

    if (argv[2] != NULL && strcmp(argv[2], "crc") == 0) {
        printf("%08x\n", sym_debuglink_crc(0, data, (size_t) st.st_size));
        rc = 0;
    } else {
        rc = dump(data, (size_t) st.st_size, argv[2]);
    }
    (void) munmap(data, (size_t) st.st_size);
    (void) close(fd);
    return rc;
}
