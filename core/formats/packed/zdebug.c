#include "formats/packed/zdebug.h"

#include "base/cursor.h"
#include "formats/packed/inflate.h"

/* "ZLIB", then the unpacked length, big endian. */
#define MAGIC SYM_STR("ZLIB")
#define HEAD_BYTES 12
#define SIZE_AT 4


static sym_status_t
fail(sym_error_t *err, sym_status_t status, const char *section, uint64_t at,
     const char *what)
{
    if (err->status == SYM_OK) {
        err->section = section;
        err->offset = at;
    }

    return sym_fail(err, status, what);
}


sym_status_t
sym_zdebug_unpack(sym_str_t packed, const char *section, uint64_t at,
                  sym_arena_t *arena, uint64_t *left, sym_str_t *plain,
                  sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(packed.data, packed.len, section, err);
    uint64_t size;
    uint8_t *out;

    if (packed.len < HEAD_BYTES || !sym_str_starts(packed, MAGIC)) {
        return fail(err, SYM_MALFORMED, section, at,
                    "compressed section without its header");
    }

    c.is_big_endian = true;
    (void) sym_bytes(&c, SIZE_AT);
    size = sym_u64(&c);

    if (size > *left) {
        return fail(err, SYM_LIMIT, section, at + SIZE_AT,
                    "sections unpack to more than is allowed");
    }

    if (size / SYM_INFLATE_RATIO_MAX > packed.len) {
        return fail(err, SYM_MALFORMED, section, at + SIZE_AT,
                    "compressed section is too short for its length");
    }

    out = sym_arena_alloc(arena, (size_t) size);
    if (out == NULL) {
        return sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
    }

    if (sym_inflate(sym_bytes(&c, sym_left(&c)), out, (size_t) size, err)
        != SYM_OK) {
        err->section = section;
        err->offset += at + HEAD_BYTES;
        return err->status;
    }

    *left -= size;
    *plain = sym_str((const char *) out, (size_t) size);
    return SYM_OK;
}
