/*
 * json.c - profiles of OTLP as JSON: fields of the same kinds as those of protobuf,
 * and entries of tables as protobuf's messages.
 *
 * A tree of a large profile would take more memory and time than a worker has, so the
 * text is read token by token.  Fields follow each other without a gap: a copy of all
 * of them is the request.
 *
 * Source: "JSON Protobuf Encoding" of opentelemetry.io/docs/specs/otlp, and protobuf's
 * page "ProtoJSON Format".  Keys are in lowerCamelCase; a number may be a string; null
 * is the default value.
 */
#include "api/profile/profile.h"

#include <stdlib.h>

#include "base/hex.h"
#include "json/raw.h"

/* About the most bytes of a field that is only copied. */
#define REST_MAX 4096

/* A longer attribute is no id. */
#define ATTRIBUTE_MAX 1024

/* Most bytes in protobuf of each byte in JSON: a negative number in a list has 3 bytes,
 * and 11 in protobuf. */
#define GROWTH ((size_t) 4)

/* Integers up to this one are exact as a double. */
#define EXACT_MAX 9007199254740992.0

/* Longest number with a point or exponent that is read. */
#define REAL_MAX 32

/* The length of a message inside another, written before it is known. */
#define LENGTH_BYTES 3

/* --- entries as messages of protobuf --- */

typedef enum { NUMBER, NUMBERS, TEXT, MESSAGE, MESSAGES } type_t;

typedef struct member_s {
    const char *name; /* NULL ends the list */
    uint8_t number;
    type_t type;
    const struct member_s *message;
} member_t;

/* clang-format off */
static const member_t line[] = {
    { "functionIndex", 1, NUMBER, NULL },
    { NULL, 0, NUMBER, NULL }
};
static const member_t location[] = {
    { "mappingIndex", 1, NUMBER, NULL },
    { "address", 2, NUMBER, NULL },
    { "lines", 3, MESSAGES, line },
    { NULL, 0, NUMBER, NULL }
};
static const member_t mapping[] = {
    { "memoryStart", 1, NUMBER, NULL },
    { "memoryLimit", 2, NUMBER, NULL },
    { "fileOffset", 3, NUMBER, NULL },
    { "filenameStrindex", 4, NUMBER, NULL },
    { "attributeIndices", 5, NUMBERS, NULL },
    { NULL, 0, NUMBER, NULL }
};
static const member_t function[] = {
    { "nameStrindex", 1, NUMBER, NULL },
    { "systemNameStrindex", 2, NUMBER, NULL },
    { "filenameStrindex", 3, NUMBER, NULL },
    { NULL, 0, NUMBER, NULL }
};
static const member_t value[] = {
    { "stringValue", 1, TEXT, NULL },
    { "stringValueStrindex", 8, NUMBER, NULL },
    { NULL, 0, NUMBER, NULL }
};
static const member_t attribute[] = {
    { "keyStrindex", 1, NUMBER, NULL },
    { "key", 1, TEXT, NULL }, /* OTLP before 1.8 */
    { "value", 2, MESSAGE, value },
    { NULL, 0, NUMBER, NULL }
};
/* clang-format on */

static const member_t *const messages[] = {
    [PROFILE_MAPPING] = mapping,
    [PROFILE_LOCATION] = location,
    [PROFILE_FUNCTION] = function,
    [PROFILE_ATTRIBUTE] = attribute,
};

typedef struct {
    sym_json_tokens_t tokens;
    sym_error_t *err;
    uint8_t *p, *end; /* where the message is written */
} encoder_t;

static bool encode_object(encoder_t *e, const member_t *members);


static bool
fail_at(encoder_t *e, const sym_json_token_t *token, const char *what)
{
    e->err->offset = (uint64_t) (token->text.data - e->tokens.start);
    (void) sym_fail(e->err, SYM_MALFORMED, what);
    return false;
}


static bool
next_token(encoder_t *e, sym_json_token_t *token)
{
    return sym_json_token(&e->tokens, token, e->err);
}


static bool
is_open(const sym_json_token_t *token, char c)
{
    return token->type == SYM_JSON_OPEN && *token->text.data == c;
}


static bool
is_null(const sym_json_token_t *token)
{
    return token->type == SYM_JSON_WORD && *token->text.data == 'n';
}


/* A number with a point or exponent, if it is an integer. */
static bool
read_real(sym_str_t text, uint64_t *number)
{
    char copy[REAL_MAX + 1], *end;
    double real;

    if (text.len == 0 || text.len > REAL_MAX) {
        return false;
    }

    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    if (strspn(copy, "0123456789+-.eE") != text.len) {
        return false;
    }

    real = strtod(copy, &end);
    if (*end != '\0' || real < -EXACT_MAX || real > EXACT_MAX
        || real != (double) (int64_t) real)
    {
        return false;
    }

    *number = (uint64_t) (int64_t) real;
    return true;
}


/* An integer of 64 bits, with or without a sign. */
static bool
read_integer(sym_str_t text, uint64_t *number)
{
    const bool is_negative = text.len != 0 && *text.data == '-';
    const sym_str_t digits =
        sym_str(text.data + is_negative, text.len - is_negative);

    if (!sym_dec_read(digits, number)) {
        return read_real(text, number);
    }

    *number = is_negative ? 0 - *number : *number;
    return true;
}


static bool
has_room(encoder_t *e, const sym_json_token_t *token, size_t len)
{
    return (size_t) (e->end - e->p) >= len
           || fail_at(e, token, "an entry is too long");
}


static bool
encode_number(encoder_t *e, uint8_t number, const sym_json_token_t *token)
{
    uint64_t v;

    if (is_null(token)) {
        return true;
    }

    if ((token->type != SYM_JSON_NUMBER && token->type != SYM_JSON_STRING)
        || token->has_escapes || !read_integer(token->text, &v))
    {
        return fail_at(e, token, "a value is no integer");
    }

    if (!has_room(e, token, 1 + SYM_PB_VARINT_MAX)) {
        return false;
    }

    *e->p++ = (uint8_t) (number << 3 | SYM_PB_VARINT);
    e->p = sym_uleb_write(e->p, v);
    return true;
}


/* Begins a field of bytes; end_bytes() writes its length. */
static uint8_t *
begin_bytes(encoder_t *e, uint8_t number)
{
    *e->p = (uint8_t) (number << 3 | SYM_PB_BYTES);
    e->p += 1 + LENGTH_BYTES;
    return e->p;
}


/* A varint may be longer than it must be. */
static void
end_bytes(const encoder_t *e, uint8_t *start)
{
    const size_t len = (size_t) (e->p - start);

    start[-3] = (uint8_t) (0x80 | len);
    start[-2] = (uint8_t) (0x80 | len >> 7);
    start[-1] = (uint8_t) (len >> 14);
}


static bool
encode_text(encoder_t *e, uint8_t number, const sym_json_token_t *token)
{
    const sym_raw_string_t string = { token->text, token->has_escapes };
    sym_arena_t arena;
    uint8_t *start;
    sym_str_t text;

    if (is_null(token)) {
        return true;
    }

    if (token->type != SYM_JSON_STRING) {
        return fail_at(e, token, "a value is no string");
    }

    if (!has_room(e, token, 1 + LENGTH_BYTES + token->text.len)) {
        return false;
    }

    sym_arena_init(&arena, 0);
    text = sym_raw_decode(&arena, &string);
    start = begin_bytes(e, number);
    if (text.data != NULL) {
        memcpy(e->p, text.data, text.len);
        e->p += text.len;
    }

    end_bytes(e, start);
    sym_arena_drop(&arena);
    return true;
}


static bool
encode_message(encoder_t *e, const member_t *m, const sym_json_token_t *token)
{
    uint8_t *start;

    if (!is_open(token, '{')) {
        return fail_at(e, token, "a value is no object");
    }

    if (!has_room(e, token, 1 + LENGTH_BYTES)) {
        return false;
    }

    start = begin_bytes(e, m->number);
    if (!encode_object(e, m->message)) {
        return false;
    }

    end_bytes(e, start);
    return true;
}


/* The items of a list. */
static bool
encode_list(encoder_t *e, const member_t *m, const sym_json_token_t *list)
{
    sym_json_token_t token;

    if (is_null(list)) {
        return true;
    }

    if (!is_open(list, '[')) {
        return fail_at(e, list, "a value is no list");
    }

    while (next_token(e, &token)) {
        if (token.type == SYM_JSON_CLOSE) {
            return true;
        }

        if (is_null(&token)) {
            return fail_at(e, &token, "a list has null");
        }

        if (!(m->type == NUMBERS ? encode_number(e, m->number, &token)
                                 : encode_message(e, m, &token)))
        {
            return false;
        }
    }

    return false;
}


static bool
encode_member(encoder_t *e, const member_t *m)
{
    sym_json_token_t token;

    if (!next_token(e, &token)) {
        return false;
    }

    switch (m->type) {
    case NUMBER:
        return encode_number(e, m->number, &token);
    case TEXT:
        return encode_text(e, m->number, &token);
    case MESSAGE:
        return is_null(&token) || encode_message(e, m, &token);
    default:
        return encode_list(e, m, &token);
    }
}


static const member_t *
find_member(const member_t *m, const sym_json_token_t *key)
{
    while (m->name != NULL && !sym_json_is(key, m->name)) {
        m++;
    }

    return m->name != NULL ? m : NULL;
}


/* The known members of an object, after its brace.  Recursion is limited by the
 * lists of members. */
static bool
encode_object(encoder_t *e, const member_t *members)
{
    sym_json_token_t token;

    while (next_token(e, &token)) {
        const member_t *m;

        if (token.type == SYM_JSON_CLOSE) {
            return true;
        }

        if (token.type == SYM_JSON_PART) {
            continue; /* of a key */
        }

        m = find_member(members, &token);
        if (m != NULL ? !encode_member(e, m)
                      : !sym_json_skip(&e->tokens, e->err)) {
            return false;
        }
    }

    return false;
}


/* The entry at `at`, of at most `len` bytes, as a message that is valid until the next
 * one; an attribute and the mapping that has it are valid together.  Data NULL: *err. */
static sym_str_t
encode(const profile_t *p, profile_kind_t kind, size_t at, size_t len,
       sym_error_t *err)
{
    uint8_t *start = p->scratch;
    encoder_t e = { .tokens =
                        sym_json_tokens(sym_str(p->base.body.data + at, len)),
                    .err = err };
    sym_json_token_t token;

    if (kind == PROFILE_ATTRIBUTE) {
        start += p->scratch_size;
        e.end = start + GROWTH * ATTRIBUTE_MAX;
    } else {
        e.end = start + p->scratch_size;
    }

    e.p = start;

    e.tokens.start = p->base.body.data; /* errors count from there */
    return next_token(&e, &token) && encode_object(&e, messages[kind])
               ? sym_str((const char *) start, (size_t) (e.p - start))
               : sym_str(NULL, 0);
}


sym_str_t
profile_json_bytes(const profile_t *p, profile_kind_t kind, uint32_t at)
{
    const size_t left = p->base.body.len - at;
    const size_t most =
        kind == PROFILE_ATTRIBUTE ? ATTRIBUTE_MAX : PROFILE_MESSAGE_MAX;
    sym_error_t err = { 0 };
    const sym_str_t bytes =
        encode(p, kind, at, left < most ? left : most, &err);

    /* all of the body is JSON: what ends too early is too long */
    return err.status == SYM_TRUNCATED ? SYM_STR("") : bytes;
}


sym_str_t
profile_json_string(const profile_t *p, uint32_t at, size_t most)
{
    const char *start = p->base.body.data + at;
    const size_t left = p->base.body.len - at;
    const size_t len = 6 * most + 2; /* "\u0041" */
    sym_raw_string_t string;
    sym_str_t text = SYM_STR("");

    if (sym_raw_string(start, start + (left < len ? left : len), &string)
        != NULL) {
        text = sym_raw_decode(p->base.arena, &string);
    }

    return text.data != NULL ? text : SYM_STR("");
}


bool
profile_json_init(profile_t *p)
{
    const size_t len = p->base.body.len;

    p->is_json = true;
    p->form = &profile_otlp;
    p->base.answer_type = PROFILE_JSON_TYPE;

    p->scratch_size =
        GROWTH * (len < PROFILE_MESSAGE_MAX ? len : PROFILE_MESSAGE_MAX);
    p->scratch = sym_arena_alloc(p->base.arena,
                                 p->scratch_size + GROWTH * ATTRIBUTE_MAX);
    return p->scratch != NULL;
}


/* --- fields --- */

static uint8_t
table_number(const sym_json_token_t *key)
{
    static const struct {
        const char *name;
        uint8_t number;
    } tables[] = {
        { "mappingTable", 1 }, { "locationTable", 2 },  { "functionTable", 3 },
        { "stringTable", 5 },  { "attributeTable", 6 },
    };

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        if (sym_json_is(key, tables[i].name)) {
            return tables[i].number;
        }
    }

    return 0;
}


typedef struct {
    const profile_t *p;
    profile_json_t *at;
    profile_field_t *field;
    sym_error_t *err;
} reader_t;

static bool
refuse(const reader_t *r, const sym_json_token_t *token, sym_status_t status,
       const char *what)
{
    r->err->offset = (uint64_t) (token->text.data - r->at->tokens.start);
    (void) sym_fail(r->err, status, what);
    return false;
}


static uint32_t
offset(const reader_t *r, const sym_json_token_t *token)
{
    return (uint32_t) (token->text.data - r->at->tokens.start);
}


/* Where the range of a table is kept that is written at the end; NULL: it stays where
 * it is. */
static profile_range_t *
moved(const reader_t *r)
{
    return r->at->table == profile_otlp.function ? &r->at->functions
           : r->at->table == profile_otlp.string ? &r->at->strings
                                                 : NULL;
}


/* A token of a table, outside of its entries. */
static void
hide(const reader_t *r)
{
    r->field->kind = moved(r) != NULL ? PROFILE_HIDDEN : PROFILE_REST;
}


static bool
begin_table(const reader_t *r, const sym_json_token_t *token)
{
    profile_range_t *range = moved(r);

    hide(r);
    if (is_null(token)) {
        r->at->table = 0;
        return true;
    }

    if (!is_open(token, '[')) {
        return refuse(r, token, SYM_MALFORMED, "a table is no list");
    }

    r->at->is_in_table = true;
    if (range != NULL) {
        *range =
            (profile_range_t){ offset(r, token) + 1, offset(r, token) + 1 };
    }

    return true;
}


static void
end_table(const reader_t *r, const sym_json_token_t *token)
{
    profile_range_t *range = moved(r);

    hide(r);
    if (range != NULL) {
        range->to = offset(r, token);
    }

    r->at->table = 0;
    r->at->is_in_table = false;
}


/* A string may have several tokens. */
static bool
read_string(const reader_t *r, const sym_json_token_t *token)
{
    if (token->type != SYM_JSON_STRING && token->type != SYM_JSON_PART) {
        return refuse(r, token, SYM_MALFORMED, "an entry is no string");
    }

    r->field->kind = r->at->is_in_string ? PROFILE_HIDDEN : PROFILE_STRING;
    r->field->entry = offset(r, token) - 1;
    r->at->is_in_string = token->type == SYM_JSON_PART;
    return true;
}


/* An attribute may be long, and is read only if a mapping has it. */
static bool
read_entry(const reader_t *r, profile_kind_t kind,
           const sym_json_token_t *first)
{
    const unsigned depth = r->at->tokens.depth;
    profile_field_t *field = r->field;
    sym_json_token_t token = *first;

    field->kind = kind;
    field->entry = offset(r, first);
    if (kind == PROFILE_ATTRIBUTE) {
        return true;
    }

    while (r->at->tokens.depth >= depth) {
        if (!sym_json_token(&r->at->tokens, &token, r->err)) {
            return false;
        }

        if (offset(r, &token) - field->entry >= PROFILE_MESSAGE_MAX) {
            return refuse(r, first, SYM_LIMIT, "an entry is too long");
        }
    }

    field->entry_end = offset(r, &token) + 1;
    field->pb.bytes = encode(r->p, kind, field->entry,
                             field->entry_end - field->entry, r->err);
    return field->pb.bytes.data != NULL;
}


static bool
read_table(const reader_t *r, const sym_json_token_t *token)
{
    const unsigned depth = r->at->tokens.depth;
    const profile_kind_t kind =
        (profile_kind_t) profile_otlp.table[r->at->table];

    if (!r->at->is_in_table) {
        return begin_table(r, token);
    }

    if (depth == 2) {
        end_table(r, token);
        return true;
    }

    if (kind == PROFILE_STRING) {
        return read_string(r, token);
    }

    if (is_open(token, '{') && depth == 4) {
        return read_entry(r, kind, token);
    }

    /* the rest of an attribute */
    return depth > 3 || token->type == SYM_JSON_CLOSE
           || refuse(r, token, SYM_MALFORMED, "an entry is no object");
}


/* Notes that a key is there. */
static bool
see(const reader_t *r, const sym_json_token_t *key, unsigned bit)
{
    if ((r->at->seen >> bit & 1) != 0) {
        return refuse(r, key, SYM_MALFORMED, "a key is there twice");
    }

    r->at->seen |= (uint8_t) (1u << bit);
    return true;
}


static bool
begin_dictionary(const reader_t *r, const sym_json_token_t *token)
{
    r->at->is_dictionary = false;
    if (is_null(token)) {
        return true;
    }

    if (!is_open(token, '{')) {
        return refuse(r, token, SYM_MALFORMED, "the dictionary is no object");
    }

    r->at->is_inside = true;
    r->field->kind = PROFILE_DICTIONARY;
    return true;
}


static bool
read_key(const reader_t *r, const sym_json_token_t *key)
{
    if (r->at->is_inside && r->at->tokens.depth == 2) {
        r->at->table = table_number(key);
        hide(r);
        return r->at->table == 0 || see(r, key, r->at->table);
    }

    if (r->at->tokens.depth == 1 && sym_json_is(key, "dictionary")) {
        r->at->is_dictionary = true;
        return see(r, key, 0);
    }

    return true;
}


/* Sets the field's kind. */
static bool
read_token(const reader_t *r, const sym_json_token_t *token)
{
    if (r->at->is_dictionary) {
        return begin_dictionary(r, token);
    }

    if (r->at->table != 0) {
        return read_table(r, token);
    }

    if (token->type == SYM_JSON_KEY) {
        return read_key(r, token);
    }

    if (r->at->is_inside && r->at->tokens.depth == 1) {
        r->at->is_inside = false;
        r->field->kind = PROFILE_END;
    }

    return true;
}


bool
profile_json_next(const profile_t *p, profile_place_t *place,
                  profile_field_t *field, sym_error_t *err)
{
    const size_t start = place->at;
    const reader_t r = { p, &place->json, field, err };

    *field = (profile_field_t){ .kind = PROFILE_REST, .at = start };
    if (place->json.tokens.start == NULL) {
        place->json.tokens = sym_json_tokens(p->base.body);
    }

    while (field->kind == PROFILE_REST && place->at - start < REST_MAX) {
        const profile_place_t before = *place;
        sym_json_token_t token;

        if (!sym_json_token(&place->json.tokens, &token, err)) {
            break;
        }

        if (!read_token(&r, &token)) {
            break;
        }

        if (field->kind != PROFILE_REST && before.at != start) {
            field->kind = PROFILE_REST; /* what is before it comes first */
            *place = before;
            break;
        }

        place->at = (size_t) (place->json.tokens.p - place->json.tokens.start);
    }

    field->end = place->at;
    return err->status == SYM_OK && place->at != start;
}
