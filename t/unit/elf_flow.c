/*
 * A packed section is read while it is being unpacked.  The reader gets the
 * right bytes, and damage is reported as if nobody had read along.
 */
#include "formats/elf/elf.h"

#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

#include "elf_kit.h"
#include "tap.h"

#define PROGBITS 1
#define DYN 3
#define X86_64 62
#define COMPRESSED 0x800
#define HEADER_BYTES 24

/* Large enough to be unpacked in several steps. */
#define PLAIN_BYTES ((size_t) 12 << 20)
#define STEP ((size_t) 1 << 20)

static const char *const names[] = { ".debug_info", ".debug_str" };

static uint8_t *
make_plain(void)
{
    uint8_t *plain = malloc(PLAIN_BYTES);
    uint32_t state = 1;

    for (size_t i = 0; plain != NULL && i < PLAIN_BYTES; i++) {
        state = state * 1103515245 + 12345;
        plain[i] = i % 8192 < 8 ? (uint8_t) (state >> 16) : (uint8_t) (i >> 13);
    }

    return plain;
}


/* Header and stream of a section. */
static kit_bytes_t
pack(const uint8_t *plain, size_t len)
{
    uLongf packed_len = compressBound(len);
    uint8_t *packed = malloc(packed_len);
    kit_bytes_t b = { NULL, 0, true, false };

    if (packed == NULL || compress2(packed, &packed_len, plain, len, 1) != Z_OK)
    {
        abort();
    }

    kit_number(&b, 1, 4);
    kit_number(&b, 0, 4);
    kit_word(&b, len);
    kit_word(&b, 1);
    kit_text(&b, sym_str((const char *) packed, packed_len));
    free(packed);
    return b;
}


typedef struct {
    kit_bytes_t file;
    sym_elf_t *elf;
} opened_t;

static opened_t
open_with(const kit_bytes_t *info, const kit_bytes_t *str)
{
    static const sym_elf_options_t options = { .unpacked_max =
                                                   4 * PLAIN_BYTES };
    kit_section_t s[] = {
        { names[0], PROGBITS, COMPRESSED, .bytes = kit_view(info) },
        { names[1], PROGBITS, COMPRESSED, .bytes = kit_view(str) },
    };
    kit_elf_t f = { .is_64bit = true,
                    .type = DYN,
                    .machine = X86_64,
                    .sections = s,
                    .n_sections = 2 };
    sym_error_t err = { 0 };
    opened_t o = { .file = kit_elf(&f) };

    o.elf = sym_elf_open(o.file.data, o.file.len, &options, &err);
    return o;
}


static void
close_file(opened_t *o)
{
    sym_elf_close(o->elf);
    free(o->file.data);
}


static void *
unpack_in_thread(void *unpacking)
{
    sym_elf_unpack_some(unpacking);
    return NULL;
}


/* Reads along up to the end, or to where it shall stop. */
static bool
read_along(sym_elf_unpacking_t *u, sym_str_t bytes, const uint8_t *plain,
           bool *is_right)
{
    *is_right = true;
    for (size_t at = 0; at < bytes.len; at += STEP) {
        size_t n = bytes.len - at < STEP ? bytes.len - at : STEP;

        if (!sym_elf_unpack_wait(u, at + n)) {
            return false;
        }
        *is_right = *is_right && memcmp(bytes.data + at, plain + at, n) == 0;
    }

    return true;
}


static void
test_sound(const uint8_t *plain, const kit_bytes_t *info,
           const kit_bytes_t *str)
{
    opened_t o = open_with(info, str);
    sym_error_t err = { 0 };
    sym_elf_unpacking_t *u = sym_elf_unpack_begin(o.elf, names, 2, &err);
    sym_str_t bytes = { NULL, 0 }, after;
    pthread_t thread;
    bool is_right;

    ok(u != NULL && sym_elf_section(o.elf, names[0], &bytes, &err) == SYM_OK
           && bytes.len == PLAIN_BYTES,
       "the address of the bytes is known in advance");

    if (pthread_create(&thread, NULL, unpack_in_thread, u) != 0) {
        abort();
    }
    ok(read_along(u, bytes, plain, &is_right) && is_right,
       "the awaited bytes are there");
    (void) pthread_join(thread, NULL);

    ok(sym_elf_unpack_end(u, &err) == SYM_OK
           && sym_elf_section(o.elf, names[1], &after, &err) == SYM_OK
           && after.len == STEP && memcmp(after.data, plain, STEP) == 0,
       "the other section is there as well");
    close_file(&o);
}


/* The error must be the same as without a second thread. */
static void
test_damaged(const uint8_t *plain, const kit_bytes_t *info,
             const kit_bytes_t *str, const char *what)
{
    opened_t o = open_with(info, str);
    sym_error_t want = { 0 }, err = { 0 };
    sym_str_t bytes = { NULL, 0 };
    sym_elf_unpacking_t *u;
    pthread_t thread;
    sym_status_t rc;
    bool is_right;

    ok(sym_elf_unpack(o.elf, names, 2, NULL, &want) != SYM_OK, "%s: refused",
       what);

    u = sym_elf_unpack_begin(o.elf, names, 2, &err);
    ok(u != NULL && sym_elf_section(o.elf, names[0], &bytes, &err) == SYM_OK,
       "... not at the beginning");

    if (pthread_create(&thread, NULL, unpack_in_thread, u) != 0) {
        abort();
    }
    ok(!read_along(u, bytes, plain, &is_right), "... but on the way");
    (void) pthread_join(thread, NULL);

    rc = sym_elf_unpack_end(u, &err);
    ok(rc == want.status && err.offset == want.offset && err.what == want.what
           && strcmp(err.section, want.section) == 0,
       "... for the same reason: %s, byte %llu of %s", err.what,
       (unsigned long long) err.offset, err.section);
    err = (sym_error_t){ 0 };
    ok(sym_elf_section(o.elf, names[0], &bytes, &err) == want.status
           || strcmp(want.section, names[0]) != 0,
       "... and it has no bytes");
    close_file(&o);
}


int
main(void)
{
    uint8_t *plain = make_plain();
    kit_bytes_t info = pack(plain, PLAIN_BYTES), str = pack(plain, STEP);
    size_t middle = HEADER_BYTES + (info.len - HEADER_BYTES) / 2, len;

    test_sound(plain, &info, &str);

    info.data[info.len - 1] ^= 1; /* Adler-32 */
    test_damaged(plain, &info, &str, "checksum");
    info.data[info.len - 1] ^= 1;

    len = info.len;
    info.len = middle;
    test_damaged(plain, &info, &str, "cut");
    info.len = len;

    memset(info.data + middle, 0xff, 64);
    test_damaged(plain, &info, &str, "damage in the middle");
    memset(info.data + HEADER_BYTES + 2, 0xff, 64);
    test_damaged(plain, &info, &str, "damage at the beginning");
    free(info.data);

    info = pack(plain, PLAIN_BYTES);
    info.data[8] ^= 1; /* the announced size */
    test_damaged(plain, &info, &str, "one byte more");
    info.data[8] ^= 1;

    str.data[HEADER_BYTES] ^= 0xff; /* zlib's header */
    test_damaged(plain, &info, &str, "the other section");

    free(plain);
    free(info.data);
    free(str.data);
    return done_testing();
}
