/*
 * lookup - DWARF of an ELF file -> symcache -> answers, for t/dwarf_accuracy.t.
 *
 *     lookup FILE             prints the starts and ends of all functions, and
 *                             the counts to stderr
 *     lookup FILE - <ADDRS    reads a hexadecimal address per line, and prints
 *                             ADDR TAB FUNCTION TAB FILE TAB LINE ... for each
 *                             level, innermost first
 *
 * It reads only as much of ELF as the tests need: uncompressed sections by
 * name.  Split units are searched in FILE.dwp and at the paths in FILE.
 */
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/memory_extents.h"
#include "../unit/tap.h"
#include "formats/dwarf/dwarf.h"

typedef struct {
    const uint8_t *data;
    size_t size;
} file_t;


static file_t
map(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *p;

    if (fd < 0 || fstat(fd, &st) != 0) {
        perror(path);
        exit(2);
    }

    p = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    (void) close(fd);
    if (p == MAP_FAILED) {
        perror(path);
        exit(2);
    }

    return (file_t){ p, (size_t) st.st_size };
}


static const Elf64_Shdr *
headers(file_t f, size_t *n)
{
    const Elf64_Ehdr *eh = (const void *) f.data;

    if (f.size < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0
        || eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_shoff > f.size
        || eh->e_shnum > (f.size - eh->e_shoff) / sizeof(Elf64_Shdr))
    {
        (void) fprintf(stderr, "not an ELF file of 64 bits\n");
        exit(2);
    }

    *n = eh->e_shnum;
    return (const void *) (f.data + eh->e_shoff);
}


static sym_str_t
section(file_t f, const char *name)
{
    size_t n;
    const Elf64_Shdr *sh = headers(f, &n);
    const Elf64_Ehdr *eh = (const void *) f.data;
    const char *names = (const char *) f.data + sh[eh->e_shstrndx].sh_offset;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(names + sh[i].sh_name, name) == 0
            && sh[i].sh_type != SHT_NOBITS
            && (sh[i].sh_flags & SHF_COMPRESSED) == 0)
        {
            return sym_str((const char *) f.data + sh[i].sh_offset,
                           sh[i].sh_size);
        }
    }

    return sym_str(NULL, 0);
}


/* The image's address as linked: that of its lowest segment. */
static uint64_t
base_of(file_t f)
{
    const Elf64_Ehdr *eh = (const void *) f.data;
    const Elf64_Phdr *ph = (const void *) (f.data + eh->e_phoff);
    uint64_t base = UINT64_MAX;

    for (size_t i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type == PT_LOAD && ph[i].p_vaddr < base) {
            base = ph[i].p_vaddr;
        }
    }

    return base == UINT64_MAX ? 0 : base;
}


static sym_dwarf_sections_t
sections(file_t f)
{
    return (sym_dwarf_sections_t){
        .info = section(f, ".debug_info"),
        .abbrev = section(f, ".debug_abbrev"),
        .line = section(f, ".debug_line"),
        .str = section(f, ".debug_str"),
        .line_str = section(f, ".debug_line_str"),
        .str_offsets = section(f, ".debug_str_offsets"),
        .addr = section(f, ".debug_addr"),
        .ranges = section(f, ".debug_ranges"),
        .rnglists = section(f, ".debug_rnglists"),
    };
}


static void
print_stats(const sym_dwarf_stats_t *s, const sym_writer_stats_t *ws)
{
    char text[256];

    (void) fprintf(stderr,
                   "units %" PRIu64 " broken %" PRIu64 " no_lines %" PRIu64
                   " functions %" PRIu64 " empty %" PRIu64 " inlines %" PRIu64
                   " nameless %" PRIu64 " dropped %" PRIu64 " rows %" PRIu64
                   " split %" PRIu64 " missing %" PRIu64 " foreign %" PRIu64
                   "\nbytes %" PRIu64 " segments %" PRIu64 " nodes %" PRIu64
                   " records %" PRIu64 "\n",
                   s->units, s->units_broken, s->units_no_lines, s->functions,
                   s->functions_empty, s->inlines, s->names_missing,
                   s->ranges_dropped, s->rows, s->split_units, s->split_missing,
                   s->split_foreign, ws->bytes, ws->segments, ws->nodes,
                   ws->functions);

    if (s->first_broken.status != SYM_OK) {
        (void) fprintf(stderr, "first broken: %s\n",
                       sym_error_text(&s->first_broken, text, sizeof(text)));
    }
}


/* --- split units --- */

static sym_dwarf_sections_t
split_sections(file_t f)
{
    return (sym_dwarf_sections_t){
        .info = section(f, ".debug_info.dwo"),
        .abbrev = section(f, ".debug_abbrev.dwo"),
        .str = section(f, ".debug_str.dwo"),
        .str_offsets = section(f, ".debug_str_offsets.dwo"),
        .rnglists = section(f, ".debug_rnglists.dwo"),
    };
}


/* ctx: the name of the package. */
static sym_status_t
split_open(void *ctx, const sym_dwarf_skeleton_t *skeleton,
           sym_dwarf_split_t *split)
{
    char path[4096];
    file_t f;

    if (access(ctx, R_OK) == 0) {
        sym_dwarf_sections_t all;

        f = map(ctx);
        all = split_sections(f);
        if (skeleton->attempt != 0
            || !sym_dwarf_package_find(&all, section(f, ".debug_cu_index"),
                                       f.data[EI_DATA] == ELFDATA2MSB,
                                       skeleton->id, &split->sections))
        {
            return SYM_NOT_FOUND;
        }
        split->file = NULL; /* stays mapped until the end */
        return SYM_OK;
    }

    (void) snprintf(
        path, sizeof(path), "%.*s%s%.*s",
        skeleton->name.data[0] == '/' ? 0 : (int) skeleton->comp_dir.len,
        skeleton->comp_dir.data, "/", (int) skeleton->name.len,
        skeleton->name.data);
    if (skeleton->attempt != 0 || access(path, R_OK) != 0) {
        return SYM_NOT_FOUND;
    }

    f = map(path);
    split->sections = split_sections(f);
    split->file = malloc(sizeof(f));
    if (split->file == NULL) {
        return SYM_NOMEM;
    }
    *(file_t *) split->file = f;
    return SYM_OK;
}


/* Reads after this must fail. */
static void
split_close(void *ctx, sym_dwarf_split_t *split)
{
    file_t *f = split->file;

    (void) ctx;
    if (f != NULL) {
        (void) munmap((void *) (uintptr_t) f->data, f->size);
        free(f);
    }
}


/* The file's symcache, in memory. */
static void
convert(const char *path, file_t f, file_t alt, memory_extents_t *memory)
{
    sym_dwarf_sections_t alt_sections = { 0 };
    sym_dwarf_input_t in = { .sections = sections(f),
                             .image_base = base_of(f) };
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    sym_dwarf_stats_t stats;
    sym_writer_stats_t written = { 0 };
    char text[256], package[4096];

    (void) snprintf(package, sizeof(package), "%s.dwp", path);
    in.split_open = split_open;
    in.split_close = split_close;
    in.split_ctx = package;

    if (alt.data != NULL) {
        alt_sections = sections(alt);
        in.alt = &alt_sections;
    }
    in.is_big_endian = f.data[EI_DATA] == ELFDATA2MSB;

    if (sym_dwarf_read(&in, w, &stats, &err) != SYM_OK
        || sym_writer_finish(w, &(sym_module_info_t){ 0 }, memory_put, memory,
                             &written)
               != SYM_OK)
    {
        (void) fprintf(stderr, "%s\n",
                       sym_error_text(&err, text, sizeof(text)));
        exit(1);
    }

    sym_writer_free(w);
    print_stats(&stats, &written);
}


static void
print_text(sym_symcache_t *sc, sym_string_ref_t ref)
{
    static char text[SYM_STRING_MAX + SYM_STRING_SLACK];
    bool is_plain;
    size_t len = sym_symcache_string(sc, ref, text, &is_plain);

    (void) printf("\t%.*s", (int) len, text);
}


static void
answer(sym_symcache_t *sc, uint64_t base, uint64_t addr)
{
    static sym_level_t levels[SYM_LEVELS_MAX];
    sym_answer_t a;

    (void) printf("%" PRIx64, addr);
    if (sym_symcache_lookup(sc, addr - base, levels, &a) != SYM_OK) {
        (void) printf("\tDAMAGED");
        a.n_levels = 0;
    }

    for (uint32_t i = 0; i < a.n_levels; i++) {
        print_text(sc, levels[i].name);
        print_text(sc, levels[i].file);
        (void) printf("\t%" PRIu32, levels[i].line);
    }
    (void) putchar('\n');
}


/* First and last address of every function in an executable section. */
static void
boundaries(file_t f, sym_symcache_t *sc, uint64_t base)
{
    static sym_level_t levels[SYM_LEVELS_MAX];
    size_t n;
    const Elf64_Shdr *sh = headers(f, &n);

    for (size_t i = 0; i < n; i++) {
        uint64_t addr = sh[i].sh_addr, end = addr + sh[i].sh_size;

        while ((sh[i].sh_flags & SHF_EXECINSTR) != 0 && addr < end) {
            sym_answer_t a;

            if (sym_symcache_lookup(sc, addr - base, levels, &a) != SYM_OK) {
                exit(1);
            }

            if (a.n_levels == 0 || a.function_size == 0
                || a.function_addr != addr - base) {
                addr++;
                continue;
            }

            (void) printf("%" PRIx64 "\n%" PRIx64 "\n", addr,
                          addr + a.function_size - 1);
            addr += a.function_size;
        }
    }
}


int
main(int argc, char **argv)
{
    memory_extents_t memory = { 0 };
    sym_error_t err = { 0 };
    sym_symcache_t sc;
    sym_extent_view_t *table;
    file_t f, alt = { 0 };
    char line[64];

    if (argc < 2) {
        (void) fprintf(stderr, "usage: lookup FILE [-|+ [ALT]]\n");
        return 2;
    }

    f = map(argv[1]);
    if (argc > 3) {
        alt = map(argv[3]);
    }
    convert(argv[1], f, alt, &memory);

    if (sym_symcache_open(&sc, memory_get, &memory, &err) != SYM_OK) {
        return 1;
    }

    table = calloc(sc.n_extents, sizeof(*table));
    sym_symcache_remember(&sc, table);

    if (argc == 2) {
        boundaries(f, &sc, base_of(f));
    }

    while (argc > 2 && argv[2][0] == '-'
           && fgets(line, sizeof(line), stdin) != NULL)
    {
        answer(&sc, base_of(f), strtoull(line, NULL, 16));
    }

    free(table);
    memory_free(&memory);
    return 0;
}
