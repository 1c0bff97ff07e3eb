/*
 * Artifacts of objects in a store: the ids and names by which they are found,
 * which of two is kept, and what becomes of damaged ones.
 */
#include "store/write/tables.h"
#include "tables_kit.h"

static sym_store_t *w;

static void
start(void)
{
    kit_folder();
    w = kit_writer((uint64_t) 16 << 20);
}


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


static uint64_t
find(const sym_object_ref_t *ref)
{
    return answer(w, "one", ref, SYM_KIND_SYMCACHE);
}


/* An artifact of the source "one", at its own path. */
static bool
put(const sym_object_ref_t *ref, uint32_t number, bool is_named)
{
    char path[32];
    artifact_t a = { .scope = "one",
                     .path = path,
                     .kind = SYM_KIND_SYMCACHE,
                     .quality = SYM_QUALITY_LINES,
                     .source_bytes = number,
                     .is_named = is_named };
    bool is_kept = false;

    (void) snprintf(path, sizeof(path), "path/%u", number);
    return put_artifact(w, ref, &a, NULL, &is_kept) == SYM_OK && is_kept;
}


/* --- ids and names --- */

static void
test_ids(void)
{
    sym_object_ref_t native = ref_of("cdef.debug", ID_A, BUILD_A);
    sym_object_ref_t a = ref_of("liba.so", ID_A, NULL);
    sym_object_ref_t code = ref_of(NULL, NULL, BUILD_A);
    sym_object_ref_t wrong = ref_of("cdef.debug", ID_A, "aa" BUILD_A);
    sym_object_ref_t part = ref_of(NULL, NULL,
                                   "0dd0ad3b1111222233334444555566"
                                   "66a1b2");
    sym_object_ref_t either = ref_of("x", ID_B, BUILD_A);

    start();
    ok(put(&native, 1, false), "a debug file, whose name does not matter");
    is_u64(find(&a), 1, "by its debug id under any name");
    is_u64(find(&code), 1, "by its code id alone");
    is_u64(find(&wrong), 0, "not for a reference with another code id");
    is_u64(find(&part), 0, "nor by a prefix of it");
    is_u64(find(&either), 0, "nor if the debug id differs");
    either.is_either = true;
    is_u64(find(&either), 1, "unless the client does not know which id it has");
    ok(answer(w, "two", &a, SYM_KIND_SYMCACHE) == 0
           && answer(w, "one", &a, SYM_KIND_SOURCES) == 0,
       "of its source and kind alone");
    finish("ids");
}


static void
test_names(void)
{
    sym_object_ref_t zero, code;
    char name[32];
    unsigned n = 0;

    start();
    for (unsigned i = 0; i < 50; i++) {
        (void) snprintf(name, sizeof(name), "lib%u.so", i);
        zero = ref_of(name, "000000000000000000000000000000000", NULL);
        n += put(&zero, i + 1, i % 2 == 0);
    }
    is_u64(n, 50, "the all-zero debug id under 50 names");

    n = 0;
    for (unsigned i = 0; i < 50; i++) {
        (void) snprintf(name, sizeof(name), "lib%u.so", i);
        zero = ref_of(name, "000000000000000000000000000000000", NULL);
        n += find(&zero) == i + 1;
    }
    is_u64(n, 50, "each is found by its name");
    zero = ref_of("other.so", "000000000000000000000000000000000", NULL);
    is_u64(find(&zero), 0, "and by no other");

    zero = ref_of("a.so", ID_A, NULL);
    ok(put(&zero, 60, true), "a .sym file");
    zero.debug_file = SYM_STR("b.so");
    is_u64(find(&zero), 0, "the name must match");
    zero.debug_file = SYM_STR("/lib/a.so");
    is_u64(find(&zero), 60, "of the file, in any folder");
    zero.debug_file = SYM_STR("");
    is_u64(find(&zero), 60, "unless the client sent none");

    code = ref_of(NULL, NULL, BUILD_A);
    is_u64(find(&code), 0, "an age of 1 is derived from no build id");
    zero = ref_of("c.so", UUID_A "0", NULL);
    (void) put(&zero, 61, true);
    is_u64(find(&code), 61, "a .sym file by the build id that its id begins");
    finish("names");
}


static void
test_nameless_first(void)
{
    sym_object_ref_t a = ref_of("a.so", ID_A, NULL);

    start();
    (void) put(&a, 1, true);
    is_u64(find(&a), 1, "by name");
    (void) put(&a, 2, false);
    is_u64(find(&a), 2, "an object without a name comes first");
    finish("nameless");
}


static void
test_code_only(void)
{
    sym_object_ref_t a = ref_of("a.exe", NULL, "5f3a1b2c1a000");
    sym_object_ref_t b = ref_of("b.exe", NULL, "5f3a1b2c1a000");
    sym_object_ref_t longer = ref_of("a", NULL, "5f3a1b2c1a0001");
    uint64_t n = 0;
    sym_error_t err = { 0 };

    start();
    ok(put(&a, 1, false), "an object with only a code id");
    is_u64(find(&b), 1, "is found");
    is_u64(find(&longer), 0, "and not by a longer id");
    ok(sym_store_clear_path(w, SYM_STR("one"), SYM_STR("path/1"), &n, &err)
               == SYM_OK
           && find(&a) == 0,
       "an event finds it by the ids of its file");
    finish("code ids");
}


static void
test_others(void)
{
    sym_object_ref_t elastic = { .has_file_id = true, .file_id = { 1, 2, 3 } };
    sym_object_ref_t url = { .url = SYM_STR("https://h/a.js"),
                             .release = SYM_STR("r1") };
    sym_object_ref_t release = url;
    sym_object_key_t key = { .is_nameless = true, .has_file_id = true };
    sym_store_id_t ids[SYM_REF_IDS];

    memcpy(key.file_id, elastic.file_id, sizeof(key.file_id));
    ok(sym_store_ids_of_ref(&elastic, ids) == 1
           && ids[0].form == SYM_STORE_ID_FILE,
       "a FileID");
    ok(sym_store_ids_of_ref(&url, ids) == 1
           && ids[0].form == SYM_STORE_ID_DIGEST,
       "a URL");
    release.release = SYM_STR("r2");
    ok(!sym_store_ids_match(&release, ids, 1), "and another release");
    ok(sym_store_ids_match(&url, ids, 1), "and to its own");
}


/* --- ranks --- */

typedef struct {
    uint8_t quality;
    uint16_t place;
    const char *reason;
} rank_t;

static uint64_t
stays(const rank_t *first, const rank_t *second, bool by_hand)
{
    sym_object_ref_t ref = ref_of("a.so", ID_A, NULL);
    const rank_t *ranks[] = { first, second };
    uint64_t number;

    start();
    for (uint32_t i = 0; i < 2; i++) {
        artifact_t a = { .scope = by_hand ? "" : "one",
                         .path = by_hand  ? NULL
                                 : i == 0 ? "first"
                                          : "second",
                         .kind = SYM_KIND_SYMCACHE,
                         .quality = ranks[i]->quality,
                         .place = by_hand ? 0 : ranks[i]->place,
                         .reason = ranks[i]->reason,
                         .source_bytes = i + 1 };
        bool is_kept = false;

        if (put_artifact(w, &ref, &a, NULL, &is_kept) != SYM_OK) {
            ok(false, "put");
        }
    }
    number = answer(w, by_hand ? "" : "one", &ref, SYM_KIND_SYMCACHE);
    if (!by_hand) {
        sym_path_record_t lost =
            path_in(w, "one", number == 1 ? "second" : "first", "");

        ok(lost.outcome == SYM_PATH_READ && lost.artifacts == 0
               && lost.given == SYMCACHE,
           "the other one's path is known to have the kind");
    }
    finish("ranks");
    return number;
}


static void
test_ranks(void)
{
    const rank_t good = { 6, 3, NULL }, poor = { 2, 0, NULL };
    const rank_t later = { 6, 9, NULL }, incomplete = { 6, 0, "a.dwo" };

    is_u64(stays(&good, &poor, false), 1, "the good one stays");
    is_u64(stays(&poor, &good, false), 2, "in either order");
    is_u64(stays(&good, &incomplete, false), 1, "as does a complete one");
    is_u64(stays(&incomplete, &good, false), 2, "in either order");
    is_u64(stays(&good, &later, false), 1, "of equals the earlier path");
    is_u64(stays(&later, &good, false), 2, "whichever finishes first");
    is_u64(stays(&good, &good, false), 2, "from one path the later file");
    is_u64(stays(&good, &later, true), 2, "with `load` the later file");
}


/* --- tombstones --- */

static void
test_tombstone(void)
{
    sym_object_ref_t ref = ref_of("a.so", ID_A, NULL);
    artifact_t a = { .scope = "",
                     .kind = SYM_KIND_SYMCACHE,
                     .quality = SYM_QUALITY_LINES,
                     .source_bytes = 1 };
    sym_object_record_t record = { .object = object_of(&ref, true),
                                   .state = SYM_MODULE_MALFORMED,
                                   .expires_at = NOW,
                                   .reason = SYM_STR(SYM_UNSOUND_REASON) };
    sym_object_put_t tombstone = { .scope = SYM_STR(""), .record = &record };
    sym_ingest_t *ingest;
    sym_snapshot_t *s;
    sym_error_t err = { 0 };
    bool is_kept = false;

    start();
    (void) put_artifact(w, &ref, &a, NULL, NULL);
    ok(sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &err) == SYM_OK
           && sym_ingest_put_object(ingest, &tombstone, &is_kept, &err)
                  == SYM_OK
           && sym_ingest_finish(ingest, &err) == SYM_OK && is_kept,
       "a tombstone replaces the damaged artifact");

    if (sym_snapshot_begin(w, &s, &err) == SYM_OK) {
        ok(sym_snapshot_object(s, SYM_STR(""), &ref, SYM_KIND_SYMCACHE, &record,
                               &err)
                   == SYM_OK
               && record.state == SYM_MODULE_MALFORMED && record.extents == 0,
           "and records why it is gone");
        is_str(record.reason, SYM_UNSOUND_REASON, "reason");
        sym_snapshot_end(s);
    }
    a.quality = 1;
    (void) put_artifact(w, &ref, &a, NULL, NULL);
    is_u64(answer(w, "", &ref, SYM_KIND_SYMCACHE), 1,
           "until it is loaded again");
    finish("tombstones");
}


/* --- several sources --- */

typedef struct {
    sym_str_t scope, paths[2];
    bool is_asked;
} source_t;

static source_t sources[3] = {
    { .scope = { "", 0 } },
    { { "one", 3 }, { { "p", 1 }, { "q", 1 } }, true },
    { { "two", 3 }, { { "p", 1 }, { "q", 1 } }, true },
};

static bool
plan(void *ctx, uint32_t n, sym_places_t *places)
{
    (void) ctx;
    *places = (sym_places_t){ .scope = sources[n].scope,
                              .paths = sources[n].paths,
                              .n = 2 };
    return sources[n].is_asked;
}


static sym_status_t
choose(const sym_object_ref_t *ref, int64_t now_s, sym_choice_t *c)
{
    static const sym_str_t names[] = { { "", 0 }, { "one", 3 }, { "two", 3 } };
    const sym_scopes_t scopes = { .names = names, .n = 3 };
    sym_error_t err = { 0 };
    sym_snapshot_t *s;
    sym_status_t rc;

    if (sym_snapshot_begin(w, &s, &err) != SYM_OK) {
        return err.status;
    }
    rc = sym_snapshot_choose_object(s, &scopes, ref, SYM_KIND_SYMCACHE, plan,
                                    NULL, now_s, c, &err);
    sym_snapshot_end(s);
    return rc;
}


static void
test_choice(void)
{
    sym_object_ref_t ref = ref_of("a.so", ID_A, NULL);
    sym_path_record_t absent = path_of(SYM_PATH_ABSENT, 0);
    sym_path_record_t failed = path_of(SYM_PATH_FAILED, 0);
    artifact_t a = { .scope = "two",
                     .path = "q",
                     .kind = SYM_KIND_SYMCACHE,
                     .quality = SYM_QUALITY_PUBLICS,
                     .source_bytes = 2 };
    int64_t now;
    sym_choice_t c;

    start();
    absent.expires_at = failed.expires_at = UINT32_MAX;
    ok(choose(&ref, NOW, &c) == SYM_NOT_FOUND && c.is_open, "nothing is known");
    (void) put_path(w, "one", "p", "", &absent);
    (void) put_path(w, "one", "q", "", &absent);
    now = path_in(w, "one", "q", "").stored_at;
    ok(choose(&ref, now, &c) == SYM_NOT_FOUND && c.is_open,
       "one source is settled, the other is not");
    (void) put_path(w, "two", "p", "", &failed);
    (void) put_path(w, "two", "q", "", &absent);
    ok(choose(&ref, now, &c) == SYM_OK && c.state == SYM_MODULE_FAILED
           && c.source == 2 && !c.is_open && c.until == UINT32_MAX,
       "both: failed before absent");

    (void) put_artifact(w, &ref, &a, NULL, NULL);
    ok(choose(&ref, now, &c) == SYM_OK && c.state == SYM_MODULE_READY
           && c.source == 2 && !c.is_open,
       "a poor artifact: all other paths count");
    sources[0].is_asked = true;
    ok(choose(&ref, now, &c) == SYM_OK && !c.is_open,
       "an artifact loaded by hand has no paths");
    sources[0].is_asked = false;

    a = (artifact_t){ .scope = "one",
                      .path = "q",
                      .kind = SYM_KIND_SYMCACHE,
                      .quality = SYM_QUALITY_LINES,
                      .source_bytes = 1 };
    (void) put_artifact(w, &ref, &a, NULL, NULL);
    ok(choose(&ref, now, &c) == SYM_OK && c.source == 1
           && c.record.source_bytes == 1 && c.until == 0,
       "a good one ends the search");
    finish("several sources");
}


/* --- lists --- */

static char listed[256];

static sym_status_t
list(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    size_t len = strlen(listed);

    (void) ctx;
    (void) snprintf(listed + len, sizeof(listed) - len, "%.*s/%.*s ",
                    (int) scope.len, scope.data, (int) record->object.name.len,
                    record->object.name.data);
    return SYM_OK;
}


static void
test_list(void)
{
    sym_object_ref_t a = ref_of("zlib.so", ID_A, NULL);
    sym_object_ref_t b = ref_of("alib.so", ID_B, BUILD_A);
    sym_store_mark_t mark = { .len = 0 };
    artifact_t two = { .scope = "two", .path = "p", .kind = SYM_KIND_SOURCES };
    sym_error_t err = { 0 };
    sym_str_t one = SYM_STR("one");
    sym_snapshot_t *s;
    uint64_t records;
    sym_status_t rc;

    start();
    (void) put(&a, 1, true);
    (void) put(&a, 2, false);
    (void) put(&b, 3, false);
    (void) put_artifact(w, &a, &two, NULL, NULL);

    if (sym_snapshot_begin(w, &s, &err) == SYM_OK) {
        do {
            records = 1;
            rc = sym_snapshot_objects(s, NULL, &mark, &records, list, NULL,
                                      &err);
        } while (rc == SYM_AGAIN);
        is_str(sym_cstr(listed),
               "one/alib.so one/zlib.so one/zlib.so two/zlib.so ",
               "sorted by source and name, in slices");

        listed[0] = '\0';
        mark.len = 0;
        records = 100;
        (void) sym_snapshot_objects(s, &one, &mark, &records, list, NULL, &err);
        is_str(sym_cstr(listed), "one/alib.so one/zlib.so one/zlib.so ",
               "of one source");
        sym_snapshot_end(s);
    }
    finish("lists");
}


/* --- counts --- */

static void
test_stat(void)
{
    sym_object_ref_t a = ref_of("a.so", ID_A, BUILD_A);
    sym_object_ref_t b = ref_of("b.so", ID_B, NULL);
    sym_path_record_t absent = path_of(SYM_PATH_ABSENT, 0);
    sym_store_mark_t mark = { .len = 0 };
    sym_store_stat_t stat = { 0 }, slices;
    sym_error_t err = { 0 };
    unsigned n = 0;

    start();
    (void) kit_put(w, "old", 1, 100);
    (void) put(&a, 1, false);
    (void) put(&b, 2, true);
    (void) put_path(w, "one", "none", "", &absent);
    (void) sym_store_stat(w, &stat, &err);
    ok(stat.modules == 3 && stat.ready == 3 && stat.extents == 3
           && stat.paths == 3,
       "records of all tables");
    ok(stat.live_bytes == w->live_pages * STORE_PAGE + w->negatives,
       "and their size");

    while (sym_store_stat_part(w, &mark, 1, &slices, &err) == SYM_AGAIN) {
        n++;
    }
    ok(n > 3 && slices.modules == 3 && slices.paths == 3
           && slices.live_bytes == stat.live_bytes,
       "the same in slices");
    finish("counts");
}


/* --- eviction --- */

static void
test_eviction(void)
{
    sym_object_ref_t a = ref_of("a.so", ID_A, NULL);
    sym_object_ref_t b = ref_of("b.so", ID_B, BUILD_A);
    sym_object_record_t record;
    sym_snapshot_t *s;
    sym_error_t err = { 0 };
    uint64_t evicted = 0;

    start();
    (void) put(&a, 1, false);
    (void) put(&b, 2, false);
    if (sym_snapshot_begin(w, &s, &err) == SYM_OK) {
        (void) sym_snapshot_object(s, SYM_STR("one"), &a, SYM_KIND_SYMCACHE,
                                   &record, &err);
        sym_snapshot_end(s);
        sym_store_touch(w, record.slot, UINT32_MAX);
    }

    ok(sym_store_evict(w, w->live_pages / 2 * STORE_PAGE, &evicted, &err)
               == SYM_OK
           && evicted == 1 && find(&a) == 1 && find(&b) == 0,
       "the least recently used one is evicted");
    ok(path_in(w, "one", "path/1", "").outcome != 0
           && path_in(w, "one", "path/2", "").outcome == 0,
       "with the record of its file");
    finish("eviction");
}


int
main(void)
{
    test_ids();
    test_names();
    test_nameless_first();
    test_code_only();
    test_others();
    test_ranks();
    test_tombstone();
    test_choice();
    test_list();
    test_stat();
    test_eviction();
    return done_testing();
}
