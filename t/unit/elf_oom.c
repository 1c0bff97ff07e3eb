/*
 * Memory runs out at the 1st, 2nd, .. nth allocation of everything that
 * core/formats/elf does with a file: each time it says so and frees everything
 * (the leak check of the sanitizer run sees that).
 */
#include "formats/elf/elf.h"

#include <lzma.h>
#include <zlib.h>

#include "elf_kit.h"
#include "oom.h"
#include "tap.h"

#define N_SYMBOLS 3000 /* so many that their list grows twice */

static const sym_elf_options_t plenty = { .unpacked_max = 1 << 20 };

static kit_bytes_t
packed_text(const char *text, size_t len)
{
    uLongf size = compressBound(len);
    uint8_t *packed = malloc(size);
    kit_bytes_t b = { NULL, 0, true, false };

    if (packed == NULL
        || compress(packed, &size, (const Bytef *) text, len) != Z_OK)
    {
        abort();
    }

    kit_number(&b, 1, 8);
    kit_word(&b, len);
    kit_word(&b, 1);
    kit_text(&b, sym_str((const char *) packed, size));
    free(packed);
    return b;
}


static kit_bytes_t
packed_xz(const kit_bytes_t *plain)
{
    size_t room = lzma_stream_buffer_bound(plain->len);
    kit_bytes_t b = { malloc(room), 0, false, false };

    if (b.data == NULL
        || lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, plain->data,
                                   plain->len, b.data, &b.len, room)
               != LZMA_OK)
    {
        abort();
    }
    return b;
}


/* .gnu_debugdata (unless NULL), a packed section, symbols. */
static kit_bytes_t
make_file(const kit_bytes_t *mini)
{
    static char text[5000];
    kit_bytes_t packed = packed_text(text, sizeof(text));
    kit_bytes_t symbols = { NULL, 0, true, false };
    kit_section_t sections[] = {
        { ".text", 8, 6, 0x1000, { NULL, 0 }, 0x10000, 0 },
        { ".debug_str", 1, 0x800, 0, kit_view(&packed), 0, 0 },
        { ".symtab", 2, 0, 0, { NULL, 0 }, 0, 4 },
        { ".strtab", 3, 0, 0, { "\0f", 3 }, 0, 0 },
        { ".gnu_debugdata", 1, 0, 0, { NULL, 0 }, 0, 0 },
    };
    kit_elf_t f = { true, false, 3,    62, sections, mini == NULL ? 4 : 5,
                    NULL, 0,     false };
    kit_bytes_t made;

    for (unsigned i = 0; i < N_SYMBOLS; i++) {
        kit_symbol(&symbols, 1, 2, 1, 0x1000 + 4 * i, 4);
    }
    sections[2].bytes = kit_view(&symbols);
    if (mini != NULL) {
        sections[4].bytes = kit_view(mini);
    }

    made = kit_elf(&f);
    free(packed.data);
    free(symbols.data);
    return made;
}


static sym_status_t
count(void *ctx, const sym_elf_symbol_t *s, sym_error_t *err)
{
    uint64_t *n = ctx;

    (void) err;
    *n += s->size == 4;
    return SYM_OK;
}


static sym_status_t
read_file(const kit_bytes_t *file, uint64_t *n, sym_error_t *err)
{
    sym_elf_symbol_stats_t stats;
    sym_str_t bytes;
    sym_elf_t *e = sym_elf_open(file->data, file->len, &plenty, err);

    if (e == NULL) {
        return err->status;
    }

    if (sym_elf_section(e, ".debug_str", &bytes, err) == SYM_OK) {
        (void) sym_elf_symbols(e, count, n, &stats, err);
    }

    sym_elf_close(e);
    return err->status;
}


int
main(void)
{
    kit_bytes_t inner = make_file(NULL);
    kit_bytes_t mini = packed_xz(&inner);
    kit_bytes_t file = make_file(&mini);
    unsigned long tries = 0, wrong = 0;
    uint64_t n;
    sym_status_t rc;

    do {
        sym_error_t err = { 0 };

        n = 0;
        allocations_left = tries++;
        rc = read_file(&file, &n, &err);
        allocations_left = (unsigned long) -1;
        wrong += rc != SYM_OK && rc != SYM_NOMEM;
    } while (rc != SYM_OK && tries < 1000);

    is_status(rc, SYM_OK, NULL, "with enough memory it succeeds");
    is_u64(wrong, 0, "before: out of memory");
    is_u64(n, N_SYMBOLS, "with all symbols");
    ok(tries > 12, "%lu allocations were made to fail", tries - 1);

    free(inner.data);
    free(mini.data);
    free(file.data);
    return done_testing();
}
