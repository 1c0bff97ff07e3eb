#include "formats/minidump/minidump.h"

#include <stdarg.h>
#include <stdio.h>

#define SIGNATURE 0x504d444du /* "MDMP" */
#define VERSION 0xa793
#define HEADER_BYTES 32
#define DIRECTORY_ENTRY_BYTES 12

static const uint32_t types[MINIDUMP_STREAMS] = {
    [MINIDUMP_THREADS] = 3,
    [MINIDUMP_MODULES] = 4,
    [MINIDUMP_MEMORY] = 5,
    [MINIDUMP_EXCEPTION] = 6,
    [MINIDUMP_SYSTEM] = 7,
    [MINIDUMP_MEMORY64] = 9,
    [MINIDUMP_COMMENT] = 10,
    [MINIDUMP_COMMENT_WIDE] = 11,
    [MINIDUMP_UNLOADED] = 14,
    [MINIDUMP_MISC] = 15,
    [MINIDUMP_NAMES] = 24,
    [MINIDUMP_BREAKPAD] = 0x47670001, /* "Gg": Breakpad's streams */
    [MINIDUMP_ASSERTION] = 0x47670002,
    [MINIDUMP_CPUINFO] = 0x47670003,
    [MINIDUMP_PROC_STATUS] = 0x47670004,
    [MINIDUMP_LSB_RELEASE] = 0x47670005,
    [MINIDUMP_COMMAND_LINE] = 0x47670006,
    [MINIDUMP_AUXV] = 0x47670008,
    [MINIDUMP_MAPS] = 0x47670009,
    [MINIDUMP_CRASHPAD] = 0x43500001,  /* "CP": Crashpad's stream */
    [MINIDUMP_MAC_CRASH] = 0x4d7a0001, /* "Mz": Mozilla's streams */
    [MINIDUMP_MAC_BOOT] = 0x4d7a0002,
    [MINIDUMP_CLIENT_STACKS] = 0x53790001, /* "Sy": Sentry's stream */
};


/* --- parts of the file --- */

sym_cursor_t
minidump_cursor(const minidump_t *d, sym_str_t bytes, sym_error_t *err)
{
    sym_cursor_t c;

    *err = (sym_error_t){ 0 };
    c = sym_cursor(bytes.data != NULL ? bytes.data : "", bytes.len, "minidump",
                   err);
    c.is_big_endian = d->is_big_endian;
    return c;
}


minidump_place_t
minidump_place(sym_cursor_t *c)
{
    minidump_place_t place;

    place.size = sym_u32(c);
    place.at = sym_u32(c);
    return place;
}


sym_str_t
minidump_bytes(const minidump_t *d, minidump_place_t place)
{
    if (place.at > d->data.len || place.size > d->data.len - place.at) {
        return sym_str(NULL, 0);
    }

    return sym_str(d->data.data + place.at, place.size);
}


uint32_t
minidump_list(const minidump_t *d, minidump_stream_t stream, size_t entry_bytes,
              sym_cursor_t *c, sym_error_t *err)
{
    uint32_t n;
    size_t left;

    *c = minidump_cursor(d, d->streams[stream], err);
    n = sym_u32(c);
    left = sym_left(c);

    /* some writers insert padding before the entries */
    if (left % entry_bytes == 4 % entry_bytes && left / entry_bytes == n
        && left % entry_bytes != 0)
    {
        (void) sym_u32(c);
        left -= 4;
    }

    return left % entry_bytes == 0 && left / entry_bytes == n ? n : 0;
}


/* --- texts --- */

static uint32_t
unit_at(const minidump_t *d, const uint8_t *p)
{
    return d->is_big_endian ? (uint32_t) p[0] << 8 | p[1] : sym_get16(p);
}


static char *
put_utf8(char *p, uint32_t c)
{
    if (c < 0x80) {
        *p++ = (char) c;
    } else if (c < 0x800) {
        *p++ = (char) (0xc0 | c >> 6);
        *p++ = (char) (0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *p++ = (char) (0xe0 | c >> 12);
        *p++ = (char) (0x80 | (c >> 6 & 0x3f));
        *p++ = (char) (0x80 | (c & 0x3f));
    } else {
        *p++ = (char) (0xf0 | c >> 18);
        *p++ = (char) (0x80 | (c >> 12 & 0x3f));
        *p++ = (char) (0x80 | (c >> 6 & 0x3f));
        *p++ = (char) (0x80 | (c & 0x3f));
    }

    return p;
}


/* Decodes n units.  data NULL: a surrogate has no pair, or out of memory. */
static sym_str_t
decode(minidump_t *d, const uint8_t *p, size_t n)
{
    char text[SYM_CRASH_TEXT_MAX], *end = text;

    for (size_t i = 0; i < n && end < text + sizeof(text) - 4; i++) {
        uint32_t c = unit_at(d, p + 2 * i), low;

        if (c >= 0xd800 && c < 0xe000) {
            low = i + 1 < n ? unit_at(d, p + 2 * i + 2) : 0;
            if (c >= 0xdc00 || low < 0xdc00 || low >= 0xe000) {
                return sym_str(NULL, 0);
            }
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            i++;
        }
        end = put_utf8(end, c);
    }

    return sym_arena_copy(&d->arena, sym_str(text, (size_t) (end - text)));
}


sym_str_t
minidump_text(minidump_t *d, uint64_t at)
{
    sym_error_t err;
    sym_cursor_t c;
    uint32_t len;

    if (at > d->data.len) {
        return sym_str(NULL, 0);
    }

    c = minidump_cursor(
        d, sym_str(d->data.data + at, d->data.len - (size_t) at), &err);
    len = sym_u32(&c);

    return sym_ok(&c) && len % 2 == 0 && len <= sym_left(&c)
               ? decode(d, c.pos, len / 2)
               : sym_str(NULL, 0);
}


sym_str_t
minidump_units(minidump_t *d, sym_str_t bytes)
{
    const uint8_t *p = (const uint8_t *) bytes.data;
    size_t n = 0;

    while (n < bytes.len / 2 && unit_at(d, p + 2 * n) != 0) {
        n++;
    }

    return decode(d, p, n);
}


sym_str_t
minidump_format(minidump_t *d, const char *format, ...)
{
    char text[512];
    sym_str_t copy;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    n = n < 0 ? 0 : n < (int) sizeof(text) ? n : (int) sizeof(text) - 1;
    copy = sym_arena_copy(&d->arena, sym_str(text, (size_t) n));
    return copy.data != NULL ? copy : SYM_STR("");
}


/* --- the header and the directory --- */

static sym_status_t
read_directory(minidump_t *d, uint32_t n, uint32_t at, sym_error_t *err)
{
    sym_error_t unused;
    sym_cursor_t c;

    if (at > d->data.len || n > (d->data.len - at) / DIRECTORY_ENTRY_BYTES) {
        return sym_fail(err, SYM_TRUNCATED,
                        "Missing stream directory (heavily truncated "
                        "minidump?)");
    }

    c = minidump_cursor(d, sym_str(d->data.data + at, d->data.len - at),
                        &unused);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t type = sym_u32(&c);
        minidump_place_t place = minidump_place(&c);

        for (unsigned k = 0; k < MINIDUMP_STREAMS; k++) {
            if (types[k] == type) {
                /* the last stream of a type wins */
                d->streams[k] = minidump_bytes(d, place);
            }
        }
    }

    return SYM_OK;
}


sym_status_t
minidump_open(minidump_t *d, sym_str_t data, sym_error_t *err)
{
    sym_error_t unused;
    sym_cursor_t c;
    uint32_t signature, n, at;

    d->data = data;
    if (data.len < HEADER_BYTES) {
        return sym_fail(err, SYM_TRUNCATED,
                        "Missing minidump header (empty minidump?)");
    }

    c = minidump_cursor(d, data, &unused);
    signature = sym_u32(&c);
    d->is_big_endian = signature == __builtin_bswap32(SIGNATURE);
    c.is_big_endian = d->is_big_endian;

    if (signature != SIGNATURE && !d->is_big_endian) {
        return sym_fail(err, SYM_MALFORMED, "Header mismatch");
    }

    if ((sym_u32(&c) & 0xffff) != VERSION) {
        return sym_fail(err, SYM_MALFORMED, "Minidump version mismatch");
    }

    n = sym_u32(&c);
    at = sym_u32(&c);
    (void) sym_u32(&c); /* checksum */
    d->crash.time_s = sym_u32(&c);
    return read_directory(d, n, at, err);
}
