#include "api/js/js.h"

#include <stdio.h>

#include "api/download.h"
#include "base/hash.h"
#include "base/text.h"
#include "sources/guard/origins.h"

#define DETAILS_MAX 1024

/* Only the first attempt at a URL in a pass counts. */
sym_status_t
js_note_attempt(js_t *j, sym_str_t url, const js_attempt_t *attempt)
{
    const sym_hash_key_t hash = sym_hash_key();
    js_attempt_t *next;
    bool is_added;
    uint32_t *pass =
        js_table_at(j, &j->attempted, sym_hash(&hash, url), &is_added);

    if (pass == NULL) {
        return SYM_NOMEM;
    }

    if (!is_added && *pass == j->pass) {
        return SYM_OK;
    }

    *pass = j->pass;
    next = sym_list_add(j->base.arena, &j->attempts, sizeof(*next));
    if (next == NULL) {
        return SYM_NOMEM;
    }

    *next = *attempt;
    next->url = url;
    return SYM_OK;
}


static sym_status_t
refuse(js_t *j, js_file_t *file, const char *reason, const char *format,
       sym_str_t text)
{
    size_t size = text.len + 64;
    char *details = sym_arena_alloc(j->base.arena, size);
    int len = details != NULL
                  ? snprintf(details, size, format, (int) text.len, text.data)
                  : -1;

    file->state = JS_ABSENT;
    if (js_note_try(j, &(js_try_t){ .file = js_file_words[file->key.type],
                                    .by = SYM_STR("scraping"),
                                    .uri = file->key.abs_path,
                                    .need = UINT32_MAX,
                                    .result = reason })
        != SYM_OK)
    {
        return SYM_NOMEM;
    }

    return len < 0
               ? SYM_NOMEM
               : js_note_attempt(j, file->key.abs_path,
                                 &(js_attempt_t){
                                     .state = JS_REFUSED,
                                     .reason = reason,
                                     .details = sym_str(details, (size_t) len),
                                 });
}


static sym_status_t
scrape_url(js_t *j, const sym_url_t *url, js_file_t *file)
{
    sym_text_t t = { .arena = j->base.arena }, shown = { .arena = t.arena };
    sym_object_ref_t ref = { .role = SYM_TEXT_SOURCE };
    char slot[16];
    sym_status_t rc;

    js_write_url(&t, j->base.arena, url);
    if (url->query.len != 0) {
        sym_text_byte(&t, '?');
        sym_text_add(&t, url->query);
    }

    ref.url = sym_text_end(&t);
    if (t.failed) {
        return SYM_NOMEM;
    }

    if (!sym_origins_have(j->request.origins, j->request.n_origins, url,
                          ref.url)) {
        return refuse(j, file, "invalid_host",
                      "%.*s is not an allowed download origin",
                      file->key.abs_path);
    }

    ref.since = js_hour_of(ref.url);
    sym_text_add(&shown, ref.url);
    (void) snprintf(slot, sizeof(slot), "#%u", ref.since);
    sym_text_add(&shown, sym_cstr(slot));
    file->uri = sym_text_end(&shown);
    file->origin = JS_SCRAPED;
    file->resolved_with = SYM_STR("scraping");
    rc = shown.failed ? SYM_NOMEM : js_find_needed(j, &ref, false, file);

    return rc != SYM_OK
               ? rc
               : js_note_attempt(
                   j, file->key.abs_path,
                   &(js_attempt_t){ .state = JS_TRIED, .need = file->need });
}


sym_status_t
js_scrape(js_t *j, js_file_t *file)
{
    sym_str_t abs_path = file->key.abs_path;
    sym_error_t err = { 0 };
    sym_url_t url;
    sym_status_t rc;

    file->state = JS_ABSENT;
    if (abs_path.data == NULL || !js_is_url(abs_path)) {
        return SYM_OK;
    }

    if (!j->request.may_scrape) {
        rc = refuse(j, file, "disabled", "%.*s", SYM_STR(""));
        file->state = JS_DISABLED;
        return rc;
    }

    rc = sym_url_read(j->base.arena, abs_path, &url, &err);
    if (rc == SYM_UNSUPPORTED) {
        return refuse(j, file, "invalid_host",
                      "`%.*s` is not an allowed download scheme",
                      js_scheme(abs_path));
    }

    return rc == SYM_OK ? scrape_url(j, &url, file)
           : rc == SYM_NOMEM
               ? rc
               : refuse(j, file, "other", "%.*s", sym_cstr(err.what));
}


typedef struct {
    const js_attempt_t *attempt;
    const sym_need_t *need;
    js_t *j;
    const char *reason;
    sym_str_t details;
} result_t;

/* Symbolicator's reason for a text that is not UTF-8. */
static bool
find_utf8(sym_str_t reason, sym_str_t *text)
{
    static const char *const words[] = { "invalid utf-8", "incomplete utf-8" };

    for (size_t i = 0; i < 2 && reason.len != 0; i++) {
        const char *at =
            memmem(reason.data, reason.len, words[i], strlen(words[i]));

        if (at != NULL) {
            *text = sym_str(at, (size_t) (reason.data + reason.len - at));
            return true;
        }
    }

    return false;
}


/* Describes a failed attempt by its outcome (protocol/outcomes.h). */
static void
tell(result_t *r, sym_str_t outcome, uint64_t ms)
{
    sym_download_t end = { .location = r->attempt->url,
                           .outcome = outcome,
                           .ms = ms,
                           .status = sym_download_of(outcome) };
    char details[DETAILS_MAX];

    r->details = SYM_STR("");
    switch (end.status) {
    case SYM_DOWNLOAD_NOT_FOUND:
        r->reason = "not_found";
        return;
    case SYM_DOWNLOAD_OK: /* the file was empty */
        r->reason = "success";
        return;
    case SYM_DOWNLOAD_NOPERM:
        r->reason = "permission_denied";
        break;
    default:
        r->reason = sym_str_eq(outcome, SYM_STR("timeout")) ? "timeout"
                                                            : "download_error";
    }

    /* Symbolicator shows both statuses in the same way */
    if (sym_str_eq(outcome, SYM_STR("401"))) {
        end.outcome = SYM_STR("403");
    }

    r->details =
        sym_arena_copy(r->j->base.arena,
                       sym_str(details, sym_download_details(&end, "", details,
                                                             sizeof(details))));
}


static void
read_place(void *ctx, const sym_place_t *place)
{
    char outcome[SYM_PLACE_OUTCOME_MAX];
    result_t *r = ctx;
    sym_str_t text;

    if (place->record == NULL) {
        return;
    }

    if (place->state == SYM_MODULE_MALFORMED) {
        r->reason = "success";
        r->details = SYM_STR("");
        if (find_utf8(place->record->reason, &text)) {
            r->reason = "other";
            r->details = sym_arena_copy(r->j->base.arena, text);
        }
        return;
    }

    tell(r, sym_place_outcome(place->record, outcome), place->record->ms);
}


/* Used when the store no longer has a record of the attempt: "source "NAME":
 * WHY: STATUS". */
static void
read_reason(result_t *r)
{
    sym_str_t reason = r->need->missing.reason;
    size_t at = reason.len;
    const char *why;

    while (at > 0 && reason.data[at - 1] >= '0' && reason.data[at - 1] <= '9') {
        at--;
    }

    if (r->need->missing.state == SYM_MODULE_ABSENT) {
        r->reason = "not_found";
    } else if (r->need->missing.state == SYM_MODULE_MALFORMED) {
        r->reason = "success";
    } else if (at < reason.len && reason.len - at == 3) {
        tell(r, sym_str(reason.data + at, 3), 0);
    } else if (reason.len != 0) {
        why = memmem(reason.data, reason.len, "\": ", 3);
        r->details = why != NULL ? sym_str(
                         why + 3, reason.len - 3 - (size_t) (why - reason.data))
                                 : reason;
    }
}


const char *
js_attempt_result(js_t *j, const js_attempt_t *attempt, sym_str_t *details)
{
    sym_need_t *need = &j->base.needs[attempt->need];
    result_t result = { .attempt = attempt,
                        .need = need,
                        .j = j,
                        .reason = "download_error",
                        .details = SYM_STR("") };
    sym_ref_key_t key;

    *details = SYM_STR("");
    if (need->found == SYM_NEED_FOUND) {
        return "success";
    }

    if (need->found == SYM_NEED_PENDING) {
        return "timeout";
    }

    read_reason(&result);
    if (sym_request_key(&j->base, need, &key)) {
        sym_resolver_url(j->base.resolver, key.key.scope,
                         &(sym_lookup_t){ need->ref, need->kind, 0 },
                         read_place, &result);
    }

    *details = result.details.data != NULL ? result.details : SYM_STR("");
    return result.reason;
}
