/*
 * Any bytes as an ELF file, through all functions of the reader.  Views must be
 * in the file or readable; symbols must be sorted and never empty; errors must
 * have a reason.  The first byte says whether the file is read as a part.
 */

#include "check.h"
#include "formats/elf/elf.h"

/* Limit of unpacked bytes: a small file may announce many. */
#define UNPACKED_MAX ((uint64_t) 4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads each byte for a sanitizer. */
static void
touch(sym_str_t bytes)
{
    unsigned sum = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        sum += (uint8_t) bytes.data[i];
    }

    check(sum <= 255 * bytes.len);
}


static void
ask_sections(sym_elf_t *e)
{
    static const char *const names[] = {
        ".debug_info", ".debug_abbrev", ".debug_line", ".debug_str",
        ".text",       ".symtab",       ".eh_frame",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        sym_error_t err = { 0 };
        sym_str_t bytes;
        sym_status_t rc = sym_elf_section(e, names[i], &bytes, &err);

        if (rc == SYM_OK) {
            touch(bytes);
        } else {
            check(rc == SYM_NOT_FOUND || err.what != NULL);
        }
    }
}


static void
ask_links(sym_elf_t *e)
{
    sym_debuglink_t link;
    sym_elf_altlink_t alt;
    sym_error_t err = { 0 };

    if (sym_elf_debuglink(e, &link, &err) == SYM_OK) {
        check(link.name.len != 0);
        touch(link.name);
    }

    err = (sym_error_t){ 0 };
    if (sym_elf_altlink(e, &alt, &err) == SYM_OK) {
        check(alt.name.len != 0 && alt.id.len != 0
              && alt.id.len <= SYM_BUILD_ID_MAX);
        touch(alt.name);
        touch(alt.id);
    }
}


static void
ask_ids(sym_elf_t *e)
{
    char code_id[2 * SYM_BUILD_ID_MAX];
    char debug_id[SYM_ELF_DEBUG_ID_LEN];
    sym_load_t loads[SYM_LOADS_MAX];
    sym_str_t id;

    check(sym_elf_loads(e, loads) <= SYM_LOADS_MAX);
    if (sym_elf_build_id(e, &id) == SYM_OK) {
        check(sym_elf_code_id(id, code_id) == 2 * id.len && id.len != 0);
        check(sym_elf_debug_id(e, debug_id) == SYM_OK);
    }

    (void) sym_elf_debug_id(e, debug_id);
}


static sym_status_t
next_symbol(void *ctx, const sym_elf_symbol_t *s, sym_error_t *err)
{
    uint64_t *after = ctx;

    (void) err;
    check(s->size != 0 && s->addr >= *after && s->name.len != 0);
    touch(s->name);
    *after = s->addr + 1;
    return SYM_OK;
}


static void
ask_symbols(sym_elf_t *e)
{
    sym_elf_symbol_stats_t stats;
    sym_error_t err = { 0 };
    uint64_t after = 0;
    sym_status_t rc = sym_elf_symbols(e, next_symbol, &after, &stats, &err);

    check(rc == SYM_OK || rc == SYM_NOT_FOUND || rc == SYM_NOMEM);
    check(stats.broken == 0 || stats.first_why.what != NULL);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_elf_options_t options = { .unpacked_max = UNPACKED_MAX };
    sym_error_t err = { 0 };
    sym_elf_t *e;

    if (size == 0) {
        return 0;
    }

    options.is_part = data[0] & 1;
    e = sym_elf_open(data + 1, size - 1, &options, &err);
    if (e == NULL) {
        check(err.what != NULL);
        return 0;
    }

    ask_sections(e);
    ask_links(e);
    ask_ids(e);
    ask_symbols(e);
    ask_symbols(e);
    sym_elf_close(e);
    return 0;
}
