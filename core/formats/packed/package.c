#include "formats/packed/package.h"

#include <string.h>

#include "base/cursor.h"
#include "base/hex.h"

/* ar(5): the magic of the file, and a header of each member */
#define AR_MAGIC "!<arch>\n"
#define AR_NAME_BYTES 16
#define AR_SIZE_AT 48
#define AR_SIZE_BYTES 10
#define AR_END_AT 58
#define AR_HEADER_BYTES 60

/* deb(5): the first member */
#define DEB_FIRST "debian-binary"

/* The members of a deb are few: debian-binary, control.tar, data.tar, and
 * signatures. */
#define DEB_MEMBERS_MAX 64

/* LSB, "The RPM Lead" and "Header Record" */
#define RPM_MAGIC "\xed\xab\xee\xdb"
#define RPM_LEAD_BYTES 96
#define RPM_HEADER_MAGIC "\x8e\xad\xe8"
#define RPM_INDEX_BYTES 16

/* Maximum of rpm itself, and far more than any package has. */
#define RPM_ENTRIES_MAX 65536u
#define RPM_DATA_MAX (256u << 20)


static bool
is_deb(sym_str_t bytes)
{
    return sym_str_starts(bytes, SYM_STR(AR_MAGIC DEB_FIRST));
}


static bool
is_rpm(sym_str_t bytes)
{
    return sym_str_starts(bytes, SYM_STR(RPM_MAGIC));
}


bool
sym_package_is(sym_str_t bytes)
{
    return is_deb(bytes) || is_rpm(bytes);
}


bool
sym_package_is_first(sym_str_t name)
{
    return sym_str_eq(name, SYM_STR(".PKGINFO"))
           || sym_str_eq(name, SYM_STR(".BUILDINFO"))
           || sym_str_eq(name, SYM_STR(".MTREE"))
           || sym_str_eq(name, SYM_STR(".INSTALL"))
           || sym_str_starts(name, SYM_STR(".SIGN."));
}


/* Debian has /usr/lib/debug/.dwz/TRIPLET/NAME.debug, Fedora NAME-VERSION. */
bool
sym_package_is_dwz(sym_str_t name)
{
    return name.len != 0
           && memmem(name.data, name.len, "/.dwz/", sizeof("/.dwz/") - 1)
                  != NULL;
}


/* --- deb --- */

/* A field is padded with spaces; GNU ar writes a slash after a name. */
static sym_str_t
ar_field(sym_str_t header, size_t at, size_t len)
{
    const char *p = header.data + at;

    while (len > 0 && (p[len - 1] == ' ' || p[len - 1] == '/')) {
        len--;
    }

    return sym_str(p, len);
}


static sym_status_t
next_member(sym_cursor_t *c, sym_str_t *name, sym_str_t *body)
{
    sym_str_t header = sym_bytes(c, AR_HEADER_BYTES);
    uint64_t size;

    if (!sym_ok(c)) {
        return c->err->status;
    }

    if (header.data[AR_END_AT] != '`' || header.data[AR_END_AT + 1] != '\n'
        || !sym_dec_read(ar_field(header, AR_SIZE_AT, AR_SIZE_BYTES), &size))
    {
        sym_cursor_fail(c, SYM_MALFORMED, "a damaged header of a member");
        return c->err->status;
    }

    *name = ar_field(header, 0, AR_NAME_BYTES);
    *body = sym_bytes(c, size);
    if (size % 2 != 0 && sym_left(c) != 0) {
        (void) sym_u8(c); /* members begin at even offsets */
    }

    return c->err->status;
}


static sym_status_t
deb_payload(sym_str_t bytes, sym_str_t *payload, sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(bytes.data, bytes.len, "deb package", err);
    sym_str_t name = SYM_STR(""), body = name;

    (void) sym_bytes(&c, sizeof(AR_MAGIC) - 1);

    for (unsigned n = 0; n < DEB_MEMBERS_MAX && sym_left(&c) != 0; n++) {
        if (next_member(&c, &name, &body) != SYM_OK) {
            return err->status;
        }

        if (sym_str_starts(name, SYM_STR("data.tar"))) {
            *payload = body;
            return SYM_OK;
        }
    }

    sym_cursor_fail(&c, SYM_MALFORMED, "it has no data.tar");
    return err->status;
}


/* --- RPM --- */

static void
skip_header(sym_cursor_t *c)
{
    sym_str_t magic = sym_bytes(c, 4);
    uint32_t n, size;

    if (!sym_ok(c)) {
        return;
    }

    if (!sym_str_starts(magic, SYM_STR(RPM_HEADER_MAGIC))) {
        sym_cursor_fail(c, SYM_MALFORMED, "a damaged header");
        return;
    }

    (void) sym_u32(c); /* reserved */
    n = sym_u32(c);
    size = sym_u32(c);
    if (n > RPM_ENTRIES_MAX || size > RPM_DATA_MAX) {
        sym_cursor_fail(c, SYM_LIMIT, "a header that is too large");
        return;
    }

    (void) sym_bytes(c, (uint64_t) n * RPM_INDEX_BYTES + size);
}


static sym_status_t
rpm_payload(sym_str_t bytes, sym_str_t *payload, sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(bytes.data, bytes.len, "RPM package", err);

    c.is_big_endian = true;
    (void) sym_bytes(&c, RPM_LEAD_BYTES);
    skip_header(&c); /* the signature, which is padded to 8 bytes */
    (void) sym_bytes(&c, -(uint64_t) (c.pos - c.start) % 8);
    skip_header(&c);
    *payload = sym_bytes(&c, sym_left(&c));
    return err->status;
}


sym_status_t
sym_package_payload(sym_str_t bytes, sym_str_t *payload, bool *is_cpio,
                    sym_error_t *err)
{
    *is_cpio = is_rpm(bytes);
    return *is_cpio ? rpm_payload(bytes, payload, err)
                    : deb_payload(bytes, payload, err);
}
