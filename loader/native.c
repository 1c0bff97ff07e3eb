#include "native.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/dwarf.h"

/* A first buffer; it doubles. */
#define FIRST_BYTES ((size_t) 4 << 20)

typedef struct {
    uint8_t *data;
    size_t len, cap;
} file_t;

/* Symbols by rising address, for code that has lines and no function. */
typedef struct {
    sym_elf_symbol_t *items;
    size_t n, cap;
    uint64_t image_base;
} symbols_t;


bool
native_is(const char *data, size_t len)
{
    return sym_elf_is((const uint8_t *) data, len);
}


/* --- the file, whole --- */

static sym_status_t
append(file_t *f, const char *data, size_t len, sym_error_t *err)
{
    size_t cap = f->cap == 0 ? FIRST_BYTES : f->cap;
    uint8_t *grown;

    while (cap - f->len < len) {
        if (cap > SIZE_MAX / 2) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }
        cap *= 2;
    }

    if (cap != f->cap) {
        grown = realloc(f->data, cap);
        if (grown == NULL) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }

        f->data = grown;
        f->cap = cap;
    }

    memcpy(f->data + f->len, data, len);
    f->len += len;
    return SYM_OK;
}


static sym_status_t
read_rest(input_t *in, file_t *f, sym_error_t *err)
{
    const char *data;
    size_t len;
    sym_status_t rc;

    do {
        rc = input_next(in, &data, &len, err);

        if (rc == SYM_OK && len > 0) {
            rc = append(f, data, len, err);
        }
    } while (rc == SYM_OK && len > 0);

    return rc;
}


/* --- symbols --- */

static sym_status_t
add_symbol(void *ctx, const sym_elf_symbol_t *symbol, sym_error_t *err)
{
    symbols_t *s = ctx;

    if (s->n == s->cap) {
        size_t cap = s->cap == 0 ? 1024 : 2 * s->cap;
        sym_elf_symbol_t *grown = realloc(s->items, cap * sizeof(*grown));

        if (grown == NULL) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }

        s->items = grown;
        s->cap = cap;
    }

    s->items[s->n++] = *symbol;
    return SYM_OK;
}


static bool
find_symbol(void *ctx, uint64_t addr, sym_str_t *name, uint64_t *end)
{
    const symbols_t *s = ctx;
    size_t low = 0, high = s->n;

    if (addr < s->image_base) {
        return false;
    }

    addr -= s->image_base;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->items[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    if (low == 0 || addr - s->items[low - 1].addr >= s->items[low - 1].size) {
        return false;
    }

    *name = s->items[low - 1].name;
    *end = s->image_base + s->items[low - 1].addr + s->items[low - 1].size;

    if (low < s->n && s->image_base + s->items[low].addr < *end) {
        *end = s->image_base + s->items[low].addr;
    }

    return true;
}


/* Of what no function covers, symbols tell the name. */
static sym_status_t
write_symbols(const symbols_t *s, sym_writer_t *w, sym_error_t *err)
{
    sym_status_t rc = SYM_OK;
    uint32_t name;

    for (size_t i = 0; i < s->n && rc == SYM_OK; i++) {
        if (s->items[i].addr > UINT32_MAX) {
            break; /* nobody can ask for it */
        }

        rc = sym_writer_string(w, s->items[i].name, &name);

        if (rc == SYM_OK) {
            rc = sym_writer_public(w, (uint32_t) s->items[i].addr, name);
        }
    }

    return rc == SYM_OK ? rc : sym_fail(err, rc, NULL);
}


static sym_status_t
read_symbols(sym_elf_t *elf, symbols_t *s, sym_error_t *err)
{
    sym_elf_symbol_stats_t stats;
    sym_status_t rc = sym_elf_symbols(elf, add_symbol, s, &stats, err);

    s->image_base = sym_elf_info(elf)->image_base;
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* --- sections --- */

static sym_status_t
read_sections(sym_elf_t *elf, sym_dwarf_sections_t *s, sym_error_t *err)
{
    const struct {
        const char *name;
        sym_str_t *bytes;
    } wanted[] = {
        { ".debug_info", &s->info },
        { ".debug_abbrev", &s->abbrev },
        { ".debug_line", &s->line },
        { ".debug_str", &s->str },
        { ".debug_line_str", &s->line_str },
        { ".debug_str_offsets", &s->str_offsets },
        { ".debug_addr", &s->addr },
        { ".debug_ranges", &s->ranges },
        { ".debug_rnglists", &s->rnglists },
    };

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        sym_status_t rc =
            sym_elf_section(elf, wanted[i].name, wanted[i].bytes, err);

        if (rc == SYM_NOT_FOUND) {
            *wanted[i].bytes = SYM_STR("");
        } else if (rc != SYM_OK) {
            return rc;
        }
    }

    return SYM_OK;
}


static sym_status_t
read_ids(sym_elf_t *elf, native_module_t *module, sym_error_t *err)
{
    sym_str_t build_id;

    if (sym_elf_build_id(elf, &build_id) == SYM_OK) {
        module->code_id_len = sym_elf_code_id(build_id, module->code_id);
    }

    if (sym_elf_debug_id(elf, module->debug_id) != SYM_OK) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the file has neither a build id nor code");
    }

    module->arch = sym_elf_info(elf)->arch;
    return SYM_OK;
}


static sym_status_t
read_elf(sym_elf_t *elf, symbols_t *symbols, sym_writer_t *w,
         native_module_t *module, sym_error_t *err)
{
    sym_dwarf_input_t in = {
        .is_big_endian = sym_elf_info(elf)->is_big_endian,
        .image_base = sym_elf_info(elf)->image_base,
        .rows = SYM_DWARF_ROWS_ALL,
        .symbol = find_symbol,
        .symbol_ctx = symbols,
    };
    sym_dwarf_stats_t stats = { 0 };
    sym_status_t rc = read_ids(elf, module, err);

    rc = rc != SYM_OK ? rc : read_symbols(elf, symbols, err);
    rc = rc != SYM_OK ? rc : read_sections(elf, &in.sections, err);
    rc = rc != SYM_OK ? rc : sym_dwarf_read(&in, w, &stats, err);
    rc = rc != SYM_OK ? rc : write_symbols(symbols, w, err);

    if (rc == SYM_OK && stats.functions == 0 && symbols->n == 0) {
        return stats.first_broken.status != SYM_OK
                   ? (*err = stats.first_broken).status
                   : sym_fail(
                       err, SYM_UNSUPPORTED,
                       "nothing in the file names code: it was stripped");
    }

    return rc;
}


sym_status_t
native_read(input_t *in, const char *data, size_t len, uint64_t unpacked_max,
            sym_writer_t *w, native_module_t *module, sym_error_t *err)
{
    const sym_elf_options_t options = { .unpacked_max = unpacked_max };
    file_t file = { 0 };
    symbols_t symbols = { 0 };
    sym_elf_t *elf = NULL;
    sym_status_t rc = append(&file, data, len, err);

    *module = (native_module_t){ 0 };
    rc = rc != SYM_OK ? rc : read_rest(in, &file, err);

    if (rc == SYM_OK) {
        module->bytes = file.len;
        elf = sym_elf_open(file.data, file.len, &options, err);
        rc =
            elf == NULL ? err->status : read_elf(elf, &symbols, w, module, err);
    }

    free(symbols.items);
    sym_elf_close(elf);
    free(file.data);
    return rc;
}
