#include "sources/events/s3_events.h"

#include "base/form.h"
#include "json/load.h"

#define FIRST_KEYS 16u

typedef struct {
    sym_arena_t *arena;
    sym_str_t *keys;
    size_t cap;
    sym_s3_events_t found; /* all but the keys, which grow */
    uint64_t item;         /* current record, from 1 */
    sym_error_t *err;
} reader_t;

static sym_status_t
fail_no_memory(reader_t *r)
{
    return sym_fail(r->err, SYM_NOMEM, "no memory for events");
}


/* part: name of the record's invalid member. */
static sym_status_t
fail_record(reader_t *r, const char *what, const char *part)
{
    if (r->err->status == SYM_OK) {
        r->err->section = part;
        r->err->item = r->item;
    }

    return sym_fail(r->err, SYM_MALFORMED, what);
}


/* Returns a string member; data NULL: missing, or not a string. */
static sym_str_t
member(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_string(value)
               ? sym_str(json_string_value(value), json_string_length(value))
               : sym_str(NULL, 0);
}


/* --- keys --- */

/* Decodes a key to out; S3 writes it as application/x-www-form-urlencoded.
 * False: a wrong encoding. */
static bool
decode_form(sym_str_t key, char *out, size_t *len)
{
    *len = 0;

    for (size_t i = 0; i < key.len;) {
        int byte = sym_form_byte(key, &i);

        if (byte < 0) {
            return false;
        }
        out[(*len)++] = (char) byte;
    }

    return true;
}


static bool
is_key(sym_str_t key)
{
    return key.len != 0 && key.len <= SYM_S3_KEY_MAX;
}


/* Adds a key; it must be in the arena. */
static sym_status_t
add_key(reader_t *r, sym_str_t key)
{
    size_t n = r->found.n_keys, cap = r->cap == 0 ? FIRST_KEYS : r->cap * 2;
    sym_str_t *grown;

    if (n == r->cap) {
        grown = sym_arena_calloc(r->arena, cap, sizeof(*grown));
        if (grown == NULL) {
            return fail_no_memory(r);
        }
        if (n != 0) {
            memcpy(grown, r->keys, n * sizeof(*grown));
        }
        r->keys = grown;
        r->cap = cap;
    }

    r->keys[r->found.n_keys++] = key;
    return SYM_OK;
}


/* Adds each possible reading of a key. */
static sym_status_t
add_readings(reader_t *r, sym_str_t key, bool is_encoded)
{
    char *decoded = sym_arena_alloc(r->arena, key.len + 1);
    bool has_plus = key.len != 0 && memchr(key.data, '+', key.len) != NULL;
    sym_str_t sent = sym_arena_copy(r->arena, key), plain = sent;
    size_t len;

    if (decoded == NULL || sent.data == NULL) {
        return fail_no_memory(r);
    }

    is_encoded = is_encoded && decode_form(key, decoded, &len);
    if (is_encoded) {
        plain = sym_str(decoded, len);
    }

    if (!is_key(plain)) {
        r->found.n_ignored++;
        return SYM_OK;
    }

    if (add_key(r, plain) == SYM_OK && is_encoded && has_plus && is_key(sent)) {
        (void) add_key(r, sent);
    }

    return r->err->status;
}


/* --- records --- */

/* place: the object in the record that contains the member "object". */
static sym_status_t
read_place(reader_t *r, const json_t *place, bool is_encoded)
{
    sym_str_t key = member(json_object_get(place, "object"), "key");

    return key.data == NULL
               ? fail_record(r, "missing, or no text", "object.key")
               : add_readings(r, key, is_encoded);
}


/* S3 omits the prefix "s3:"; MinIO and old releases of Ceph do not. */
static bool
is_change(sym_str_t name)
{
    static const sym_str_t changes[] = {
        { "ObjectCreated", 13 },
        { "ObjectRemoved", 13 },
        { "LifecycleExpiration", 19 },
        { "ObjectLifecycle:Expiration", 26 }, /* Ceph */
    };
    const sym_str_t prefix = SYM_STR("s3:");

    if (sym_str_starts(name, prefix)) {
        name = sym_str(name.data + prefix.len, name.len - prefix.len);
    }

    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        sym_str_t known = changes[i];

        if (sym_str_starts(name, known)
            && (name.len == known.len || name.data[known.len] == ':'))
        {
            return true;
        }
    }

    return false;
}


static sym_status_t
read_record(reader_t *r, const json_t *record)
{
    sym_str_t name = member(record, "eventName");

    if (!json_is_object(record)) {
        return fail_record(r, "a record is not an object", "Records");
    }
    if (name.data == NULL) {
        return fail_record(r, "missing, or no text", "eventName");
    }

    if (!is_change(name)) {
        r->found.n_ignored++;
        return SYM_OK;
    }

    return read_place(r, json_object_get(record, "s3"), true);
}


static sym_status_t
read_records(reader_t *r, const json_t *records)
{
    if (!json_is_array(records)) {
        return sym_fail(r->err, SYM_MALFORMED, "Records is not an array");
    }

    r->found.n_records = json_array_size(records);
    if (r->found.n_records > SYM_S3_EVENTS_MAX) {
        return sym_fail(r->err, SYM_LIMIT, "too many records in one post");
    }

    for (size_t i = 0; i < r->found.n_records; i++) {
        r->item = i + 1;
        if (read_record(r, json_array_get(records, i)) != SYM_OK) {
            return r->err->status;
        }
    }

    return SYM_OK;
}


/* Keys in this form are not encoded. */
static sym_status_t
read_eventbridge(reader_t *r, const json_t *root)
{
    sym_str_t type = member(root, "detail-type");

    r->found.n_records = 1;
    r->item = 1;

    if (type.data == NULL) {
        return fail_record(r, "no text", "detail-type");
    }

    if (!sym_str_eq(type, SYM_STR("Object Created"))
        && !sym_str_eq(type, SYM_STR("Object Deleted")))
    {
        r->found.n_ignored++;
        return SYM_OK;
    }

    return read_place(r, json_object_get(root, "detail"), false);
}


/* The test event that S3 sends when notifications are configured. */
static sym_status_t
read_test_event(reader_t *r, const json_t *root)
{
    if (!sym_str_eq(member(root, "Event"), SYM_STR("s3:TestEvent"))) {
        return sym_fail(r->err, SYM_UNSUPPORTED,
                        "neither Records nor an SNS or EventBridge message");
    }

    r->found.n_records = 1;
    r->found.n_ignored = 1;
    return SYM_OK;
}


static sym_status_t
read_form(reader_t *r, const json_t *root)
{
    const json_t *records = json_object_get(root, "Records");

    if (!json_is_object(root)) {
        return sym_fail(r->err, SYM_MALFORMED,
                        "the events are not a JSON object");
    }
    if (records != NULL) {
        return read_records(r, records);
    }
    if (json_object_get(root, "detail-type") != NULL) {
        return read_eventbridge(r, root);
    }

    return read_test_event(r, root);
}


/* --- the text --- */

/* The message of an envelope is a string that contains JSON; that must not be
 * another envelope. */
static sym_status_t
read_sns(reader_t *r, const json_t *envelope, sym_str_t type)
{
    sym_str_t message = member(envelope, "Message");
    sym_json_t json;

    if (sym_str_eq(type, SYM_STR("SubscriptionConfirmation"))) {
        /* the URL is not opened: a stranger could otherwise make this server
         * send requests */
        return sym_fail(r->err, SYM_UNSUPPORTED,
                        "an SNS subscription waits to be confirmed: open its "
                        "SubscribeURL yourself");
    }
    if (!sym_str_eq(type, SYM_STR("Notification"))) {
        return sym_fail(r->err, SYM_UNSUPPORTED,
                        "an SNS message of another Type than Notification");
    }
    if (message.data == NULL) {
        return sym_fail(r->err, SYM_MALFORMED,
                        "an SNS notification without a Message text");
    }

    if (sym_json_load(&json, message, SYM_JSON_TRUSTED_MAX, JSON_ALLOW_NUL,
                      "the SNS notification's Message is not JSON", r->err)
        == SYM_OK)
    {
        (void) read_form(r, json.root);
    }

    sym_json_drop(&json);
    return r->err->status;
}


sym_status_t
sym_s3_events_read(sym_arena_t *arena, sym_str_t text, sym_s3_events_t *out,
                   sym_error_t *err)
{
    reader_t r = { .arena = arena, .err = err };
    sym_str_t type;
    sym_json_t json;

    *out = (sym_s3_events_t){ 0 };

    if (sym_json_load(&json, text, SYM_JSON_TRUSTED_MAX, JSON_ALLOW_NUL,
                      "the events are not JSON", err)
        == SYM_OK)
    {
        type = member(json.root, "Type");
        if (type.data != NULL) {
            (void) read_sns(&r, json.root, type);
        } else {
            (void) read_form(&r, json.root);
        }
    }

    sym_json_drop(&json);

    if (err->status == SYM_OK) {
        *out = r.found;
        out->keys = r.keys;
    }
    return err->status;
}
