/*
 * References: how decoders read a client's name and id, which files match, and
 * the digests of searches.  Digests were calculated by Python's hashlib from
 * the layout in object_ref.c.
 */
#include "base/digits.h"
#include "object/ref_key.h"
#include "tap.h"

#define UUID "3249D99D0C4049318610F4E4FB0B6936"
#define UUID_LOWER "3249d99d0c4049318610f4e4fb0b6936"
#define BUILD_ID "f1c3bcc0279865fe3058404b2831d9e64135386c"

static sym_object_ref_t
object(const char *debug_id, const char *code_id)
{
    sym_object_ref_t o = { .type = SYM_OBJECT_ELF };

    (void) sym_debug_id_read_sentry(sym_cstr(debug_id), &o.debug_id);
    (void) sym_code_id_read(sym_cstr(code_id), &o.code_id);
    return o;
}


static sym_file_ids_t
file(const char *debug_id, const char *code_id)
{
    sym_object_ref_t o = object(debug_id, code_id);

    return (sym_file_ids_t){ o.debug_id, o.code_id };
}


/* --- which files match --- */

static void
test_matching(void)
{
    static const char debug_id[] = "c0bcc3f1-9827-fe65-3058-404b2831d9e6";
    static const char older[] = "c0bcc3f1-9827-fe65-3058-404b2831d9e6-1";
    static const char any[] = "c0bcc3f1-9827-fe65-3058-404b2831d9e6-ffffffff";
    static const char pdb20[] = "c0bcc3f1-2", pdb20_any[] = "c0bcc3f1-ffffffff";
    static const struct {
        const char *ref[2], *file[2];
        bool is_match, is_match_of_either;
        const char *what;
    } tests[] = {
        { { debug_id, BUILD_ID }, { debug_id, BUILD_ID }, 1, 1, "both ids" },
        { { debug_id, "" }, { debug_id, BUILD_ID }, 1, 1, "the debug id" },
        { { debug_id, BUILD_ID }, { "", BUILD_ID }, 1, 1, "the code id" },
        { { debug_id, "" }, { "", BUILD_ID }, 0, 0, "no id in common" },
        { { older, BUILD_ID }, { debug_id, BUILD_ID }, 0, 1, "another age" },
        { { debug_id, "00" }, { debug_id, BUILD_ID }, 0, 1, "another code id" },
        { { older, "00" }, { debug_id, BUILD_ID }, 0, 0, "nothing" },
        { { any, "" }, { older, "" }, 1, 1, "any age" },
        { { older, "" }, { any, "" }, 1, 1, "any age of the file" },
        { { pdb20, "" }, { pdb20_any, "" }, 0, 0, "any age of PDB 2.0" },
        { { "", "" }, { "", "" }, 0, 0, "no ids" },
    };

    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        sym_object_ref_t ref = object(tests[i].ref[0], tests[i].ref[1]);
        sym_file_ids_t ids = file(tests[i].file[0], tests[i].file[1]);

        ok(sym_object_ref_matches(&ref, &ids) == tests[i].is_match, "%s",
           tests[i].what);
        ref.is_either = true;
        ok(sym_object_ref_matches(&ref, &ids) == tests[i].is_match_of_either,
           "... of either kind");
    }
}


/* --- names and ids as decoders read them --- */

typedef struct {
    const char *name, *id;
    const char *debug_id, *code_id, *sent; /* debug id in Breakpad's form */
    const char *key;
} named_t;

static void
test_mozilla(void)
{
    static const named_t tests[] = {
        { "a.pdb", UUID "1", UUID "1", "", "", UUID "1" },
        { "a.pdb", UUID_LOWER "01", UUID "1", "", UUID_LOWER "01", UUID "1" },
        { "a.so", UUID_LOWER, UUID "0", UUID_LOWER, UUID_LOWER, UUID "0" },
        { "a.exe", "5D94A2C1A000", "5D94A2C1A000", "5d94a2c1a000", "",
          "5D94A2C1A000" },
        { "a.pdb", "5D94A2C1A000", "5D94A2C1A000", "", "", "5D94A2C1A000" },
        { "a", "0011223344556677", "0011223344556677", "0011223344556677", "",
          "0011223344556677" },
        { "a.so", BUILD_ID, "F1C3BCC0279865FE3058404B2831D9E64135386C",
          BUILD_ID, BUILD_ID, "F1C3BCC0279865FE3058404B2831D9E64135386C" },
        { "a.so", BUILD_ID "00", "", BUILD_ID "00", BUILD_ID "00",
          "F1C3BCC0279865FE3058404B2831D9E64135386C" },
        { "a.so", BUILD_ID "0", "F1C3BCC0279865FE3058404B2831D9E64135386C", "",
          BUILD_ID "0", "F1C3BCC0279865FE3058404B2831D9E64135386C" },
        { "a.so", "xyz", "", "", "", "" },
        { "a/b.so", UUID "0", "", "", "", "" },
        { "", UUID "0", "", "", "", "" },
    };

    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        const named_t *t = &tests[i];
        char text[SYM_ID_TEXT_MAX];
        sym_object_ref_t ref;
        sym_ref_key_t key;

        sym_object_ref_mozilla(&ref, sym_cstr(t->name), sym_cstr(t->id));
        is_str(sym_str(text, sym_debug_id_write_breakpad(&ref.debug_id, text)),
               t->debug_id, t->id);
        is_str(sym_str(ref.code_id.text, ref.code_id.len), t->code_id,
               "... code id");
        is_str(ref.sent, t->sent, "... as sent");
        ok(ref.is_either && ref.type == SYM_OBJECT_UNKNOWN, "... of any type");
        ok(sym_ref_key(&ref, &key) == (t->key[0] != '\0'), "... has a key");
        is_str(key.key.id, t->key, "... the id in the store");
        if (t->key[0] != '\0') {
            is_str(key.key.name, t->name, "... the name");
            is_str(key.sent, t->id, "... the id for paths");
        }
    }
}


static void
test_named(void)
{
    char text[SYM_ID_TEXT_MAX], room[4];
    const sym_str_t id = SYM_STR(UUID "0");
    sym_object_ref_t ref, copy;
    sym_ref_key_t key;

    sym_object_ref_named(&ref, SYM_STR("a.so"), SYM_STR(UUID_LOWER));
    ok(ref.code_id.len == 0, "a name and a debug id have no code id");
    is_str(sym_object_ref_sent(&ref, text), UUID_LOWER, "as sent");
    sym_object_ref_named(&ref, SYM_STR("a.so"), id);
    is_str(sym_object_ref_sent(&ref, text), UUID "0",
           "the id as sent, and canonical");

    ok(sym_ref_key(&ref, &key) && key.key.id.data == id.data,
       "the key of a canonical id is a view of it");
    is_str(key.key.name, "a.so", "... with its name");
    sym_object_ref_copy(&copy, &ref, room);
    ok(sym_ref_key(&copy, &key) && key.key.id.data == key.id,
       "a copy writes the key from its bytes");
    is_str(key.key.id, UUID "0", "... the same text");
}


/* --- digests --- */

static void
is_digest(const sym_object_ref_t *ref, const char *want, const char *name)
{
    uint8_t digest[SYM_REF_DIGEST_BYTES];
    char text[2 * SYM_REF_DIGEST_BYTES];

    ok(sym_object_ref_digest(ref, digest), "a digest");
    is_str(sym_str(text, sym_digits_write_lower(digest, sizeof(digest), text)),
           want, name);
}


static void
test_digests(void)
{
    static char checksum[SYM_REF_CHECKSUM_MAX + 1], url[3000];
    sym_object_ref_t pe = object("3249d99d-0c40-4931-8610-f4e4fb0b6936-1",
                                 "5ab380779000"),
                     same, moz,
                     text = { .url = SYM_STR("https://a/b.js#c"),
                              .release = SYM_STR("1.2"),
                              .dist = SYM_STR("x") };

    memset(checksum, 'c', sizeof(checksum));
    memset(url, 'h', sizeof(url));
    pe.type = SYM_OBJECT_PE;
    pe.debug_file = SYM_STR("C:\\a\\crash.pdb");
    pe.code_file = SYM_STR("/b/crash.exe");
    pe.checksum = sym_str(checksum, SYM_REF_CHECKSUM_MAX);
    is_digest(&pe, "5a610d37a1f3f74f1ba3bdd6ac17247f", "a PE file");
    same = pe;
    same.debug_file = SYM_STR("D:\\crash.pdb");
    ok(sym_object_ref_hash(&pe) == sym_object_ref_hash(&same),
       "only the last component of a path counts");
    same.code_id.len--;
    ok(sym_object_ref_hash(&pe) != sym_object_ref_hash(&same), "a code id");
    same = pe;
    same.checksum.len++;
    pe.checksum.len = 0;
    ok(sym_object_ref_hash(&pe) == sym_object_ref_hash(&same),
       "a checksum that is too long is not sent");

    sym_object_ref_mozilla(&moz, SYM_STR("a.so"), SYM_STR(UUID_LOWER));
    is_digest(&moz, "2ec6014393d0e0a8d213c56f65e0c8d7", "Mozilla's");

    is_digest(&text, "465b9226748e130d72f5d44761ce8c52",
              "a URL, without its fragment");
    text = (sym_object_ref_t){ .url = sym_str(url, sizeof(url)) };
    is_digest(&text, "fa3dc23b0c91d034e18dd4a7ccba2478", "a long URL");
}


int
main(void)
{
    test_matching();
    test_mozilla();
    test_named();
    test_digests();
    return done_testing();
}
