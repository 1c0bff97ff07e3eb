/*
 * What the store knows about a module is shown completely, as valid JSON
 * whatever its record contains, and within the announced length.
 */
#include <stdlib.h>

#include "protocol/outcomes.h"
#include "explain/explain.h"
#include "artifacts/symcache/format.h"
#include "tap.h"

#define ID "0123456789ABCDEF0123456789ABCDEF0"

static char text[2 * SYM_EXPLAIN_MAX]; /* of one source */

static const sym_module_key_t key = { .scope = { "", 0 },
                                      .name = { "a\"b.so", 6 },
                                      .id = { ID, 33 } };

static sym_explained_attempt_t attempts[64];
static unsigned n_attempts;
static bool is_cut;

static void
write(const sym_module_key_t *of, const sym_object_record_t *record,
      uint32_t now_s, sym_out_t *out)
{
    const sym_explained_t told = { .key = *of,
                                   .record = *record,
                                   .source = record->path,
                                   .attempts = attempts,
                                   .n_attempts = n_attempts,
                                   .is_cut = is_cut };

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
                              .reason = SYM_STR("a \"file\"") };
    char want[800];

    attempts[0] = (sym_explained_attempt_t){ SYM_STR("404"),
                                             SYM_STR("http://t/a"), 7, 12 };
    attempts[1] = (sym_explained_attempt_t){ SYM_STR("200"),
                                             SYM_STR("http://s/a"), 4000, 5 };
    n_attempts = 2;

    snprintf(
        want, sizeof(want),
        "{\"name\": \"a\\\"b.so\", \"id\": \"" ID
        "\", \"state\": \"ready\", \"source\": \"local\", \"quality\": \"%s\", "
        "\"incomplete\": \"a \\\"file\\\"\", \"bytes\": 100, "
        "\"stored_bytes\": 8192, \"format\": 3, \"file_bytes\": 4000, "
        "\"file\": \"http://s/a\", \"stored_at\": \"2012-05-17T15:09:54Z\", "
        "\"used_at\": \"2012-05-17T15:09:55Z\", \"attempts\": ["
        "{\"source\": \"local\", \"outcome\": \"404\", \"bytes\": 7, \"ms\": "
        "12, \"url\": \"http://t/a\"}, {\"source\": \"local\", \"outcome\": "
        "\"200\", \"bytes\": 4000, \"ms\": 5, \"url\": \"http://s/a\"}], "
        "\"sources\": [{\"name\": \"local\", \"state\": \"ready\", "
        "\"quality\": \"%s\"}]}",
        sym_quality_name(SYM_QUALITY_LINES),
        sym_quality_name(SYM_QUALITY_LINES));
    is_str(explain(&r, 0), want, "ready");

    is_cut = true;
    ok(strstr(explain(&r, 0).data, "http://s/a\"}], \"truncated\": true")
           != NULL,
       "there was not room for all attempts");
    is_cut = false;
    n_attempts = 0;

    r = (sym_object_record_t){ .state = SYM_MODULE_FAILED,
                               .stored_at = 1337267394,
                               .expires_at = 1337267404,
                               .reason = SYM_STR("no \"way\"") };
    is_str(explain(&r, 1337267403),
           "{\"name\": \"a\\\"b.so\", \"id\": \"" ID
           "\", \"state\": \"failed\", \"source\": \"local\", "
           "\"reason\": \"no \\\"way\\\"\", "
           "\"expires_at\": \"2012-05-17T15:10:04Z\", \"is_expired\": false, "
           "\"stored_at\": \"2012-05-17T15:09:54Z\", \"used_at\": null, "
           "\"attempts\": [], \"sources\": [{\"name\": \"local\", "
           "\"state\": \"failed\", \"reason\": \"no \\\"way\\\"\", "
           "\"expires_at\": \"2012-05-17T15:10:04Z\", \"is_expired\": false}]}",
           "failed");
    ok(strstr(explain(&r, 1337267404).data, "\"is_expired\": true") != NULL,
       "it counts until it expires");

    r.state = SYM_MODULE_ABSENT;
    r.expires_at = 0;
    ok(strstr(explain(&r, 4000000000).data,
              "\"absent\", \"source\": \"local\", \"reason\": "
              "\"no \\\"way\\\"\", \"expires_at\": null, "
              "\"is_expired\": false")
           != NULL,
       "absent for ever");

    r.state = SYM_MODULE_MALFORMED;
    r.stored_at = -5;
    ok(strstr(explain(&r, 1).data, "\"stored_at\": null") != NULL,
       "malformed, with an impossible time");
}


/* The longest texts that a record may contain, of the bytes that take most room
 * when escaped, and attempts with the most members. */
static void
test_longest(void)
{
    char name[SYM_NAME_MAX], id[SYM_ID_MAX], odd[1024];
    const sym_module_key_t longest = { .name = { name, sizeof(name) },
                                       .id = { id, sizeof(id) } };
    const sym_object_record_t ready = { .state = SYM_MODULE_READY,
                                        .bytes = UINT64_MAX,
                                        .pages = UINT64_MAX / 4096,
                                        .source_bytes = UINT64_MAX,
                                        .kind_version = UINT32_MAX,
                                        .stored_at = INT64_MAX,
                                        .path = { odd, sizeof(odd) } };
    sym_out_t out = sym_out_fixed(text, sizeof(text));

    memset(name, 1, sizeof(name));
    memset(id, 'F', sizeof(id));
    memset(odd, 1, sizeof(odd));
    n_attempts = sizeof(attempts) / sizeof(attempts[0]);
    for (unsigned i = 0; i < n_attempts; i++) {
        attempts[i] = (sym_explained_attempt_t){
            { odd, SYM_PATH_WORD_MAX },
            { odd, SYM_EXPLAIN_URLS / n_attempts },
            UINT64_MAX,
            UINT64_MAX,
        };
    }

    write(&longest, &ready, 0, &out);
    ok(!out.failed, "the longest texts have room");
    ok(out.pos > text + 6 * (sizeof(name) + sizeof(odd) + SYM_EXPLAIN_URLS),
       "... and are there");
    n_attempts = 0;
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
    test_longest();
    test_no_room();
    return done_testing();
}
