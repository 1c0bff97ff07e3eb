#include "api/profile/profile.h"

#include "base/hex.h"
#include "base/steps.h"

/* Bytes of a message that take as long to read as a frame. */
#define BYTES_PER_FRAME 64

/* Fields of messages. */
enum {
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_FILE = 5,
    MAPPING_BUILD = 6,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    FUNCTION_ID = 1
};

sym_cursor_t
profile_cursor(const profile_t *p, sym_error_t *err)
{
    sym_cursor_t c =
        sym_cursor(p->base.body.data, p->base.body.len, "profile", err);

    c.pos += p->at;
    return c;
}


static sym_cursor_t
message(sym_str_t bytes, sym_error_t *err)
{
    return sym_cursor(bytes.data, bytes.len, "message", err);
}


/* --- fields --- */

bool
profile_read_location(sym_str_t bytes, profile_location_t *location)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = message(bytes, &err);
    sym_pb_field_t f;

    *location = (profile_location_t){ 0 };
    while (!location->has_lines && sym_pb_next(&c, &f)) {
        if (f.number == LOCATION_LINE && f.type == SYM_PB_BYTES) {
            location->has_lines = true;
        } else if (f.type == SYM_PB_VARINT && f.number == LOCATION_MAPPING) {
            location->mapping = f.value;
        } else if (f.type == SYM_PB_VARINT && f.number == LOCATION_ADDRESS) {
            location->address = f.value;
        }

        if ((size_t) (c.pos - c.start) > PROFILE_MESSAGE_MAX) {
            return false;
        }
    }

    return err.status == SYM_OK;
}


static sym_status_t
read_mapping(profile_t *p, sym_str_t bytes)
{
    profile_mapping_t *m;
    sym_error_t err = { 0 };
    sym_cursor_t c = message(bytes, &err);
    sym_pb_field_t f;

    if (bytes.len > PROFILE_MESSAGE_MAX
        || p->mappings.n == PROFILE_MAPPINGS_MAX) {
        return sym_request_refuse(&p->base, SYM_LIMIT,
                                  "the profile has too many mappings");
    }

    m = sym_list_add(p->base.arena, &p->mappings, sizeof(*m));
    if (m == NULL) {
        return SYM_NOMEM;
    }

    m->need = PROFILE_NO_NEED;
    while (sym_pb_next(&c, &f)) {
        uint64_t *const fields[] = {
            [MAPPING_ID] = &m->id,       [MAPPING_START] = &m->start,
            [MAPPING_LIMIT] = &m->limit, [MAPPING_OFFSET] = &m->offset,
            [MAPPING_FILE] = &m->file,   [MAPPING_BUILD] = &m->build,
        };

        if (f.type == SYM_PB_VARINT && f.number <= MAPPING_BUILD) {
            *fields[f.number] = f.value;
        }
    }

    return err.status == SYM_OK
               ? SYM_OK
               : sym_request_refuse(&p->base, SYM_MALFORMED,
                                    "a mapping is malformed: %s", err.what);
}


/* Its id is among its first fields. */
static sym_status_t
read_function(profile_t *p, sym_str_t bytes)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = message(bytes, &err);
    sym_pb_field_t f;
    bool fits = bytes.len <= PROFILE_MESSAGE_MAX;

    while (fits && sym_pb_next(&c, &f)) {
        if (f.number == FUNCTION_ID && f.type == SYM_PB_VARINT
            && f.value > p->max_function)
        {
            p->max_function = f.value;
        }
    }

    return fits && err.status == SYM_OK
               ? SYM_OK
               : sym_request_refuse(&p->base, SYM_MALFORMED,
                                    "a function is malformed");
}


static sym_status_t
read_string(profile_t *p, size_t at)
{
    uint32_t *string =
        sym_list_add(p->base.arena, &p->strings, sizeof(*string));

    if (string == NULL) {
        return SYM_NOMEM;
    }

    *string = (uint32_t) at;
    return SYM_OK;
}


static sym_status_t
read_location(profile_t *p, sym_str_t bytes)
{
    const uint32_t limit = p->base.options->limits.frames;
    profile_location_t location;

    if (!profile_read_location(bytes, &location)) {
        return sym_request_refuse(&p->base, SYM_MALFORMED,
                                  "a location is malformed");
    }

    if (location.has_lines) {
        return SYM_OK;
    }

    if (limit != 0 && p->base.stats.frames == limit) {
        return sym_request_refuse(
            &p->base, SYM_LIMIT,
            "please limit the number of locations in one profile to <= %u",
            limit);
    }

    p->base.stats.frames++;
    return SYM_OK;
}


/* The field that begins at `at`. */
static sym_status_t
read_field(profile_t *p, const sym_pb_field_t *f, size_t at)
{
    if (f->type != SYM_PB_BYTES) {
        return SYM_OK;
    }

    switch (f->number) {
    case PROFILE_MAPPING:
        return read_mapping(p, f->bytes);
    case PROFILE_LOCATION:
        return read_location(p, f->bytes);
    case PROFILE_FUNCTION:
        return read_function(p, f->bytes);
    case PROFILE_STRING:
        return read_string(p, at);
    default:
        return SYM_OK;
    }
}


/* --- modules --- */

sym_str_t
profile_string(const profile_t *p, uint64_t number)
{
    const uint32_t *strings = p->strings.items;
    sym_error_t err = { 0 };
    sym_pb_field_t f = { .bytes = SYM_STR("") };
    sym_cursor_t c;

    if (number >= p->strings.n) {
        return SYM_STR("");
    }

    c = sym_cursor(p->base.body.data, p->base.body.len, "profile", &err);
    c.pos += strings[number];
    (void) sym_pb_next(&c, &f);
    return f.bytes;
}


/* The digits of a GNU build id.  Other ids, such as Go's, are of no use. */
static bool
read_build_id(sym_str_t text, sym_object_ref_t *ref)
{
    uint8_t bytes[SYM_BUILD_ID_MAX];
    size_t n;

    if (!sym_code_id_read_build_id(text, &ref->code_id)) {
        return false;
    }

    n = ref->code_id.len / 2u;
    for (size_t i = 0; i < n; i++) {
        const char *digits = ref->code_id.text + 2 * i;

        bytes[i] = (uint8_t) (sym_hex_digit(digits[0]) << 4
                              | sym_hex_digit(digits[1]));
    }

    sym_debug_id_of_build_id(bytes, n, false, &ref->debug_id);
    return true;
}


/* A module of the mapping's file. */
static sym_status_t
add_need(profile_t *p, profile_mapping_t *m)
{
    const uint32_t limit = p->base.options->limits.modules;
    sym_object_ref_t *ref = sym_arena_calloc(p->base.arena, 1, sizeof(*ref));
    const sym_str_t name = profile_string(p, m->file);

    if (ref == NULL) {
        return SYM_NOMEM;
    }

    if (!read_build_id(profile_string(p, m->build), ref)) {
        return SYM_OK;
    }

    if (limit != 0 && p->base.stats.modules == limit) {
        return sym_request_refuse(
            &p->base, SYM_LIMIT,
            "please limit the number of modules in one profile to <= %u",
            limit);
    }

    ref->type = SYM_OBJECT_ELF;
    if (name.len <= SYM_OBJECT_TEXT_MAX) {
        ref->code_file = name;
        ref->debug_file = name;
    }

    m->need = p->base.stats.modules++;
    p->base.needs[m->need] = (sym_need_t){ .ref = ref,
                                           .kind = SYM_KIND_SYMCACHE,
                                           .found = SYM_NEED_MISSING };
    return SYM_OK;
}


/* Segments of one file are mappings of one module.  Mappings are compared by the
 * number of their string, because strings may be as long as the profile. */
static sym_status_t
add_needs(profile_t *p, sym_sort_item_t *order)
{
    profile_mapping_t *mappings = p->mappings.items;

    for (uint32_t i = 0; i < p->mappings.n; i++) {
        order[i] = (sym_sort_item_t){ mappings[i].build, i };
    }

    if (!sym_sort(order, p->mappings.n)) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < p->mappings.n; i++) {
        profile_mapping_t *m = &mappings[order[i].at];
        sym_status_t rc = SYM_OK;

        if (i != 0 && order[i - 1].key == order[i].key) {
            m->need = mappings[order[i - 1].at].need;
        } else {
            rc = add_need(p, m);
        }

        if (rc != SYM_OK) {
            return rc;
        }
    }

    return SYM_OK;
}


static sym_status_t
finish(profile_t *p)
{
    const profile_mapping_t *mappings = p->mappings.items;
    const uint32_t n = p->mappings.n;
    sym_arena_t *arena = p->base.arena;
    sym_status_t rc;

    if (p->max_function > UINT64_MAX / 2) {
        return sym_request_refuse(&p->base, SYM_MALFORMED,
                                  "a function has too large an id");
    }

    p->ids = sym_arena_calloc(arena, n, sizeof(*p->ids));
    p->base.needs = sym_arena_calloc(arena, n, sizeof(*p->base.needs));
    if (p->ids == NULL || p->base.needs == NULL) {
        return SYM_NOMEM;
    }

    rc = add_needs(p, p->ids);
    if (rc != SYM_OK) {
        return rc;
    }

    for (uint32_t i = 0; i < n; i++) {
        p->ids[i] = (sym_sort_item_t){ mappings[i].id, i };
    }

    return sym_sort(p->ids, n) ? SYM_OK : SYM_NOMEM;
}


const profile_mapping_t *
profile_mapping(const profile_t *p, uint64_t id)
{
    const size_t i = sym_sort_find(p->ids, p->mappings.n, id);

    return i < p->mappings.n && p->ids[i].key == id
               ? (const profile_mapping_t *) p->mappings.items + p->ids[i].at
               : NULL;
}


sym_status_t
profile_parse(sym_request_t *r, uint32_t budget)
{
    profile_t *p = (profile_t *) r;
    sym_error_t err = { 0 };
    sym_cursor_t c = profile_cursor(p, &err);
    sym_pb_field_t f;

    if (r->body.len > UINT32_MAX) {
        return sym_request_refuse(r, SYM_LIMIT, "the profile is too large");
    }

    while (sym_pb_next(&c, &f)) {
        sym_status_t rc = read_field(p, &f, p->at);

        if (rc != SYM_OK) {
            return rc;
        }

        p->at = (size_t) (c.pos - c.start);
        sym_budget_charge(&budget,
                          f.type == SYM_PB_BYTES && f.number != PROFILE_STRING
                              ? 1 + (uint32_t) (f.bytes.len / BYTES_PER_FRAME)
                              : 1);
        if (budget == 0) {
            return SYM_AGAIN;
        }
    }

    return err.status == SYM_OK
               ? finish(p)
               : sym_request_refuse(r, SYM_MALFORMED,
                                    "the body is no profile of pprof: %s",
                                    err.what);
}
