/*
 * The ledger of missing modules: which entries stay, which are evicted, what is
 * written and read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ledger/page.h"
#include "ledger/write/table.h"
#include "tap.h"

#define NOW 1700000000

static sym_ledger_t *ledger;

/* A module whose id is its number. */
static sym_status_t
note(const char *name, unsigned number, uint64_t requests, int64_t now_s)
{
    char id[SYM_ID_MAX + 1];
    sym_ledger_entry_t e = {
        .key = { .scope = SYM_STR(""),
                 .name = sym_cstr(name),
                 .code_id = SYM_STR("") },
        .kind = SYM_KIND_SYMCACHE,
        .state = SYM_MODULE_ABSENT,
        .reason = SYM_STR("it is \"not\" there"),
        .sources = SYM_STR("one\ntwo\n"),
        .from = SYM_STR(""),
        .requests = requests,
        .frames = 3 * requests,
    };
    const sym_ledger_entry_t *kept;

    snprintf(id, sizeof(id), "%032X0", number);
    e.key.id = sym_cstr(id);
    return sym_ledger_note(ledger, &e, now_s, &kept);
}


static const sym_ledger_entry_t *
entry(const char *name)
{
    for (uint32_t i = 0; i < sym_ledger_count(ledger); i++) {
        const sym_ledger_entry_t *e = sym_ledger_entry(ledger, i);

        if (sym_str_eq(e->key.name, sym_cstr(name))) {
            return e;
        }
    }

    return NULL;
}


static void
begin(size_t bytes)
{
    sym_ledger_free(ledger);
    ledger = sym_ledger_create(bytes);
}


static void
test_sums(void)
{
    const sym_ledger_entry_t *e;

    begin(SYM_LEDGER_BYTES_MAX);
    ok(note("a", 1, 1, NOW) == SYM_OK, "noted");
    ok(note("a", 1, 2, NOW + 5) == SYM_OK, "... again");
    ok(note("a", 2, 1, NOW) == SYM_OK, "another of the same name");
    ok(sym_ledger_count(ledger) == 2, "two modules");
    e = entry("a");
    ok(e->requests == 3 && e->frames == 9, "sums");
    ok(e->first_s == NOW && e->last_s == NOW + 5, "times");
    ok(!e->is_known, "requested within ten seconds: new");
    ok(note("a", 1, 1, NOW + 10) == SYM_OK && entry("a")->is_known,
       "requested later: known");
    ok(note("a/b", 1, 1, NOW) == SYM_MALFORMED, "not a module's name");
    ok(note("", 1, 1, NOW) == SYM_MALFORMED, "no name");
    ok(note("a", 1, UINT64_MAX, NOW + 11) == SYM_OK
           && entry("a")->requests == UINT64_MAX,
       "a sum does not overflow");
}


/* Invented modules, thirty thousand a second. */
static void
test_flood(void)
{
    const sym_ledger_totals_t *totals;
    unsigned refused = 0;

    begin(SYM_LEDGER_BYTES_MAX);
    (void) note("real", 1, 1, NOW);
    (void) note("real", 1, 1, NOW + SYM_LEDGER_AGAIN_S);
    (void) note("once", 2, 1, NOW + SYM_LEDGER_AGAIN_S);

    for (unsigned i = 0; i < 300000; i++) {
        refused +=
            note("invented", 1000 + i, 1, NOW + 20 + i / 30000) == SYM_LIMIT;
    }

    totals = sym_ledger_totals(ledger);
    ok(entry("real") != NULL, "modules requested twice stay");
    ok(entry("once") == NULL, "modules requested once are evicted");
    ok(sym_ledger_count(ledger) == 1 + SYM_LEDGER_NEW_MAX,
       "new modules get a quarter of the entries");
    ok(totals->refused == refused
           && refused >= 300000 - SYM_LEDGER_NEW_MAX - 10 * SYM_LEDGER_RATE,
       "few are admitted per second");
    ok(totals->evicted <= 10ul * SYM_LEDGER_RATE, "... and few are evicted");

    /* each invented module twice: they become known, up to their limit */
    for (unsigned round = 0; round < 8; round++) {
        for (unsigned i = 0; i < 1000; i++) {
            (void) note("twice", 900000 + 1000 * round + i, 1,
                        NOW + 1000 + 100 * round);
        }
        for (unsigned i = 0; i < 1000; i++) {
            (void) note("twice", 900000 + 1000 * round + i, 1,
                        NOW + 1050 + 100 * round);
        }
        (void) note("real", 1, 2, NOW + 1060 + 100 * round);
    }
    ok(entry("real") != NULL, "modules requested more often stay");
    ok(sym_ledger_count(ledger) <= SYM_LEDGER_ENTRIES_MAX,
       "entries are bounded");
}


static void
test_full(void)
{
    char name[16];

    begin(SYM_LEDGER_BYTES_MAX);
    for (unsigned i = 0; i < SYM_LEDGER_KNOWN_MAX; i++) {
        /* a second for as many as are admitted in one */
        int64_t now = NOW + 100 * (i / 1000);

        snprintf(name, sizeof(name), "m%u", i);
        (void) note(name, i, i == 7 ? 2 : 5, now);
        (void) note(name, i, 1, now + SYM_LEDGER_AGAIN_S);
    }

    ok(sym_ledger_count(ledger) == SYM_LEDGER_KNOWN_MAX,
       "full of known modules");
    (void) note("light", 90000, 1, NOW + 1000);
    (void) note("light", 90000, 1, NOW + 1020);
    ok(!entry("light")->is_known && entry("m7")->is_known,
       "requested less than all others: still new");
    (void) note("light", 90000, 2, NOW + 1030);
    ok(entry("light")->is_known && !entry("m7")->is_known,
       "requested more than one of them: replaces it");

    /* old requests count less */
    (void) note("later", 90001, 2, NOW + 60 * 86400);
    (void) note("later", 90001, 1, NOW + 60 * 86400 + 20);
    ok(entry("later")->is_known,
       "modules that are no longer requested make room");
}


static void
test_bytes(void)
{
    sym_buffer_t b = { 0 };
    char name[200];
    size_t len = 20000;

    begin(len);
    for (unsigned i = 0; i < 1000; i++) {
        memset(name, 'a' + (char) (i % 26), sizeof(name) - 1);
        name[sizeof(name) - 1] = '\0';
        (void) note(name, i, 1, NOW + i);
    }

    ok(sym_ledger_write(ledger, NOW, &b) && b.len <= len + SYM_LEDGER_HEAD,
       "bytes are bounded");
    ok(sym_ledger_count(ledger) > 20, "... and used");
    sym_buffer_free(&b);
}


static void
test_come(void)
{
    const sym_ledger_entry_t *e;

    begin(SYM_LEDGER_BYTES_MAX);
    (void) note("a", 1, 1, NOW);
    ok(sym_ledger_come(ledger, 0, SYM_STR("one"), NOW + 3, SYM_LEDGER_DUE)
           == SYM_OK,
       "it comes");
    e = entry("a");
    ok(e->came_s == NOW + 3 && sym_str_eq(e->from, SYM_STR("one"))
           && e->told == SYM_LEDGER_DUE,
       "when, and from which source");
    (void) note("a", 1, 1, NOW + 5);
    ok(entry("a")->came_s == 0 && entry("a")->told == SYM_LEDGER_UNTOLD,
       "it is missing once more");
    ok(sym_ledger_totals(ledger)->told_dropped == 1, "nothing was reported");
    (void) sym_ledger_come(ledger, 0, SYM_STR("one"), NOW + 6, SYM_LEDGER_DUE);
    sym_ledger_tell(ledger, 0, SYM_LEDGER_TOLD);
    ok(sym_ledger_sweep(ledger, NOW + SYM_LEDGER_CAME_S) == 0, "shown a day");
    ok(sym_ledger_sweep(ledger, NOW + 6 + SYM_LEDGER_CAME_S) == 1
           && sym_ledger_count(ledger) == 0,
       "... and not longer");
}


static sym_status_t
restore(const void *data, size_t len)
{
    sym_error_t err = { 0 };

    begin(SYM_LEDGER_BYTES_MAX);
    return sym_ledger_restore(ledger, data, len, &err);
}


static void
test_file(void)
{
    sym_buffer_t b = { 0 }, again = { 0 };
    const sym_ledger_entry_t *e;
    bool is_sound = true;

    begin(SYM_LEDGER_BYTES_MAX);
    (void) note("a", 1, 1, NOW);
    (void) note("b", 2, 7, NOW + 1);
    (void) note("b", 2, 7, NOW + 20);
    (void) sym_ledger_come(ledger, 0, SYM_STR("one"), NOW, SYM_LEDGER_TELLING);
    ok(sym_ledger_is_changed(ledger), "changed");
    ok(sym_ledger_write(ledger, NOW + 2, &b), "written");
    ok(!sym_ledger_is_changed(ledger), "... unchanged since");

    ok(restore(b.data, b.len) == SYM_OK, "read");
    ok(sym_ledger_count(ledger) == 2 && sym_ledger_totals(ledger)->frames == 45
           && sym_ledger_totals(ledger)->came == 1,
       "all of it");
    e = entry("b");
    ok(e->requests == 14 && e->frames == 42 && e->first_s == NOW + 1
           && e->last_s == NOW + 20 && e->is_known
           && e->state == SYM_MODULE_ABSENT
           && sym_str_eq(e->sources, SYM_STR("one\ntwo\n")),
       "a module");
    ok(entry("a")->told == SYM_LEDGER_DUE,
       "a report that was in flight is due again");
    ok(sym_ledger_write(ledger, NOW + 2, &again) && again.len == b.len
           && memcmp(again.data, b.data, b.len) == 0,
       "it is written unchanged");

    for (size_t len = 1; len < b.len; len++) {
        is_sound = is_sound && restore(b.data, len) == SYM_DAMAGED;
    }
    ok(is_sound, "truncated anywhere: damaged");

    for (size_t i = 0; i < b.len; i++) {
        b.data[i] ^= 0x40;
        is_sound = is_sound && restore(b.data, b.len) != SYM_OK;
        b.data[i] ^= 0x40;
    }
    ok(is_sound, "a wrong byte anywhere is detected");
    ok(restore("", 0) == SYM_OK && sym_ledger_count(ledger) == 0, "no file");
    sym_buffer_free(&again);
    sym_buffer_free(&b);
}


/* --- pages --- */

static void
test_pages(void)
{
    static const char *const name = " =1+\"x\",\r\n\\\xff\xc3\xa9";
    char text[4096];
    sym_out_t out = sym_out_fixed(text, sizeof(text));
    sym_ledger_entry_t entries[3];
    const sym_str_t mine[] = { SYM_STR("two") }, others[] = { SYM_STR("tw") };
    const sym_scopes_t seen = { .names = mine, .n = 1 };
    const sym_scopes_t unseen = { .names = others, .n = 1 };
    sym_ledger_query_t query = { .show = SYM_LEDGER_ALL };

    begin(SYM_LEDGER_BYTES_MAX);
    (void) note(name, 1, 1, 1000000000);
    sym_ledger_csv_row(entry(name), &out);
    is_str(sym_str(text, (size_t) (out.pos - text)),
           "\"' =1+\"\"x\"\",  \\\xef\xbf\xbd\xc3\xa9\","
           "\"000000000000000000000000000000010\",\"\",\"\",\"symcache\","
           "\"absent\",1,3,2001-09-09T01:46:40Z,2001-09-09T01:46:40Z,,\"\","
           "\"no\",\"it is \"\"not\"\" there\"\r\n",
           "CSV: quoted, and no formula");

    out = sym_out_fixed(text, sizeof(text));
    entries[0] = *entry(name);
    sym_ledger_metrics(entries, 1, 1, 0, sym_ledger_totals(ledger), &out);
    text[out.pos - text] = '\0';
    ok(strstr(text, "symbolicate_missing_module_requests{rank=\"1\",module=\" "
                    "=1+\\\"x\\\",??\\\\?\xc3\xa9\",id=\"0000")
           != NULL,
       "Prometheus: labels are escaped");
    ok(strstr(text, "symbolicate_missing_frames_total 3\n") != NULL, "a total");

    (void) note("z", 2, 9, NOW);
    (void) note("b", 3, 1, NOW + 9);
    for (uint32_t i = 0; i < 3; i++) {
        entries[i] = *sym_ledger_entry(ledger, i);
    }
    ok(sym_ledger_select(entries, 3, &query) == 3
           && sym_str_eq(entries[0].key.name, SYM_STR("z")),
       "the most requests first");
    query.order = SYM_LEDGER_BY_LAST;
    (void) sym_ledger_select(entries, 3, &query);
    ok(sym_str_eq(entries[0].key.name, SYM_STR("b")), "the latest first");
    query.order = SYM_LEDGER_BY_NAME;
    (void) sym_ledger_select(entries, 3, &query);
    ok(sym_str_eq(entries[2].key.name, SYM_STR("z")), "by name");
    query.scopes = &seen;
    ok(sym_ledger_select(entries, 3, &query) == 3,
       "of a location's own source");
    query.scopes = &unseen;
    ok(sym_ledger_select(entries, 3, &query) == 0,
       "of another location's source: none");
}


int
main(void)
{
    test_sums();
    test_flood();
    test_full();
    test_bytes();
    test_come();
    test_file();
    test_pages();
    sym_ledger_free(ledger);
    return done_testing();
}
