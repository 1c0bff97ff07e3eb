/*
 * What the store knows about a module is shown completely, as valid JSON
 * whatever its record contains, and within the announced length.
 */
#include <stdlib.h>

#include "protocol/attempts.h"
#include "explain/explain.h"
#include "artifacts/symcache/format.h"
#include "tap.h"

#define ID "0123456789ABCDEF0123456789ABCDEF0"

static char text[2 * SYM_EXPLAIN_MAX]; /* of one source */

static const sym_module_key_t key = { .scope = { "", 0 },
                                      .name = { "a\"b.so", 6 },
                                      .id = { ID, 33 } };

static void
write(const sym_module_key_t *of, const sym_object_record_t *record,
      uint32_t now_s, sym_out_t *out)
{
    const sym_explained_t told = { .key = *of,
                                   .record = *record,
                                   .source = record->path };

    sym_explain_write(of, &told, &told, 1, NULL, now_s, SYM_STR(""), out);
}


static sym_str_t
explain(const sym_object_record_t *record, uint32_t now_s)
{
    sym_out_t out = sym_out_fixed(text, sizeof(text));

    write(&key, record, now_s, &out);
    ok(!out.failed, "it has room");
    return sym_str(text, (size_t) (out.pos - text));
}


static void
test_states(void)
{
    sym_object_record_t r = { .state = SYM_MODULE_READY,
                              .quality = SYM_QUALITY_LINES,
                              .kind_version = 3,
                              .bytes = 100,
                              .pages = 2,
                              .source_bytes = 4000,
                              .stored_at = 1337267394,
                              .used_at = 1337267395,
                              .path = SYM_STR("http://s/a"),
                              .reason = SYM_STR("a \"file\""),
                              .attempts =
                                  SYM_STR("s3 404 7 12 http://t/a\n"
                                          "b 200 4000 5 http://s/a\n") };
    char want[800];

    snprintf(
        want, sizeof(want),
        "{\"name\": \"a\\\"b.so\", \"id\": \"" ID
        "\", \"state\": \"ready\", \"from\": \"local\", \"quality\": \"%s\", "
        "\"incomplete\": \"a \\\"file\\\"\", \"size\": 100, "
        "\"stored_size\": 8192, \"format\": 3, \"source_size\": 4000, "
        "\"source\": \"http://s/a\", \"when\": \"2012-05-17T15:09:54Z\", "
        "\"last_use\": \"2012-05-17T15:09:55Z\", \"attempts\": ["
        "{\"source\": \"s3\", \"outcome\": \"404\", \"bytes\": 7, \"ms\": "
        "12, \"url\": \"http://t/a\"}, {\"source\": \"b\", \"outcome\": "
        "\"200\", \"bytes\": 4000, \"ms\": 5, \"url\": \"http://s/a\"}], "
        "\"sources\": [{\"name\": \"local\", \"state\": \"ready\", "
        "\"quality\": \"%s\"}]}",
        sym_quality_name(SYM_QUALITY_LINES),
        sym_quality_name(SYM_QUALITY_LINES));
    is_str(explain(&r, 0), want, "ready");

    r = (sym_object_record_t){ .state = SYM_MODULE_FAILED,
                               .stored_at = 1337267394,
                               .expires_at = 1337267404,
                               .reason = SYM_STR("no \"way\"") };
    is_str(explain(&r, 1337267403),
           "{\"name\": \"a\\\"b.so\", \"id\": \"" ID
           "\", \"state\": \"failed\", \"from\": \"local\", "
           "\"reason\": \"no \\\"way\\\"\", "
           "\"expires\": \"2012-05-17T15:10:04Z\", \"is_expired\": false, "
           "\"when\": \"2012-05-17T15:09:54Z\", \"last_use\": null, "
           "\"attempts\": [], \"sources\": [{\"name\": \"local\", "
           "\"state\": \"failed\", \"reason\": \"no \\\"way\\\"\", "
           "\"expires\": \"2012-05-17T15:10:04Z\", \"is_expired\": false}]}",
           "failed");
    ok(strstr(explain(&r, 1337267404).data, "\"is_expired\": true") != NULL,
       "it counts until it expires");

    r.state = SYM_MODULE_ABSENT;
    r.expires_at = 0;
    ok(strstr(explain(&r, 4000000000).data,
              "\"absent\", \"from\": \"local\", \"reason\": "
              "\"no \\\"way\\\"\", \"expires\": null, "
              "\"is_expired\": false")
           != NULL,
       "absent for ever");

    r.state = SYM_MODULE_MALFORMED;
    r.stored_at = -5;
    ok(strstr(explain(&r, 1).data, "\"when\": null") != NULL,
       "malformed, with an impossible time");
}


static void
test_attempts(void)
{
    sym_str_t in = SYM_STR("\n"
                           "a 404 1 2\n"
                           "a 404 x 2 u\n"
                           "a 404 1 -2 u\n"
                           "a timeout 18446744073709551615 0 u v\n"
                           "a 404 18446744073709551616 0 u\n"
                           "b 200 1 2 cut off");
    sym_object_record_t r = { .state = SYM_MODULE_ABSENT };
    sym_attempt_t a;

    ok(sym_attempts_next(&in, &a), "one of them is an attempt");
    is_str(a.source, "a", "source");
    is_str(a.outcome, "timeout", "outcome");
    is_u64(a.bytes, UINT64_MAX, "bytes");
    is_u64(a.ms, 0, "ms");
    is_str(a.url, "u v", "url: everything after it");
    ok(!sym_attempts_next(&in, &a),
       "other lines are not, nor one without an end");

    in = SYM_STR("a 404 1 2 u\n...\n");
    r.attempts = in;
    ok(sym_attempts_is_cut(in), "there was not room for all");
    ok(sym_attempts_line(&in, &a), "... an attempt");
    ok(!sym_attempts_line(&in, &a), "... and no other");
    ok(!sym_attempts_is_cut(SYM_STR("a 404 1 2 u...\n")), "that is a URL");
    ok(!sym_attempts_is_cut(SYM_STR("..\n")), "that is nothing");
    ok(strstr(explain(&r, 0).data, "\"u\"}], \"truncated\": true") != NULL,
       "it is explained");
    r.attempts = SYM_STR("a 404 1 2 u\n");
    ok(strstr(explain(&r, 0).data, "truncated") == NULL, "... only then");
}


/* The longest texts that a record may contain, of the bytes that take most room
 * when escaped, and attempts with the most members. */
static void
test_longest(void)
{
    static const char least[8] = { ' ', 1, ' ', '1', ' ', '1', ' ', '\n' };
    static const char start[8] = { 'a', ' ', 'b', ' ', '1', ' ', '1', ' ' };
    char name[SYM_NAME_MAX], id[SYM_ID_MAX], odd[1024], attempts[2048];
    const sym_module_key_t longest = { .name = { name, sizeof(name) },
                                       .id = { id, sizeof(id) } };
    const sym_object_record_t ready = { .state = SYM_MODULE_READY,
                                        .bytes = UINT64_MAX,
                                        .pages = UINT64_MAX / 4096,
                                        .source_bytes = UINT64_MAX,
                                        .kind_version = UINT32_MAX,
                                        .stored_at = INT64_MAX,
                                        .path = { odd, sizeof(odd) },
                                        .attempts = { attempts,
                                                      sizeof(attempts) } };
    sym_out_t out = sym_out_fixed(text, sizeof(text));

    memset(name, 1, sizeof(name));
    memset(id, 'F', sizeof(id));
    memset(odd, 1, sizeof(odd));

    for (size_t i = 0; i < sizeof(attempts); i += 8) {
        memcpy(attempts + i, least, sizeof(least));
    }
    write(&longest, &ready, 0, &out);
    ok(!out.failed, "the most attempts have room");

    memset(attempts, 1, sizeof(attempts));
    memcpy(attempts, start, sizeof(start));
    attempts[sizeof(attempts) - 1] = '\n';
    out = sym_out_fixed(text, sizeof(text));
    write(&longest, &ready, 0, &out);
    ok(!out.failed, "the longest texts have room");
    ok(out.pos > text + 6 * (sizeof(name) + sizeof(odd) + sizeof(attempts) - 9),
       "... and are there");
}


/* A window that is too small is reported, and nothing is written past it. */
static void
test_no_room(void)
{
    const sym_object_record_t r = { .state = SYM_MODULE_ABSENT };
    size_t len = explain(&r, 0).len, told = 0;

    for (size_t size = 0; size < len; size++) {
        char *window = malloc(size + 1);
        sym_out_t out = sym_out_fixed(window, size);

        write(&key, &r, 0, &out);
        told += out.failed;
        free(window);
    }

    is_u64(told, len, "each smaller window is too small");
}


int
main(void)
{
    test_states();
    test_attempts();
    test_longest();
    test_no_room();
    return done_testing();
}
