/*
 * dump - prints what core/formats/macho finds in a file, for t/macho.t.
 *
 *     build/t/machodump FILE                 a line of facts for each slice
 *     build/t/machodump FILE ARCH symbols    ADDR SIZE NAME, numbers in hex
 *     build/t/machodump FILE ARCH SECTION    the bytes of a section
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/macho/macho.h"

static const sym_macho_options_t options = { .unpacked_max = 1u << 30 };


static int
fail(const sym_error_t *err)
{
    char text[256];

    (void) fprintf(stderr, "%s\n", sym_error_text(err, text, sizeof(text)));
    return 1;
}


static void
print_facts(const sym_macho_t *m)
{
    const sym_macho_info_t *info = sym_macho_info(m);
    char debug_id[SYM_ID_MAX], code_id[SYM_ID_MAX];

    printf("%s %.*s %.*s %" PRIx64 " %" PRIx64 "%s%s%s%s%s\n", info->arch,
           (int) sym_macho_debug_id(m, debug_id), debug_id,
           (int) sym_macho_code_id(m, code_id), code_id, info->image_base,
           info->image_size, info->is_dsym ? " dsym" : "",
           info->has_code ? " code" : "", info->has_debug_info ? " debug" : "",
           info->has_symbols ? " symbols" : "",
           info->has_unwind_info ? " unwind" : "");
}


static int
print_symbols(sym_macho_t *m)
{
    sym_macho_symbols_t s;
    sym_error_t err = { 0 };

    if (sym_macho_symbols(m, &s, &err) != SYM_OK) {
        return fail(&err);
    }

    for (size_t i = 0; i < s.n; i++) {
        printf("%" PRIx64 " %" PRIx64 " %.*s\n", s.symbols[i].addr,
               s.symbols[i].size, (int) s.symbols[i].name.len,
               s.symbols[i].name.data);
    }
    return 0;
}


static int
print_section(sym_macho_t *m, const char *name)
{
    sym_str_t bytes = { "", 0 };
    sym_error_t err = { 0 };

    if (sym_macho_section(m, name, &bytes, &err) != SYM_OK) {
        return fail(&err);
    }

    return fwrite(bytes.data, 1, bytes.len, stdout) == bytes.len ? 0 : 1;
}


/* One slice: its facts, or the part of it that argv selects. */
static int
print_slice(sym_macho_t *m, int argc, char **argv)
{
    if (argc < 4) {
        print_facts(m);
        return 0;
    }

    if (strcmp(sym_macho_info(m)->arch, argv[2]) != 0) {
        return 0;
    }

    return strcmp(argv[3], "symbols") == 0 ? print_symbols(m)
                                           : print_section(m, argv[3]);
}


static int
print_file(const uint8_t *data, size_t len, int argc, char **argv)
{
    sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX];
    sym_error_t err = { 0 };
    size_t n;
    int rc = 0;

    if (sym_macho_slices(data, len, slices, &n, &err) != SYM_OK) {
        return fail(&err);
    }

    for (size_t i = 0; i < n && rc == 0; i++) {
        sym_macho_t *m = sym_macho_open(data, len, &slices[i], &options, &err);

        rc = m != NULL ? print_slice(m, argc, argv) : fail(&err);
        sym_macho_close(m);
    }
    return rc;
}


int
main(int argc, char **argv)
{
    struct stat st;
    int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    void *data;

    if (fd < 0 || fstat(fd, &st) != 0) {
        perror("dump");
        return 2;
    }

    data = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        perror("dump");
        return 2;
    }

    return print_file(data, (size_t) st.st_size, argc, argv);
}
