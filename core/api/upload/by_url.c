#include "api/upload/by_url.h"

#include <stdio.h>

#include "sources/guard/origins.h"

/* Room for a text besides the URL in it. */
#define TEXT_BYTES 128

/* A URL without a scheme is https. */
static sym_str_t
with_scheme(sym_arena_t *arena, sym_str_t text)
{
    const sym_str_t https = SYM_STR("https://");
    char *p;

    if (memmem(text.data, text.len, "://", 3) != NULL) {
        return text;
    }

    p = sym_arena_alloc(arena, https.len + text.len);
    if (p == NULL) {
        return sym_str(NULL, 0);
    }

    memcpy(p, https.data, https.len);
    memcpy(p + https.len, text.data, text.len);
    return sym_str(p, https.len + text.len);
}


sym_by_url_t
sym_by_url_check(sym_arena_t *arena, sym_str_t text, const sym_str_t *patterns,
                 uint32_t n, sym_str_t *url)
{
    sym_error_t err = { 0 };
    sym_url_t parts;

    *url = with_scheme(arena, text);
    switch (url->data != NULL ? sym_url_read(arena, *url, &parts, &err)
                              : SYM_NOMEM) {
    case SYM_OK:
        break;
    case SYM_UNSUPPORTED:
        return SYM_BY_URL_INSECURE;
    default:
        return SYM_BY_URL_INVALID;
    }

    if (!sym_origins_have(patterns, n, &parts, SYM_STR(""))) {
        return parts.is_https ? SYM_BY_URL_HOST : SYM_BY_URL_INSECURE;
    }

    return sym_str_ends_nocase(sym_by_url_name(*url), SYM_STR(".zip"))
               ? SYM_BY_URL_OK
               : SYM_BY_URL_EXTENSION;
}


sym_by_url_t
sym_by_url_failure(unsigned status, bool is_whole)
{
    if (status == 429 || status == 500) {
        return SYM_BY_URL_RETRIES;
    }

    return status >= 500   ? SYM_BY_URL_ERROR
           : status >= 400 ? SYM_BY_URL_STATUS
           : status == 0   ? SYM_BY_URL_UNREACHABLE
           : status != 200 ? SYM_BY_URL_NO_FILE
           : is_whole      ? SYM_BY_URL_EMPTY
                           : SYM_BY_URL_UNREACHABLE;
}


bool
sym_by_url_may_retry(sym_by_url_t why, unsigned status)
{
    return why == SYM_BY_URL_RETRIES
           || (why == SYM_BY_URL_UNREACHABLE && status == 0);
}


bool
sym_by_url_is_remote(sym_by_url_t why)
{
    return why >= SYM_BY_URL_ERROR;
}


sym_str_t
sym_by_url_name(sym_str_t text)
{
    const char *slashes = memmem(text.data, text.len, "://", 3), *slash;
    sym_str_t rest = text, path;

    if (slashes != NULL) {
        rest.len -= (size_t) (slashes + 3 - text.data);
        rest.data = slashes + 3;
    }

    path = sym_str_cut(&rest, '#');
    rest = path;
    path = sym_str_cut(&rest, '?');
    slash = path.len != 0 ? memrchr(path.data, '/', path.len) : NULL;
    return slash != NULL
               ? sym_str(slash + 1, path.len - (size_t) (slash + 1 - path.data))
               : SYM_STR("");
}


static sym_str_t
host_of(sym_arena_t *arena, sym_str_t text)
{
    sym_error_t err = { 0 };
    sym_url_t url;

    return sym_url_read(arena, with_scheme(arena, text), &url, &err) == SYM_OK
               ? url.host
               : SYM_STR("");
}


static sym_str_t
extension_of(sym_str_t name)
{
    const char *dot = name.len != 0 ? memrchr(name.data, '.', name.len) : NULL;

    return dot != NULL ? sym_str(dot, name.len - (size_t) (dot - name.data))
                       : SYM_STR("");
}


/* The part of the URL that the text has. */
static sym_str_t
part_of(sym_arena_t *arena, sym_by_url_t why, sym_str_t text)
{
    switch (why) {
    case SYM_BY_URL_INVALID:
    case SYM_BY_URL_INSECURE:
    case SYM_BY_URL_EMPTY:
        return SYM_STR("");
    case SYM_BY_URL_HOST:
        return host_of(arena, text);
    case SYM_BY_URL_EXTENSION:
        return extension_of(sym_by_url_name(text));
    default:
        return text;
    }
}


sym_str_t
sym_by_url_text(sym_arena_t *arena, sym_by_url_t why, sym_str_t text,
                unsigned status)
{
    static const struct {
        const char *before, *after;
        bool has_status;
    } texts[] = {
        [SYM_BY_URL_OK] = { "", "", false },
        [SYM_BY_URL_INVALID] = { "Enter a valid URL.", "", false },
        [SYM_BY_URL_INSECURE] = { "Insecure URL", "", false },
        [SYM_BY_URL_HOST] = { "Not an allowed domain ('",
                              "') to download from.", false },
        [SYM_BY_URL_EXTENSION] = { "Unrecognized archive file extension \"",
                                   "\"", false },
        [SYM_BY_URL_REDIRECTS] = { "Too many redirects trying to open ", "",
                                   false },
        [SYM_BY_URL_STATUS] = { "", " can't be found", true },
        [SYM_BY_URL_EMPTY] = { "File is not a zip file", "", false },
        [SYM_BY_URL_NO_FILE] = { "non-200 status code when retrieving ", "",
                                 false },
        [SYM_BY_URL_ERROR] = { "", " errored", true },
        [SYM_BY_URL_RETRIES] = { "RetryError trying to open ", "", false },
        [SYM_BY_URL_UNREACHABLE] = { "ConnectionError trying to open ", "",
                                     false },
    };
    sym_str_t part = part_of(arena, why, text);
    size_t size = part.len + TEXT_BYTES;
    char *p = sym_arena_alloc(arena, size);
    int n;

    if (p == NULL) {
        return sym_str(NULL, 0);
    }

    n = snprintf(p, size, "%s%.*s%s", texts[why].before, (int) part.len,
                 part.data, texts[why].after);
    if (texts[why].has_status) {
        n += snprintf(p + n, size - (size_t) n, " (%u)", status);
    }

    return sym_str(p, (size_t) n);
}
