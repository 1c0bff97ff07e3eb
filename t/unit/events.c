/*
 * Events posted by S3 and compatible servers name the files that came or went:
 * each server's own form, key encoding, one record or very many.  Other events
 * are counted, not refused.  The texts follow the examples in the Amazon S3 User
 * Guide and the documents of Ceph and MinIO.
 */
#include <stdlib.h>

#include "sources/events/s3_events.h"
#include "tap.h"

#define ID "44E4EC8C2F41492B9369D6B9A059577C2"
#define ID_LOWER "44e4ec8c2f41492b9369d6b9a059577c2"

#define RECORD(event, bucket, key)                                             \
    "{\"eventVersion\":\"2.1\",\"eventSource\":\"aws:s3\","                    \
    "\"awsRegion\":\"us-west-2\",\"eventTime\":\"1970-01-01T00:00:00.000Z\","  \
    "\"eventName\":\"" event "\",\"s3\":{\"s3SchemaVersion\":\"1.0\","         \
    "\"bucket\":{\"name\":\"" bucket                                           \
    "\",\"arn\":\"arn:aws:s3:::b\"},\"object\":{\"key\":\"" key                \
    "\",\"size\":1024,\"sequencer\":\"0055AED6DCD90281E5\"}}}"
#define RECORDS(list) "{\"Records\":[" list "]}"

static sym_arena_t arena;
static sym_s3_events_t found;
static sym_error_t err;

static sym_status_t
read_text(sym_str_t text)
{
    sym_arena_drop(&arena);
    err = (sym_error_t){ 0 };
    return sym_s3_events_read(&arena, text, &found, &err);
}


static void
reads(const char *text, size_t n_keys, const char *name)
{
    is_status(read_text(sym_cstr(text)), SYM_OK, &err, name);
    is_u64(found.n_keys, n_keys, "... so many keys");
}


static void
is_key(size_t i, const char *key)
{
    is_str(i < found.n_keys ? found.keys[i] : SYM_STR("none"), key,
           "...... key");
}


static void
counts(size_t n_records, size_t n_ignored)
{
    is_u64(found.n_records, n_records, "... records");
    is_u64(found.n_ignored, n_ignored, "... ignored");
}


static void
test_records(void)
{
    reads(RECORDS(RECORD("ObjectCreated:Put", "symbols",
                         "v1/xul.pdb/" ID_LOWER "/xul.sym")),
          1, "S3, one record");
    is_key(0, "v1/xul.pdb/" ID_LOWER "/xul.sym");
    counts(1, 0);

    reads(
        RECORDS(
            RECORD("ObjectRemoved:Delete", "a",
                   "libxul.so/" ID "/libxul.so.sym") ","            //
            RECORD("ObjectCreated:Copy", "b", "red+flower.jpg") "," //
            RECORD(
                "ObjectTagging:Put", "c",
                "xul.pdb/" ID
                "/xul.sym") "," RECORD("ObjectCreated:CompleteMultipartUpload",
                                       "d",
                                       "Google+Chrome.pdb/" ID
                                       "/Google+Chrome.sym")),
        5, "a batch");
    is_key(0, "libxul.so/" ID "/libxul.so.sym");
    is_key(1, "red flower.jpg");
    is_key(2, "red+flower.jpg");
    is_key(3, "Google Chrome.pdb/" ID "/Google Chrome.sym");
    is_key(4, "Google+Chrome.pdb/" ID "/Google+Chrome.sym");
    counts(4, 1);

    reads(RECORDS(""), 0, "no records");
    counts(0, 0);
    reads("{\"Records\":1,\"Records\":[],\"Records\":[]}", 0,
          "repeated members: the last one counts");
}


/* Bytes of module names, as each server encodes them. */
static void
test_key_of(size_t n, size_t n_keys)
{
    static char key[1100], text[1200];

    memset(key, '+', n);
    key[n] = '\0';
    (void) snprintf(text, sizeof(text),
                    "{\"detail-type\":\"Object Created\",\"detail\":"
                    "{\"object\":{\"key\":\"%s\"}}}",
                    key);
    reads(text, n_keys, "a key");
    counts(1, 1 - n_keys);
}


static void
test_length(void)
{
    test_key_of(1024, 1);
    test_key_of(1025, 0);
    test_key_of(0, 0);
}


static void
test_keys(void)
{
    reads(RECORDS(RECORD("ObjectCreated:Put", "s",
                         "libstdc%2B%2B.so.6/" ID "/libstdc%2B%2B.so.6.sym")),
          1, "S3: %2B is a plus");
    is_key(0, "libstdc++.so.6/" ID "/libstdc++.so.6.sym");

    reads(RECORDS(RECORD("ObjectCreated:Put", "s",
                         "a%7eb%40%7Bc%7d%3Cd%3E/" ID
                         "/a%7eb%40%7Bc%7d%3Cd%3E.sym")),
          1, "S3: hex digits in both cases");
    is_key(0, "a~b@{c}<d>/" ID "/a~b@{c}<d>.sym");

    reads("{\"EventName\":\"s3:ObjectCreated:Put\",\"Key\":\"symbols/x\","
          "\"Records\":[" RECORD("s3:ObjectCreated:Put", "symbols",
                                 "v1%2Fa+b%2B.so%2F" ID
                                 "%2Fa+b%2B.so.sym") "]}",
          2, "MinIO: slashes are encoded, event names begin with s3:");
    is_key(0, "v1/a b+.so/" ID "/a b+.so.sym");

    reads(RECORDS(RECORD("ObjectCreated:Put", "s",
                         "libstdc++.so.6/" ID "/libstdc++.so.6.sym")),
          2, "Ceph, s3rver: a + may be literal");
    is_key(0, "libstdc  .so.6/" ID "/libstdc  .so.6.sym");
    is_key(1, "libstdc++.so.6/" ID "/libstdc++.so.6.sym");
    counts(1, 0);

    reads(RECORDS(
              RECORD("ObjectCreated:Put", "s", "100% a+b/" ID "/100% a+b.sym")),
          1, "Ceph, s3rver: invalid encodings are literal");
    is_key(0, "100% a+b/" ID "/100% a+b.sym");
    reads(RECORDS(RECORD("ObjectCreated:Put", "s", "a%4")), 1, "... cut short");
    is_key(0, "a%4");
    reads(RECORDS(RECORD("ObjectCreated:Put", "s", "%")), 1, "... shorter");

    reads(
        RECORDS(RECORD("ObjectCreated:Put", "s",
                       "%2e%2E/" ID "/...sym") ","                           //
                RECORD("ObjectCreated:Put", "s", "a%00/" ID "/a%00.sym") "," //
                RECORD("ObjectCreated:Put", "s",
                       "a\\u0000/" ID "/a\\u0000.sym") "," //
                RECORD("ObjectCreated:Put", "", "")),
        3, "keys of other files");
    is_key(0, "../" ID "/...sym");
    is_u64(found.keys[1].len, 2 + 1 + 33 + 1 + 6, "... with a NUL");
    counts(4, 1);
    test_length();
}


static void
test_kind(const char *event, size_t n)
{
    char text[600];

    (void) snprintf(text, sizeof(text),
                    "{\"Records\":[{\"eventName\":\"%s\",\"s3\":{\"object\":"
                    "{\"key\":\"k\"}}}]}",
                    event);
    reads(text, n, event);
    counts(1, 1 - n);
    if (n == 1) {
        is_key(0, "k");
    }
}


static void
test_kinds(void)
{
    test_kind("ObjectCreated:Put", 1);
    test_kind("ObjectCreated:Post", 1);
    test_kind("s3:ObjectCreated:Copy", 1);
    test_kind("ObjectCreated", 1);
    test_kind("ObjectRemoved:Delete", 1);
    test_kind("s3:ObjectRemoved:DeleteMarkerCreated", 1);
    test_kind("LifecycleExpiration:Delete", 1);
    test_kind("ObjectLifecycle:Expiration:Current", 1);

    test_kind("ObjectAccessed:Get", 0);
    test_kind("ObjectLifecycle:Transition:Current", 0);
    test_kind("ObjectCreate", 0);
    test_kind("ObjectCreatedX:Put", 0);
    test_kind("s3:", 0);
    test_kind("", 0);

    reads("{\"Records\":[{\"eventName\":\"ObjectAcl:Put\"}]}", 0,
          "ignored records may be incomplete");
    counts(1, 1);
}


static void
test_test_event(void)
{
    reads("{\"Service\":\"Amazon S3\",\"Event\":\"s3:TestEvent\","
          "\"Time\":\"2014-10-13T15:57:02.089Z\",\"Bucket\":\"b\","
          "\"RequestId\":\"5582815E1AEA5ADF\",\"HostId\":\"8cLeGAmw098X\"}",
          0, "S3's test event");
    counts(1, 1);
}


#define SNS(type, message)                                                     \
    "{\"Type\":\"" type                                                        \
    "\",\"MessageId\":\"22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324\","               \
    "\"TopicArn\":\"arn:aws:sns:us-west-2:123456789012:MyTopic\","             \
    "\"Subject\":\"Amazon S3 Notification\",\"Message\":" message "}"

static void
test_sns(void)
{
    reads(
        SNS("Notification",
            "\"{\\\"Records\\\":[{\\\"eventName\\\":\\\"ObjectCreated:Put\\\","
            "\\\"s3\\\":{\\\"bucket\\\":{\\\"name\\\":\\\"b\\\"},\\\"object"
            "\\\":{\\\"key\\\":\\\"a%2Bb/" ID "/a%2Bb.sym\\\"}}}]}\""),
        1, "SNS: records");
    is_key(0, "a+b/" ID "/a+b.sym");
    counts(1, 0);

    reads(SNS("Notification", "\"{\\\"Event\\\":\\\"s3:TestEvent\\\"}\""), 0,
          "SNS: a test event");
    counts(1, 1);

    reads(SNS("Notification",
              "\"{\\\"detail-type\\\":\\\"Object Deleted\\\",\\\"detail\\\":{"
              "\\\"bucket\\\":{\\\"name\\\":\\\"b\\\"},\\\"object\\\":{"
              "\\\"key\\\":\\\"k\\\"}}}\""),
          1, "SNS: from EventBridge");
    is_key(0, "k");
}


#define EVENTBRIDGE(type, key)                                                 \
    "{\"version\":\"0\",\"id\":\"17793124-05d4-b198-2fde-7ededc63b103\","      \
    "\"detail-type\":\"" type                                                  \
    "\",\"source\":\"aws.s3\",\"account\":\"111122223333\","                   \
    "\"detail\":{\"version\":\"0\",\"bucket\":{\"name\":\"b1\"},"              \
    "\"object\":{\"key\":\"" key                                               \
    "\",\"size\":5,\"etag\":\"b1946ac92492d2347c6235b4d2611184\"},"            \
    "\"reason\":\"PutObject\"}}"

static void
test_eventbridge(void)
{
    reads(EVENTBRIDGE("Object Created", "a+b%2B c/" ID "/a+b%2B c.sym"), 1,
          "EventBridge: keys are not encoded");
    is_key(0, "a+b%2B c/" ID "/a+b%2B c.sym");
    counts(1, 0);

    reads(EVENTBRIDGE("Object Deleted", "k"), 1, "EventBridge: deleted");
    is_key(0, "k");
    counts(1, 0);

    reads(EVENTBRIDGE("Object Tags Added", "k"), 0, "EventBridge: others");
    counts(1, 1);
}


/* A text of n records, none of interest. */
static char *
many(size_t n, size_t *len)
{
    static const char head[] = "{\"Records\":[";
    static const char record[] = "{\"eventName\":\"x\"},";
    char *text = malloc(sizeof(head) + n * sizeof(record) + 3), *p;

    if (text == NULL) {
        abort();
    }

    p = stpcpy(text, head);
    for (size_t i = 0; i < n; i++) {
        p = stpcpy(p, record);
    }
    if (n > 0) {
        p--; /* the comma */
    }
    p = stpcpy(p, "]}");
    *len = (size_t) (p - text);
    return text;
}


static void
test_limit(void)
{
    size_t len;
    char *text = many(100000, &len);

    is_status(read_text(sym_str(text, len)), SYM_OK, &err, "100,000 records");
    counts(100000, 100000);
    free(text);

    text = many(100001, &len);
    is_status(read_text(sym_str(text, len)), SYM_LIMIT, &err, "one more");
    counts(0, 0);
    free(text);
}


/* The array grows, and exceeding the arena's limit is reported. */
static void
test_memory(void)
{
    static char text[200000];
    size_t len = (size_t) snprintf(text, sizeof(text), "{\"Records\":[");
    bool right = true;

    for (unsigned i = 0; i < 1000; i++) {
        len += (size_t) snprintf(
            text + len, sizeof(text) - len,
            "%s{\"eventName\":\"ObjectCreated:Put\",\"s3\":{\"bucket\":"
            "{\"name\":\"b\"},\"object\":{\"key\":\"%u.so/" ID
            "/%u.so.sym\"}}}",
            i == 0 ? "" : ",", i, i);
    }
    len += (size_t) snprintf(text + len, sizeof(text) - len, "]}");

    is_status(read_text(sym_str(text, len)), SYM_OK, &err, "1,000 records");
    is_u64(found.n_keys, 1000, "... so many keys");
    for (unsigned i = 0; i < found.n_keys; i++) {
        char key[80];

        (void) snprintf(key, sizeof(key), "%u.so/" ID "/%u.so.sym", i, i);
        right = right && sym_str_eq(found.keys[i], sym_cstr(key));
    }
    ok(right, "... each its own");

    sym_arena_drop(&arena);
    sym_arena_init(&arena, 50000);
    is_status(read_text(sym_str(text, len)), SYM_NOMEM, &err,
              "... but not in 50,000 bytes");
    counts(0, 0);
    is_u64(found.n_keys, 0, "... nothing comes out");
    sym_arena_drop(&arena);
    sym_arena_init(&arena, 0);
}


static void
test_text(void)
{
    is_status(read_text(sym_str(NULL, 0)), SYM_MALFORMED, &err, "no text");
    ok(found.keys == NULL && found.n_keys == 0, "... nothing comes out");

    err = (sym_error_t){ .status = SYM_IO, .what = "before" };
    is_status(sym_s3_events_read(&arena, SYM_STR(RECORDS("")), &found, &err),
              SYM_IO, &err, "an earlier error is kept");
}


int
main(void)
{
    sym_arena_init(&arena, 0);
    test_records();
    test_keys();
    test_kinds();
    test_test_event();
    test_sns();
    test_eventbridge();
    test_limit();
    test_memory();
    test_text();
    sym_arena_drop(&arena);
    return done_testing();
}
