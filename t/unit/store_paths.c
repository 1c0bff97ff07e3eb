/*
 * Records of paths in a store: their keys and values, how many are kept, and
 * which ones an event or a request to forget a module removes.
 */
#include <time.h>

#include "store/write/tables.h"
#include "tables_kit.h"

static sym_store_t *w;

static void
start(void)
{
    kit_folder();
    w = kit_writer((uint64_t) 16 << 20);
}


/* A new writer counts what this one counts, and verify finds nothing. */
static void
finish(const char *name)
{
    uint64_t live = w->live_pages, negatives = w->negatives;

    is_u64(kit_faults(w), 0, "verify");
    sym_store_close(w);
    w = kit_writer(0);
    ok(w != NULL && w->live_pages == live && w->negatives == negatives,
       "%s: counts are those of the next writer", name);
    is_u64(kit_faults(w), 0, "and it verifies");
    sym_store_close(w);
    kit_clean();
}


static sym_path_outcome_t
outcome(const char *scope, const char *path, const char *checksum)
{
    return path_in(w, scope, path, checksum).outcome;
}


/* --- keys and values --- */

static void
test_value(void)
{
    sym_object_ref_t ref = ref_of("a.so", ID_A, BUILD_A);
    sym_path_record_t r = file_of(&ref, PPDB | SOURCES, PPDB), got;
    sym_path_key_t key = { SYM_STR("one"), SYM_STR("a/b+c/d e"), SYM_STR("") };
    sym_snapshot_t *s;
    sym_error_t err = { 0 };

    r.status = 200;
    r.ms = 17;
    r.bytes = (uint64_t) 5 << 32;
    r.features = 0x8001;
    r.word = SYM_STR("timeout");
    r.reason = SYM_STR("because");
    r.url = SYM_STR("https://host/x");

    start();
    is_u64(put_path(w, "one", "a/b+c/d e", "", &r), SYM_OK, "put");
    if (sym_snapshot_begin(w, &s, &err) != SYM_OK
        || sym_snapshot_path(s, &key, &got, &err) != SYM_OK)
    {
        ok(false, "read");
        return;
    }
    ok(got.outcome == SYM_PATH_READ && got.status == 200 && got.ms == 17
           && got.bytes == r.bytes && got.features == 0x8001
           && got.expires_at == r.expires_at && got.reader == r.reader
           && got.tried == r.tried && got.given == PPDB && got.artifacts == 0,
       "numbers");
    ok(sym_str_eq(got.word, r.word) && sym_str_eq(got.reason, r.reason)
           && sym_str_eq(got.url, r.url),
       "texts");
    ok(got.n_ids == 2 && memcmp(got.ids, r.ids, 2 * sizeof(r.ids[0])) == 0,
       "ids");
    ok(got.stored_at > NOW, "the writer sets the time");
    sym_snapshot_end(s);
    finish("one record");
}


static void
test_keys(void)
{
    static char a[1024], b[1024];
    sym_path_record_t r = path_of(SYM_PATH_ABSENT, 0);

    start();
    memset(a, 'n', sizeof(a) / 2);
    memset(a + 100, '/', 1);
    memcpy(b, a, sizeof(b));
    b[sizeof(b) / 2 - 1] = 'x';

    is_u64(put_path(w, "one", a, "", &r), SYM_OK, "a long path");
    ok(outcome("one", a, "") == SYM_PATH_ABSENT, "is found");
    ok(outcome("one", b, "") == 0,
       "one that differs after byte 400 is another");
    (void) put_path(w, "one", b, "", &r);
    a[400] = b[400] = '\0';
    ok(outcome("one", b, "") == 0,
       "a path of its first 400 bytes is another, too");
    a[400] = 'n';
    a[401] = '\0';
    ok(outcome("one", a, "") == 0, "and 401");

    is_u64(put_path(w, "one", "", "", &r), SYM_MALFORMED, "no path");
    is_u64(put_path(w, "one", "a\1b", "", &r), SYM_MALFORMED,
           "a control character");
    for (size_t i = 0; i < 24; i++) {
        char text[] = "abcdefghijklmnopqrstuvw\x7f";

        text[i] = i % 2 == 0 ? '\x1f' : '\2';
        if (put_path(w, "one", text, "", &r) != SYM_MALFORMED) {
            ok(false, "one at %zu", i);
        }
    }
    is_u64(put_path(w, "one", " \x7f\xc3\xa9\x80\xff +~ ", "", &r), SYM_OK,
           "any other byte");

    (void) put_path(w, "one", "p", "wrong", &r);
    ok(outcome("one", "p", "wrong") == SYM_PATH_ABSENT
           && outcome("one", "p", "right") == 0 && outcome("one", "p", "") == 0,
       "a wrong checksum does not affect others");
    (void) put_path(w, "given:1", "https://h/a.map", "", &r);
    ok(outcome("given:2", "https://h/a.map", "") == 0,
       "one URL, two tenants' tokens: separate records");
    finish("keys");
}


/* --- quota --- */

static void
test_quota(void)
{
    enum { PLACES = 36 };
    sym_object_ref_t ref = ref_of("a.pdb", ID_A, NULL);
    sym_path_record_t r = path_of(SYM_PATH_ABSENT, 0);
    artifact_t a = { .scope = "one",
                     .path = "a.pdb/1/a.pdb",
                     .kind = SYM_KIND_SYMCACHE,
                     .quality = 5,
                     .source_bytes = 1 };
    unsigned module = 0, evicted = 0, kept = 0;
    uint64_t n = 0;
    char path[64];

    start();
    w->budget.negative_bytes = 200 << 10;
    is_u64(put_artifact(w, &ref, &a, NULL, NULL), SYM_OK, "an artifact");
    is_u64(w->negatives, 0, "its file is not a negative record");

    while (n == 0 && module < 100) {
        for (unsigned i = 0; i < PLACES; i++) {
            (void) snprintf(path, sizeof(path), "m%u/%u", module, i);
            (void) put_path(w, "one", path, "", &r);
        }
        module++;
        n = outcome("one", "m0/0", "") == 0;
    }
    ok(n != 0 && w->negatives <= w->budget.negative_bytes,
       "a full quota: the oldest are evicted");
    for (unsigned i = 0; i < PLACES; i++) {
        (void) snprintf(path, sizeof(path), "m%u/%u", module - 1, i);
        kept += outcome("one", path, "") != 0;
        (void) snprintf(path, sizeof(path), "m0/%u", i);
        evicted += outcome("one", path, "") == 0;
    }
    ok(kept == PLACES && evicted == PLACES,
       "but not the paths of the new module");
    is_u64(answer(w, "one", &ref, SYM_KIND_SYMCACHE), 1,
           "nor the file of an artifact");

    ok(sym_store_clear_path(w, SYM_STR("one"), SYM_STR("a.pdb/1/a.pdb"), &n,
                            &kit_err)
               == SYM_OK
           && answer(w, "one", &ref, SYM_KIND_SYMCACHE) == 0,
       "so an event finds the stale artifact");
    finish("a full quota");
}


static void
test_expired_first(void)
{
    sym_path_record_t old = path_of(SYM_PATH_ABSENT, 0);
    sym_path_record_t expired = path_of(SYM_PATH_ABSENT, 1);
    sym_error_t err = { 0 };

    start();
    (void) put_path(w, "one", "old", "", &old);
    (void) put_path(w, "one", "expired", "", &expired);
    w->budget.negative_bytes = w->negatives;
    ok(sym_make_negative_room(w, 1, &err) == SYM_OK
           && outcome("one", "expired", "") == 0
           && outcome("one", "old", "") != 0,
       "expired ones before the oldest");
    finish("expired ones");
}


/* --- artifacts and their files --- */

static void
test_two_kinds(void)
{
    sym_object_ref_t ref = ref_of("a.pdb", ID_A, NULL);
    sym_path_record_t file = file_of(&ref, PPDB | SOURCES, PPDB | SOURCES), r;
    artifact_t p = {
        .scope = "one", .path = "a", .kind = SYM_KIND_PPDB, .source_bytes = 1
    };
    artifact_t s = {
        .scope = "one", .path = "a", .kind = SYM_KIND_SOURCES, .source_bytes = 2
    };
    sym_asking_t asking = { .ref = &ref,
                            .kind = SYM_KIND_SOURCES,
                            .reader = sym_kinds_reader(),
                            .now_s = NOW + 1 };
    sym_error_t err = { 0 };

    start();
    (void) put_artifact(w, &ref, &p, &file, NULL);
    (void) put_artifact(w, &ref, &s, &file, NULL);
    r = path_in(w, "one", "a", "");
    is_u64(r.artifacts, 2, "two kinds of one file");

    ok(sym_store_remove_objects(w, &SYM_STR("one"), &ref, SYM_KIND_SOURCES,
                                &err)
           == SYM_OK,
       "one of them is evicted");
    r = path_in(w, "one", "a", "");
    ok(r.artifacts == 1 && sym_path_says(&r, &asking).state == 0,
       "the path is open for this kind");
    asking.kind = SYM_KIND_PPDB;
    asking.has_artifact = true;
    ok(sym_path_says(&r, &asking).state == SYM_MODULE_READY,
       "but not for the other");
    ok(sym_store_remove_objects(w, &SYM_STR("one"), &ref, SYM_KIND_ALL, &err)
               == SYM_OK
           && outcome("one", "a", "") == 0,
       "the record is removed with the last one");
    finish("two kinds");
}


static void
test_file_is_gone(void)
{
    sym_object_ref_t a = ref_of("a.pdb", ID_A, NULL);
    sym_object_ref_t b = ref_of("a.pdb", ID_B, NULL);
    artifact_t one = { .scope = "one",
                       .path = "a",
                       .kind = SYM_KIND_SYMCACHE,
                       .source_bytes = 1 };
    sym_path_record_t absent = path_of(SYM_PATH_ABSENT, 3600), r;
    sym_error_t err = { 0 };
    uint64_t n = 0;

    start();
    (void) put_artifact(w, &a, &one, NULL, NULL);
    (void) put_path(w, "one", "a", "", &absent);
    r = path_in(w, "one", "a", "");
    ok(r.outcome == SYM_PATH_ABSENT && r.artifacts == 1 && r.n_ids == 1,
       "a file that has vanished: its artifact stays listed");

    one.source_bytes = 2;
    (void) put_artifact(w, &b, &one, NULL, NULL);
    r = path_in(w, "one", "a", "");
    ok(r.artifacts == 2 && r.n_ids == 2, "as next to that of another file");

    ok(sym_store_clear_path(w, SYM_STR("one"), SYM_STR("a"), &n, &err) == SYM_OK
           && n == 3,
       "an event finds both");
    ok(answer(w, "one", &a, SYM_KIND_SYMCACHE) == 0
           && answer(w, "one", &b, SYM_KIND_SYMCACHE) == 0
           && outcome("one", "a", "") == 0,
       "and removes them");
    finish("a changed file");
}


/* A text that cannot be read in two roles. */
static void
test_roles(void)
{
    const uint32_t now = (uint32_t) time(NULL);
    sym_path_record_t text = path_of(SYM_PATH_MALFORMED, 0), r;

    start();
    text.tried = 1u << SYM_KIND_SCRIPT;
    text.expires_at = now + 1000;
    (void) put_path(w, "one", "a.js", "", &text);
    text.tried = 1u << SYM_KIND_SOURCES;
    text.expires_at = now + 2000;
    (void) put_path(w, "one", "a.js", "", &text);
    r = path_in(w, "one", "a.js", "");
    ok(r.tried == (1u << SYM_KIND_SCRIPT | 1u << SYM_KIND_SOURCES)
           && r.expires_at == now + 1000,
       "both roles are known, until the first expires");

    text.outcome = SYM_PATH_READ;
    (void) put_path(w, "one", "a.js", "", &text);
    r = path_in(w, "one", "a.js", "");
    ok(r.tried == 1u << SYM_KIND_SOURCES, "another outcome is another file");
    finish("roles");
}


/* --- events --- */

static void
test_event(void)
{
    static const char *const gone[] = { "a+b.so/1/a+b.so.sym",
                                        "x/a+b.so/1/a+b.so.sym", "a+b.so.sym" };
    static const char *const stay[] = { "A+B.SO/1/A+B.SO.SYM",
                                        "a b.so/1/a b.so.sym",
                                        "a+b.so/1/a+b.so.sym2",
                                        "y/a+b.so/1/a+b.so.sym" };
    sym_path_record_t r = path_of(SYM_PATH_ABSENT, 0);
    sym_error_t err = { 0 };
    unsigned n_gone = 0, n_stay = 0;
    uint64_t n = 0;

    start();
    for (size_t i = 0; i < 3; i++) {
        (void) put_path(w, "one", gone[i], "", &r);
    }
    (void) put_path(w, "one", gone[0], "sum", &r);
    for (size_t i = 0; i < 4; i++) {
        (void) put_path(w, "one", stay[i], "", &r);
    }
    (void) put_path(w, "two", gone[0], "", &r);

    is_u64(sym_store_clear_path(w, SYM_STR("one"),
                                SYM_STR("p/x/a+b.so/1/a+b.so.sym"), &n, &err),
           SYM_OK, "an event below a prefix");
    for (size_t i = 0; i < 3; i++) {
        n_gone += outcome("one", gone[i], "") == 0;
    }
    for (size_t i = 0; i < 4; i++) {
        n_stay += outcome("one", stay[i], "") != 0;
    }
    ok(n == 4 && n_gone == 3 && outcome("one", gone[0], "sum") == 0,
       "removes the key and each part after a slash, whatever the checksum");
    ok(n_stay == 4 && outcome("two", gone[0], "") != 0, "and nothing else");

    n = 7;
    ok(sym_store_clear_path(w, SYM_STR("one"), SYM_STR("A+B.SO/1/A+B.SO.SYM"),
                            &n, &err)
               == SYM_OK
           && n == 1,
       "an upper-case source has upper-case keys");
    ok(sym_store_clear_path(w, SYM_STR("one"), SYM_STR("none/"), &n, &err)
               == SYM_OK
           && n == 0,
       "an unknown key");
    finish("events");
}


/* --- forgetting a module --- */

static uint64_t
forget(const sym_str_t *scope, const sym_object_ref_t *ref, uint64_t step)
{
    sym_store_mark_t mark = { .len = 0 };
    sym_error_t err = { 0 };
    uint64_t removed = 0;
    sym_status_t rc;

    do {
        rc = sym_store_forget_part(w, scope, ref, &mark, step, &removed, &err);
    } while (rc == SYM_AGAIN);
    return rc == SYM_OK ? removed : UINT64_MAX;
}


/* Paths of one object by its ids, in the spellings of all layouts. */
static const char *const spellings[] = {
    "a.so/" ID_A "/a.so.sym",
    "a.so/3badd00d1111222233334444555566661/a.so.sym",
    "a.so/" UUID_A "01/a.so.sym",
    "3B/ADD00D111122223333444455556666.debug",
    "3BAD/D00D/1111/2222/3333/444455556666",
    "0d/d0ad3b111122223333444455556666a1b2c3d4.debug",
    "buildid/" BUILD_A "/debuginfo",
    "_.debug/elf-buildid-sym-" BUILD_A "/_.debug",
    "3badd00d-1111-2222-3333-444455556666?type=a",
};

#define N_SPELLINGS (sizeof(spellings) / sizeof(spellings[0]))

static void
put_spellings(void)
{
    sym_path_record_t r = path_of(SYM_PATH_ABSENT, 0);

    for (size_t i = 0; i < N_SPELLINGS; i++) {
        (void) put_path(w, "one", spellings[i], "", &r);
    }
}


static void
test_forget(void)
{
    sym_object_ref_t both = ref_of("a.so", ID_A, BUILD_A);
    sym_object_ref_t debug = ref_of(NULL, ID_A, NULL);
    sym_object_ref_t code = ref_of(NULL, NULL, BUILD_A);
    sym_object_ref_t other = ref_of("a.so", ID_B, NULL);
    sym_path_record_t r = path_of(SYM_PATH_ABSENT, 0);
    sym_path_record_t file = file_of(&debug, SYMCACHE, 0);
    sym_str_t one = SYM_STR("one");

    start();
    put_spellings();
    (void) put_path(w, "one", "a.so/" ID_B "/a.so.sym", "", &r);
    (void) put_path(w, "two", spellings[0], "", &r);
    (void) put_path(w, "two", "any/path", "", &file);
    is_u64(forget(&one, &both, 2), N_SPELLINGS,
           "all spellings of both ids, in slices");
    is_u64(forget(NULL, &both, 100), 2, "at all sources, and files with an id");
    ok(outcome("one", "a.so/" ID_B "/a.so.sym", "") != 0, "others stay");
    is_u64(forget(NULL, &other, 100), 1, "until they are forgotten");
    is_u64(w->negatives, 0, "nothing is left");

    put_spellings();
    is_u64(forget(&one, &code, 3), N_SPELLINGS, "by the code id alone");
    put_spellings();
    is_u64(forget(&one, &debug, 3), N_SPELLINGS, "by the debug id alone");
    finish("forgotten modules");
}


static void
test_old_ages(void)
{
    sym_object_ref_t any = ref_of(NULL, UUID_A "FFFFFFFF", NULL);
    sym_object_ref_t a = ref_of("a.pdb", ID_A, NULL);
    sym_object_ref_t b = ref_of("a.pdb", UUID_A "7ABC", NULL);
    artifact_t one = {
        .scope = "one", .path = "p1", .kind = SYM_KIND_PPDB, .source_bytes = 1
    };
    artifact_t two = {
        .scope = "one", .path = "p2", .kind = SYM_KIND_PPDB, .source_bytes = 2
    };
    sym_error_t err = { 0 };

    start();
    (void) put_artifact(w, &a, &one, NULL, NULL);
    (void) put_artifact(w, &b, &two, NULL, NULL);
    ok(answer(w, "one", &any, SYM_KIND_PPDB) != 0,
       "a portable PDB is found at ffffffff");
    ok(sym_store_remove_objects(w, &SYM_STR("one"), &any, SYM_KIND_ALL, &err)
               == SYM_OK
           && answer(w, "one", &a, SYM_KIND_PPDB) == 0
           && answer(w, "one", &b, SYM_KIND_PPDB) == 0,
       "which removes all ages");
    finish("ages");
}


/* --- lost batches --- */

static void
test_ticket(void)
{
    sym_path_record_t r = path_of(SYM_PATH_ABSENT, 0);
    sym_path_key_t a = { SYM_STR("one"), SYM_STR("a"), SYM_STR("") };
    sym_path_key_t b = { SYM_STR("one"), SYM_STR("b"), SYM_STR("") };
    sym_path_ticket_t first, second;
    sym_error_t err = { 0 }, lost = { 0 };
    uint64_t before;

    start();
    before = w->negatives;
    (void) sym_store_put_path(w, &a, &r, &first, &err);
    ok(w->negatives > before, "counted as soon as it is put");
    (void) sym_batch_failed(w, "a test", MDB_MAP_FULL, &lost);
    is_u64(w->negatives, before, "and not when its batch is lost");
    ok(sym_store_flush_path(w, &first, &err) == SYM_FULL,
       "and its owner is notified");

    err = (sym_error_t){ 0 };
    (void) sym_store_put_path(w, &a, &r, &first, &err);
    (void) sym_store_put_path(w, &b, &r, &second, &err);
    ok(sym_store_flush_path(w, &first, &err) == SYM_OK
           && sym_store_flush_path(w, &second, &err) == SYM_OK
           && outcome("one", "b", "") != 0,
       "several are committed together");
    finish("tickets");
}


int
main(void)
{
    test_value();
    test_keys();
    test_quota();
    test_expired_first();
    test_two_kinds();
    test_file_is_gone();
    test_roles();
    test_event();
    test_forget();
    test_old_ages();
    test_ticket();
    return done_testing();
}
