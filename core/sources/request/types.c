#include "sources/request/reading.h"

#include "base/text.h"
#include "base/uri.h"

static const char *const unread_files[] = { "uuidmap", "bcsymbolmap",
                                            "il2cpp" };


/* --- keys of several types --- */

static bool
read_layout(source_reader_t *r, sym_request_source_t *s)
{
    const json_t *layout, *type, *casing;
    sym_str_t word;

    s->rules.layout = SYM_LAYOUT_NATIVE;

    if (!source_read_object(r, "layout", &layout)) {
        return false;
    }

    type = json_object_get(layout, "type");
    casing = json_object_get(layout, "casing");

    if (type != NULL) {
        word = sym_str(json_string_value(type), json_string_length(type));
        if (!json_is_string(type) || !sym_layout_find(word, &s->rules.layout)
            || s->rules.layout == SYM_LAYOUT_SITE)
        {
            return source_refuse(
                r, SYM_MALFORMED, "layout.type",
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
        return source_refuse(r, SYM_MALFORMED, "layout.casing",
                             "unknown variant, expected one of `lowercase`, "
                             "`uppercase`, `default`");
    }

    return true;
}


static bool
read_filetypes(source_reader_t *r, const json_t *list, sym_request_source_t *s)
{
    const json_t *value;
    size_t i;

    if (list == NULL) {
        return true;
    }

    if (!json_is_array(list)) {
        return source_wrong_type(r, "filters.filetypes", list, "a sequence");
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
            return source_refuse(
                r, SYM_MALFORMED, "filters.filetypes",
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
read_patterns(source_reader_t *r, const json_t *list, sym_request_source_t *s)
{
    const json_t *value;
    sym_str_t *patterns;
    size_t i, n;

    if (list == NULL) {
        return true;
    }

    if (!json_is_array(list)) {
        return source_wrong_type(r, "filters.path_patterns", list,
                                 "a sequence");
    }

    n = json_array_size(list);
    if (n > SYM_REQUEST_SOURCE_PATTERNS_MAX) {
        return source_refuse(r, SYM_LIMIT, "filters.path_patterns",
                             "more than %d patterns",
                             SYM_REQUEST_SOURCE_PATTERNS_MAX);
    }

    patterns = sym_arena_calloc(r->arena, n + 1, sizeof(*patterns));
    if (patterns == NULL) {
        return source_no_memory(r);
    }

    json_array_foreach(list, i, value)
    {
        if (!json_is_string(value)) {
            return source_wrong_type(r, "filters.path_patterns", value,
                                     "a string");
        }
        if (!source_copy_text(r, "filters.path_patterns", value,
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
read_common(source_reader_t *r, sym_request_source_t *s)
{
    const json_t *filters;

    s->rules.files = ~0U;

    if (!read_layout(r, s) || !source_read_object(r, "filters", &filters)
        || !read_filetypes(r, json_object_get(filters, "filetypes"), s)
        || !read_patterns(r, json_object_get(filters, "path_patterns"), s)
        || !source_read_bool(r, filters, "requires_checksum",
                             &s->requires_checksum)
        || !source_read_bool(r, r->object, "is_public", &s->is_public)
        || !source_read_bool(r, r->object, "has_index", &s->has_index))
    {
        return false;
    }

    s->rules.files &= sym_layout_files(s->rules.layout);
    s->rules.requires_checksum = s->requires_checksum;
    s->rules.patterns = s->patterns;
    s->rules.n_patterns = s->n_patterns;
    return true;
}


/* --- the types --- */

static bool
read_filesystem(source_reader_t *r, sym_request_source_t *s)
{
    return source_need_text(r, "path", SYM_REQUEST_SOURCE_PATH_MAX, &s->path)
           && (memchr(s->path.data, '\0', s->path.len) == NULL
               || source_refuse(r, SYM_MALFORMED, "path", "a NUL"))
           && read_common(r, s);
}


static bool
read_http(source_reader_t *r, sym_request_source_t *s)
{
    return source_need_url(r, &s->url)
           && source_make_folder(r, &s->url.path, SYM_STR(""))
           && source_read_headers(r, s)
           && source_read_bool(r, r->object, "accept_invalid_certs",
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
read_bucket(source_reader_t *r, sym_request_source_t *s)
{
    if (!source_need_text(r, "bucket", SYM_REQUEST_SOURCE_PATH_MAX, &s->bucket)
        || !source_read_text(r, "prefix", SYM_REQUEST_SOURCE_PATH_MAX,
                             &s->prefix))
    {
        return false;
    }

    s->prefix = source_without_slashes(s->prefix);

    /* the bucket becomes part of a path, and of a host name */

    if (!is_made_of(s->bucket, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-._", 222)
        || sym_str_eq(s->bucket, SYM_STR("."))
        || sym_str_eq(s->bucket, SYM_STR("..")))
    {
        return source_refuse(r, SYM_MALFORMED, "bucket",
                             "not the name of a bucket");
    }

    return true;
}


/* Buckets with DNS-compatible names use virtual-hosted URLs, because the
 * certificates cover these.  Other buckets, and all buckets of other endpoints,
 * are part of the path. */
static bool
make_s3_url(source_reader_t *r, const json_t *endpoint, sym_request_source_t *s)
{
    bool is_china = sym_str_starts(s->region, SYM_STR("cn-"));
    bool is_label = is_made_of(s->bucket, "-", 63);
    sym_error_t err = { 0 };
    sym_str_t prefix = SYM_STR("");
    char text[512];

    if (endpoint != NULL) {
        if (!source_read_url(r, "region", endpoint, &s->url)
            || !source_make_folder(r, &s->url.path, s->bucket))
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
            return source_no_memory(r);
        }
        if (!is_label && !source_make_folder(r, &s->url.path, s->bucket)) {
            return false;
        }
    }

    if (sym_uri_encode(r->arena, s->prefix, true, &prefix, &err) != SYM_OK) {
        return source_no_memory(r);
    }

    s->url.query = SYM_STR("");
    return source_make_folder(r, &s->url.path, prefix);
}


static bool
read_s3_region(source_reader_t *r, sym_request_source_t *s)
{
    const json_t *region = json_object_get(r->object, "region");
    const json_t *endpoint = NULL;

    if (region == NULL) {
        return source_refuse(r, SYM_MALFORMED, NULL, "missing field `region`");
    }

    if (json_is_array(region) && json_array_size(region) == 2) {
        endpoint = json_array_get(region, 1);
        region = json_array_get(region, 0);
    }

    if (!json_is_string(region)) {
        return source_wrong_type(r, "region", region,
                                 "a string, or a name and an endpoint");
    }

    if (!source_copy_text(r, "region", region, SYM_REQUEST_SOURCE_PATH_MAX,
                          &s->region))
    {
        return false;
    }

    if (!is_made_of(s->region, "-", 63)) {
        return source_refuse(r, SYM_MALFORMED, "region",
                             "not the name of a region");
    }

    return make_s3_url(r, endpoint, s);
}


static bool
read_s3(source_reader_t *r, sym_request_source_t *s)
{
    sym_str_t provider = SYM_STR("static");

    if (!read_bucket(r, s) || !read_s3_region(r, s)
        || !source_read_text(r, "aws_credentials_provider", 64, &provider))
    {
        return false;
    }

    if (sym_str_eq(provider, SYM_STR("container"))) {
        s->wants_role = true;
    } else if (!sym_str_eq(provider, SYM_STR("static"))) {
        return source_refuse(
            r, SYM_MALFORMED, "aws_credentials_provider",
            "unknown variant, expected `static` or `container`");
    }

    return source_read_secret(r, "access_key", &s->access_key)
           && source_read_secret(r, "secret_key", &s->secret_key)
           && source_read_secret(r, "session_token", &s->session_token)
           && read_common(r, s);
}


static bool
read_gcs(source_reader_t *r, sym_request_source_t *s)
{
    if (!read_bucket(r, s) || !source_read_secret(r, "bearer_token", &s->token)
        || !source_read_text(r, "private_key", SYM_REQUEST_SOURCE_SECRET_MAX,
                             &s->private_key)
        || !source_read_secret(r, "client_email", &s->client_email))
    {
        return false;
    }

    if (s->token.len == 0
        && (s->private_key.len == 0 || s->client_email.len == 0)) {
        return source_refuse(r, SYM_MALFORMED, NULL,
                             "needs `bearer_token`, or `private_key` and "
                             "`client_email`");
    }

    return read_common(r, s);
}


/* Each file of it is requested by its id. */
static bool
read_sentry(source_reader_t *r, sym_request_source_t *s)
{
    s->rules.layout = s->is_links ? SYM_LAYOUT_URL : SYM_LAYOUT_SENTRY;
    s->rules.files = ~0U;

    if (!source_need_url(r, &s->url)
        || !source_read_secret(r, "token", &s->token)
        || !source_read_secret(r, "cookies", &s->cookies))
    {
        return false;
    }

    return s->token.len > 0 || s->cookies.len > 0
           || source_refuse(r, SYM_MALFORMED, NULL,
                            "needs `token` or `cookies`");
}


bool
source_read_type(source_reader_t *r, sym_request_source_t *s)
{
    static bool (*const readers[SYM_REQUEST_SOURCE_TYPES])(
        source_reader_t *, sym_request_source_t *) = {
        [SYM_REQUEST_SOURCE_FILESYSTEM] = read_filesystem,
        [SYM_REQUEST_SOURCE_HTTP] = read_http,
        [SYM_REQUEST_SOURCE_S3] = read_s3,
        [SYM_REQUEST_SOURCE_GCS] = read_gcs,
        [SYM_REQUEST_SOURCE_SENTRY] = read_sentry,
    };

    return readers[s->type](r, s);
}
