/*
 * json_answer.c - what an answer in JSON has that one in protobuf has in another way:
 * lines of a location are a member of it, and the tables of functions and strings are
 * written at the end of the dictionary, with the new entries.
 */
#include "api/profile/profile.h"

#include <inttypes.h>

#include "base/steps.h"

/* --- new entries --- */

/* Entry 0 of a table is the one that is not there. */
static uint64_t
first_number(uint32_t n)
{
    return n != 0 ? n : 1;
}


void
profile_json_begin(profile_t *p)
{
    p->n_strings = first_number(p->strings.n);
    p->n_functions = first_number(p->functions.n);
    p->new_strings.n = 0;
    p->new_functions.n = 0;
    p->ending = (profile_end_t){ 0 };
}


bool
profile_json_text(profile_t *p, const profile_text_t *text, uint64_t *number)
{
    profile_text_t *added =
        sym_list_add(p->base.arena, &p->new_strings, sizeof(*added));

    if (added == NULL) {
        return false;
    }

    *added = *text;
    *number = p->n_strings++;
    return true;
}


bool
profile_json_function(profile_t *p, uint64_t name, uint64_t system_name,
                      uint64_t file)
{
    profile_function_t *added =
        sym_list_add(p->base.arena, &p->new_functions, sizeof(*added));

    if (added == NULL) {
        return false;
    }

    *added = (profile_function_t){ (uint32_t) name, (uint32_t) system_name,
                                   (uint32_t) file };
    return true;
}


bool
profile_json_resume(const profile_t *p)
{
    const profile_text_t *texts = p->new_strings.items;
    const uint32_t written = p->ending.table == 1 ? p->ending.n : 0;

    if (p->ending.table > 1) {
        return true;
    }

    for (uint32_t i = written; i < p->new_strings.n; i++) {
        if (sym_resolver_is_lost(p->base.resolver, texts[i].need)) {
            return false;
        }
    }

    return true;
}


/* --- locations --- */

/* A member without lines that the request has; to 0: none. */
static profile_range_t
find_lines(const profile_t *p, const profile_field_t *f, bool *is_empty)
{
    sym_error_t err = { 0 };
    sym_json_tokens_t t = sym_json_tokens(sym_str(
        p->base.body.data + f->entry, (size_t) f->entry_end - f->entry));
    profile_range_t range = { 0 };
    sym_json_token_t token;

    (void) sym_json_token(&t, &token, &err);
    *is_empty = true;
    while (sym_json_token(&t, &token, &err) && t.depth != 0) {
        if (token.type == SYM_JSON_PART) {
            continue; /* of a key */
        }

        *is_empty = false;
        if (!sym_json_is(&token, "lines")) {
            (void) sym_json_skip(&t, &err);
            continue;
        }

        /* null, or [ and ] */
        (void) sym_json_token(&t, &token, &err);
        range.from = f->entry + (uint32_t) (token.text.data - t.start);
        if (token.type == SYM_JSON_OPEN) {
            (void) sym_json_token(&t, &token, &err);
        }
        range.to = f->entry + (uint32_t) (token.text.data - t.start)
                   + (uint32_t) token.text.len;
    }

    return range;
}


static void
write_lines(const profile_t *p, const sym_answer_t *answer, sym_out_t *out)
{
    sym_out_raw(out, SYM_STR("["));
    for (uint32_t i = 0; i < answer->n_levels; i++) {
        sym_out_printf(out, "%s{\"functionIndex\":%" PRIu64, i != 0 ? "," : "",
                       p->levels[i]);
        if (answer->levels[i].line != 0) {
            sym_out_printf(out, ",\"line\":\"%u\"", answer->levels[i].line);
        }
        sym_out_raw(out, SYM_STR("}"));
    }

    sym_out_raw(out, SYM_STR("]"));
}


static void
write_range(const profile_t *p, size_t from, size_t to, sym_out_t *out)
{
    sym_out_raw(out, sym_str(p->base.body.data + from, to - from));
}


void
profile_json_location(const profile_t *p, const profile_field_t *f,
                      const sym_answer_t *answer, sym_out_t *out)
{
    profile_range_t lines;
    bool is_empty;

    if (answer->n_levels == 0) {
        write_range(p, f->at, f->end, out);
        return;
    }

    lines = find_lines(p, f, &is_empty);
    if (lines.to == 0) {
        lines = (profile_range_t){ f->entry_end - 1, f->entry_end - 1 };
        write_range(p, f->at, lines.from, out);
        sym_out_raw(out,
                    is_empty ? SYM_STR("\"lines\":") : SYM_STR(",\"lines\":"));
    } else {
        write_range(p, f->at, lines.from, out);
    }

    write_lines(p, answer, out);
    write_range(p, lines.to, f->end, out);
}


/* --- the end of the dictionary --- */

void
profile_json_written(profile_t *p, const profile_field_t *f)
{
    if (f->kind != PROFILE_HIDDEN && f->kind != PROFILE_STRING
        && f->kind != PROFILE_FUNCTION)
    {
        p->ending.last = p->base.body.data[f->end - 1];
    }
}


/* Bytes that are not UTF-8 are those of a damaged store. */
static sym_status_t
write_string(profile_t *p, uint32_t i, sym_out_t *out)
{
    const profile_text_t *t = (const profile_text_t *) p->new_strings.items + i;
    sym_level_t level = { .name = t->ref };
    const sym_answer_t answer = { .lang = t->lang,
                                  .n_levels = 1,
                                  .levels = &level };
    sym_str_t text;

    if (!(t->what == PROFILE_SHOWN
              ? sym_resolver_name_text(p->base.resolver, t->need, &answer, 0,
                                       &text)
              : sym_resolver_text(p->base.resolver, t->need, t->ref, &text)))
    {
        return SYM_NOMEM;
    }

    sym_out_string(out, text);
    return SYM_OK;
}


static sym_status_t
write_function(profile_t *p, uint32_t i, sym_out_t *out)
{
    const profile_function_t *f =
        (const profile_function_t *) p->new_functions.items + i;
    bool first = true;

    sym_out_raw(out, SYM_STR("{"));
    if (f->name != 0) {
        sym_out_key_dec(out, "nameStrindex", f->name, &first);
    }
    if (f->system_name != 0) {
        sym_out_key_dec(out, "systemNameStrindex", f->system_name, &first);
    }
    if (f->file != 0) {
        sym_out_key_dec(out, "filenameStrindex", f->file, &first);
    }
    sym_out_raw(out, SYM_STR("}"));
    return SYM_OK;
}


typedef struct {
    const char *key;
    uint8_t number;
    sym_str_t zero;
    const sym_list_t *old, *added;
    profile_range_t range; /* of the old entries; 0: no list */
    sym_status_t (*write)(profile_t *p, uint32_t i, sym_out_t *out);
} table_t;

static sym_status_t
write_new(profile_t *p, const table_t *t, sym_out_t *out, uint32_t *budget)
{
    while (p->ending.n < t->added->n) {
        sym_status_t rc;

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }

        sym_out_raw(out, SYM_STR(","));
        rc = t->write(p, p->ending.n, out);
        if (rc != SYM_OK) {
            return rc;
        }

        p->ending.n++;
        sym_budget_charge(budget, 1);
        sym_resolver_charge(p->base.resolver, budget);
    }

    return SYM_OK;
}


/* False: there is nothing in the table. */
static bool
begin_table(profile_t *p, const table_t *t, sym_out_t *out)
{
    profile_end_t *e = &p->ending;
    const bool is_empty = t->added->n == 0 && t->range.from == 0;

    if (is_empty && (p->place.json.seen >> t->number & 1) == 0) {
        return false;
    }

    sym_out_printf(out, "%s\"%s\":%s",
                   e->last == '{' || e->last == ',' ? "" : ",", t->key,
                   is_empty ? "null" : "[");
    if (t->old->n == 0 && t->added->n != 0) {
        sym_out_raw(out, t->zero);
    }

    e->last = ']';
    return !is_empty;
}


static sym_status_t
write_table(profile_t *p, const table_t *t, sym_out_t *out, uint32_t *budget)
{
    const sym_str_t old =
        sym_str(p->base.body.data + t->range.from, t->range.to - t->range.from);
    profile_end_t *e = &p->ending;
    sym_status_t rc;

    if (e->part == 0) {
        if (!begin_table(p, t, out)) {
            return SYM_OK;
        }
        e->part++;
    }

    if (e->part == 1) {
        rc = profile_copy(p, old, out, budget);
        if (rc != SYM_OK) {
            return rc;
        }
        e->part++;
    }

    rc = write_new(p, t, out, budget);
    if (rc == SYM_OK) {
        sym_out_raw(out, SYM_STR("]"));
    }

    return rc;
}


sym_status_t
profile_json_end(profile_t *p, sym_out_t *out, uint32_t *budget)
{
    const profile_json_t *json = &p->place.json;
    const table_t tables[] = {
        { "functionTable", profile_otlp.function, SYM_STR("{}"), &p->functions,
          &p->new_functions, json->functions, write_function },
        { "stringTable", profile_otlp.string, SYM_STR("\"\""), &p->strings,
          &p->new_strings, json->strings, write_string },
    };
    profile_end_t *e = &p->ending;

    for (; e->table < sizeof(tables) / sizeof(*tables); e->table++) {
        const sym_status_t rc = write_table(p, &tables[e->table], out, budget);

        if (rc != SYM_OK) {
            return rc;
        }
        e->part = 0;
        e->n = 0;
    }

    return SYM_OK;
}
