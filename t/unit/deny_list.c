/*
 * Hosts that keep failing.  The numbers are those of Symbolicator's own tests
 * (deny_list.rs: two failures within five seconds block a host for a tenth of a
 * second); then windows, realms and full tables.
 */
#include "sources/guard/deny_list.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

static const sym_deny_rules_t rules = { 2, 5000, 100 };
static const sym_deny_cause_t cause = { SYM_STR("500"), 12 };

static sym_sha256_t
key_of(const char *realm, const char *host, uint16_t port, bool is_https)
{
    sym_url_t url = { .is_https = is_https, .port = port };
    sym_sha256_t of, key = { { 0 } };

    url.host = sym_cstr(host);
    ok(sym_sha256(sym_cstr(realm), &of) && sym_deny_key(&of, &url, &key),
       "a key for %s at %s:%u", realm, host, port);
    return key;
}


static bool
fail_at(sym_deny_list_t *list, const sym_sha256_t *key, uint64_t now)
{
    return sym_deny_fail(list, &rules, key, SYM_STR("a.test:80"), &cause, now);
}


static bool
is_blocked(const sym_deny_list_t *list, const sym_sha256_t *key, uint64_t now)
{
    sym_deny_cause_t why;

    return sym_deny_is_blocked(list, key, now, &why)
           && sym_str_eq(why.outcome, cause.outcome) && why.ms == cause.ms;
}


static void
test_times(sym_deny_list_t *list)
{
    sym_sha256_t a = key_of("r", "a.test", 80, false);
    const uint64_t t = 1000000;

    ok(!fail_at(list, &a, t) && !is_blocked(list, &a, t), "one failure");
    ok(fail_at(list, &a, t + 4000) && is_blocked(list, &a, t + 4000),
       "the second one blocks the host, and its cause is known");
    ok(!fail_at(list, &a, t + 4050), "... but only once");
    ok(is_blocked(list, &a, t + 4099) && !is_blocked(list, &a, t + 4100),
       "... until the time is over");
    ok(!fail_at(list, &a, t + 4200), "failures from before do not count");
    ok(!fail_at(list, &a, t + 4200 + 6000), "nor those before the window");
    ok(!fail_at(list, &a, t + 999999), "nor those long before");
    ok(fail_at(list, &a, t + 999999), "... but those within it");
    ok(!fail_at(list, &a, 5) && !fail_at(list, &a, 0),
       "a clock that is set back does no harm");
}


static void
test_keys(sym_deny_list_t *list)
{
    const sym_sha256_t keys[] = { key_of("r", "b.test", 80, false),
                                  key_of("r", "b.test", 81, false),
                                  key_of("r", "b.test", 80, true),
                                  key_of("r", "c.test", 80, false),
                                  key_of("s", "b.test", 80, false) };
    char text[SYM_DENY_TEXT_MAX];
    sym_out_t out = sym_out_fixed(text, sizeof(text));

    (void) fail_at(list, &keys[0], 10);
    ok(fail_at(list, &keys[0], 20), "a host of a realm is blocked");
    for (size_t i = 1; i < sizeof(keys) / sizeof(keys[0]); i++) {
        ok(!is_blocked(list, &keys[i], 20), "... but not in another realm: %zu",
           i);
    }

    ok(sym_deny_count(list, 20) == 1 && sym_deny_count(list, 120) == 0,
       "blocked hosts are counted");
    sym_deny_write(list, 20, &out);
    is_str(sym_str(text, (size_t) (out.pos - text)),
           "[{\"host\": \"a.test:80\", \"seconds\": 1, \"outcome\": \"500\"}]",
           "... and shown");
}


static void
test_full(sym_deny_list_t *list)
{
    static const sym_deny_rules_t once = { 1, 5000, 1000 };
    sym_sha256_t key = key_of("r", "d.test", 80, false);
    sym_deny_cause_t why;
    char text[64];
    uint32_t n = 0;

    /* failures alone do not displace a blocked host */
    (void) sym_deny_fail(list, &once, &key, SYM_STR("d.test:80"), &cause, 1);
    for (unsigned i = 0; i < 4 * SYM_DENY_HOSTS; i++) {
        sym_sha256_t other = { { 0 } };

        (void) snprintf(text, sizeof(text), "%u", i);
        (void) sym_sha256(sym_cstr(text), &other);
        (void) fail_at(list, &other, 2 + i / 1000);
    }
    ok(sym_deny_is_blocked(list, &key, 5, &why), "a blocked host stays");

    for (unsigned i = 0; i < 4 * SYM_DENY_HOSTS; i++) {
        sym_sha256_t other = { { 1 } };

        (void) snprintf(text, sizeof(text), "x%u", i);
        (void) sym_sha256(sym_cstr(text), &other);
        n += sym_deny_fail(list, &once, &other, SYM_STR("x"), &cause, 6);
    }
    ok(n == SYM_DENY_HOSTS - 1 && sym_deny_count(list, 6) == SYM_DENY_HOSTS,
       "no more are blocked than there is room for");
    ok(fail_at(list, &key, 2000) == false && sym_deny_count(list, 2000) == 0,
       "... until the time of some is over");
}


int
main(void)
{
    sym_deny_list_t *list = calloc(1, sizeof(*list));
    static const sym_deny_rules_t off = { 0, 1000, 1000 };
    sym_sha256_t key = key_of("r", "e.test", 80, false);

    if (list == NULL) {
        return 1;
    }

    test_times(list);
    *list = (sym_deny_list_t){ 0 };
    test_keys(list);
    *list = (sym_deny_list_t){ 0 };
    test_full(list);
    *list = (sym_deny_list_t){ 0 };
    ok(!sym_deny_fail(list, &off, &key, SYM_STR("e"), &cause, 1),
       "no host is blocked, if so configured");
    free(list);
    return done_testing();
}
