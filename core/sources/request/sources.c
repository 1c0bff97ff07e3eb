#include "sources/request/sources.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "base/uri.h"
#include "json/load.h"
#include "base/sha256.h"

/* Symbolicator never blocks the hosts of sources that Sentry itself brings. */
#define BUILT_IN "sentry:"
#define DIGEST_VERSION "ngx_symbolicate given source 2"
#define MESSAGE_MAX 512
#define PATH(member) offsetof(sym_request_source_t, member)

/* Every text of a source; the first two are not part of its digest. */
static const size_t texts[] = {
    PATH(id),
    PATH(scope),
    PATH(url.userinfo),
    PATH(url.host),
    PATH(url.path),
    PATH(url.query),
    PATH(path),
    PATH(bucket),
    PATH(prefix),
    PATH(region),
    PATH(access_key),
    PATH(secret_key),
    PATH(session_token),
    PATH(private_key),
    PATH(client_email),
    PATH(token),
    PATH(cookies),
};

#define N_TEXTS (sizeof(texts) / sizeof(texts[0]))
#define FIRST_DIGESTED 2

static const char *const type_words[SYM_REQUEST_SOURCE_TYPES] = {
    [SYM_REQUEST_SOURCE_FILESYSTEM] = "filesystem",
    [SYM_REQUEST_SOURCE_HTTP] = "http",
    [SYM_REQUEST_SOURCE_S3] = "s3",
    [SYM_REQUEST_SOURCE_GCS] = "gcs",
    [SYM_REQUEST_SOURCE_SENTRY] = "sentry",
};

/* File types of Symbolicator that the loader does not read. */
static const char *const unread_files[] = { "uuidmap", "bcsymbolmap",
                                            "il2cpp" };

typedef struct {
    sym_arena_t *arena;
    const json_t *object; /* the present source */
    uint32_t at;          /* its number */
    size_t bytes;         /* of all texts so far */
    sym_status_t status;
    sym_str_t *message;
} reader_t;


static sym_str_t *
text_of(const sym_request_source_t *s, size_t i)
{
    return (sym_str_t *) ((char *) (uintptr_t) s + texts[i]);
}


sym_str_t
sym_request_source_type_word(sym_request_source_type_t type)
{
    return sym_cstr(type_words[type]);
}


bool
sym_request_source_type_find(sym_str_t word, sym_request_source_type_t *type)
{
    for (unsigned i = 0; i < SYM_REQUEST_SOURCE_TYPES; i++) {
        if (sym_str_eq(word, sym_cstr(type_words[i]))) {
            *type = (sym_request_source_type_t) i;
            return true;
        }
    }

    return false;
}


/* --- errors --- */

/* The first one counts.  key: of the source, or NULL. */
__attribute__((format(printf, 4, 5))) static bool
refuse(reader_t *r, sym_status_t status, const char *key, const char *format,
       ...)
{
    char text[MESSAGE_MAX];
    size_t len = 0;
    va_list args;

    if (r->status != SYM_OK) {
        return false;
    }

    if (r->object != NULL) {
        len = (size_t) snprintf(text, sizeof(text), "sources[%u]%s%s: ", r->at,
                                key != NULL ? "." : "", key != NULL ? key : "");
    }

    va_start(args, format);
    (void) vsnprintf(text + len, sizeof(text) - len, format, args);
    va_end(args);

    *r->message = sym_arena_copy(r->arena, sym_cstr(text));
    r->status = r->message->data != NULL ? status : SYM_NOMEM;
    return false;
}


static bool
no_memory(reader_t *r)
{
    if (r->status == SYM_OK) {
        r->status = SYM_NOMEM;
    }
    return false;
}


static bool
wrong_type(reader_t *r, const char *key, const json_t *value,
           const char *expected)
{
    return refuse(r, SYM_MALFORMED, key, "invalid type: %s, expected %s",
                  sym_json_type_name(value), expected);
}


/* --- values --- */

static bool
is_header_text(sym_str_t s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char) s.data[i];

        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }

    return true;
}


static bool
copy_text(reader_t *r, const char *key, const json_t *value, size_t max,
          sym_str_t *out)
{
    size_t len = json_string_length(value);

    if (len > max) {
        return refuse(r, SYM_LIMIT, key, "longer than %zu bytes", max);
    }

    r->bytes += len;
    if (r->bytes > SYM_REQUEST_SOURCE_BYTES_MAX) {
        return refuse(r, SYM_LIMIT, key, "the sources are too long");
    }

    *out = sym_arena_copy(r->arena, sym_str(json_string_value(value), len));
    return out->data != NULL || no_memory(r);
}


/* A text that may be missing or null. */
static bool
read_text(reader_t *r, const char *key, size_t max, sym_str_t *out)
{
    const json_t *value = json_object_get(r->object, key);

    if (value == NULL || json_is_null(value)) {
        return true;
    }

    return json_is_string(value) ? copy_text(r, key, value, max, out)
                                 : wrong_type(r, key, value, "a string");
}


static bool
need_text(reader_t *r, const char *key, size_t max, sym_str_t *out)
{
    const json_t *value = json_object_get(r->object, key);

    if (value == NULL) {
        return refuse(r, SYM_MALFORMED, NULL, "missing field `%s`", key);
    }

    return json_is_null(value) ? wrong_type(r, key, value, "a string")
                               : read_text(r, key, max, out);
}


/* Reads a text that is sent as a header. */
static bool
read_secret(reader_t *r, const char *key, sym_str_t *out)
{
    return read_text(r, key, SYM_REQUEST_SOURCE_SECRET_MAX, out)
           && (is_header_text(*out)
               || refuse(r, SYM_MALFORMED, key, "control characters"));
}


static bool
read_bool(reader_t *r, const json_t *object, const char *key, bool *out)
{
    const json_t *value = json_object_get(object, key);

    if (value == NULL) {
        return true;
    }

    if (!json_is_boolean(value)) {
        return wrong_type(r, key, value, "a boolean");
    }

    *out = json_is_true(value);
    return true;
}


/* An object that may be missing. */
static bool
read_object(reader_t *r, const char *key, const json_t **out)
{
    *out = json_object_get(r->object, key);
    return *out == NULL || json_is_object(*out)
           || wrong_type(r, key, *out, "a map");
}


static bool
read_url(reader_t *r, const char *key, const json_t *value, sym_url_t *url)
{
    sym_error_t err = { 0 };
    sym_str_t text = SYM_STR("");
    sym_status_t rc;

    if (!json_is_string(value)) {
        return wrong_type(r, key, value, "a URL string");
    }

    if (!copy_text(r, key, value, SYM_URL_MAX, &text)) {
        return false;
    }

    rc = sym_url_read(r->arena, text, url, &err);
    return rc == SYM_OK || (rc == SYM_NOMEM && no_memory(r))
           || refuse(r, rc == SYM_LIMIT ? rc : SYM_MALFORMED, key,
                     "invalid value: a URL that cannot be asked: %s", err.what);
}


static bool
need_url(reader_t *r, sym_url_t *url)
{
    const json_t *value = json_object_get(r->object, "url");

    return value != NULL
               ? read_url(r, "url", value, url)
               : refuse(r, SYM_MALFORMED, NULL, "missing field `url`");
}


/* A base is a folder: its path ends in '/'. */
static bool
make_folder(reader_t *r, sym_str_t *path, sym_str_t further)
{
    sym_text_t t = { .arena = r->arena };

    sym_text_add(&t, *path);
    if (path->len == 0 || path->data[path->len - 1] != '/') {
        sym_text_byte(&t, '/');
    }
    if (further.len > 0) {
        sym_text_add(&t, further);
        sym_text_byte(&t, '/');
    }

    *path = sym_text_end(&t);
    return !t.failed || no_memory(r);
}


static sym_str_t
without_slashes(sym_str_t s)
{
    while (s.len > 0 && s.data[0] == '/') {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && s.data[s.len - 1] == '/') {
        s.len--;
    }
    return s;
}


/* --- keys of several types --- */

static bool
read_layout(reader_t *r, sym_request_source_t *s)
{
    const json_t *layout, *type, *casing;
    sym_str_t word;

    s->rules.layout = SYM_LAYOUT_NATIVE;

    if (!read_object(r, "layout", &layout)) {
        return false;
    }

    type = json_object_get(layout, "type");
    casing = json_object_get(layout, "casing");

    if (type != NULL) {
        word = sym_str(json_string_value(type), json_string_length(type));
        if (!json_is_string(type) || !sym_layout_find(word, &s->rules.layout)) {
            return refuse(r, SYM_MALFORMED, "layout.type",
                          "unknown variant, expected one of `native`, "
                          "`symstore`, `symstore_index2`, `ssqp`, `unified`, "
                          "`debuginfod`, `slashsymbols`");
        }
    }

    if (casing == NULL) {
        return true;
    }

    word = sym_str(json_string_value(casing), json_string_length(casing));
    if (json_is_string(casing) && sym_str_eq(word, SYM_STR("lowercase"))) {
        s->rules.casing = SYM_SOURCE_CASING_LOWER;
    } else if (json_is_string(casing) && sym_str_eq(word, SYM_STR("uppercase")))
    {
        s->rules.casing = SYM_SOURCE_CASING_UPPER;
    } else if (!json_is_string(casing) || !sym_str_eq(word, SYM_STR("default")))
    {
        return refuse(r, SYM_MALFORMED, "layout.casing",
                      "unknown variant, expected one of `lowercase`, "
                      "`uppercase`, `default`");
    }

    return true;
}


static bool
read_filetypes(reader_t *r, const json_t *list, sym_request_source_t *s)
{
    const json_t *value;
    size_t i;

    if (list == NULL) {
        return true;
    }

    if (!json_is_array(list)) {
        return wrong_type(r, "filters.filetypes", list, "a sequence");
    }

    s->rules.files = json_array_size(list) > 0 ? 0 : s->rules.files;

    json_array_foreach(list, i, value)
    {
        sym_str_t word =
            sym_str(json_string_value(value), json_string_length(value));
        unsigned files =
            json_is_string(value) ? sym_source_files_find(word) : 0;
        bool is_known = files != 0;

        for (size_t k = 0;
             json_is_string(value)
             && k < sizeof(unread_files) / sizeof(unread_files[0]);
             k++)
        {
            is_known |= sym_str_eq(word, sym_cstr(unread_files[k]));
        }

        if (!is_known) {
            return refuse(r, SYM_MALFORMED, "filters.filetypes",
                          "unknown variant, expected one of `pe`, `pdb`, "
                          "`portablepdb`, `mach_debug`, `mach_code`, "
                          "`elf_debug`, `elf_code`, `wasm_debug`, `wasm_code`, "
                          "`breakpad`, `sourcebundle`, `uuidmap`, "
                          "`bcsymbolmap`, `il2cpp`, `proguard`");
        }
        s->rules.files |= files;
    }

    return true;
}


static bool
read_patterns(reader_t *r, const json_t *list, sym_request_source_t *s)
{
    const json_t *value;
    sym_str_t *patterns;
    size_t i, n;

    if (list == NULL) {
        return true;
    }

    if (!json_is_array(list)) {
        return wrong_type(r, "filters.path_patterns", list, "a sequence");
    }

    n = json_array_size(list);
    if (n > SYM_REQUEST_SOURCE_PATTERNS_MAX) {
        return refuse(r, SYM_LIMIT, "filters.path_patterns",
                      "more than %d patterns", SYM_REQUEST_SOURCE_PATTERNS_MAX);
    }

    patterns = sym_arena_calloc(r->arena, n + 1, sizeof(*patterns));
    if (patterns == NULL) {
        return no_memory(r);
    }

    json_array_foreach(list, i, value)
    {
        if (!json_is_string(value)) {
            return wrong_type(r, "filters.path_patterns", value, "a string");
        }
        if (!copy_text(r, "filters.path_patterns", value,
                       SYM_REQUEST_SOURCE_PATTERN_MAX, &patterns[i]))
        {
            return false;
        }
    }

    s->patterns = patterns;
    s->n_patterns = (uint32_t) n;
    return true;
}


static bool
read_common(reader_t *r, sym_request_source_t *s)
{
    const json_t *filters;

    s->rules.files = ~0U;

    if (!read_layout(r, s) || !read_object(r, "filters", &filters)
        || !read_filetypes(r, json_object_get(filters, "filetypes"), s)
        || !read_patterns(r, json_object_get(filters, "path_patterns"), s)
        || !read_bool(r, filters, "requires_checksum", &s->requires_checksum)
        || !read_bool(r, r->object, "is_public", &s->is_public)
        || !read_bool(r, r->object, "has_index", &s->has_index))
    {
        return false;
    }

    s->rules.files &= sym_layout_files(s->rules.layout);
    s->rules.requires_checksum = s->requires_checksum;
    s->rules.patterns = s->patterns;
    s->rules.n_patterns = s->n_patterns;
    return true;
}


/* --- headers --- */

static bool
is_token(sym_str_t name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')
            && !(c >= '0' && c <= '9')
            && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL))
        {
            return false;
        }
    }

    return name.len > 0;
}


/* Headers that frame a message or concern one connection (RFC 9110, 7.6.1), or
 * that the fetch itself sets; and those that proxies trust. */
static bool
is_ours(sym_str_t name)
{
    static const char *const ours[] = {
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "proxy-authenticate",
        "expect",
        "range",
        "if-range",
        "if-match",
        "if-none-match",
        "if-modified-since",
        "if-unmodified-since",
        "accept-encoding",
        "content-encoding",
        "content-type",
        "x-accel-redirect",
    };

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        sym_str_t word = sym_cstr(ours[i]);

        if (name.len == word.len && sym_str_ends_nocase(name, word)) {
            return true;
        }
    }

    return false;
}


static bool
read_headers(reader_t *r, sym_request_source_t *s)
{
    const json_t *object, *value;
    sym_request_source_header_t *headers;
    const char *name;
    size_t n;

    if (!read_object(r, "headers", &object)) {
        return false;
    }

    n = json_object_size(object);
    if (n == 0) {
        return true;
    }

    if (n > SYM_REQUEST_SOURCE_HEADERS_MAX) {
        return refuse(r, SYM_LIMIT, "headers", "more than %d headers",
                      SYM_REQUEST_SOURCE_HEADERS_MAX);
    }

    headers = sym_arena_calloc(r->arena, n, sizeof(*headers));
    if (headers == NULL) {
        return no_memory(r);
    }

    s->headers = headers;

    /* jansson takes no key with a NUL */

    json_object_foreach((json_t *) (uintptr_t) object, name, value)
    {
        sym_request_source_header_t *h = &headers[s->n_headers++];

        h->name = sym_arena_copy(r->arena, sym_cstr(name));
        if (h->name.data == NULL) {
            return no_memory(r);
        }

        r->bytes += h->name.len;

        if (h->name.len > SYM_REQUEST_SOURCE_NAME_MAX || !is_token(h->name)) {
            return refuse(r, SYM_MALFORMED, "headers",
                          "not the name of a header");
        }
        if (is_ours(h->name)) {
            return refuse(r, SYM_MALFORMED, "headers",
                          "a source cannot set `%s`", name);
        }
        if (!json_is_string(value)) {
            return wrong_type(r, "headers", value, "a string");
        }
        if (!copy_text(r, "headers", value, SYM_REQUEST_SOURCE_SECRET_MAX,
                       &h->value)) {
            return false;
        }
        if (!is_header_text(h->value)) {
            return refuse(r, SYM_MALFORMED, "headers",
                          "control characters in the value of `%s`", name);
        }
    }

    return true;
}


/* --- the types --- */

static bool
read_filesystem(reader_t *r, sym_request_source_t *s)
{
    return need_text(r, "path", SYM_REQUEST_SOURCE_PATH_MAX, &s->path)
           && (memchr(s->path.data, '\0', s->path.len) == NULL
               || refuse(r, SYM_MALFORMED, "path", "a NUL"))
           && read_common(r, s);
}


static bool
read_http(reader_t *r, sym_request_source_t *s)
{
    return need_url(r, &s->url) && make_folder(r, &s->url.path, SYM_STR(""))
           && read_headers(r, s)
           && read_bool(r, r->object, "accept_invalid_certs",
                        &s->takes_any_certificate)
           && read_common(r, s);
}


static bool
is_made_of(sym_str_t s, const char *others, size_t max)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')
            && (c == '\0' || strchr(others, c) == NULL))
        {
            return false;
        }
    }

    return s.len > 0 && s.len <= max;
}


static bool
read_bucket(reader_t *r, sym_request_source_t *s)
{
    if (!need_text(r, "bucket", SYM_REQUEST_SOURCE_PATH_MAX, &s->bucket)
        || !read_text(r, "prefix", SYM_REQUEST_SOURCE_PATH_MAX, &s->prefix))
    {
        return false;
    }

    s->prefix = without_slashes(s->prefix);

    /* it becomes a part of a path, and of a host's name */

    if (!is_made_of(s->bucket, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-._", 222)
        || sym_str_eq(s->bucket, SYM_STR("."))
        || sym_str_eq(s->bucket, SYM_STR("..")))
    {
        return refuse(r, SYM_MALFORMED, "bucket", "not the name of a bucket");
    }

    return true;
}


/* Buckets whose name is one label of a host's are asked at a host of their own, as
 * certificates cover it; others, and all of other endpoints, by path. */
static bool
make_s3_url(reader_t *r, const json_t *endpoint, sym_request_source_t *s)
{
    bool is_china = sym_str_starts(s->region, SYM_STR("cn-"));
    bool is_label = is_made_of(s->bucket, "-", 63);
    sym_error_t err = { 0 };
    sym_str_t prefix = SYM_STR("");
    char text[512];

    if (endpoint != NULL) {
        if (!read_url(r, "region", endpoint, &s->url)
            || !make_folder(r, &s->url.path, s->bucket))
        {
            return false;
        }
    } else {
        (void) snprintf(text, sizeof(text),
                        "https://%.*s%ss3.%.*s.amazonaws.com%s/",
                        is_label ? (int) s->bucket.len : 0, s->bucket.data,
                        is_label ? "." : "", (int) s->region.len,
                        s->region.data, is_china ? ".cn" : "");
        if (sym_url_read(r->arena, sym_cstr(text), &s->url, &err) != SYM_OK) {
            return no_memory(r);
        }
        if (!is_label && !make_folder(r, &s->url.path, s->bucket)) {
            return false;
        }
    }

    if (sym_uri_encode(r->arena, s->prefix, true, &prefix, &err) != SYM_OK) {
        return no_memory(r);
    }

    s->url.query = SYM_STR("");
    return make_folder(r, &s->url.path, prefix);
}


static bool
read_s3_region(reader_t *r, sym_request_source_t *s)
{
    const json_t *region = json_object_get(r->object, "region");
    const json_t *endpoint = NULL;

    if (region == NULL) {
        return refuse(r, SYM_MALFORMED, NULL, "missing field `region`");
    }

    if (json_is_array(region) && json_array_size(region) == 2) {
        endpoint = json_array_get(region, 1);
        region = json_array_get(region, 0);
    }

    if (!json_is_string(region)) {
        return wrong_type(r, "region", region,
                          "a string, or a name and an endpoint");
    }

    if (!copy_text(r, "region", region, SYM_REQUEST_SOURCE_PATH_MAX,
                   &s->region)) {
        return false;
    }

    if (!is_made_of(s->region, "-", 63)) {
        return refuse(r, SYM_MALFORMED, "region", "not the name of a region");
    }

    return make_s3_url(r, endpoint, s);
}


static bool
read_s3(reader_t *r, sym_request_source_t *s)
{
    sym_str_t provider = SYM_STR("static");

    if (!read_bucket(r, s) || !read_s3_region(r, s)
        || !read_text(r, "aws_credentials_provider", 64, &provider))
    {
        return false;
    }

    if (sym_str_eq(provider, SYM_STR("container"))) {
        s->wants_role = true;
    } else if (!sym_str_eq(provider, SYM_STR("static"))) {
        return refuse(r, SYM_MALFORMED, "aws_credentials_provider",
                      "unknown variant, expected `static` or `container`");
    }

    return read_secret(r, "access_key", &s->access_key)
           && read_secret(r, "secret_key", &s->secret_key)
           && read_secret(r, "session_token", &s->session_token)
           && read_common(r, s);
}


static bool
read_gcs(reader_t *r, sym_request_source_t *s)
{
    if (!read_bucket(r, s) || !read_secret(r, "bearer_token", &s->token)
        || !read_text(r, "private_key", SYM_REQUEST_SOURCE_SECRET_MAX,
                      &s->private_key)
        || !read_secret(r, "client_email", &s->client_email))
    {
        return false;
    }

    if (s->token.len == 0
        && (s->private_key.len == 0 || s->client_email.len == 0)) {
        return refuse(r, SYM_MALFORMED, NULL,
                      "needs `bearer_token`, or `private_key` and "
                      "`client_email`");
    }

    return read_common(r, s);
}


/* Each of its files is asked for by its id. */
static bool
read_sentry(reader_t *r, sym_request_source_t *s)
{
    s->rules.layout = s->is_links ? SYM_LAYOUT_URL : SYM_LAYOUT_SENTRY;
    s->rules.files = ~0U;

    if (!need_url(r, &s->url) || !read_secret(r, "token", &s->token)
        || !read_secret(r, "cookies", &s->cookies))
    {
        return false;
    }

    return s->token.len > 0 || s->cookies.len > 0
           || refuse(r, SYM_MALFORMED, NULL, "needs `token` or `cookies`");
}


/* --- digests --- */

static void
add_number(sym_text_t *t, uint64_t number)
{
    char bytes[8];

    for (unsigned i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char) (uint8_t) (number >> (8 * i));
    }
    sym_text_add(t, sym_str(bytes, sizeof(bytes)));
}


/* With its length: no two lists of texts read the same. */
static void
add_text(sym_text_t *t, sym_str_t s)
{
    add_number(t, s.len);
    sym_text_add(t, s);
}


/* Failures of a host count for those alone that share its public files, or have
 * the same scope. */
static bool
make_realm(reader_t *r, const sym_request_source_realm_t *realm,
           sym_request_source_t *s)
{
    sym_text_t t = { .arena = r->arena };
    sym_str_t all;

    s->can_be_blocked = s->type == SYM_REQUEST_SOURCE_HTTP
                        && !sym_str_starts(s->id, SYM_STR(BUILT_IN));

    add_text(&t, SYM_STR(DIGEST_VERSION));
    add_text(&t, realm->policy);
    add_text(&t, s->is_public ? SYM_STR("") : realm->scope);

    all = sym_text_end(&t);
    return (all.data != NULL && sym_sha256(all, &s->realm)) || no_memory(r);
}


/*
 * Requests share records only if they could have fetched the same: if place and
 * credentials are equal.  The id is only a label.
 */
static bool
make_scope(reader_t *r, const sym_request_source_realm_t *realm,
           sym_request_source_t *s)
{
    sym_text_t t = { .arena = r->arena };
    char *out = sym_arena_alloc(r->arena, SYM_REQUEST_SOURCE_SCOPE_LEN);
    char hex[SYM_SHA256_HEX_LEN];
    sym_str_t all;
    sym_sha256_t digest;

    add_text(&t, SYM_STR(DIGEST_VERSION));
    add_text(&t, realm->policy);
    add_number(&t, s->type);
    add_number(&t, (uint64_t) s->is_public | (uint64_t) s->has_index << 1
                       | (uint64_t) s->requires_checksum << 2
                       | (uint64_t) s->takes_any_certificate << 3
                       | (uint64_t) s->wants_role << 4
                       | (uint64_t) s->url.is_https << 5);
    add_text(&t, s->is_public ? SYM_STR("") : realm->scope);
    add_number(&t, s->url.port);
    add_number(&t, s->rules.layout);
    add_number(&t, s->rules.files);
    add_number(&t, s->rules.ids);
    add_number(&t, s->rules.casing);
    add_number(&t, s->n_patterns);
    for (uint32_t i = 0; i < s->n_patterns; i++) {
        add_text(&t, s->patterns[i]);
    }
    add_number(&t, s->n_headers);
    for (uint32_t i = 0; i < s->n_headers; i++) {
        add_text(&t, s->headers[i].name);
        add_text(&t, s->headers[i].value);
    }
    for (size_t i = FIRST_DIGESTED; i < N_TEXTS; i++) {
        add_text(&t, *text_of(s, i));
    }

    all = sym_text_end(&t);
    if (out == NULL || all.data == NULL || !sym_sha256(all, &digest)) {
        return no_memory(r);
    }

    sym_wipe(t.data, t.len);

    sym_sha256_hex(&digest, hex);
    memcpy(out, SYM_REQUEST_SOURCE_PREFIX, SYM_REQUEST_SOURCE_PREFIX_LEN);
    memcpy(out + SYM_REQUEST_SOURCE_PREFIX_LEN, hex,
           SYM_REQUEST_SOURCE_SCOPE_LEN - SYM_REQUEST_SOURCE_PREFIX_LEN);

    s->scope = sym_str(out, SYM_REQUEST_SOURCE_SCOPE_LEN);
    return true;
}


/* --- the list --- */

static bool
read_source(reader_t *r, const sym_request_source_realm_t *realm,
            sym_request_source_t *s)
{
    static bool (*const readers[SYM_REQUEST_SOURCE_TYPES])(
        reader_t *, sym_request_source_t *) = {
        [SYM_REQUEST_SOURCE_FILESYSTEM] = read_filesystem,
        [SYM_REQUEST_SOURCE_HTTP] = read_http,
        [SYM_REQUEST_SOURCE_S3] = read_s3,
        [SYM_REQUEST_SOURCE_GCS] = read_gcs,
        [SYM_REQUEST_SOURCE_SENTRY] = read_sentry,
    };
    const json_t *type;

    if (!json_is_object(r->object)) {
        return wrong_type(r, NULL, r->object, "a source");
    }

    for (size_t i = 0; i < N_TEXTS; i++) {
        *text_of(s, i) = SYM_STR("");
    }

    type = json_object_get(r->object, "type");
    if (type == NULL) {
        return refuse(r, SYM_MALFORMED, NULL, "missing field `type`");
    }

    if (!json_is_string(type)
        || !sym_request_source_type_find(
            sym_str(json_string_value(type), json_string_length(type)),
            &s->type))
    {
        return refuse(r, SYM_MALFORMED, "type",
                      "unknown variant, expected one of `sentry`, `http`, "
                      "`s3`, `gcs`, `filesystem`");
    }

    return need_text(r, "id", SYM_REQUEST_SOURCE_ID_MAX, &s->id)
           && readers[s->type](r, s) && make_realm(r, realm, s)
           && make_scope(r, realm, s);
}


sym_status_t
sym_request_sources_read(sym_arena_t *arena, const json_t *list,
                         const sym_request_source_realm_t *realm,
                         sym_request_sources_t *set, sym_str_t *message)
{
    reader_t r = { .arena = arena, .message = message };
    sym_request_source_t *sources;
    size_t n;

    *set = (sym_request_sources_t){ 0 };

    if (!json_is_array(list)) {
        (void) refuse(&r, SYM_MALFORMED, NULL,
                      "sources: invalid type: %s, expected a sequence",
                      sym_json_type_name(list));
        return r.status;
    }

    n = json_array_size(list);
    if (n > SYM_REQUEST_SOURCES_MAX) {
        (void) refuse(&r, SYM_LIMIT, NULL, "sources: more than %d sources",
                      SYM_REQUEST_SOURCES_MAX);
        return r.status;
    }

    sources = sym_arena_calloc(arena, n + 1, sizeof(*sources));
    if (sources == NULL) {
        return SYM_NOMEM;
    }

    for (; r.at < n; r.at++) {
        r.object = json_array_get(list, r.at);
        if (!read_source(&r, realm, &sources[r.at])) {
            return r.status;
        }
    }

    *set = (sym_request_sources_t){ sources, (uint32_t) n, NULL, NULL };
    return SYM_OK;
}


/* --- texts of source links --- */

static bool
add_link_header(reader_t *r, const char *name, const json_t *value,
                sym_request_source_header_t *headers, sym_request_source_t *s)
{
    sym_request_source_header_t *h = &headers[s->n_headers];
    sym_str_t key = sym_cstr(name), text;

    if (!json_is_string(value) || s->n_headers == SYM_REQUEST_SOURCE_HEADERS_MAX
        || key.len > SYM_REQUEST_SOURCE_NAME_MAX || !is_token(key)
        || is_ours(key))
    {
        return true;
    }

    text = sym_str(json_string_value(value), json_string_length(value));
    if (text.len > SYM_REQUEST_SOURCE_SECRET_MAX || !is_header_text(text)) {
        return true;
    }

    h->name = sym_arena_copy(r->arena, key);
    h->value = sym_arena_copy(r->arena, text);
    s->n_headers++;
    return h->name.data != NULL && h->value.data != NULL;
}


/* Without headers it does not matter where they may go. */
static bool
read_scraping(reader_t *r, const json_t *scraping, sym_request_source_t *s)
{
    const json_t *origins = json_object_get(scraping, "allowed_origins");
    const json_t *object = json_object_get(scraping, "headers");
    sym_request_source_header_t *headers = sym_arena_calloc(
        r->arena, SYM_REQUEST_SOURCE_HEADERS_MAX, sizeof(*headers));
    sym_str_t *patterns = sym_arena_calloc(
        r->arena, SYM_REQUEST_SOURCE_PATTERNS_MAX, sizeof(*patterns));
    const json_t *value;
    const char *name;
    size_t i;

    if (headers == NULL || patterns == NULL) {
        return false;
    }

    s->headers = headers;
    s->patterns = patterns;
    json_object_foreach((json_t *) (uintptr_t) object, name, value)
    {
        if (!add_link_header(r, name, value, headers, s)) {
            return false;
        }
    }

    json_array_foreach(origins, i, value)
    {
        if (s->n_headers == 0
            || s->n_patterns == SYM_REQUEST_SOURCE_PATTERNS_MAX
            || !json_is_string(value)
            || json_string_length(value) > SYM_REQUEST_SOURCE_PATTERN_MAX)
        {
            continue;
        }

        patterns[s->n_patterns] =
            sym_arena_copy(r->arena, sym_str(json_string_value(value),
                                             json_string_length(value)));
        if (patterns[s->n_patterns++].data == NULL) {
            return false;
        }
    }

    return true;
}


/* No digit of another scope is one of its letters. */
static void
mark_scope(sym_request_source_t *s)
{
    memcpy((char *) (uintptr_t) s->scope.data, SYM_SCOPE_LINKS,
           sizeof(SYM_SCOPE_LINKS) - 1);
}


sym_status_t
sym_request_sources_add_links(sym_arena_t *arena, const json_t *scraping,
                              const sym_request_source_realm_t *realm,
                              sym_request_sources_t *list)
{
    sym_str_t message;
    reader_t r = { .arena = arena, .message = &message };
    sym_request_source_t *s = sym_arena_calloc(arena, 1, sizeof(*s));

    if (s == NULL) {
        return SYM_NOMEM;
    }

    for (size_t i = 0; i < N_TEXTS; i++) {
        *text_of(s, i) = SYM_STR("");
    }

    s->type = SYM_REQUEST_SOURCE_HTTP;
    s->id = SYM_STR("sourcelink");
    s->is_links = true;
    s->rules.layout = SYM_LAYOUT_URL;
    s->rules.files = ~0U;

    if ((json_is_true(json_object_get(scraping, "enabled"))
         && !read_scraping(&r, scraping, s))
        || !make_realm(&r, realm, s) || !make_scope(&r, realm, s))
    {
        return SYM_NOMEM;
    }

    mark_scope(s);
    list->links = s;
    return SYM_OK;
}


sym_status_t
sym_request_sources_add_artifacts(sym_arena_t *arena, const json_t *source,
                                  const sym_request_source_realm_t *realm,
                                  sym_request_sources_t *list,
                                  sym_str_t *message)
{
    reader_t r = { .arena = arena, .message = message, .object = source };
    sym_request_source_t *s = sym_arena_calloc(arena, 1, sizeof(*s));

    if (s == NULL) {
        return SYM_NOMEM;
    }

    if (!json_is_object(source)) {
        (void) wrong_type(&r, NULL, source, "a source");
        return r.status;
    }

    for (size_t i = 0; i < N_TEXTS; i++) {
        *text_of(s, i) = SYM_STR("");
    }

    s->type = SYM_REQUEST_SOURCE_SENTRY;
    s->is_links = true;

    if (!need_text(&r, "id", SYM_REQUEST_SOURCE_ID_MAX, &s->id)
        || !read_sentry(&r, s) || !make_realm(&r, realm, s)
        || !make_scope(&r, realm, s))
    {
        return r.status;
    }

    mark_scope(s);
    list->artifacts = s;
    return SYM_OK;
}


/* --- copies --- */

static bool
copy_to(sym_arena_t *arena, sym_str_t *text)
{
    *text = sym_arena_copy(arena, *text);
    return text->data != NULL;
}


static bool
copy_source(sym_arena_t *arena, const sym_request_source_t *from,
            sym_request_source_t *to)
{
    sym_str_t *patterns;
    sym_request_source_header_t *headers;
    bool is_whole = true;

    *to = *from;
    for (size_t i = 0; i < N_TEXTS; i++) {
        is_whole &= copy_to(arena, text_of(to, i));
    }

    patterns =
        sym_arena_calloc(arena, from->n_patterns + 1u, sizeof(*patterns));
    headers = sym_arena_calloc(arena, from->n_headers + 1u, sizeof(*headers));
    if (patterns == NULL || headers == NULL) {
        return false;
    }

    for (uint32_t i = 0; i < from->n_patterns; i++) {
        patterns[i] = from->patterns[i];
        is_whole &= copy_to(arena, &patterns[i]);
    }

    for (uint32_t i = 0; i < from->n_headers; i++) {
        headers[i] = from->headers[i];
        is_whole &= copy_to(arena, &headers[i].name)
                    && copy_to(arena, &headers[i].value);
    }

    to->patterns = to->rules.patterns = patterns;
    to->headers = headers;
    return is_whole;
}


static bool
copy_one(sym_arena_t *arena, const sym_request_source_t *from,
         const sym_request_source_t **to)
{
    sym_request_source_t *copy;

    if (from == NULL) {
        return true;
    }

    copy = sym_arena_calloc(arena, 1, sizeof(*copy));
    *to = copy;
    return copy != NULL && copy_source(arena, from, copy);
}


bool
sym_request_sources_copy(sym_arena_t *arena, const sym_request_sources_t *from,
                         sym_request_sources_t *to)
{
    sym_request_source_t *sources =
        sym_arena_calloc(arena, from->n + 1u, sizeof(*sources));

    *to = (sym_request_sources_t){ sources, 0, NULL, NULL };
    if (sources == NULL) {
        return false;
    }

    if (!copy_one(arena, from->links, &to->links)
        || !copy_one(arena, from->artifacts, &to->artifacts))
    {
        return false;
    }

    for (uint32_t i = 0; i < from->n; i++) {
        if (!copy_source(arena, &from->sources[i], &sources[i])) {
            return false;
        }
        to->n++;
    }

    return true;
}


static void
wipe(sym_str_t text)
{
    if (text.len > 0) {
        sym_wipe((void *) (uintptr_t) text.data, text.len);
    }
}


static void
wipe_source(const sym_request_source_t *s)
{
    for (size_t k = 0; k < N_TEXTS; k++) {
        wipe(*text_of(s, k));
    }
    for (uint32_t k = 0; k < s->n_headers; k++) {
        wipe(s->headers[k].value);
    }
}


void
sym_request_sources_wipe(const sym_request_sources_t *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        wipe_source(&list->sources[i]);
    }

    if (list->links != NULL) {
        wipe_source(list->links);
    }

    if (list->artifacts != NULL) {
        wipe_source(list->artifacts);
    }
}


/* --- places --- */

static void
add_key(sym_text_t *t, const sym_request_source_t *s, sym_str_t key)
{
    sym_text_add(t, s->prefix);
    if (s->prefix.len > 0) {
        sym_text_byte(t, '/');
    }
    sym_text_add(t, key);
}


/* "s3://BUCKET/KEY" */
static sym_str_t
show_object(sym_arena_t *arena, sym_str_t scheme, const sym_request_source_t *s,
            sym_str_t key)
{
    sym_text_t t = { .arena = arena };

    sym_text_add(&t, scheme);
    sym_text_add(&t, s->bucket);
    sym_text_byte(&t, '/');
    add_key(&t, s, key);
    return sym_text_end(&t);
}


static sym_status_t
place_at_google(sym_arena_t *arena, const sym_request_source_t *s,
                const sym_url_t *storage, sym_str_t key,
                sym_request_source_place_t *place, sym_error_t *err)
{
    sym_text_t t = { .arena = arena }, whole = { .arena = arena };
    sym_str_t encoded;
    sym_status_t rc;

    add_key(&whole, s, key);
    rc = whole.failed ? SYM_NOMEM
                      : sym_uri_encode(arena, sym_text_end(&whole), false,
                                       &encoded, err);
    if (rc != SYM_OK) {
        return rc;
    }

    sym_text_add(&t, storage->path);
    sym_text_add(&t, SYM_STR("storage/v1/b/"));
    sym_text_add(&t, s->bucket);
    sym_text_add(&t, SYM_STR("/o/"));
    sym_text_add(&t, encoded);

    place->url = *storage;
    place->url.path = sym_text_end(&t);
    place->url.query = SYM_STR("alt=media");
    place->shown = show_object(arena, SYM_STR("gs://"), s, key);
    return SYM_OK;
}


sym_status_t
sym_request_source_place(sym_arena_t *arena, const sym_request_source_t *s,
                         const sym_url_t *storage, sym_str_t encoded,
                         sym_str_t key, sym_request_source_place_t *place,
                         sym_error_t *err)
{
    sym_text_t t = { .arena = arena };
    sym_status_t rc = SYM_OK;

    *place = (sym_request_source_place_t){ 0 };

    switch (s->type) {

    case SYM_REQUEST_SOURCE_FILESYSTEM:
        sym_text_add(&t, s->path);
        if (s->path.len == 0 || s->path.data[s->path.len - 1] != '/') {
            sym_text_byte(&t, '/');
        }
        sym_text_add(&t, key);
        place->file = sym_text_end(&t);
        t = (sym_text_t){ .arena = arena };
        sym_text_add(&t, SYM_STR("file://"));
        sym_text_add(&t, place->file);
        place->shown = sym_text_end(&t);
        break;

    case SYM_REQUEST_SOURCE_GCS:
        rc = place_at_google(arena, s, storage, key, place, err);
        break;

    default:
        sym_text_add(&t, s->url.path);
        sym_text_add(&t, encoded);
        place->url = s->url;
        place->url.path = sym_text_end(&t);
        place->shown = s->type == SYM_REQUEST_SOURCE_S3
                           ? show_object(arena, SYM_STR("s3://"), s, key)
                           : sym_url_shown(arena, &place->url);
        break;
    }

    return rc == SYM_OK && place->shown.data == NULL
               ? sym_fail(err, SYM_NOMEM, NULL)
               : rc;
}
