/*
 * show.c - `symloader show`: all facts about one module.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "cli/commands.h"
#include "common/module.h"
#include "places/places.h"

typedef struct {
    module_operand_t operand;
    module_t module;
    output_t *out;
    bool is_json;
    bool first;         /* JSON: no key was written yet */
    bool has_sizes;     /* sizes are printed before the counts of the kind */
    unsigned n_records; /* number of records of the object shown so far */

    sym_object_ref_t ref;
    sym_snapshot_t *snapshot;
    unsigned n_places;
} show_t;

static void
print_row_text(output_t *out, const char *key, sym_str_t value)
{
    output_printf(out, "%-13s ", key);
    output_text(out, value.len != 0 ? value : SYM_STR("-"));
    output_printf(out, "\n");
}


static void
print_record_text(output_t *out, show_t *s)
{
    const sym_object_record_t *m = &s->module.record;
    char stored[OUTPUT_TIME_TEXT], used[OUTPUT_TIME_TEXT];

    print_row_text(out, "name", s->module.key.name);
    print_row_text(out, "id", s->module.key.id);
    print_row_text(out, "source", sym_scope_word(s->module.key.scope));
    print_row_text(out, "kind", sym_cstr(sym_kind_name(m->kind)));
    print_row_text(out, "state", sym_cstr(sym_module_state_name(m->state)));
    print_row_text(out, "file", module_source(&s->module));
    print_row_text(out, "stored", sym_cstr(output_time(m->stored_at, stored)));
    print_row_text(out, "used", sym_cstr(output_time(m->used_at, used)));
}


static void
print_negative_text(output_t *out, const sym_object_record_t *m)
{
    char expires[OUTPUT_TIME_TEXT];

    print_row_text(out, "reason", m->reason);
    output_printf(out, "%-13s %s%s\n", "expires",
                  m->expires_at != 0 ? output_time(m->expires_at, expires)
                                     : "never",
                  sym_module_expired(m, time(NULL)) ? " (has expired)" : "");
}


static void
put_text(void *ctx, const char *key, sym_str_t value)
{
    show_t *s = ctx;

    if (s->is_json) {
        output_key_string(s->out, key, value, &s->first);
    } else {
        print_row_text(s->out, key, value);
    }
}


static void
put_number(show_t *s, const char *key, uint64_t value)
{
    if (s->is_json) {
        output_key_dec(s->out, key, value, &s->first);
    } else {
        output_printf(s->out, "%-13s %" PRIu64 "\n", key, value);
    }
}


static void
put_sizes(show_t *s)
{
    const sym_object_record_t *m = &s->module.record;

    put_number(s, "format", m->kind_version);
    put_number(s, "file_bytes", m->source_bytes);
    put_number(s, "bytes", m->bytes);
    put_number(s, "stored_bytes", m->pages * 4096);
    put_number(s, "extents", m->extents);
    s->has_sizes = true;
}


static void
put_count(void *ctx, const char *key, uint64_t value)
{
    show_t *s = ctx;

    if (!s->has_sizes) {
        put_sizes(s);
    }

    put_number(s, key, value);
}


/* Prints facts from the artifact's kind: texts, then counts. */
static void
print_ready(show_t *s, const sym_kind_row_t *kind)
{
    const sym_object_record_t *m = &s->module.record;
    const sym_extent_source_t extents = module_extents(&s->module);
    const sym_kind_facts_t facts = { put_text, put_count, s };
    sym_error_t err = { 0 };
    char text[256];

    s->has_sizes = false;
    put_text(s, "quality", sym_cstr(kind->quality_name(m->quality)));
    put_text(s, "incomplete", m->reason);

    if (kind->describe(&extents, &facts, &err) != SYM_OK) {
        put_text(s, "damaged",
                 sym_cstr(sym_error_text(&err, text, sizeof(text))));
    }

    if (!s->has_sizes) {
        put_sizes(s);
    }
}


/* --- its places --- */

typedef void (*place_pt)(show_t *s, const sym_place_t *place);

typedef struct {
    show_t *show;
    place_pt fn;
    sym_error_t *err;
} places_t;

static sym_status_t
visit_path(void *ctx, const sym_path_shown_t *key,
           const sym_path_record_t *record)
{
    const places_t *p = ctx;
    const sym_asking_t asking = { .ref = &p->show->ref,
                                  .kind = SYM_KIND_SYMCACHE,
                                  .reader = sym_kinds_reader(),
                                  .now_s = record->stored_at,
                                  .has_artifact = record->artifacts != 0 };
    sym_place_t place = sym_place_of(key, record);

    place.state = sym_path_says(record, &asking).state;
    p->fn(p->show, &place);
    return SYM_OK;
}


static sym_status_t
visit_scope(void *ctx, sym_str_t scope)
{
    places_t *p = ctx;

    return sym_snapshot_paths_of(p->show->snapshot, scope, &p->show->ref,
                                 visit_path, p, p->err);
}


/* Calls fn for the places where a file with one of the object's ids was
 * searched. */
static void
each_place(show_t *s, place_pt fn, sym_error_t *err)
{
    places_t p = { s, fn, err };
    sym_str_t scope = s->operand.key.scope;

    (void) (sym_str_eq(scope, SYM_STR(SYM_SCOPE_ALL))
                ? sym_snapshot_scopes(s->snapshot, visit_scope, &p, err)
                : visit_scope(&p, scope));
}


static void
weigh_place(show_t *s, const sym_place_t *place)
{
    s->n_places++;
    if (sym_place_weigh(place, &s->module.record)) {
        s->module.key.scope = place->key.scope;
    }
}


/* State 0: it is tried again at the next request. */
static sym_str_t
state_word(sym_module_state_t state)
{
    return state != 0 ? sym_cstr(sym_module_state_name(state))
                      : SYM_STR("open");
}


static void
print_place_text(show_t *s, const sym_place_t *place)
{
    const sym_path_record_t *r = place->record;
    output_t *out = s->out;
    char text[SYM_PLACE_OUTCOME_MAX], expires[OUTPUT_TIME_TEXT];

    output_printf(out, "%-13s ", "place");
    output_text(out, sym_scope_word(place->key.scope));
    output_printf(out, ": ");
    output_text(out, sym_place_outcome(r, text));
    output_printf(out, ", %" PRIu64 " bytes, %" PRIu32 " ms, ", r->bytes,
                  r->ms);
    output_text(out, sym_place_location(place));
    if (r->artifacts == 0 && r->expires_at != 0) {
        output_printf(out, ", until %s", output_time(r->expires_at, expires));
    }
    output_printf(out, r->reason.len != 0 ? ": " : "");
    output_text(out, r->reason);
    output_printf(out, "\n");
}


static void
print_place_json(show_t *s, const sym_place_t *place)
{
    const sym_path_record_t *r = place->record;
    output_t *out = s->out;
    char text[SYM_PLACE_OUTCOME_MAX];
    bool first = true;

    output_printf(out, s->n_places++ != 0 ? ",{" : "{");
    output_key_string(out, "path", place->key.path, &first);
    output_key_string(out, "source", sym_scope_word(place->key.scope), &first);
    output_key_string(out, "state", state_word(place->state), &first);
    output_key_string(out, "outcome", sym_place_outcome(r, text), &first);
    output_key_string(out, "reason", r->reason, &first);
    output_key_string(out, "url", r->url, &first);
    output_key_dec(out, "file_bytes", r->bytes, &first);
    output_key_dec(out, "ms", r->ms, &first);
    output_key_dec(out, "stored_at", (uint64_t) r->stored_at, &first);
    output_key_dec(out, "expires_at", r->artifacts != 0 ? 0 : r->expires_at,
                   &first);
    output_printf(out, "}");
}


static void
print_places_json(show_t *s, bool *first, sym_error_t *err)
{
    s->n_places = 0;
    output_key(s->out, "places", first);
    output_printf(s->out, "[");
    each_place(s, print_place_json, err);
    output_printf(s->out, "]");
}


/* --- its records --- */

static void
print_json(output_t *out, show_t *s, const sym_kind_row_t *kind,
           sym_error_t *err)
{
    const sym_object_record_t *m = &s->module.record;
    bool first = true;

    output_printf(out, "{");
    output_key_string(out, "name", s->module.key.name, &first);
    output_key_string(out, "id", s->module.key.id, &first);
    output_key_string(out, "source", sym_scope_word(s->module.key.scope),
                      &first);
    output_key_string(out, "kind", sym_cstr(sym_kind_name(m->kind)), &first);
    output_key_string(out, "state", sym_cstr(sym_module_state_name(m->state)),
                      &first);
    output_key_string(out, "file", module_source(&s->module), &first);
    output_key_dec(out, "stored_at", (uint64_t) m->stored_at, &first);
    output_key_dec(out, "used_at", m->used_at, &first);

    if (m->state == SYM_MODULE_READY) {
        s->first = first;
        print_ready(s, kind);

    } else {
        output_key_string(out, "reason", m->reason, &first);
        output_key_dec(out, "expires_at", m->expires_at, &first);
    }

    print_places_json(s, &first, err);
    output_printf(out, "}\n");
}


static void
print_text(output_t *out, show_t *s, const sym_kind_row_t *kind)
{
    print_record_text(out, s);

    if (s->module.record.state == SYM_MODULE_READY) {
        print_ready(s, kind);

    } else {
        print_negative_text(out, &s->module.record);
    }
}


/* Returns the record of one kind, if there is one. */
static sym_status_t
show_kind(show_t *s, sym_snapshot_t *snapshot, const sym_kind_row_t *kind,
          sym_error_t *err)
{
    sym_status_t rc =
        module_open(&s->module, snapshot, &s->operand.key, kind->kind, err);

    if (rc != SYM_OK) {
        return err->status;
    }

    if (s->is_json) {
        print_json(s->out, s, kind, err);
    } else {
        output_printf(s->out, s->n_records != 0 ? "\n" : "");
        print_text(s->out, s, kind);
    }

    s->n_records++;
    return err->status;
}


/* Prints a module that has only records of places. */
static void
show_missing(show_t *s, sym_error_t *err)
{
    const sym_object_record_t *m = &s->module.record;
    bool first = true;

    s->module.key = s->operand.key;
    s->module.record = (sym_object_record_t){ .state = 0 };
    each_place(s, weigh_place, err);
    if (s->n_places == 0) {
        return;
    }

    s->n_records++;
    if (!s->is_json) {
        print_row_text(s->out, "name", s->module.key.name);
        print_row_text(s->out, "id", s->module.key.id);
        print_row_text(s->out, "source", sym_scope_word(s->module.key.scope));
        print_row_text(s->out, "state", state_word(m->state));
        print_negative_text(s->out, m);
        return;
    }

    output_printf(s->out, "{");
    output_key_string(s->out, "name", s->module.key.name, &first);
    output_key_string(s->out, "id", s->module.key.id, &first);
    output_key_string(s->out, "source", sym_scope_word(s->module.key.scope),
                      &first);
    output_key_string(s->out, "state", state_word(m->state), &first);
    output_key_string(s->out, "reason", m->reason, &first);
    output_key_dec(s->out, "expires_at", m->expires_at, &first);
    output_key_dec(s->out, "stored_at", (uint64_t) m->stored_at, &first);
    print_places_json(s, &first, err);
    output_printf(s->out, "}\n");
}


static int
show(session_t *r)
{
    show_t *s = r->ctx;
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };
    sym_status_t rc = sym_snapshot_begin(r->store, &snapshot, &err);

    if (rc != SYM_OK) {
        return store_failure(r->options, &err);
    }

    s->out = r->out;
    s->is_json = r->options->json;
    s->snapshot = snapshot;
    sym_object_ref_of_key(&s->operand.key, &s->ref);

    for (size_t i = 0; i < SYM_KINDS && rc == SYM_OK; i++) {
        rc = show_kind(s, snapshot, sym_kinds[i], &err);
    }

    if (rc == SYM_OK && s->n_records == 0) {
        show_missing(s, &err);
    }

    if (rc == SYM_OK && !s->is_json) {
        each_place(s, print_place_text, &err);
    }

    rc = err.status;
    sym_snapshot_end(snapshot);

    if (rc == SYM_OK && s->n_records == 0) {
        complain_about(r->options->operands[0], "not in the store");
        return EXIT_PARTLY;
    }

    return rc == SYM_OK ? EXIT_FINE : store_failure(r->options, &err);
}


int
show_run(const options_t *options)
{
    show_t *s = calloc(1, sizeof(*s));
    int code = EXIT_USAGE;

    if (s == NULL) {
        complain_about("show", "out of memory");
        return EXIT_STORE;
    }

    if (module_operand_parse(options->operands[0], options->source,
                             &s->operand)) {
        code = session_read(options, show, s);
    }

    free(s);
    return code;
}
