/*
 * modules.c - the modules of mappings: their ids, and by which of them they were
 * found.
 *
 * pprof has one field for an id.  In OTLP ids are attributes: a GNU build id, and the
 * FileID of an executable without one (opentelemetry.io/docs/specs/semconv,
 * process.executable.build_id).  Symbols of executables with both may be known by
 * either: the second is asked for if the first is not found.
 */
#include "api/profile/profile.h"

#include "base/hex.h"
#include "base/steps.h"
#include "object/file_id.h"

/* A known attribute and its value have less. */
#define ATTRIBUTE_FIELDS_MAX 64

/* Keys of ids, and ids, are shorter. */
#define ATTRIBUTE_KEY_MAX 64
#define ID_MAX 256

/* Fields of a value. */
enum { VALUE_STRING = 1, VALUE_STRING_NUMBER = 8 };

/* Profilers write a few for each mapping. */
#define MAPPING_ATTRIBUTES_MAX 256

/* The meaning of an attribute. */
enum { UNREAD, OTHER, BUILD_ID, FILE_ID };

/* Attributes of a mapping, as one number by which equal ones are found: 0 is the
 * attribute that is not there. */
static uint64_t
both_ids(uint32_t build_id, uint32_t file_id)
{
    return (uint64_t) build_id << 32 | file_id;
}


/* --- attributes --- */

typedef struct {
    uint64_t key;
    bool has_text_key; /* OTLP before 1.8 */
    sym_str_t value;
} attribute_t;

/* KeyValueAndUnit: 1 key, 2 value; the value's field 1 is a string. */
static bool
parse_attribute(sym_str_t bytes, attribute_t *a)
{
    sym_error_t err = { 0 };
    sym_pb_field_t f;
    sym_cursor_t c;
    unsigned n = 0;

    *a = (attribute_t){ .value = SYM_STR("") };
    if (bytes.data == NULL) {
        return false;
    }

    c = sym_cursor(bytes.data, bytes.len, "attribute", &err);
    while (n++ < ATTRIBUTE_FIELDS_MAX && sym_pb_next(&c, &f)) {
        if (f.number == 1) {
            a->has_text_key = f.type == SYM_PB_BYTES;
            a->key = f.type == SYM_PB_VARINT ? f.value : 0;
        } else if (f.number == 2 && f.type == SYM_PB_BYTES) {
            a->value = f.bytes;
        }
    }

    return err.status == SYM_OK && sym_left(&c) == 0;
}


/* The string of a value, or one of the table; "": other types name nothing. */
static sym_str_t
text_of(const profile_t *p, sym_str_t value)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(value.data, value.len, "value", &err);
    sym_pb_field_t f;

    if (!sym_pb_next(&c, &f)) {
        return SYM_STR("");
    }

    if (f.number == VALUE_STRING_NUMBER && f.type == SYM_PB_VARINT) {
        return profile_string(p, f.value, ID_MAX);
    }

    return f.number == VALUE_STRING && f.type == SYM_PB_BYTES ? f.bytes
                                                              : SYM_STR("");
}


static sym_str_t
attribute_text(const profile_t *p, uint32_t number)
{
    const profile_attribute_t *all = p->attributes.items;
    attribute_t a;

    return number != 0
                   && parse_attribute(
                       profile_bytes(p, PROFILE_ATTRIBUTE, all[number].at), &a)
               ? text_of(p, a.value)
               : SYM_STR("");
}


static sym_status_t
read_attribute(profile_t *p, uint32_t number)
{
    profile_attribute_t *all = p->attributes.items;
    const sym_str_t bytes = profile_bytes(p, PROFILE_ATTRIBUTE, all[number].at);
    attribute_t a;
    sym_str_t key;

    if (!parse_attribute(bytes, &a)) {
        return sym_request_refuse(&p->base, SYM_MALFORMED,
                                  "attribute %u is malformed", number);
    }

    if (a.has_text_key) {
        return sym_request_refuse(
            &p->base, SYM_MALFORMED,
            "attribute %u has a key of its own: " OTLP_OLD, number);
    }

    if (a.key >= p->strings.n && a.key != 0) {
        return sym_request_refuse(
            &p->base, SYM_MALFORMED,
            "attribute %u has string %lld, but the profile has %u", number,
            (long long) a.key, p->strings.n);
    }

    key = profile_string(p, a.key, ATTRIBUTE_KEY_MAX);
    all[number].what =
        sym_str_eq(key, SYM_STR("process.executable.build_id.gnu")) ? BUILD_ID
        : sym_str_eq(key, SYM_STR("process.executable.build_id.htlhash"))
            ? FILE_ID
            : OTHER;
    return SYM_OK;
}


/* Reference number n from a mapping. */
static sym_status_t
use_attribute(profile_t *p, profile_mapping_t *m, uint64_t number, uint32_t n,
              uint32_t *budget)
{
    profile_attribute_t *all = p->attributes.items;
    sym_status_t rc = SYM_OK;

    if (n > MAPPING_ATTRIBUTES_MAX) {
        return sym_request_refuse(
            &p->base, SYM_LIMIT, "mapping %llu has more than %u attributes",
            (unsigned long long) m->id, MAPPING_ATTRIBUTES_MAX);
    }

    if (number >= p->attributes.n) {
        return sym_request_refuse(
            &p->base, SYM_MALFORMED,
            "mapping %llu has attribute %lld, but the profile has %u",
            (unsigned long long) m->id, (long long) number, p->attributes.n);
    }

    if (all[number].what == UNREAD) {
        rc = read_attribute(p, (uint32_t) number);
        sym_budget_charge(budget, 1);
    }

    if (all[number].what == BUILD_ID) {
        m->build = both_ids((uint32_t) number, (uint32_t) m->build);
    } else if (all[number].what == FILE_ID) {
        m->build = both_ids((uint32_t) (m->build >> 32), (uint32_t) number);
    }

    return rc;
}


/* Repeated numbers are packed or not. */
static sym_status_t
use_attributes(profile_t *p, profile_mapping_t *m, const sym_pb_field_t *f,
               uint32_t *n, uint32_t *budget)
{
    sym_error_t err = { 0 };
    sym_cursor_t c;
    sym_status_t rc = SYM_OK;

    if (f->type == SYM_PB_VARINT) {
        return use_attribute(p, m, f->value, ++*n, budget);
    }

    if (f->type != SYM_PB_BYTES) {
        return SYM_OK;
    }

    c = sym_cursor(f->bytes.data, f->bytes.len, "mapping", &err);
    while (rc == SYM_OK && sym_left(&c) != 0) {
        const uint64_t number = sym_pb_varint(&c);

        rc = err.status == SYM_OK
                 ? use_attribute(p, m, number, ++*n, budget)
                 : sym_request_refuse(&p->base, SYM_MALFORMED,
                                      "mapping %llu is malformed: %s",
                                      (unsigned long long) m->id, err.what);
    }

    return rc;
}


static sym_status_t
identify(profile_t *p, profile_mapping_t *m, uint32_t *budget)
{
    const sym_str_t bytes = profile_bytes(p, PROFILE_MAPPING, m->at);
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(bytes.data, bytes.len, "mapping", &err);
    sym_status_t rc = SYM_OK;
    sym_pb_field_t f;
    uint32_t n = 0;

    while (rc == SYM_OK && sym_pb_next(&c, &f)) {
        if (f.number == p->form->mapping_attributes) {
            rc = use_attributes(p, m, &f, &n, budget);
        }
    }

    if (rc == SYM_OK && m->file >= p->strings.n && m->file != 0) {
        rc = sym_request_refuse(
            &p->base, SYM_MALFORMED,
            "mapping %llu has string %lld, but the profile has %u",
            (unsigned long long) m->id, (long long) m->file, p->strings.n);
    }

    sym_budget_charge(budget,
                      1 + (uint32_t) (bytes.len / PROFILE_BYTES_PER_FRAME));
    return rc;
}


/* --- modules --- */

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


/* Symbols are stored under a FileID as under a debug id. */
static bool
read_file_id(sym_str_t text, sym_object_ref_t *ref)
{
    uint8_t id[SYM_FILE_ID_BYTES];

    if (!sym_file_id_read(text, id)) {
        return false;
    }

    ref->debug_id = sym_file_id_debug_id(id);
    return true;
}


static void
add_name(const profile_t *p, const profile_mapping_t *m, sym_object_ref_t *ref)
{
    const sym_str_t name = profile_string(p, m->file, SYM_OBJECT_TEXT_MAX);

    ref->type = SYM_OBJECT_ELF;
    ref->code_file = name;
    ref->debug_file = name;
}


/* *ref is NULL if the mapping has no such id. */
static sym_status_t
make_ref(const profile_t *p, const profile_mapping_t *m, sym_str_t id,
         bool (*read)(sym_str_t text, sym_object_ref_t *ref),
         sym_object_ref_t **ref)
{
    sym_object_ref_t made = { 0 };

    *ref = NULL;
    if (!read(id, &made)) {
        return SYM_OK;
    }

    *ref = sym_arena_alloc(p->base.arena, sizeof(**ref));
    if (*ref == NULL) {
        return SYM_NOMEM;
    }

    add_name(p, m, &made);
    **ref = made;
    return SYM_OK;
}


static sym_status_t
make_refs(const profile_t *p, const profile_mapping_t *m,
          sym_object_ref_t **by_build_id, sym_object_ref_t **by_file_id)
{
    const bool is_otlp = p->form == &profile_otlp;
    const sym_str_t build_id =
        is_otlp ? attribute_text(p, (uint32_t) (m->build >> 32))
                : profile_string(p, m->build, SIZE_MAX);
    sym_status_t rc = make_ref(p, m, build_id, read_build_id, by_build_id);
    sym_str_t file_id;

    if (rc != SYM_OK) {
        return rc;
    }

    /* its bytes may be where those of the build id were */
    file_id = is_otlp ? attribute_text(p, (uint32_t) m->build) : SYM_STR("");
    return make_ref(p, m, file_id, read_file_id, by_file_id);
}


/* A module of the mapping's file. */
static sym_status_t
add_need(profile_t *p, profile_mapping_t *m)
{
    const uint32_t limit = p->base.options->limits.modules;
    sym_object_ref_t *by_build_id, *by_file_id;
    sym_status_t rc = make_refs(p, m, &by_build_id, &by_file_id);

    if (rc != SYM_OK || (by_build_id == NULL && by_file_id == NULL)) {
        return rc;
    }

    if (limit != 0 && p->base.stats.modules == limit) {
        return sym_request_refuse(
            &p->base, SYM_LIMIT,
            "please limit the number of modules in one profile to <= %u",
            limit);
    }

    m->need = p->base.stats.modules++;
    p->base.needs[m->need] =
        (sym_need_t){ .ref = by_build_id != NULL ? by_build_id : by_file_id,
                      .kind = SYM_KIND_SYMCACHE,
                      .found = SYM_NEED_MISSING };
    p->modules[m->need] = (profile_module_t){
        .other = by_build_id != NULL ? by_file_id : NULL,
        .other_need = PROFILE_NO_NEED,
        .found = PROFILE_NO_NEED,
    };
    return SYM_OK;
}


/* Segments of one file are mappings of one module.  Mappings are compared by the
 * number of their string or attributes, because strings may be as long as the
 * profile. */
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

    p->ids = sym_arena_calloc(arena, n, sizeof(*p->ids));
    p->modules = sym_arena_calloc(arena, n, sizeof(*p->modules));
    p->base.needs = sym_arena_calloc(arena, n, sizeof(*p->base.needs));
    if (p->ids == NULL || p->modules == NULL || p->base.needs == NULL) {
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


sym_status_t
profile_identify(profile_t *p, uint32_t *budget)
{
    profile_mapping_t *mappings = p->mappings.items;

    while (p->form == &profile_otlp && p->n_identified < p->mappings.n) {
        sym_status_t rc;

        if (*budget == 0) {
            return SYM_AGAIN;
        }

        rc = identify(p, &mappings[p->n_identified++], budget);
        if (rc != SYM_OK) {
            return rc;
        }
    }

    return finish(p);
}


const profile_mapping_t *
profile_mapping(const profile_t *p, uint64_t id)
{
    const size_t i = sym_sort_find(p->ids, p->mappings.n, id);

    return i < p->mappings.n && p->ids[i].key == id
               ? (const profile_mapping_t *) p->mappings.items + p->ids[i].at
               : NULL;
}


/* --- which id was found --- */

sym_status_t
profile_ask_others(profile_t *p)
{
    for (uint32_t i = 0; i < p->base.stats.modules; i++) {
        profile_module_t *m = &p->modules[i];
        sym_status_t rc;

        if (p->base.needs[i].found == SYM_NEED_FOUND || m->other == NULL
            || m->other_need != PROFILE_NO_NEED)
        {
            continue;
        }

        rc = sym_request_need_object(&p->base, m->other, SYM_KIND_SYMCACHE,
                                     &m->other_need);
        if (rc != SYM_OK) {
            return rc;
        }
    }

    return SYM_OK;
}


void
profile_choose(profile_t *p)
{
    sym_need_t *needs = p->base.needs;

    for (uint32_t i = 0; i < p->base.stats.modules; i++) {
        profile_module_t *m = &p->modules[i];

        m->found = needs[i].found == SYM_NEED_FOUND ? i : m->other_need;

        /* one id is enough */
        if (m->found != i && m->found != PROFILE_NO_NEED
            && needs[m->found].found == SYM_NEED_FOUND)
        {
            needs[i].found = SYM_NEED_UNUSED;
            p->base.stats.missing--;
        }
    }
}


uint32_t
profile_found(const profile_t *p, const profile_mapping_t *m)
{
    const uint32_t need =
        m->need != PROFILE_NO_NEED ? p->modules[m->need].found : m->need;

    return need != PROFILE_NO_NEED
                   && p->base.needs[need].found == SYM_NEED_FOUND
               ? need
               : PROFILE_NO_NEED;
}


bool
profile_is_file_id(const profile_t *p, uint32_t need)
{
    return p->base.needs[need].ref->code_id.len == 0;
}
