/*
 * Any bytes as a URL, and as a redirect from it (a second line).  A host must
 * not contain what another reader would take for the end of a host.  The form
 * shown to users must have the same origin.  An address that is written must be
 * read the same.  Also reads the bytes as headers of a part of a file, whose
 * range must be within its file.
 */
#include <string.h>

#include "check.h"
#include "sources/guard/address.h"
#include "sources/guard/origins.h"
#include "sources/guard/range.h"
#include "sources/guard/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_address(sym_str_t host)
{
    char text[SYM_ADDRESS_TEXT_MAX];
    sym_address_t address, again;
    size_t len;

    if (sym_address_read(host, &address) != SYM_OK) {
        return;
    }

    len = sym_address_write(&address, text);
    check(len < sizeof(text));
    check(sym_address_read(sym_str(text, len), &again) == SYM_OK);
    check(again.is_v6 == address.is_v6
          && memcmp(again.bytes, address.bytes, address.is_v6 ? 16 : 4) == 0);
    check(sym_address_is_reserved(&again) == sym_address_is_reserved(&address));
}


static void
check_url(sym_arena_t *arena, const sym_url_t *url)
{
    sym_str_t shown = sym_url_shown(arena, url), any = SYM_STR("*");
    sym_error_t err = { 0 };
    sym_url_t again;

    check(url->host.len > 0 && url->host.len <= SYM_URL_HOST_MAX);
    for (size_t i = 0; i < url->host.len; i++) {
        unsigned char c = (unsigned char) url->host.data[i];

        check(c > ' ' && c < 0x7f && strchr("/\\@?#%", c) == NULL);
    }
    check(url->path.len > 0 && url->path.data[0] == '/');

    /* encoded, it may exceed the reader's limit */
    if (sym_url_read(arena, shown, &again, &err) == SYM_OK) {
        check(sym_url_is_same_origin(url, &again));
        check(again.userinfo.len == 0 && again.query.len == 0);
    } else {
        check(err.status == SYM_LIMIT && shown.len > SYM_URL_MAX);
    }

    check(sym_origins_have(&any, 1, url, shown));
    check(!sym_origins_have(NULL, 0, url, shown));
    check_address(url->host);
}


static void
check_part(sym_str_t text)
{
    sym_range_t range;

    if (sym_range_read(text, &range)) {
        check(range.first <= range.last && range.last < range.size);
        check(range.size <= INT64_MAX);
    }

    if (sym_etag_is_strong(text)) {
        check(text.len >= 2 && memchr(text.data, '\n', text.len) == NULL);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_str_t in = sym_str((const char *) data, size);
    const char *end = size > 0 ? memchr(in.data, '\n', in.len) : NULL;
    size_t len = end != NULL ? (size_t) (end - in.data) : in.len;
    sym_error_t err = { 0 }, bad = { 0 };
    sym_arena_t arena;
    sym_url_t url, next;

    sym_arena_init(&arena, (size_t) 4 << 20);
    check_address(sym_str(in.data, len));
    check_part(sym_str(in.data, len));

    if (sym_url_read(&arena, sym_str(in.data, len), &url, &err) == SYM_OK) {
        check_url(&arena, &url);
        if (end != NULL
            && sym_url_resolve(&arena, &url, sym_str(end + 1, in.len - len - 1),
                               &next, &bad)
                   == SYM_OK)
        {
            check_url(&arena, &next);
        }
    } else {
        check(err.what != NULL);
    }

    sym_arena_drop(&arena);
    return 0;
}
