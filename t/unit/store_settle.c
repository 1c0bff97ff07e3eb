/*
 * Records of paths and of an object, without a store: which paths are open, and
 * what all records together mean.
 */
#include "tables_kit.h"

#define LONG_CODE_ID "0dd0ad3b111122223333444455556666a1b2c3d4e5f60718293a4b5c"

static sym_asking_t
ask(const sym_object_ref_t *ref, sym_kind_t kind)
{
    return (sym_asking_t){
        .ref = ref, .kind = kind, .reader = sym_kinds_reader(), .now_s = NOW + 1
    };
}


static sym_module_state_t
says(const sym_path_record_t *record, const sym_asking_t *asking)
{
    return sym_path_says(record, asking).state;
}


static sym_settled_t
settle(const sym_path_record_t *records, unsigned n, const sym_asking_t *asking)
{
    sym_settling_t s = { .n = 0 };

    for (unsigned i = 0; i < n; i++) {
        sym_settling_add(&s, &records[i], asking);
    }
    return sym_settling_end(&s);
}


/* --- ids --- */

static void
test_either(void)
{
    static const char *const sent[] = { "3badd00d11112222",
                                        "3badd00d111122223333444455556666",
                                        "3badd00d11112222333344445555666600",
                                        BUILD_A, LONG_CODE_ID };
    sym_object_ref_t file = ref_of(NULL, ID_A, NULL);

    for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
        sym_object_ref_t ref = ref_of("a.so", NULL, sent[i]), own;
        sym_path_record_t r;
        sym_asking_t asking = ask(&ref, SYM_KIND_SYMCACHE);

        /* the file has this code id, and a debug id that the client does not
         * know */
        (void) sym_debug_id_read_breakpad(sym_cstr(sent[i]), &ref.debug_id);
        ref.is_either = true;
        own = ref_of(NULL, ID_B, sent[i]);
        r = file_of(&own, 0, 0);
        ok(says(&r, &asking) == 0, "%zu digits match a code id",
           strlen(sent[i]));

        own = ref;
        own.code_id = (sym_code_id_t){ 0 };
        r = file_of(&own, 0, 0);
        ok(own.debug_id.form == SYM_DEBUG_ID_NONE || says(&r, &asking) == 0,
           "and a debug id, if they form one");
    }

    {
        /* UUID and age 1, then more digits */
        sym_object_ref_t ref = ref_of("a.so", NULL, UUID_A "00000001abcd");
        sym_path_record_t r = file_of(&file, 0, 0);
        sym_asking_t asking = ask(&ref, SYM_KIND_SYMCACHE);
        sym_object_ref_t other = ref_of(NULL, ID_B, UUID_A "00000001");

        ref.is_either = true;
        r = file_of(&other, 0, 0);
        ok(says(&r, &asking) == SYM_MODULE_MALFORMED,
           "a longer code id does not match its prefix");
    }
}


static void
test_ids(void)
{
    sym_object_ref_t a = ref_of("a.so", ID_A, BUILD_A);
    sym_object_ref_t wrong = ref_of("a.so", ID_A, "ffffffff" BUILD_A);
    sym_object_ref_t only = ref_of(NULL, NULL, BUILD_A);
    sym_object_ref_t any = ref_of("a.pdb", UUID_A "ffffffff", NULL);
    sym_path_record_t file = file_of(&a, SYMCACHE, 0);
    sym_asking_t asking = ask(&wrong, SYM_KIND_PPDB);

    ok(says(&file, &asking) == SYM_MODULE_MALFORMED,
       "a file with another code id does not match");
    asking.ref = &a;
    ok(says(&file, &asking) == 0,
       "but a reference with the right one finds it there");
    asking.ref = &only;
    ok(says(&file, &asking) == 0, "as does one with only the code id");
    asking.ref = &any;
    ok(says(&file, &asking) == 0, "ffffffff is any age");

    asking.ref = &a;
    file.n_ids = 0;
    ok(says(&file, &asking) == 0, "a file without ids contradicts none");
}


static void
test_fat(void)
{
    sym_object_ref_t a = ref_of("App", ID_A, NULL);
    sym_object_ref_t b = ref_of("App", ID_B, NULL);
    sym_object_ref_t c = ref_of("App", UUID_A "2", NULL);
    sym_path_record_t fat = file_of(&a, SYMCACHE, SYMCACHE);
    sym_asking_t asking = ask(&a, SYM_KIND_SYMCACHE);

    fat.ids[fat.n_ids++] = sym_store_id_debug(&b.debug_id);
    asking.has_artifact = true;
    ok(says(&fat, &asking) == SYM_MODULE_READY, "a slice that was stored");
    asking.has_artifact = false;
    asking.ref = &b;
    ok(says(&fat, &asking) == 0, "another slice of a fat file is open");
    asking.ref = &c;
    ok(says(&fat, &asking) == SYM_MODULE_MALFORMED, "other files are not");
}


/* --- kinds and readers --- */

static void
test_kinds(void)
{
    sym_object_ref_t a = ref_of("a.pdb", ID_A, NULL);
    sym_path_record_t file = file_of(&a, PPDB | SOURCES, PPDB);
    sym_asking_t asking = ask(&a, SYM_KIND_SOURCES);

    ok(says(&file, &asking) == SYM_MODULE_ABSENT,
       "a PDB known to have no sources costs no GET");
    asking.now_s = NOW + 3600;
    ok(says(&file, &asking) == 0, "until that expires");
    asking.now_s = NOW + 1;

    asking.kind = SYM_KIND_PPDB;
    ok(says(&file, &asking) == 0,
       "a kind that was found is open if its artifact is gone");
    asking.has_artifact = true;
    asking.now_s = NOW + 100000;
    ok(says(&file, &asking) == SYM_MODULE_READY, "and never while it is there");
    asking.has_artifact = false;
    asking.now_s = NOW + 1;

    asking.kind = SYM_KIND_SYMCACHE;
    ok(says(&file, &asking) == 0, "a kind that was not tried is open");

    asking.kind = SYM_KIND_SOURCES;
    asking.reader++;
    ok(says(&file, &asking) == 0, "another reader may get a kind from it");

    file.outcome = SYM_PATH_MALFORMED;
    ok(says(&file, &asking) == 0, "or read a file that was malformed");
    asking.reader--;
    file.tried = 0;
    ok(says(&file, &asking) == SYM_MODULE_MALFORMED, "the same one does not");
    file.tried = PPDB;
    ok(says(&file, &asking) == 0, "unless the text was read in another role");
    file.tried |= SOURCES;
    ok(says(&file, &asking) == SYM_MODULE_MALFORMED, "and not in both");
    file.outcome = SYM_PATH_ABSENT;
    asking.reader++;
    ok(says(&file, &asking) == SYM_MODULE_ABSENT,
       "an absent file is absent for any reader");
}


static void
test_wrong_module(void)
{
    sym_object_ref_t a = ref_of("a.pdb", ID_A, NULL);
    sym_object_ref_t b = ref_of("a.pdb", ID_B, NULL);
    sym_path_record_t file = file_of(&b, SYMCACHE, SYMCACHE);
    sym_asking_t asking = ask(&a, SYM_KIND_SYMCACHE);
    sym_settled_t all = settle(&file, 1, &asking);

    ok(all.open == 0 && all.state == SYM_MODULE_MALFORMED,
       "a wrong module at the path: malformed for this reference");
    asking = ask(&b, SYM_KIND_SYMCACHE);
    asking.has_artifact = true;
    all = settle(&file, 1, &asking);
    ok(all.open == 0 && all.state == SYM_MODULE_READY,
       "still found for its own");
}


/* --- all places --- */

static void
test_spellings(void)
{
    sym_object_ref_t a = ref_of("a.so", ID_A, NULL);
    sym_path_record_t r[2] = { { 0 } };
    sym_asking_t asking = ask(&a, SYM_KIND_SYMCACHE);

    ok(settle(r, 2, &asking).open == 3, "nothing is known: both are tried");
    r[0] = path_of(SYM_PATH_ABSENT, 3600);
    ok(settle(r, 2, &asking).open == 2,
       "one spelling absent: the other is still open");
    r[1] = r[0];
    r[0].outcome = 0;
    ok(settle(r, 2, &asking).open == 1, "and vice versa");
    r[0] = r[1];
    ok(settle(r, 2, &asking).state == SYM_MODULE_ABSENT, "both: absent");
}


static void
test_settled(void)
{
    sym_object_ref_t a = ref_of("a.so", ID_A, NULL);
    sym_path_record_t r[6];
    sym_asking_t asking = ask(&a, SYM_KIND_SYMCACHE);
    sym_settled_t all;

    all = settle(r, 0, &asking);
    ok(all.state == SYM_MODULE_ABSENT && all.open == 0 && all.until == 0,
       "an empty plan is absent");

    for (unsigned i = 0; i < 6; i++) {
        r[i] = path_of(SYM_PATH_ABSENT, 86400);
    }
    r[2] = path_of(SYM_PATH_MALFORMED, 7200);
    all = settle(r, 6, &asking);
    ok(all.state == SYM_MODULE_MALFORMED && all.place == 2
           && all.until == NOW + 7200,
       "malformed before absent, until the first expires");

    r[4] = path_of(SYM_PATH_FAILED, 60);
    all = settle(r, 6, &asking);
    ok(all.state == SYM_MODULE_FAILED && all.place == 4
           && all.until == NOW + 60,
       "503 at one path, 404 at others: failed");
    asking.now_s = NOW + 60;
    all = settle(r, 6, &asking);
    ok(all.open == 1 << 4 && all.state == 0,
       "after that only this path is tried");

    r[1] = path_of(SYM_PATH_FAILED, 75);
    ok(settle(r, 6, &asking).open == (1 << 4 | 1 << 1),
       "with one that has less than a quarter of its time left");
    asking.now_s = NOW + 59;
    ok(settle(r, 6, &asking).open == 0, "but not for itself");

    asking.now_s = NOW - 10;
    ok(settle(r, 6, &asking).open == 0x3f,
       "records of the future: the clock was set back");
}


static void
test_deadline(void)
{
    sym_object_ref_t a = ref_of("a.so", ID_A, NULL);
    sym_path_record_t r[6];
    sym_asking_t asking = ask(&a, SYM_KIND_SYMCACHE);

    for (unsigned i = 0; i < 6; i++) {
        r[i] = i < 2 ? path_of(SYM_PATH_ABSENT, 3600)
                     : path_of(SYM_PATH_FAILED, 30);
    }
    ok(settle(r, 6, &asking).state == SYM_MODULE_FAILED,
       "a deadline after 2 of 6 paths: no search until the others expire");
    asking.now_s = NOW + 30;
    ok(settle(r, 6, &asking).open == 0x3c, "then these four");
}


static void
test_poor(void)
{
    sym_object_ref_t a = ref_of("a.so", ID_A, NULL);
    sym_path_record_t r[2] = { file_of(&a, SYMCACHE, SYMCACHE),
                               path_of(SYM_PATH_ABSENT, 60) };
    sym_asking_t asking = ask(&a, SYM_KIND_SYMCACHE);

    asking.has_artifact = asking.is_poor = true;
    asking.now_s = NOW + 3599;
    ok(settle(r, 2, &asking).open == 0,
       "with a poor artifact other paths are tried hourly");
    asking.now_s = NOW + 3600;
    ok(settle(r, 2, &asking).open == 2, "but not the path that it came from");
    r[1] = path_of(SYM_PATH_ABSENT, 86400);
    ok(settle(r, 2, &asking).open == 0,
       "or when they expire, if that is later");
}


static void
test_index(void)
{
    sym_object_ref_t a = ref_of("a.pdb", ID_A, NULL);
    sym_path_record_t r = path_of(SYM_PATH_ABSENT, 300);
    sym_asking_t asking = ask(&a, SYM_KIND_SYMCACHE);

    r.word = SYM_STR("unlisted");
    ok(settle(&r, 1, &asking).state == SYM_MODULE_ABSENT,
       "a path that the index does not list costs no GET");
    asking.now_s = NOW + 300;
    ok(settle(&r, 1, &asking).open == 1, "until the index is read again");
}


int
main(void)
{
    test_either();
    test_ids();
    test_fat();
    test_kinds();
    test_wrong_module();
    test_spellings();
    test_settled();
    test_deadline();
    test_poor();
    test_index();
    return done_testing();
}
