/*
 * Sources of a request: which are accepted or refused and with which message,
 * which hosts are addresses in whatever spelling, and which requests share
 * records.
 */
#include <stdlib.h>

#include "json/load.h"
#include "sources/guard/address.h"
#include "sources/request/sources.h"
#include "tap.h"

#define HTTP(more) "[{\"id\":\"a\",\"type\":\"http\",\"url\":" more "}]"

typedef struct {
    sym_arena_t arena;
    sym_request_sources_t request_sources;
    sym_str_t message;
    sym_status_t rc;
} read_t;

static const char *policy = "";

static read_t
read_list(const char *text, const char *scope)
{
    sym_request_source_realm_t realm = { sym_cstr(scope), sym_cstr(policy) };
    read_t r = { .message = { "", 0 } };
    sym_json_t json;
    sym_error_t err = { 0 };

    sym_arena_init(&r.arena, 0);
    if (sym_json_load(&json, sym_cstr(text), SYM_JSON_MEMORY_MAX,
                      JSON_ALLOW_NUL, "no JSON", &err)
        != SYM_OK)
    {
        ok(false, "the test's own JSON: %s", text);
        exit(1);
    }
    r.rc = sym_request_sources_read(&r.arena, json.root, &realm,
                                    &r.request_sources, &r.message);
    sym_json_drop(&json);
    return r;
}


static void
is_refused(const char *text, const char *message)
{
    read_t r = read_list(text, "");

    ok(r.rc == SYM_MALFORMED || r.rc == SYM_LIMIT, "refused: %.70s", text);
    is_str(r.message, message, "... because");
    sym_arena_drop(&r.arena);
}


/* --- hosts --- */

static void
is_address(const char *host, const char *want, bool reserved)
{
    sym_address_t a;
    char text[SYM_ADDRESS_TEXT_MAX];

    if (!ok(sym_address_read(sym_cstr(host), &a) == SYM_OK, "%s is an address",
            host))
    {
        return;
    }
    is_str(sym_str(text, sym_address_write(&a, text)), want, "... that one");
    ok(sym_address_is_reserved(&a) == reserved, "... %s",
       reserved ? "reserved" : "of the Internet");
}


static void
test_addresses(void)
{
    static const char *const none[] = {
        "256.0.0.1",  "1.2.3.4.5",   "1.2.3.999", "0x100000000",
        "4294967296", "1..2",        "a.b.09",    "[::1",
        "[1.2.3.4]",  "[fe80::1%1]", "1.2.3.08",  "[]"
    };
    static const char *const names[] = { "example.com", "a1",        "1a",
                                         "x.1a",        "localhost", "0xy.com",
                                         "dead" };
    sym_address_t a;

    is_address("127.0.0.1", "127.0.0.1", true);
    is_address("127.0.0.1.", "127.0.0.1", true);
    is_address("127.1", "127.0.0.1", true);
    is_address("2130706433", "127.0.0.1", true);
    is_address("0177.0.0.01", "127.0.0.1", true);
    is_address("0x7f000001", "127.0.0.1", true);
    is_address("0X7F.0.0x1", "127.0.0.1", true);
    is_address("017700000001", "127.0.0.1", true);
    is_address("0", "0.0.0.0", true);
    is_address("0x", "0.0.0.0", true);
    is_address("169.254.169.254", "169.254.169.254", true);
    is_address("10.1.2.3", "10.1.2.3", true);
    is_address("172.16.0.1", "172.16.0.1", true);
    is_address("172.31.255.255", "172.31.255.255", true);
    is_address("172.32.0.1", "172.32.0.1", false);
    is_address("192.168.1.1", "192.168.1.1", true);
    is_address("100.64.0.1", "100.64.0.1", true);
    is_address("100.127.255.255", "100.127.255.255", true);
    is_address("100.128.0.1", "100.128.0.1", false);
    is_address("198.19.255.1", "198.19.255.1", true);
    is_address("203.0.113.9", "203.0.113.9", true);
    is_address("224.0.0.1", "224.0.0.1", true);
    is_address("255.255.255.255", "255.255.255.255", true);
    is_address("8.8.8.8", "8.8.8.8", false);
    is_address("[::1]", "[::1]", true);
    is_address("[::]", "[::]", true);
    is_address("[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]", true);
    is_address("[::ffff:8.8.8.8]", "[::ffff:8.8.8.8]", false);
    is_address("[::7f00:1]", "[::127.0.0.1]", true);
    is_address("[64:ff9b::7f00:1]", "[64:ff9b::7f00:1]", true);
    is_address("[64:ff9b::a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", true);
    is_address("[64:ff9b::808:808]", "[64:ff9b::808:808]", false);
    is_address("[64:ff9b:1::808:808]", "[64:ff9b:1::808:808]", true);
    is_address("[2002:7f00:1::]", "[2002:7f00:1::]", true);
    is_address("[2001::1]", "[2001::1]", true);
    is_address("[2001:db8::1]", "[2001:db8::1]", true);
    is_address("[2606:4700::1111]", "[2606:4700::1111]", false);
    is_address("[fe80::1]", "[fe80::1]", true);
    is_address("[fc00::1]", "[fc00::1]", true);
    is_address("[fd00:ec2::254]", "[fd00:ec2::254]", true);
    is_address("[ff02::1]", "[ff02::1]", true);

    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        ok(sym_address_read(sym_cstr(none[i]), &a) == SYM_MALFORMED,
           "%s is neither a host name nor an address", none[i]);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ok(sym_address_read(sym_cstr(names[i]), &a) == SYM_NOT_FOUND,
           "%s is a name", names[i]);
    }
}


/* --- URLs --- */

static void
is_url(const char *text, const char *shown, const char *userinfo,
       const char *query)
{
    sym_arena_t arena;
    sym_url_t url;
    sym_error_t err = { 0 };

    sym_arena_init(&arena, 0);
    if (ok(sym_url_read(&arena, sym_cstr(text), &url, &err) == SYM_OK, "%s",
           text)) {
        is_str(sym_url_shown(&arena, &url), shown, "... shown without secrets");
        is_str(url.userinfo, userinfo, "... its userinfo");
        is_str(url.query, query, "... its query");
    }
    sym_arena_drop(&arena);
}


static void
leads(const char *base, const char *reference, const char *shown)
{
    sym_arena_t arena;
    sym_url_t url, to;
    sym_error_t err = { 0 };
    sym_status_t rc;

    sym_arena_init(&arena, 0);
    (void) sym_url_read(&arena, sym_cstr(base), &url, &err);
    rc = sym_url_resolve(&arena, &url, sym_cstr(reference), &to, &err);

    if (shown == NULL) {
        ok(rc != SYM_OK, "%s leads nowhere from %s", reference, base);
    } else if (ok(rc == SYM_OK, "%s from %s", reference, base)) {
        is_str(sym_url_shown(&arena, &to), shown, "... leads there");
        ok(to.userinfo.len == 0, "... without userinfo");
    }
    sym_arena_drop(&arena);
}


static void
test_urls(void)
{
    static const char *const bad[] = {
        "ftp://a/",         "http:/a",        "http://",       "http://a:0/",
        "http://a:99999/",  "http://a b/",    "http://a%2eb/", "http://a\\@b/",
        "http://\xc3\xa4/", "http://a:1:2/",  "//a/",          "http://a@/",
        "unix:/x",          "http://[::1]x/", "file:///etc",   "http://:80/",
    };
    sym_arena_t arena;
    sym_url_t url;

    is_url("http://Example.COM", "http://example.com/", "", "");
    is_url("HTTPS://example.com:443/a/../b", "https://example.com/b", "", "");
    is_url("http://e.com:8080/a?sig=1#f", "http://e.com:8080/a", "", "sig=1");
    is_url("http://u:p%40@e.com/", "http://e.com/", "u:p@", "");
    is_url("http://good@evil@e.com/", "http://e.com/", "good@evil", "");
    is_url("http://e.com?x", "http://e.com/", "", "x");
    is_url("http://e.com/a b\"%zz%41", "http://e.com/a%20b%22%25zz%41", "", "");
    is_url("http://e.com/../../a/%2e%2E/b/.", "http://e.com/b/", "", "");
    is_url("http://e.com/a\r\nX: y", "http://e.com/a%0D%0AX:%20y", "", "");
    is_url("http://[::1]:81/", "http://[::1]:81/", "", "");

    sym_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        sym_error_t err = { 0 };

        ok(sym_url_read(&arena, sym_cstr(bad[i]), &url, &err) != SYM_OK
               && err.what != NULL,
           "no URL: %s", bad[i]);
    }
    sym_arena_drop(&arena);

    leads("http://u:p@a/b/c?d", "e", "http://a/b/e");
    leads("http://a/b/c", "/e", "http://a/e");
    leads("https://a/b/c", "//e.com/f", "https://e.com/f");
    leads("http://a/b/c", "https://e.com", "https://e.com/");
    leads("http://a/b/c", "?x", "http://a/b/c");
    leads("http://a/b/c", "../../x", "http://a/x");
    leads("http://a/b/c", "file:///etc/passwd", NULL);
    leads("http://a/b/c", "gopher://x/", NULL);
    leads("http://a/b/c", "http://", NULL);
}


/* --- sources --- */

static const sym_request_source_t *
one(read_t *r, const char *text)
{
    *r = read_list(text, "");
    if (!ok(r->rc == SYM_OK && r->request_sources.n == 1, "read: %.70s", text))
    {
        printf("# %.*s\n", (int) r->message.len, r->message.data);
        exit(1);
    }
    return &r->request_sources.sources[0];
}


static void
is_at(const char *source, const char *url, const char *query, const char *shown)
{
    read_t r;
    const sym_request_source_t *s = one(&r, source);
    sym_url_t storage;
    sym_request_source_place_t place;
    sym_error_t err = { 0 };

    (void) sym_url_read(&r.arena, SYM_STR("https://storage.googleapis.com/"),
                        &storage, &err);
    ok(sym_request_source_place(&r.arena, s, &storage, SYM_STR("ab/c%2B"),
                                SYM_STR("ab/c+"), &place, &err)
           == SYM_OK,
       "... has a place for a file");
    is_str(place.shown, shown, "... shown as");
    if (s->type == SYM_REQUEST_SOURCE_FILESYSTEM) {
        is_str(place.file, url, "... the file");
    } else {
        is_str(sym_url_shown(&r.arena, &place.url), url, "... asked at");
        is_str(place.url.query, query, "... with the query");
    }
    sym_arena_drop(&r.arena);
}


static void
test_types(void)
{
    is_at(HTTP("\"https://e.com/sym?sas=1\""), "https://e.com/sym/ab/c%2B",
          "sas=1", "https://e.com/sym/ab/c%2B");
    is_at("[{\"id\":\"f\",\"type\":\"filesystem\",\"path\":\"/srv/x\"}]",
          "/srv/x/ab/c+", "", "file:///srv/x/ab/c+");
    is_at("[{\"id\":\"s\",\"type\":\"s3\",\"bucket\":\"b-1\",\"region\":"
          "\"eu-west-1\",\"access_key\":\"A\",\"secret_key\":\"B\"}]",
          "https://b-1.s3.eu-west-1.amazonaws.com/ab/c%2B", "",
          "s3://b-1/ab/c+");
    is_at("[{\"id\":\"s\",\"type\":\"s3\",\"bucket\":\"b.c\",\"prefix\":"
          "\"/v 1/\",\"region\":\"cn-north-1\"}]",
          "https://s3.cn-north-1.amazonaws.com.cn/b.c/v%201/ab/c%2B", "",
          "s3://b.c/v 1/ab/c+");
    is_at("[{\"id\":\"s\",\"type\":\"s3\",\"bucket\":\"b\",\"region\":"
          "[\"us-east-1\",\"http://minio:9000\"]}]",
          "http://minio:9000/b/ab/c%2B", "", "s3://b/ab/c+");
    is_at("[{\"id\":\"g\",\"type\":\"gcs\",\"bucket\":\"b\",\"prefix\":\"p\","
          "\"bearer_token\":\"t\"}]",
          "https://storage.googleapis.com/storage/v1/b/b/o/p%2Fab%2Fc%2B",
          "alt=media", "gs://b/p/ab/c+");
}


static void
test_keys(void)
{
    read_t r;
    const sym_request_source_t *s;

    s = one(&r, "[{\"id\":\"a\",\"type\":\"http\",\"url\":\"http://e.com\","
                "\"headers\":{\"X-Token\":\"t\"},\"accept_invalid_certs\":true,"
                "\"layout\":{\"type\":\"symstore\",\"casing\":\"lowercase\"},"
                "\"filters\":{\"filetypes\":[\"pdb\",\"uuidmap\"],"
                "\"path_patterns\":[\"c:\\\\*\"],\"requires_checksum\":true},"
                "\"is_public\":true,\"has_index\":true,\"unknown\":1}]");
    ok(s->takes_any_certificate && s->is_public && s->has_index
           && s->requires_checksum,
       "flags");
    ok(s->rules.layout == SYM_LAYOUT_SYMSTORE
           && s->rules.casing == SYM_SOURCE_CASING_LOWER,
       "layout");
    ok(s->rules.files
           == ((1U << SYM_SOURCE_PDB) | (1U << SYM_SOURCE_PDB_PACKED)),
       "file types");
    ok(s->n_patterns == 1 && s->n_headers == 1, "patterns and headers");
    is_str(s->patterns[0], "c:\\*", "a pattern");
    is_str(s->headers[0].name, "X-Token", "a header");
    sym_arena_drop(&r.arena);

    s = one(&r, HTTP("\"http://e.com\",\"filters\":{\"filetypes\":[]}"));
    ok(s->rules.files == sym_layout_files(SYM_LAYOUT_NATIVE)
           && s->rules.layout == SYM_LAYOUT_NATIVE,
       "no file types: all of them; default layout native");
    sym_arena_drop(&r.arena);

    s = one(
        &r,
        HTTP("\"http://e.com\",\"filters\":{\"filetypes\":[\"proguard\"]}"));
    ok(s->rules.files == 1u << SYM_SOURCE_PROGUARD,
       "only mappings are requested");
    sym_arena_drop(&r.arena);

    s = one(&r, "[{\"id\":\"i\",\"type\":\"sentry\",\"url\":"
                "\"http://s/api?x=1\",\"token\":\"t\"}]");
    is_str(s->url.path, "/api", "the URL of a sentry source is not a folder");
    is_str(s->url.query, "x=1", "... and keeps its query");
    sym_arena_drop(&r.arena);
}


static void
test_refusals(void)
{
    static char long_id[SYM_REQUEST_SOURCE_ID_MAX + 64],
        many[SYM_REQUEST_SOURCES_MAX * 4 + 16];
    size_t n = 0;

    is_refused("{}", "sources: invalid type: map, expected a sequence");
    is_refused("[1]", "sources[0]: invalid type: integer, expected a source");
    is_refused("[{}]", "sources[0]: missing field `type`");
    is_refused("[{\"type\":\"ftp\"}]",
               "sources[0].type: unknown variant, expected one of `sentry`, "
               "`http`, `s3`, `gcs`, `filesystem`");
    is_refused("[{\"type\":\"http\"}]", "sources[0]: missing field `id`");
    is_refused("[{\"type\":\"http\",\"id\":\"x\"}]",
               "sources[0]: missing field `url`");
    is_refused(HTTP("1"),
               "sources[0].url: invalid type: integer, expected a URL string");
    is_refused(HTTP("\"gopher://x\""),
               "sources[0].url: invalid value: unusable URL: the URL does "
               "not begin with http:// or https://");
    is_refused(
        HTTP("\"http://x\",\"is_public\":\"yes\""),
        "sources[0].is_public: invalid type: string, expected a boolean");
    is_refused(HTTP("\"http://x\",\"headers\":{\"Host\":\"y\"}"),
               "sources[0].headers: a source cannot set `Host`");
    is_refused(HTTP("\"http://x\",\"headers\":{\"transfer-encoding\":\"y\"}"),
               "sources[0].headers: a source cannot set `transfer-encoding`");
    is_refused(HTTP("\"http://x\",\"headers\":{\"a b\":\"y\"}"),
               "sources[0].headers: not the name of a header");
    is_refused(HTTP("\"http://x\",\"headers\":{\"a\":\"s\\r\\nHost: y\"}"),
               "sources[0].headers: control characters in the value of `a`");
    is_refused(HTTP("\"http://x\",\"headers\":{\"a\":\"s\\u0000\"}"),
               "sources[0].headers: control characters in the value of `a`");
    is_refused(HTTP("\"http://x\",\"layout\":{\"type\":\"flat\"}"),
               "sources[0].layout.type: unknown variant, expected one of "
               "`native`, `symstore`, `symstore_index2`, `ssqp`, `unified`, "
               "`debuginfod`, `slashsymbols`");
    is_refused("[{\"id\":\"s\",\"type\":\"s3\",\"bucket\":\"b/c\",\"region\":"
               "\"x\"}]",
               "sources[0].bucket: not the name of a bucket");
    is_refused("[{\"id\":\"s\",\"type\":\"s3\",\"bucket\":\"b\",\"region\":"
               "\"evil.com/\"}]",
               "sources[0].region: not the name of a region");
    is_refused("[{\"id\":\"s\",\"type\":\"gcs\",\"bucket\":\"b\"}]",
               "sources[0]: needs `bearer_token`, or `private_key` and "
               "`client_email`");
    is_refused("[{\"id\":\"s\",\"type\":\"sentry\",\"url\":\"http://x\"}]",
               "sources[0]: needs `token` or `cookies`");
    is_refused("[{\"id\":\"s\",\"type\":\"sentry\",\"url\":\"http://x\","
               "\"token\":\"a\\nb\"}]",
               "sources[0].token: control characters");

    (void) snprintf(long_id, sizeof(long_id),
                    "[{\"type\":\"http\",\"id\":\"%0*d\"}]",
                    SYM_REQUEST_SOURCE_ID_MAX + 1, 0);
    is_refused(long_id, "sources[0].id: longer than 256 bytes");

    many[n++] = '[';
    for (unsigned i = 0; i <= SYM_REQUEST_SOURCES_MAX; i++) {
        n += (size_t) sprintf(many + n, i == 0 ? "1" : ",1");
    }
    many[n] = ']';
    is_refused(many, "sources: more than 64 sources");
}


/* Which requests share records. */
static void
share(const char *a, const char *scope_a, const char *b, const char *scope_b,
      bool wanted, const char *why)
{
    read_t x = read_list(a, scope_a), y = read_list(b, scope_b);

    ok(x.rc == SYM_OK && y.rc == SYM_OK
           && sym_str_eq(x.request_sources.sources[0].scope,
                         y.request_sources.sources[0].scope)
                  == wanted,
       "%s %s", why, wanted ? "share" : "do not share");
    ok(x.request_sources.sources[0].scope.len <= SYM_SCOPE_MAX
           && sym_str_starts(x.request_sources.sources[0].scope,
                             SYM_STR(SYM_REQUEST_SOURCE_PREFIX)),
       "... under names that the store accepts");
    sym_arena_drop(&x.arena);
    sym_arena_drop(&y.arena);
}


#define AUTH(token)                                                            \
    "[{\"id\":\"i\",\"type\":\"sentry\",\"url\":\"http://x\",\"token\":"       \
    "\"" token "\"}]"

static void
test_policies(void)
{
    const char *text = HTTP("\"http://x\",\"is_public\":true");
    read_t x, y;

    policy = "http allow=10.0.0.0/8";
    x = read_list(text, "");
    policy = "http";
    y = read_list(text, "");
    policy = "";

    ok(x.rc == SYM_OK && y.rc == SYM_OK
           && !sym_str_eq(x.request_sources.sources[0].scope,
                          y.request_sources.sources[0].scope),
       "locations with other permissions do not share, even public sources");
    sym_arena_drop(&x.arena);
    sym_arena_drop(&y.arena);
}


static void
test_scopes(void)
{
    share(HTTP("\"http://x/\""), "", HTTP("\"http://x\""), "", true,
          "equal sources");
    share("[{\"id\":\"b\",\"type\":\"http\",\"url\":\"http://x\"}]", "",
          HTTP("\"http://x\""), "", true, "sources with other ids");
    share(HTTP("\"http://x\""), "1", HTTP("\"http://x\""), "2", false,
          "private sources in two scopes");
    share(HTTP("\"http://x\",\"is_public\":true"), "1",
          HTTP("\"http://x\",\"is_public\":true"), "2", true,
          "public sources in two scopes");
    share(HTTP("\"http://x\",\"is_public\":true"), "", HTTP("\"http://x\""), "",
          false, "a public and a private one");
    share(AUTH("a"), "1", AUTH("b"), "1", false, "two tokens");
    share(AUTH("a"), "1", AUTH("a"), "1", true, "one token");
    share(HTTP("\"http://x\",\"headers\":{\"A\":\"1\"}"), "",
          HTTP("\"http://x\",\"headers\":{\"A\":\"2\"}"), "", false,
          "two values of a header");
    share(HTTP("\"http://x\",\"headers\":{\"A\":\"1\"},\"is_public\":true"), "",
          HTTP("\"http://x\",\"is_public\":true"), "", false,
          "a public source with a key and one without");
    share(HTTP("\"http://u:p@x\""), "", HTTP("\"http://x\""), "", false,
          "with and without a password in the URL");
    share(HTTP("\"http://x?sas=1\""), "", HTTP("\"http://x?sas=2\""), "", false,
          "two keys in the query");
    share(HTTP("\"https://x:1\""), "", HTTP("\"http://x:1\""), "", false,
          "two schemes");
}


static void
test_copies(void)
{
    read_t r;
    sym_arena_t arena;
    sym_request_sources_t copy;

    (void) one(&r, HTTP("\"http://u:p@x?q\",\"headers\":{\"A\":\"secret\"}"));
    sym_arena_init(&arena, 0);
    ok(sym_request_sources_copy(&arena, &r.request_sources, &copy)
           && copy.n == 1,
       "copied");
    sym_request_sources_wipe(&r.request_sources);
    ok(r.request_sources.sources[0].headers[0].value.data[0] == '\0', "wiped");
    is_str(copy.sources[0].headers[0].value, "secret",
           "the copy is independent");
    is_str(copy.sources[0].url.userinfo, "u:p", "... with its userinfo");
    sym_arena_drop(&arena);
    sym_arena_drop(&r.arena);
}


int
main(void)
{
    test_addresses();
    test_urls();
    test_types();
    test_keys();
    test_refusals();
    test_scopes();
    test_policies();
    test_copies();
    return done_testing();
}
