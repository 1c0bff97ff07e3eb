/*
 * form.c - the two forms of profiles: their field numbers, how a body shows which
 * it has, and their fields in one list.
 */
#include "api/profile/profile.h"

#include "base/steps.h"
#include "json/raw.h"

/* A field is looked into until one of this many shows the form. */
#define FIELDS_LOOKED_AT 64

/* White space before JSON. */
#define SPACE_MAX 64

const profile_form_t profile_pprof = {
    .name = "pprof",
    .table = { [3] = PROFILE_MAPPING,
               [4] = PROFILE_LOCATION,
               [5] = PROFILE_FUNCTION,
               [6] = PROFILE_STRING },
    .string = 6,
    .function = 5,
    .location = 4,
    .mapping = 3,
    .mapping_id = 1,
    .mapping_start = 2,
    .mapping_limit = 3,
    .mapping_offset = 4,
    .mapping_file = 5,
    .mapping_build = 6,
    .location_mapping = 2,
    .location_address = 3,
    .location_line = 4,
    .function_id = 1,
    .function_name = 2,
    .function_system_name = 3,
    .function_file = 4,
};

const profile_form_t profile_otlp = {
    .name = "OTLP",
    .dictionary = 2,
    .table = { [1] = PROFILE_MAPPING,
               [2] = PROFILE_LOCATION,
               [3] = PROFILE_FUNCTION,
               [5] = PROFILE_STRING,
               [6] = PROFILE_ATTRIBUTE },
    .string = 5,
    .function = 3,
    .location = 2,
    .mapping = 1,
    .mapping_start = 1,
    .mapping_limit = 2,
    .mapping_offset = 3,
    .mapping_file = 4,
    .mapping_attributes = 5,
    .location_mapping = 1,
    .location_address = 2,
    .location_line = 3,
    .function_name = 1,
    .function_system_name = 2,
    .function_file = 3,
};

/* --- which form --- */

/*
 * Field 1 of pprof is a type of samples, two numbers; OTLP's is a resource's
 * profiles, which has messages and a string.
 */
static const profile_form_t *
form_of_first(const sym_pb_field_t *f)
{
    return f->type == SYM_PB_VARINT  ? &profile_pprof
           : f->type == SYM_PB_BYTES ? &profile_otlp
                                     : NULL;
}


/* Field 2 of pprof is a sample, which has fields 1 to 3, some of them numbers;
 * OTLP's is the dictionary, whose fields 1 to 7 are messages and strings. */
static const profile_form_t *
form_of_second(const sym_pb_field_t *f)
{
    return f->type != SYM_PB_BYTES ? &profile_pprof
           : f->number > 3         ? &profile_otlp
                                   : NULL;
}


/* NULL: both forms have such a field. */
static const profile_form_t *
form_of_message(uint32_t number, sym_str_t bytes)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(bytes.data, bytes.len, "message", &err);
    const profile_form_t *form = NULL;
    sym_pb_field_t f;

    for (unsigned i = 0;
         form == NULL && i < FIELDS_LOOKED_AT && sym_pb_next(&c, &f); i++)
    {
        form = number == 1 ? form_of_first(&f) : form_of_second(&f);
    }

    return form;
}


/* Only pprof has other fields than 1 and 2. */
static const profile_form_t *
form_of(const sym_pb_field_t *f)
{
    return f->number > 2 || f->type != SYM_PB_BYTES
               ? &profile_pprof
               : form_of_message(f->number, f->bytes);
}


static const char *
skip_space(const char *p, const char *end)
{
    return sym_raw_space(p, end - p > SPACE_MAX ? p + SPACE_MAX : end);
}


/*
 * Whether the body is JSON.  A brace is no tag of either form, but the white space
 * before it is: "\n{" begins a resource's profiles of 123 bytes.  A key after it is
 * in none of them: bytes of text there are no tags of theirs.
 */
static bool
is_json(sym_str_t body)
{
    const char *end = body.len != 0 ? body.data + body.len : body.data;
    const char *p = skip_space(body.data, end);

    if (p == end || *p != '{') {
        return false;
    }

    if (p == body.data) {
        return true;
    }

    p = skip_space(p + 1, end);
    return end - p > 1 && *p == '"' && (uint8_t) p[1] >= 0x20;
}


sym_status_t
profile_find_form(profile_t *p, uint32_t *budget)
{
    sym_error_t err = { 0 };
    sym_cursor_t c =
        sym_cursor(p->base.body.data, p->base.body.len, "profile", &err);
    sym_pb_field_t f;

    if (is_json(p->base.body)) {
        return profile_json_init(p) ? SYM_OK : SYM_NOMEM;
    }

    c.pos += p->place.at;
    while (p->form == NULL && *budget > 0 && sym_pb_next(&c, &f)) {
        p->form = form_of(&f);
        p->place.at = (size_t) (c.pos - c.start);
        sym_budget_charge(budget, 1);
    }

    if (p->form == NULL && *budget == 0) {
        return SYM_AGAIN;
    }

    if (p->form == NULL && err.status != SYM_OK) {
        return sym_request_refuse(
            &p->base, SYM_MALFORMED,
            "the body is no profile of pprof or OTLP: %s, at byte %llu",
            err.what, (unsigned long long) err.offset);
    }

    /* an empty body is a profile of pprof */
    p->form = p->form != NULL    ? p->form
              : p->place.at == 0 ? &profile_pprof
                                 : &profile_otlp;
    p->place = (profile_place_t){ 0 };
    return SYM_OK;
}


/* --- fields --- */

static profile_kind_t
kind_of(const profile_t *p, const sym_pb_field_t *f, bool is_inside)
{
    if (f->type != SYM_PB_BYTES) {
        return PROFILE_REST;
    }

    if (p->form->dictionary != 0 && !is_inside) {
        return f->number == p->form->dictionary ? PROFILE_DICTIONARY
                                                : PROFILE_REST;
    }

    return f->number < PROFILE_TABLES
               ? (profile_kind_t) p->form->table[f->number]
               : PROFILE_REST;
}


bool
profile_next(const profile_t *p, profile_place_t *place, profile_field_t *field,
             sym_error_t *err)
{
    sym_cursor_t c =
        sym_cursor(p->base.body.data, p->base.body.len, "profile", err);

    if (p->is_json) {
        return profile_json_next(p, place, field, err);
    }

    place->end = place->at == place->end ? 0 : place->end;
    field->is_inside = place->end != 0;
    field->at = place->at;
    field->entry = (uint32_t) place->at;
    c.pos += place->at;
    c.end = field->is_inside ? c.start + place->end : c.end;

    if (!sym_pb_next(&c, &field->pb)) {
        return false;
    }

    field->end = (size_t) (c.pos - c.start);
    field->kind = kind_of(p, &field->pb, field->is_inside);
    field->entry_end = (uint32_t) field->end;
    place->at = field->end;

    if (field->kind == PROFILE_DICTIONARY) {
        place->at = field->end - field->pb.bytes.len;
        place->end = field->end;
    }

    return true;
}
