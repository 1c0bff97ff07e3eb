#include "protocol/message.h"

#include "base/cursor.h"

/* Fields of a message, in the order in which they are written. */
#define TICKET 0x001u
#define VERSION 0x002u
#define FLAGS 0x004u
#define STATE 0x008u
#define TTL 0x010u
#define OFFSET 0x020u
#define LENGTH 0x040u
#define KEY 0x080u
#define TEXT 0x100u
#define SOURCE 0x200u
#define SCOPE 0x400u /* the source's scope */
#define WANT 0x800u

/* Omitted if 0. */
#define KIND 0x2000u
#define CODE_ID 0x4000u /* object type of the key; follows a kind */

#define OUTCOMES 0x8000u
#define REFERENCE 0x80000u
#define ROLE 0x40000u /* kind and reference of a companion */
#define PLACES 0x20000u
#define OBJECT 0x10000u /* kind, rules, scope and reference */
#define CHUNKS 0x200000u
#define RULES 0x100000u /* rules and scope */
#define LIMIT 0x400000u

/* docs/formats/loader-protocol.md, section 3 */
static const struct {
    sym_rpc_type_t type;
    unsigned fields;
} types[] = {
    { SYM_RPC_HELLO, VERSION },
    { SYM_RPC_ENSURE, TICKET | FLAGS | OBJECT },
    { SYM_RPC_CANCEL, TICKET },
    { SYM_RPC_INGEST,
      TICKET | FLAGS | TTL | OFFSET | LENGTH | SOURCE | OUTCOMES | REFERENCE },
    { SYM_RPC_NONE, TICKET | STATE | TTL | TEXT | OUTCOMES },
    { SYM_RPC_MORE, TICKET | LENGTH | PLACES },
    { SYM_RPC_INVALIDATE, TICKET | KEY | KIND | CODE_ID },
    { SYM_RPC_STAT, TICKET },
    { SYM_RPC_DEPOSIT, TICKET | FLAGS | OFFSET | LENGTH | TEXT | SOURCE },
    { SYM_RPC_CHANGED, TICKET | SCOPE | SOURCE },
    { SYM_RPC_GIVEN, TICKET | FLAGS | OFFSET | LENGTH },
    { SYM_RPC_MISSED,
      FLAGS | OFFSET | LENGTH | KEY | TEXT | SOURCE | KIND | CODE_ID },
    { SYM_RPC_LISTEN, FLAGS | OFFSET | TEXT },
    { SYM_RPC_ABANDON, TICKET | FLAGS },
    { SYM_RPC_UPLOAD,
      TICKET | FLAGS | OFFSET | LENGTH | LIMIT | TEXT | SOURCE | RULES },
    { SYM_RPC_ASSEMBLE,
      TICKET | FLAGS | LIMIT | TEXT | SOURCE | RULES | CHUNKS },
    { SYM_RPC_MAKE, TICKET | OFFSET | LENGTH | LIMIT | TEXT | SOURCE | KIND },
    { SYM_RPC_REPLY, TICKET | FLAGS | LENGTH | TEXT | SOURCE },
    { SYM_RPC_SHARE, TICKET | SOURCE | OBJECT },
    { SYM_RPC_FOR_PEER, TICKET },
    { SYM_RPC_WELCOME, VERSION },
    { SYM_RPC_READY, TICKET | FLAGS },
    { SYM_RPC_NEGATIVE, TICKET | STATE | TTL | TEXT },
    { SYM_RPC_FETCH, TICKET | FLAGS | LENGTH | PLACES | ROLE },
    { SYM_RPC_DONE, TICKET | FLAGS | KEY | TEXT | KIND },
    { SYM_RPC_STATS, TICKET | TEXT },
    { SYM_RPC_REFUSED, TEXT },
    { SYM_RPC_WANT, TICKET | WANT },
    { SYM_RPC_NOTE, TICKET | TEXT },
    { SYM_RPC_ARRIVED, OFFSET | TEXT },
    { SYM_RPC_RECLAIM, TICKET },
    { SYM_RPC_OBJECT, TICKET | OFFSET | LENGTH | LIMIT | SCOPE | TEXT | SOURCE
                          | REFERENCE | KIND },
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

#define CHUNKS_BYTES ((size_t) SYM_RPC_CHUNK_BYTES * (1 + SYM_RPC_CHUNKS_MAX))

/* Every packet begins with these bytes, so other protocols are recognized. */
#define MAGIC 0x4c53u /* "SL" */


static unsigned
fields_of(sym_rpc_type_t type)
{
    for (size_t i = 0; i < N_TYPES; i++) {
        if (types[i].type == type) {
            return types[i].fields;
        }
    }

    return 0;
}


/* --- writing --- */

static uint8_t *
put(uint8_t *p, uint64_t v, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        *p++ = (uint8_t) (v >> (8 * i));
    }

    return p;
}


static uint8_t *
put_text(uint8_t *p, sym_str_t s, size_t max)
{
    size_t len = s.len < max ? s.len : max;

    p = put(p, len, 2);

    if (len != 0) {
        memcpy(p, s.data, len);
    }

    return p + len;
}


static uint8_t *
put_ref(uint8_t *p, const sym_object_ref_t *ref)
{
    size_t len = sym_object_ref_write(ref, (char *) p + 2);

    return put(p, len, 2) + len;
}


static uint8_t *
put_rules(uint8_t *p, const sym_rpc_message_t *m)
{
    p = put(p, m->rules.files, 4);
    p = put(p, m->rules.layout, 1);
    p = put(p, m->rules.ids, 1);
    p = put(p, m->rules.casing, 1);
    return put_text(p, m->key.scope, SYM_SCOPE_MAX);
}


static uint8_t *
put_object(uint8_t *p, const sym_rpc_message_t *m)
{
    p = put_rules(put(p, m->kind, 4), m);
    return put_ref(p, &m->ref);
}


/* A message with outcomes has a reason, not statistics. */
static size_t
text_max(unsigned fields)
{
    return fields & OUTCOMES ? SYM_RPC_REASON_MAX : SYM_RPC_TEXT_MAX;
}


size_t
sym_rpc_write(const sym_rpc_message_t *m, uint8_t out[SYM_RPC_MAX])
{
    unsigned fields = fields_of(m->type);
    bool has_code_id = (fields & CODE_ID) && m->key.code_id.len != 0;
    uint8_t *p = out;

    p = put(p, MAGIC, 2);
    p = put(p, m->type, 2);

    if (fields & TICKET) {
        p = put(p, m->ticket, 4);
    }

    if (fields & VERSION) {
        p = put(p, m->version, 4);
    }

    if (fields & FLAGS) {
        p = put(p, m->flags, 4);
    }

    if (fields & STATE) {
        p = put(p, m->state, 4);
    }

    if (fields & TTL) {
        p = put(p, m->ttl.absent, 4);
        p = put(p, m->ttl.malformed, 4);
        p = put(p, m->ttl.failed, 4);
    }

    if (fields & OFFSET) {
        p = put(p, m->offset, 8);
    }

    if (fields & LENGTH) {
        p = put(p, m->length, 8);
    }

    if (fields & PLACES) {
        p = put(p, m->places, 8);
    }

    if (fields & LIMIT) {
        p = put(p, m->limit, 8);
    }

    if (fields & KEY) {
        p = put_text(p, m->key.scope, SYM_SCOPE_MAX);
        p = put_text(p, m->key.name, SYM_NAME_MAX);
        p = put_text(p, m->key.id, SYM_ID_MAX);
    }

    if (fields & SCOPE) {
        p = put_text(p, m->key.scope, SYM_SCOPE_MAX);
    }

    if (fields & TEXT) {
        p = put_text(p, m->text, text_max(fields));
    }

    if (fields & SOURCE) {
        p = put_text(p, m->source, SYM_RPC_SOURCE_MAX);
    }

    if (fields & OUTCOMES) {
        p = put_text(p, m->outcomes, SYM_OUTCOMES_MAX);
    }

    if (fields & REFERENCE) {
        p = put_text(p, m->reference, SYM_RPC_REFERENCE_MAX);
    }

    if (fields & OBJECT) {
        p = put_object(p, m);
    }

    if (fields & RULES) {
        p = put_rules(p, m);
    }

    if (fields & CHUNKS) {
        p = put_text(p, m->chunks, CHUNKS_BYTES);
    }

    if (fields & ROLE) {
        p = put(p, m->kind, 4);
        p = put_ref(p, &m->ref);
    }

    if (fields & WANT) {
        p = put(p, m->want.kind, 4);
        p = put(p, m->want.attempt, 4);
        p = put_text(p, m->want.name, SYM_RPC_PATH_MAX);
        p = put_text(p, m->want.dir, SYM_RPC_PATH_MAX);
        p = put_text(p, m->want.id, SYM_BUILD_ID_MAX);
    }

    if ((fields & KIND) && (m->kind != 0 || has_code_id)) {
        p = put(p, m->kind, 4);
    }

    if (has_code_id) {
        p = put_text(p, m->key.code_id, SYM_CODE_ID_MAX);
    }

    return (size_t) (p - out);
}


/* --- reading --- */

static sym_str_t
take_text(sym_cursor_t *c, size_t max)
{
    uint16_t len = sym_u16(c);

    if (len > max) {
        sym_cursor_fail(c, SYM_MALFORMED, "a text is too long");
        return SYM_STR("");
    }

    return sym_bytes(c, len);
}


/* A request to remove all modules with an id has no name. */
static bool
is_name_ok(const sym_rpc_message_t *m)
{
    return sym_module_name_ok(m->key.name)
           || (m->key.name.len == 0
               && (m->type == SYM_RPC_INVALIDATE || m->type == SYM_RPC_DONE));
}


static bool
is_scope_ok(const sym_rpc_message_t *m)
{
    sym_str_t scope = m->key.scope;

    return scope.len == 0 || memchr(scope.data, '\0', scope.len) == NULL;
}


static bool
is_id_ok(const sym_rpc_message_t *m)
{
    char id[SYM_ID_MAX];
    size_t len = sym_debug_id_canonical(m->key.id, id);

    return len != 0 && sym_str_eq(sym_str(id, len), m->key.id);
}


/* A request to remove all modules with a code id has no other id. */
static bool
may_lack_id(const sym_rpc_message_t *m)
{
    return m->type == SYM_RPC_INVALIDATE && m->key.name.len == 0
           && m->key.id.len == 0;
}


/* DONE for a DEPOSIT that failed early has no key: its three parts are
 * empty. */
static void
take_key(sym_cursor_t *c, sym_rpc_message_t *m)
{
    m->key.scope = take_text(c, SYM_SCOPE_MAX);
    m->key.name = take_text(c, SYM_NAME_MAX);
    m->key.id = take_text(c, SYM_ID_MAX);

    if (!sym_ok(c)
        || (m->type == SYM_RPC_DONE && m->key.name.len == 0
            && m->key.id.len == 0))
    {
        return;
    }

    if (!is_name_ok(m) || !is_scope_ok(m) || !(is_id_ok(m) || may_lack_id(m))) {
        sym_cursor_fail(c, SYM_MALFORMED, "not the key of a module");
    }
}


/* The id is canonical, so equal ids are equal strings. */
static void
take_code_id(sym_cursor_t *c, sym_rpc_message_t *m)
{
    sym_code_id_t id;

    m->key.code_id = take_text(c, SYM_CODE_ID_MAX);
    if (sym_ok(c)
        && (!sym_code_id_read(m->key.code_id, &id)
            || !sym_str_eq(sym_str(id.text, id.len), m->key.code_id)))
    {
        sym_cursor_fail(c, SYM_MALFORMED, "not a code id");
    }
}


static void
take_outcomes(sym_cursor_t *c, sym_rpc_message_t *m)
{
    sym_place_outcome_t outcome;
    sym_str_t rest;

    m->outcomes = rest = take_text(c, SYM_OUTCOMES_MAX);
    while (sym_outcomes_next(&rest, &outcome)) {
    }

    if (rest.len != 0) {
        sym_cursor_fail(c, SYM_MALFORMED, "not outcomes of places");
    }
}


static void
take_ref(sym_cursor_t *c, sym_rpc_message_t *m)
{
    if (!sym_object_ref_read(take_text(c, SYM_REF_BYTES_MAX), &m->ref)
        && sym_ok(c)) {
        sym_cursor_fail(c, SYM_MALFORMED, "not a reference");
    }
}


static void
take_scope(sym_cursor_t *c, sym_rpc_message_t *m)
{
    m->key.scope = take_text(c, SYM_SCOPE_MAX);

    if (sym_ok(c)
        && (!is_scope_ok(m)
            || sym_str_eq(m->key.scope, SYM_STR(SYM_SCOPE_ALL))))
    {
        sym_cursor_fail(c, SYM_MALFORMED, "not the name of a source");
    }
}


static void
take_rules(sym_cursor_t *c, sym_rpc_message_t *m)
{
    uint8_t layout, ids, casing;

    m->rules.files = sym_u32(c);
    layout = sym_u8(c);
    ids = sym_u8(c);
    casing = sym_u8(c);
    m->rules.layout = (sym_layout_t) layout;
    m->rules.ids = (sym_source_ids_t) ids;
    m->rules.casing = (sym_source_casing_t) casing;

    if (sym_ok(c)
        && (layout >= SYM_LAYOUTS || ids > SYM_SOURCE_IDS_UPPER
            || casing > SYM_SOURCE_CASING_UPPER))
    {
        sym_cursor_fail(c, SYM_MALFORMED, "not the rules of a source");
    }

    take_scope(c, m);
}


static void
take_chunks(sym_cursor_t *c, sym_rpc_message_t *m)
{
    m->chunks = take_text(c, CHUNKS_BYTES);
    if (sym_ok(c)
        && (m->chunks.len == 0 || m->chunks.len % SYM_RPC_CHUNK_BYTES != 0))
    {
        sym_cursor_fail(c, SYM_MALFORMED, "not digests of chunks");
    }
}


static void
take_object(sym_cursor_t *c, sym_rpc_message_t *m)
{
    m->kind = sym_u32(c);
    take_rules(c, m);
    take_ref(c, m);
}


static void
take_role(sym_cursor_t *c, sym_rpc_message_t *m)
{
    m->kind = sym_u32(c);
    if (m->kind != 0) {
        take_ref(c, m);
    } else if (sym_u16(c) != 0 && sym_ok(c)) {
        sym_cursor_fail(c, SYM_MALFORMED, "a reference without a role");
    }
}


static void
take_fields(sym_cursor_t *c, unsigned fields, sym_rpc_message_t *m)
{
    if (fields & TICKET) {
        m->ticket = sym_u32(c);
    }

    if (fields & VERSION) {
        m->version = sym_u32(c);
    }

    if (fields & FLAGS) {
        m->flags = sym_u32(c);
    }

    if (fields & STATE) {
        uint32_t state = sym_u32(c);

        if (sym_ok(c)
            && (state < SYM_MODULE_ABSENT || state > SYM_MODULE_MALFORMED)) {
            sym_cursor_fail(c, SYM_MALFORMED, "no such state");
        }
        m->state = (sym_module_state_t) state;
    }

    if (fields & TTL) {
        m->ttl.absent = sym_u32(c);
        m->ttl.malformed = sym_u32(c);
        m->ttl.failed = sym_u32(c);
    }

    if (fields & OFFSET) {
        m->offset = sym_u64(c);
    }

    if (fields & LENGTH) {
        m->length = sym_u64(c);
    }

    if (fields & PLACES) {
        m->places = sym_u64(c);
    }

    if (fields & LIMIT) {
        m->limit = sym_u64(c);
    }

    if (fields & KEY) {
        take_key(c, m);
    }

    if (fields & SCOPE) {
        take_scope(c, m);
    }

    if (fields & TEXT) {
        m->text = take_text(c, text_max(fields));
    }

    if (fields & SOURCE) {
        m->source = take_text(c, SYM_RPC_SOURCE_MAX);
    }

    if (fields & OUTCOMES) {
        take_outcomes(c, m);
    }

    if (fields & REFERENCE) {
        m->reference = take_text(c, SYM_RPC_REFERENCE_MAX);
    }

    if (fields & OBJECT) {
        take_object(c, m);
    }

    if (fields & RULES) {
        take_rules(c, m);
    }

    if (fields & CHUNKS) {
        take_chunks(c, m);
    }

    if (fields & ROLE) {
        take_role(c, m);
    }

    if (fields & WANT) {
        m->want.kind = sym_u32(c);
        m->want.attempt = sym_u32(c);
        m->want.name = take_text(c, SYM_RPC_PATH_MAX);
        m->want.dir = take_text(c, SYM_RPC_PATH_MAX);
        m->want.id = take_text(c, SYM_BUILD_ID_MAX);
    }

    if ((fields & KIND) && sym_left(c) != 0) {
        m->kind = sym_u32(c);
    }

    if ((fields & CODE_ID) && sym_left(c) != 0) {
        take_code_id(c, m);
    }

    if (sym_ok(c) && m->type == SYM_RPC_INVALIDATE && m->key.id.len == 0
        && m->key.code_id.len == 0)
    {
        sym_cursor_fail(c, SYM_MALFORMED, "not the key of a module");
    }
}


sym_status_t
sym_rpc_read(const uint8_t *packet, size_t len, sym_rpc_message_t *m,
             sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(packet, len, "message", err);
    unsigned fields;

    *m = (sym_rpc_message_t){ 0 };

    if (sym_u16(&c) != MAGIC && sym_ok(&c)) {
        sym_cursor_fail(&c, SYM_MALFORMED, "not a message of the loader");
    }

    m->type = (sym_rpc_type_t) sym_u16(&c);
    fields = fields_of(m->type);

    if (sym_ok(&c) && fields == 0) {
        sym_cursor_fail(&c, SYM_MALFORMED, "no such message");
    }

    take_fields(&c, fields, m);

    /* the rest of a HELLO of another version is ignored */
    if (sym_ok(&c) && sym_left(&c) != 0 && m->type != SYM_RPC_HELLO) {
        sym_cursor_fail(&c, SYM_MALFORMED, "more bytes than the message has");
    }

    return err->status;
}
