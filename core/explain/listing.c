#include "explain/listing.h"

#include "artifacts/symcache/format.h"
#include "base/hex.h"
#include "explain/member.h"
#include "places/places.h"

typedef struct {
    const sym_listing_question_t *question;
    uint32_t now_s;
    sym_out_t *out;
    unsigned rows;
} listing_t;

/* Ignores the case of ASCII letters. */
static bool
has(sym_str_t text, sym_str_t part)
{
    for (size_t at = 0; at + part.len <= text.len; at++) {
        size_t i = 0;

        while (i < part.len
               && sym_lower(text.data[at + i]) == sym_lower(part.data[i])) {
            i++;
        }

        if (i == part.len) {
            return true;
        }
    }

    return false;
}


static sym_str_t
code_id_of(const sym_object_record_t *record)
{
    return sym_str(record->object.code_id.text, record->object.code_id.len);
}


static bool
fits(const listing_t *list, const sym_object_record_t *record, sym_str_t id)
{
    sym_str_t q = list->question->q, state = list->question->state;

    return (state.len == 0
            || sym_str_eq(state,
                          sym_cstr(sym_module_state_name(record->state))))
           && (has(record->object.name, q) || has(id, q)
               || has(code_id_of(record), q));
}


static void
write_row(listing_t *list, sym_str_t scope, sym_str_t id,
          const sym_object_record_t *record)
{
    sym_out_t *out = list->out;

    sym_out_raw(out, list->rows == 0 ? SYM_STR("") : SYM_STR(", "));
    sym_out_raw(out, SYM_STR("{\"name\": "));
    sym_out_string(out, record->object.name);
    sym_member_text(out, "id", id);
    sym_member_text(out, "code_id", code_id_of(record));
    sym_member_text(out, "kind", sym_cstr(sym_kind_name(record->kind)));
    sym_member_text(out, "state",
                    sym_cstr(sym_module_state_name(record->state)));
    sym_member_text(out, "source", sym_scope_word(scope));

    if (record->state == SYM_MODULE_READY) {
        if (record->kind == SYM_KIND_SYMCACHE) {
            sym_member_text(out, "quality",
                            sym_cstr(sym_quality_name(record->quality)));
        }

        sym_member_number(out, "bytes", record->bytes);
        sym_member_number(out, "stored_bytes", record->pages * 4096);
    } else {
        sym_member_time(out, "expires_at", record->expires_at);
        sym_member_bool(out, "is_expired",
                        sym_module_expired(record, list->now_s));
    }

    sym_member_time(out, "stored_at", record->stored_at);
    sym_member_time(out, "used_at", record->used_at);
    sym_out_raw(out, SYM_STR("}"));
}


static sym_status_t
show(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    listing_t *list = ctx;
    char text[SYM_CODE_ID_MAX];
    sym_str_t id = sym_object_shown_id(&record->object, text);

    if (fits(list, record, id)) {
        write_row(list, scope, id, record);
        list->rows++;
    }

    return list->rows == SYM_LISTING_ROWS ? SYM_AGAIN : SYM_OK;
}


static void
write_path_row(listing_t *list, const sym_place_t *place)
{
    const sym_path_record_t *record = place->record;
    sym_out_t *out = list->out;
    char text[SYM_PLACE_OUTCOME_MAX];

    sym_out_raw(out, list->rows == 0 ? SYM_STR("") : SYM_STR(", "));
    sym_out_raw(out, SYM_STR("{\"path\": "));
    sym_out_string(out, place->key.path);
    sym_member_text(out, "state",
                    sym_cstr(sym_path_outcome_name(record->outcome)));
    sym_member_text(out, "source", sym_scope_word(place->key.scope));
    sym_member_text(out, "outcome", sym_place_outcome(record, text));
    sym_member_time(out, "expires_at", record->expires_at);
    sym_member_bool(out, "is_expired",
                    sym_is_past(record->expires_at, list->now_s));
    sym_member_time(out, "stored_at", record->stored_at);
    sym_out_raw(out, SYM_STR("}"));
}


/* A path without a useful file. */
static sym_status_t
show_path(void *ctx, const sym_path_shown_t *key,
          const sym_path_record_t *record)
{
    listing_t *list = ctx;
    const sym_place_t place = sym_place_of(key, record);
    sym_str_t state = list->question->state;

    if (record->artifacts == 0
        && (state.len == 0
            || sym_str_eq(state,
                          sym_cstr(sym_path_outcome_name(record->outcome))))
        && has(key->path, list->question->q))
    {
        write_path_row(list, &place);
        list->rows++;
    }

    return list->rows == SYM_LISTING_ROWS ? SYM_AGAIN : SYM_OK;
}


/* Lists the modules of a source, then its paths. */
static sym_status_t
show_source(listing_t *list, sym_snapshot_t *snapshot, sym_str_t scope,
            sym_store_mark_t *mark, uint64_t *left, sym_error_t *err)
{
    sym_status_t status = SYM_OK;

    if (mark->table == 0) {
        status =
            sym_snapshot_objects(snapshot, &scope, mark, left, show, list, err);
        if (status == SYM_OK) {
            *mark = (sym_store_mark_t){ .table = 1 };
        }
    }

    return status == SYM_OK ? sym_snapshot_paths(snapshot, scope, mark, left,
                                                 show_path, list, err)
                            : status;
}


/* Reads the mark and the index of its source from the digits of `after`; the
 * first digit is the number of the table. */
static bool
read_after(sym_str_t after, const sym_scopes_t *scopes, sym_store_mark_t *mark,
           uint32_t *number)
{
    const char *nul;

    *number = 0;
    *mark = (sym_store_mark_t){ .len = after.len / 2 };

    if (after.len == 0) {
        return true;
    }

    mark->table = (unsigned) (after.data[0] - '0');
    after = sym_str(after.data + 1, after.len - 1);

    if (after.len % 2 != 0 || mark->table > 1 || mark->len > sizeof(mark->key))
    {
        return false;
    }

    for (size_t i = 0; i < mark->len; i++) {
        int high = sym_hex_digit(after.data[2 * i]);
        int low = sym_hex_digit(after.data[2 * i + 1]);

        if (high < 0 || low < 0) {
            return false;
        }

        mark->key[i] = (char) (high << 4 | low);
    }

    nul = memchr(mark->key, '\0', mark->len);

    for (; nul != NULL && *number < scopes->n; ++*number) {
        if (sym_str_eq(scopes->names[*number],
                       sym_str(mark->key, (size_t) (nul - mark->key))))
        {
            return true;
        }
    }

    return false;
}


static void
write_after(sym_out_t *out, const sym_store_mark_t *mark)
{
    static const char digits[] = "0123456789abcdef";

    sym_out_raw(out, SYM_STR("\""));
    sym_out_dec(out, mark->table);

    for (size_t i = 0; i < mark->len; i++) {
        unsigned byte = (unsigned char) mark->key[i];
        char two[2] = { digits[byte >> 4], digits[byte & 15] };

        sym_out_raw(out, sym_str(two, sizeof(two)));
    }

    sym_out_raw(out, SYM_STR("\""));
}


static bool
is_state(sym_str_t word)
{
    for (int o = SYM_PATH_READ; o <= SYM_PATH_MALFORMED; o++) {
        if (sym_str_eq(word,
                       sym_cstr(sym_path_outcome_name((sym_path_outcome_t) o))))
        {
            return true;
        }
    }

    return word.len == 0 || sym_str_eq(word, SYM_STR("ready"));
}


sym_status_t
sym_listing(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
            const sym_listing_question_t *question, uint32_t now_s,
            sym_out_t *out, sym_error_t *err)
{
    listing_t list = { .question = question, .now_s = now_s, .out = out };
    sym_status_t status = SYM_OK;
    sym_store_mark_t mark;
    uint64_t left = SYM_LISTING_READ;
    uint32_t i;

    if (!is_state(question->state)) {
        return sym_fail(err, SYM_MALFORMED, "unknown state");
    }

    if (!read_after(question->after, scopes, &mark, &i)) {
        return sym_fail(err, SYM_MALFORMED, "invalid \"after\"");
    }

    sym_out_raw(out, SYM_STR("{\"modules\": ["));

    for (; i < scopes->n && status == SYM_OK; i++) {
        status =
            show_source(&list, snapshot, scopes->names[i], &mark, &left, err);
        if (status == SYM_OK) {
            mark = (sym_store_mark_t){ .len = 0 };
        }
    }

    if (status != SYM_OK && status != SYM_AGAIN) {
        return status;
    }

    sym_out_raw(out, SYM_STR("]"));
    sym_member_number(out, "read", SYM_LISTING_READ - left);
    sym_member_key(out, "after");

    if (status == SYM_AGAIN) {
        write_after(out, &mark);
    } else {
        sym_out_raw(out, SYM_STR("null"));
    }

    sym_out_raw(out, SYM_STR("}"));
    return SYM_OK;
}
