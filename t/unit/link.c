/*
 * Messages between workers and the loader, compared with bytes written by hand
 * from the tables of docs/formats/loader-protocol.md.  Invalid messages:
 * t/bad/link.
 */
#include "protocol/message.h"

#include <stdlib.h>

#include "bad_cases.h"

#define ID "00112233445566778899AABBCCDDEEFF1"

/* SL, type, ticket 7 */
#define HEAD(type) "SL" type "\x00"
#define TICKET "\x07\x00\x00\x00"
/* an empty scope, libfoo.so, the 33 digits of ID */
#define KEY "\x00\x00\x09\x00libfoo.so\x21\x00" ID
#define TTL "\x10\x0e\x00\x00\x80\x51\x01\x00\x0a\x00\x00\x00"
#define U64_4096 "\x00\x10\x00\x00\x00\x00\x00\x00"
#define U64_1 "\x01\x00\x00\x00\x00\x00\x00\x00"

/* flags 1, kind 2; files 7, the layout debuginfod, ids in upper case, paths in lower
 * case; the source "s" */
#define OBJECT                                                                 \
    "\x01\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00\x02\x01\x01\x01\x00s"
/* ELF, a debug id, a code id, names, a checksum */
#define REF                                                                    \
    "\x01\x01\x00\x01"                                                         \
    "\x03\x15\x00\x01"                                                         \
    "0123456789abcdef"                                                         \
    "\x00\x00\x00\x02"                                                         \
    "\x04\x04\x00"                                                             \
    "0a1b"                                                                     \
    "\x06\x01\x00"                                                             \
    "a"                                                                        \
    "\x07\x02\x00"                                                             \
    "b1"                                                                       \
    "\x09\x01\x00"                                                             \
    "c"
#define URL_REF "\x0a\x02\x00u:\x0b\x01\x00r\x0c\x01\x00x"

/* place 2: a file; HTTP status 200, 5 ms, 4096 bytes */
#define PLACE_2                                                                \
    "\x02\x01\xc8\x00\x05\x00\x00\x00" U64_4096 "\x00\x00\x00\x00\x00"
/* place 63: failed, "timeout", "why", "u" */
#define PLACE_63                                                               \
    "\x3f\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07\x03" \
    "\x00\x01"                                                                 \
    "\x00timeoutwhyu"

static const sym_rpc_ttl_t ttl = { 3600, 86400, 10 };

static sym_module_key_t
key(void)
{
    return (sym_module_key_t){ .scope = SYM_STR(""),
                               .name = SYM_STR("libfoo.so"),
                               .id = SYM_STR(ID) };
}


static sym_rpc_message_t
ensure(const sym_object_ref_t *ref)
{
    return (sym_rpc_message_t){
        .type = SYM_RPC_ENSURE,
        .ticket = 7,
        .flags = SYM_RPC_ALL_PLACES,
        .kind = 2,
        .key.scope = SYM_STR("s"),
        .rules = { .layout = SYM_LAYOUT_DEBUGINFOD,
                   .files = 7,
                   .ids = SYM_SOURCE_IDS_UPPER,
                   .casing = SYM_SOURCE_CASING_LOWER },
        .ref = *ref,
    };
}


static bool
is_same_ref(const sym_object_ref_t *a, const sym_object_ref_t *b)
{
    char one[SYM_REF_BYTES_MAX], other[SYM_REF_BYTES_MAX];

    return sym_str_eq(sym_str(one, sym_object_ref_write(a, one)),
                      sym_str(other, sym_object_ref_write(b, other)));
}


static bool
is_same(const sym_rpc_message_t *a, const sym_rpc_message_t *b)
{
    return a->type == b->type && a->ticket == b->ticket
           && a->version == b->version && a->kind == b->kind
           && a->flags == b->flags && a->state == b->state
           && a->ttl.absent == b->ttl.absent
           && a->ttl.malformed == b->ttl.malformed
           && a->ttl.failed == b->ttl.failed && a->offset == b->offset
           && a->length == b->length && sym_str_eq(a->key.scope, b->key.scope)
           && sym_str_eq(a->key.name, b->key.name)
           && sym_str_eq(a->key.id, b->key.id)
           && sym_str_eq(a->key.code_id, b->key.code_id)
           && sym_str_eq(a->outcomes, b->outcomes)
           && a->rules.layout == b->rules.layout
           && a->rules.files == b->rules.files && a->rules.ids == b->rules.ids
           && a->rules.casing == b->rules.casing
           && is_same_ref(&a->ref, &b->ref) && sym_str_eq(a->text, b->text)
           && sym_str_eq(a->source, b->source);
}


static void
both_ways(const sym_rpc_message_t *m, sym_str_t bytes)
{
    char name[32];
    uint8_t out[SYM_RPC_MAX];
    size_t len = sym_rpc_write(m, out);
    sym_rpc_message_t got;
    sym_error_t err = { 0 };

    (void) snprintf(name, sizeof(name), "message %d", m->type);
    ok(len == bytes.len && memcmp(out, bytes.data, len) == 0, "%s is written",
       name);
    is_status(sym_rpc_read((const uint8_t *) bytes.data, bytes.len, &got, &err),
              SYM_OK, &err, name);
    ok(is_same(m, &got), "... and read");

    /* a message is complete or refused, except that some fields are optional */
    for (size_t n = 0; n < bytes.len; n++) {
        sym_error_t cut = { 0 };

        if (m->kind != 0 && m->key.code_id.len == 0 && n == bytes.len - 4
            && m->type != SYM_RPC_ENSURE && m->type != SYM_RPC_FETCH)
        {
            continue;
        }

        if (m->key.code_id.len != 0
            && (n == bytes.len - 2 - m->key.code_id.len
                || n == bytes.len - 6 - m->key.code_id.len))
        {
            continue;
        }

        if (sym_rpc_read((const uint8_t *) bytes.data, n, &got, &cut) == SYM_OK)
        {
            ok(false, "%s cut after %zu bytes is refused", name, n);
        }
    }
}


static void
test_ensure(void)
{
    sym_object_ref_t ref = { .type = SYM_OBJECT_ELF,
                             .debug_id = { SYM_DEBUG_ID_UUID, { 0 }, 2 },
                             .code_id = { 4, "0a1b" },
                             .debug_file = SYM_STR("/lib/a"),
                             .code_file = SYM_STR("C:\\b1"),
                             .checksum = SYM_STR("c") };
    sym_rpc_message_t m;

    memcpy(ref.debug_id.signature, "0123456789abcdef", SYM_UUID_BYTES);
    m = ensure(&ref);
    both_ways(&m, SYM_STR(HEAD("\x02") TICKET OBJECT "\x30\x00" REF));

    ref = (sym_object_ref_t){ .url = SYM_STR("u:#f"),
                              .release = SYM_STR("r"),
                              .dist = SYM_STR("x") };
    m = ensure(&ref);
    both_ways(&m, SYM_STR(HEAD("\x02") TICKET OBJECT "\x0d\x00" URL_REF));
}


static void
test_outcomes(void)
{
    static const char reason[SYM_REASON_MAX];
    static const sym_place_outcome_t file = { .place = 2,
                                              .outcome = SYM_PATH_READ,
                                              .status = 200,
                                              .ms = 5,
                                              .bytes = 4096 };
    sym_place_outcome_t failed = { .place = 63,
                                   .outcome = SYM_PATH_FAILED,
                                   .word = SYM_STR("timeout"),
                                   .reason = SYM_STR("why"),
                                   .url = SYM_STR("u") },
                        got;
    char text[SYM_OUTCOMES_MAX];
    size_t len = 0;
    sym_str_t rest;
    unsigned n = 0;

    sym_outcomes_add(&file, text, &len);
    sym_outcomes_add(&failed, text, &len);
    ok(sym_str_eq(sym_str(text, len), SYM_STR(PLACE_2 PLACE_63)),
       "outcomes are written");

    rest = sym_str(text, len);
    ok(sym_outcomes_next(&rest, &got) && got.place == 2 && got.status == 200
           && got.ms == 5 && got.bytes == 4096 && got.outcome == SYM_PATH_READ,
       "... and read");
    ok(sym_outcomes_next(&rest, &got) && got.place == 63
           && got.outcome == SYM_PATH_FAILED,
       "... one after the other");
    is_str(got.word, "timeout", "... a word");
    is_str(got.reason, "why", "... a reason");
    is_str(got.url, "u", "... a URL");
    ok(!sym_outcomes_next(&rest, &got), "... up to the last");

    failed.reason = sym_str(reason, sizeof(reason));
    for (len = 0; n < SYM_PLAN_MAX; n++) {
        failed.place = (uint8_t) n;
        sym_outcomes_add(&failed, text, &len);
    }

    rest = sym_str(text, len);
    while (sym_outcomes_next(&rest, &got)) {
        n--;
    }
    ok(rest.len == 0 && n == 0,
       "reasons that do not fit are dropped, outcomes are not");
}


static void
test_blocked(void)
{
    static const char *const others[] = {
        "timeout",       "blocked/",        "blocked/1",
        "blocked/1/500", "blocked/x/500/1", "blocked/1/500/x",
    };
    sym_place_blocked_t b;

    ok(sym_place_blocked(SYM_STR("blocked/3600000/timeout/12"), &b)
           && b.block_ms == 3600000 && b.ms == 12,
       "the word of a blocked host");
    is_str(b.outcome, "timeout", "... and of the failure that blocked it");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        ok(!sym_place_blocked(sym_cstr(others[i]), &b), "not such a word: %s",
           others[i]);
    }
}


static void
test_client(void)
{
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_HELLO, .version = 1 },
              SYM_STR(HEAD("\x01") "\x01\x00\x00\x00"));
    test_ensure();
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_CANCEL, .ticket = 7 },
              SYM_STR(HEAD("\x03") TICKET));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_ABANDON,
                                    .ticket = 7,
                                    .flags = SYM_RPC_ADOPTED },
              SYM_STR(HEAD("\x0e") TICKET "\x01\x00\x00\x00"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_RECLAIM, .ticket = 7 },
              SYM_STR(HEAD("\x4b") TICKET));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_FOR_PEER, .ticket = 7 },
              SYM_STR(HEAD("\x14") TICKET));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_INGEST,
                                    .ticket = 7,
                                    .flags = SYM_RPC_SHARED,
                                    .ttl = ttl,
                                    .offset = 1,
                                    .length = 4096,
                                    .source = SYM_STR("u:"),
                                    .outcomes = SYM_STR(PLACE_2),
                                    .reference = SYM_STR("m") },
              SYM_STR(HEAD("\x04") TICKET "\x01\x00\x00\x00" TTL U64_1 U64_4096
                                          "\x02\x00u:\x15\x00" PLACE_2
                                          "\x01\x00m"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_NONE,
                                    .ticket = 7,
                                    .state = SYM_MODULE_ABSENT,
                                    .ttl = ttl,
                                    .text = SYM_STR("no"),
                                    .outcomes = SYM_STR(PLACE_63) },
              SYM_STR(HEAD("\x05") TICKET "\x02\x00\x00\x00" TTL
                                          "\x02\x00no\x20\x00" PLACE_63));
    both_ways(
        &(sym_rpc_message_t){
            .type = SYM_RPC_MORE, .ticket = 7, .length = 4096, .places = 4096 },
        SYM_STR(HEAD("\x06") TICKET U64_4096 U64_4096));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_INVALIDATE,
                                    .ticket = 7,
                                    .key = key() },
              SYM_STR(HEAD("\x07") TICKET KEY));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_INVALIDATE,
                                    .ticket = 7,
                                    .key = { .id = SYM_STR(ID) } },
              SYM_STR(HEAD("\x07") TICKET "\x00\x00\x00\x00\x21\x00" ID));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_INVALIDATE,
                                    .ticket = 7,
                                    .key = { .code_id = SYM_STR("abcd") } },
              SYM_STR(HEAD("\x07") TICKET "\x00\x00\x00\x00\x00\x00"
                                          "\x00\x00\x00\x00\x04\x00"
                                          "abcd"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_CHANGED,
                                    .ticket = 7,
                                    .key = { .scope = SYM_STR("s") },
                                    .source = SYM_STR("a/b") },
              SYM_STR(HEAD("\x0a") TICKET "\x01\x00s\x03\x00"
                                          "a/b"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_STAT, .ticket = 7 },
              SYM_STR(HEAD("\x08") TICKET));
    both_ways(
        &(sym_rpc_message_t){
            .type = SYM_RPC_UPLOAD,
            .ticket = 7,
            .flags = SYM_RPC_FORM,
            .length = 4096,
            .limit = 1,
            .text = SYM_STR("a/b"),
            .source = SYM_STR("me"),
            .rules = { .layout = SYM_LAYOUT_NATIVE, .files = 3 },
            .key = { .scope = SYM_STR("s") } },
        SYM_STR(HEAD("\x0f") TICKET
                "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" U64_4096
                "\x01\x00\x00\x00\x00\x00\x00\x00\x03\x00"
                "a/b\x02\x00me\x03\x00\x00\x00\x01\x00\x00\x01\x00s"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_ASSEMBLE,
                                    .ticket = 7,
                                    .flags = SYM_RPC_SCRIPTS,
                                    .limit = 4096,
                                    .text = SYM_STR("1-2"),
                                    .source = SYM_STR("a"),
                                    .key = { .scope = SYM_STR("s") },
                                    .chunks = SYM_STR("01234567890123456789") },
              SYM_STR(HEAD("\x10") TICKET
                      "\x80\x00\x00\x00" U64_4096 "\x03\x00"
                      "1-2\x01\x00"
                      "a\x00\x00\x00\x00\x00\x00\x00\x01\x00s\x14\x00"
                      "01234567890123456789"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_MAKE,
                                    .ticket = 7,
                                    .length = 4096,
                                    .limit = 1,
                                    .kind = SYM_MAKE_SECTION,
                                    .text = SYM_STR("a/b"),
                                    .source = SYM_STR("me") },
              SYM_STR(HEAD("\x11") TICKET
                      "\x00\x00\x00\x00\x00\x00\x00\x00" U64_4096
                      "\x01\x00\x00\x00\x00\x00\x00\x00\x03\x00"
                      "a/b\x02\x00me\x01\x00\x00\x00"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_REPLY,
                                    .ticket = 7,
                                    .flags = SYM_RPC_DID,
                                    .length = 4096,
                                    .text = SYM_STR("no"),
                                    .source = SYM_STR("e") },
              SYM_STR(HEAD("\x12") TICKET "\x01\x00\x00\x00" U64_4096
                                          "\x02\x00no\x01\x00"
                                          "e"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_OBJECT,
                                    .ticket = 7,
                                    .length = 4096,
                                    .limit = 1,
                                    .kind = SYM_RPC_OBJECT_PART,
                                    .key = { .scope = SYM_STR("s") },
                                    .text = SYM_STR("a/b"),
                                    .source = SYM_STR("id"),
                                    .reference = SYM_STR("digest") },
              SYM_STR(HEAD("\x4c") TICKET
                      "\x00\x00\x00\x00\x00\x00\x00\x00" U64_4096
                      "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00s\x03\x00"
                      "a/b\x02\x00id\x06\x00"
                      "digest\x05\x00\x00\x00"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_DEPOSIT,
                                    .ticket = 7,
                                    .flags = SYM_RPC_FORCE,
                                    .offset = 1,
                                    .length = 4096,
                                    .text = SYM_STR("~/f"),
                                    .source = SYM_STR("/f") },
              SYM_STR(HEAD("\x09") TICKET "\x01\x00\x00\x00" U64_1 U64_4096
                                          "\x03\x00~/f\x02\x00/f"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_GIVEN,
                                    .ticket = 7,
                                    .flags = SYM_RPC_THERE | SYM_RPC_BY_ID,
                                    .length = 4096 },
              SYM_STR(HEAD("\x0b") TICKET
                      "\x03\x00\x00\x00"
                      "\x00\x00\x00\x00\x00\x00\x00\x00" U64_4096));
}


static void
test_companion(void)
{
    const sym_rpc_message_t m = { .type = SYM_RPC_FETCH,
                                  .ticket = 7,
                                  .length = 4096,
                                  .places = 4096,
                                  .kind = SYM_RPC_UUID_MAP,
                                  .ref = { .type = SYM_OBJECT_MACHO } };
    const sym_str_t no_role =
        SYM_STR(HEAD("\x43") TICKET "\x00\x00\x00\x00" U64_4096 U64_4096
                                    "\x00\x00\x00\x00\x04\x00\x01\x01\x00\x02");
    sym_rpc_message_t got;
    sym_error_t err = { 0 };

    both_ways(&m, SYM_STR(HEAD("\x43") TICKET
                          "\x00\x00\x00\x00" U64_4096 U64_4096
                          "\x04\x00\x00\x00\x04\x00\x01\x01\x00\x02"));
    ok(sym_rpc_read((const uint8_t *) no_role.data, no_role.len, &got, &err)
           == SYM_MALFORMED,
       "a reference without a role");
}


static void
test_loader(void)
{
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_WELCOME, .version = 1 },
              SYM_STR(HEAD("\x40") "\x01\x00\x00\x00"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_READY,
                                    .ticket = 7,
                                    .flags = SYM_RPC_POOR },
              SYM_STR(HEAD("\x41") TICKET "\x01\x00\x00\x00"));
    both_ways(
        &(sym_rpc_message_t){ .type = SYM_RPC_NEGATIVE,
                              .ticket = 7,
                              .state = SYM_MODULE_MALFORMED,
                              .ttl = ttl,
                              .text = SYM_STR("why") },
        SYM_STR(HEAD("\x42") TICKET "\x04\x00\x00\x00" TTL "\x03\x00why"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_FETCH,
                                    .ticket = 7,
                                    .flags = SYM_RPC_UNUSABLE,
                                    .length = 4096,
                                    .places = 4096 },
              SYM_STR(HEAD("\x43") TICKET "\x01\x00\x00\x00" U64_4096 U64_4096
                                          "\x00\x00\x00\x00\x00\x00"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_DONE,
                                    .ticket = 7,
                                    .flags = SYM_RPC_DID,
                                    .key = key(),
                                    .text = SYM_STR("ok") },
              SYM_STR(HEAD("\x44") TICKET "\x01\x00\x00\x00" KEY "\x02\x00ok"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_DONE,
                                    .ticket = 7,
                                    .flags = SYM_RPC_DID,
                                    .key = key(),
                                    .kind = 2,
                                    .text = SYM_STR("ok") },
              SYM_STR(HEAD("\x44") TICKET "\x01\x00\x00\x00" KEY
                                          "\x02\x00ok\x02\x00\x00\x00"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_DONE,
                                    .ticket = 7,
                                    .text = SYM_STR("no") },
              SYM_STR(HEAD("\x44") TICKET "\x00\x00\x00\x00\x00\x00\x00\x00"
                                          "\x00\x00\x02\x00no"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_STATS,
                                    .ticket = 7,
                                    .text = SYM_STR("a 1\n") },
              SYM_STR(HEAD("\x45") TICKET "\x04\x00"
                                          "a 1\n"));
    both_ways(
        &(sym_rpc_message_t){ .type = SYM_RPC_REFUSED, .text = SYM_STR("no") },
        SYM_STR(HEAD("\x46") "\x02\x00no"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_WANT,
                                    .ticket = 7,
                                    .want = { .kind = 2,
                                              .attempt = 1,
                                              .name = SYM_STR("a.dwo"),
                                              .dir = SYM_STR("/d"),
                                              .id = SYM_STR("\x00\xff") } },
              SYM_STR(HEAD("\x47") TICKET "\x02\x00\x00\x00\x01\x00\x00\x00"
                                          "\x05\x00"
                                          "a.dwo\x02\x00/d\x02\x00\x00\xff"));
    both_ways(&(sym_rpc_message_t){ .type = SYM_RPC_NOTE,
                                    .ticket = 7,
                                    .text = SYM_STR("why") },
              SYM_STR(HEAD("\x48") TICKET "\x03\x00why"));
    test_companion();
}


/* A packet has room for any texts, because they are cut. */
static void
test_largest(void)
{
    static const char long_text[UINT16_MAX + 1];
    const sym_str_t text = { long_text, sizeof(long_text) };
    sym_rpc_message_t m = { .state = SYM_MODULE_FAILED,
                            .text = text,
                            .source = text,
                            .outcomes = text,
                            .want = { 0, 0, text, text, text } };
    size_t most = 0;

    for (unsigned type = SYM_RPC_HELLO; type <= SYM_RPC_OBJECT; type++) {
        uint8_t out[SYM_RPC_MAX];
        size_t len;

        m.type = (sym_rpc_type_t) type;
        len = sym_rpc_write(&m, out);
        most = len > most ? len : most;
    }

    ok(most > 4096 && most <= SYM_RPC_MAX, "texts that are too long are cut");
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    /* at the end of its block: valgrind and ASan see a read one byte past it */
    uint8_t *bytes = malloc(in.len + (in.len == 0));
    sym_rpc_message_t m;
    sym_error_t err = { 0 };
    char text[256];

    if (bytes == NULL) {
        abort();
    }

    memcpy(bytes, in.data == NULL ? "" : in.data, in.len);
    ok(sym_rpc_read(bytes, in.len, &m, &err) != SYM_OK, "%s is refused", name);
    is_str(want, sym_error_text(&err, text, sizeof(text)), "... with the text");
    free(bytes);
}


/* A peer of another version must be refused because of its version, whatever
 * follows it. */
static void
test_other_version(void)
{
    sym_str_t in = SYM_STR(HEAD("\x01") "\x03\x00\x00\x00\x51\x00\x00\x00");
    sym_rpc_message_t m;
    sym_error_t err = { 0 };

    is_status(sym_rpc_read((const uint8_t *) in.data, in.len, &m, &err), SYM_OK,
              &err, "HELLO of another version");
    is_u64(m.version, 3, "... says which");
}


int
main(void)
{
    test_other_version();
    test_client();
    test_outcomes();
    test_blocked();
    test_loader();
    test_largest();
    bad_cases("t/bad/link", 58, test_case);
    return done_testing();
}
