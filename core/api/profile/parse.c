/*
 * parse.c - the tables of a profile: where strings, functions and attributes are,
 * and the numbers of mappings.
 */
#include "api/profile/profile.h"

#include "base/steps.h"

static sym_cursor_t
message(sym_str_t bytes, sym_error_t *err)
{
    return sym_cursor(bytes.data, bytes.len, "message", err);
}


static void
note_max(profile_max_t *max, uint64_t number, uint32_t by)
{
    if (number > max->number) {
        *max = (profile_max_t){ number, by };
    }
}


/* --- fields --- */

/* Notes the function of a line. */
static void
read_line(sym_str_t bytes, profile_location_t *location, sym_error_t *err)
{
    sym_cursor_t c = message(bytes, err);
    sym_pb_field_t f;

    while (sym_pb_next(&c, &f)) {
        if (f.number == 1 && f.type == SYM_PB_VARINT
            && f.value > location->max_function)
        {
            location->max_function = f.value;
        }
    }
}


const char *
profile_read_location(const profile_form_t *form, sym_str_t bytes, bool all,
                      profile_location_t *location)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = message(bytes, &err);
    sym_pb_field_t f;

    *location = (profile_location_t){ 0 };
    while ((all || !location->has_lines) && sym_pb_next(&c, &f)) {
        if ((size_t) (c.pos - c.start) > PROFILE_MESSAGE_MAX) {
            return "it is too long";
        }

        if (f.number == form->location_line && f.type == SYM_PB_BYTES) {
            location->has_lines = true;
            if (all) {
                read_line(f.bytes, location, &err);
            }
        } else if (f.type == SYM_PB_VARINT
                   && f.number == form->location_mapping) {
            location->mapping = f.value;
        } else if (f.type == SYM_PB_VARINT
                   && f.number == form->location_address) {
            location->address = f.value;
        }
    }

    return err.what;
}


static void
read_mapping_number(const profile_form_t *form, const sym_pb_field_t *f,
                    profile_mapping_t *m)
{
    const struct {
        uint8_t number;
        uint64_t *to;
    } fields[] = {
        { form->mapping_id, &m->id },
        { form->mapping_start, &m->start },
        { form->mapping_limit, &m->limit },
        { form->mapping_file, &m->file },
        { form->mapping_offset, &m->offset },
        { form->mapping_build, &m->build },
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        if (f->number == fields[i].number) {
            *fields[i].to = f->value;
        }
    }
}


static sym_status_t
read_mapping(profile_t *p, const profile_field_t *field)
{
    const uint32_t number = p->mappings.n;
    const sym_str_t bytes = field->pb.bytes;
    profile_mapping_t *m;
    sym_error_t err = { 0 };
    sym_cursor_t c = message(bytes, &err);
    sym_pb_field_t f;

    if (number == PROFILE_MAPPINGS_MAX) {
        return sym_request_refuse(&p->base, SYM_LIMIT,
                                  "the profile has more than %u mappings",
                                  PROFILE_MAPPINGS_MAX);
    }

    if (bytes.len > PROFILE_MESSAGE_MAX) {
        return sym_request_refuse(&p->base, SYM_LIMIT,
                                  "mapping %u has more than %u bytes", number,
                                  PROFILE_MESSAGE_MAX);
    }

    m = sym_list_add(p->base.arena, &p->mappings, sizeof(*m));
    if (m == NULL) {
        return SYM_NOMEM;
    }

    m->id = number;
    m->at = field->entry;
    m->need = PROFILE_NO_NEED;
    while (sym_pb_next(&c, &f)) {
        if (f.type == SYM_PB_VARINT) {
            read_mapping_number(p->form, &f, m);
        }
    }

    return err.status == SYM_OK
               ? SYM_OK
               : sym_request_refuse(&p->base, SYM_MALFORMED,
                                    "mapping %u is malformed: %s", number,
                                    err.what);
}


static sym_status_t
add_place(profile_t *p, sym_list_t *list, uint32_t at)
{
    uint32_t *place = sym_list_add(p->base.arena, list, sizeof(*place));

    if (place == NULL) {
        return SYM_NOMEM;
    }

    *place = at;
    return SYM_OK;
}


/* The number of a function, and its references. */
static void
read_function_number(profile_t *p, uint32_t number, const sym_pb_field_t *f)
{
    const profile_form_t *form = p->form;

    if (form->function_id != 0) {
        if (f->number == form->function_id && f->value > p->max_function) {
            p->max_function = f->value;
        }
    } else if (f->number >= form->function_name
               && f->number <= form->function_file) {
        note_max(&p->string, f->value, number);
    }
}


static sym_status_t
read_function(profile_t *p, const profile_field_t *field)
{
    const uint32_t number = p->functions.n;
    sym_error_t err = { 0 };
    sym_cursor_t c = message(field->pb.bytes, &err);
    sym_pb_field_t f;
    bool fits = field->pb.bytes.len <= PROFILE_MESSAGE_MAX;

    while (fits && sym_pb_next(&c, &f)) {
        if (f.type == SYM_PB_VARINT) {
            read_function_number(p, number, &f);
        }
    }

    if (!fits || err.status != SYM_OK) {
        return sym_request_refuse(&p->base, SYM_MALFORMED,
                                  "function %u is malformed: %s", number,
                                  fits ? err.what : "it is too long");
    }

    return add_place(p, &p->functions, field->entry);
}


static sym_status_t
read_attribute(profile_t *p, uint32_t at)
{
    profile_attribute_t *a =
        sym_list_add(p->base.arena, &p->attributes, sizeof(*a));

    if (a == NULL) {
        return SYM_NOMEM;
    }

    a->at = at;
    return SYM_OK;
}


static sym_status_t
read_location(profile_t *p, sym_str_t bytes)
{
    const uint32_t limit = p->base.options->limits.frames;
    const uint32_t number = p->n_locations++;
    profile_location_t location;
    const char *why = profile_read_location(
        p->form, bytes, p->form == &profile_otlp, &location);

    if (why != NULL) {
        return sym_request_refuse(&p->base, SYM_MALFORMED,
                                  "location %u is malformed: %s", number, why);
    }

    note_max(&p->mapping, location.mapping, number);
    note_max(&p->function, location.max_function, number);
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


/* A table of OTLP is messages and strings; older versions have other fields
 * there. */
static sym_status_t
read_rest(profile_t *p, const profile_field_t *field)
{
    if (field->is_inside && field->pb.type != SYM_PB_BYTES
        && field->pb.number < PROFILE_TABLES)
    {
        return sym_request_refuse(
            &p->base, SYM_MALFORMED,
            "field %u of the dictionary is a number, at byte %zu: " OTLP_OLD,
            field->pb.number, field->at);
    }

    return SYM_OK;
}


static sym_status_t
read_field(profile_t *p, const profile_field_t *field)
{
    switch (field->kind) {
    case PROFILE_MAPPING:
        return read_mapping(p, field);
    case PROFILE_LOCATION:
        return read_location(p, field->pb.bytes);
    case PROFILE_FUNCTION:
        return read_function(p, field);
    case PROFILE_STRING:
        return add_place(p, &p->strings, field->entry);
    case PROFILE_ATTRIBUTE:
        return read_attribute(p, field->entry);
    case PROFILE_DICTIONARY:
        p->has_dictionary = true;
        return SYM_OK;
    default:
        return read_rest(p, field);
    }
}


/* --- the whole --- */

sym_str_t
profile_bytes(const profile_t *p, profile_kind_t kind, uint32_t at)
{
    sym_error_t err = { 0 };
    sym_pb_field_t f = { .bytes = SYM_STR("") };
    sym_cursor_t c =
        sym_cursor(p->base.body.data, p->base.body.len, "profile", &err);

    if (p->is_json) {
        return profile_json_bytes(p, kind, at);
    }

    c.pos += at;
    (void) sym_pb_next(&c, &f);
    return f.bytes;
}


sym_str_t
profile_string(const profile_t *p, uint64_t number, size_t most)
{
    const uint32_t *strings = p->strings.items;
    sym_str_t text = SYM_STR("");

    if (number < p->strings.n) {
        text = p->is_json ? profile_json_string(p, strings[number], most)
                          : profile_bytes(p, PROFILE_STRING, strings[number]);
    }

    return text.len <= most ? text : SYM_STR("");
}


/* New entries follow the tables, so references past their ends would become
 * valid. */
static sym_status_t
check_reference(profile_t *p, const profile_max_t *max, uint32_t n,
                const char *from, const char *to)
{
    return max->number == 0 || max->number < n
               ? SYM_OK
               : sym_request_refuse(&p->base, SYM_MALFORMED,
                                    "%s %u has %s %lld, but the profile has %u",
                                    from, max->by, to, (long long) max->number,
                                    n);
}


static sym_status_t
check_otlp(profile_t *p)
{
    sym_status_t rc;

    if (!p->has_dictionary) {
        return sym_request_refuse(&p->base, SYM_MALFORMED,
                                  "the profile has no dictionary: " OTLP_OLD);
    }

    rc = check_reference(p, &p->mapping, p->mappings.n, "location", "mapping");
    rc = rc != SYM_OK ? rc
                      : check_reference(p, &p->function, p->functions.n,
                                        "location", "function");
    return rc != SYM_OK ? rc
                        : check_reference(p, &p->string, p->strings.n,
                                          "function", "string");
}


static sym_status_t
check(profile_t *p)
{
    if (p->form == &profile_otlp) {
        return check_otlp(p);
    }

    return p->max_function <= UINT64_MAX / 2
               ? SYM_OK
               : sym_request_refuse(&p->base, SYM_MALFORMED,
                                    "a function has too large an id");
}


static uint32_t
cost(const profile_t *p, const profile_field_t *field)
{
    if (p->is_json) {
        return 1
               + (uint32_t) ((field->end - field->at)
                             / PROFILE_BYTES_PER_FRAME);
    }

    return field->kind == PROFILE_STRING || field->kind == PROFILE_REST
                   || field->kind == PROFILE_DICTIONARY
                   || field->kind == PROFILE_ATTRIBUTE
               ? 1
               : 1 + (uint32_t) (field->pb.bytes.len / PROFILE_BYTES_PER_FRAME);
}


/* SYM_OK: all fields were read. */
static sym_status_t
read_fields(profile_t *p, uint32_t *budget)
{
    sym_error_t err = { 0 };
    profile_field_t field;
    sym_status_t rc;

    while (*budget > 0) {
        if (!profile_next(p, &p->place, &field, &err)) {
            return err.status == SYM_OK
                       ? check(p)
                       : sym_request_refuse(
                           &p->base, SYM_MALFORMED,
                           "the body is no profile of %s: %s, at byte %llu",
                           p->form->name, err.what,
                           (unsigned long long) err.offset);
        }

        rc = read_field(p, &field);
        if (rc != SYM_OK) {
            return rc;
        }

        sym_budget_charge(budget, cost(p, &field));
    }

    return SYM_AGAIN;
}


sym_status_t
profile_parse(sym_request_t *r, uint32_t budget)
{
    profile_t *p = (profile_t *) r;
    sym_status_t rc = SYM_OK;

    if (r->body.len > UINT32_MAX) {
        return sym_request_refuse(r, SYM_LIMIT, "the profile is too large");
    }

    if (p->form == NULL) {
        rc = profile_find_form(p, &budget);
    }

    if (rc == SYM_OK && !p->is_read) {
        rc = read_fields(p, &budget);
        p->is_read = rc == SYM_OK;
    }

    return rc == SYM_OK ? profile_identify(p, &budget) : rc;
}
