/*
 * results.c - results of submitted files, and the messages about them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "artifacts/symcache/format.h"
#include "common/say.h"
#include "daemon/companion_requests.h"
#include "daemon/forget.h"
#include "daemon/made_file.h"
#include "daemon/report.h"
#include "daemon/serve.h"

static const char *
ready_text(const submission_t *c, const conversion_end_t *how)
{
    return c->conversion.is_void ? "dropped: invalidated meanwhile"
           : how->is_better_kept ? "kept: the store has better symbols"
           : how->is_later_kept  ? "kept: a later file has replaced it"
                                 : "ready";
}


static void
log_conversion(const submission_t *c, const conversion_end_t *how)
{
    const sym_module_key_t *key = &c->conversion.upload.key;
    char subject[SYM_NAME_MAX + SYM_ID_MAX + 2];

    snprintf(subject, sizeof(subject), "%.*s/%.*s", (int) key->name.len,
             key->name.data, (int) key->id.len, key->id.data);

    if (c->is_made && how->state == SYM_MODULE_READY) {
        return;
    }

    if (how->state == SYM_MODULE_READY) {
        complain_about(subject, "%s", ready_text(c, how));
        return;
    }

    complain_about(key->name.len != 0 ? subject
                   : c->is_made       ? "a file for a client"
                                      : "a deposit",
                   "%s: %s", sym_module_state_name(how->state), how->reason);
}


/* Whether the result is poor, and the store kept none that is better. */
static bool
is_poor(const conversion_end_t *how)
{
    return how->state == SYM_MODULE_READY && how->done != NULL
           && how->done->quality < sym_kind_find(how->kind)->good
           && !how->is_better_kept;
}


/*
 * A stripped executable or an unreadable file does not end the search while
 * places are left to try, because one of them may have a file with lines.  A
 * .sym file ends it, because Mozilla's clients upload such files on purpose.
 * Until the end of the search, requests get the stored artifact.
 */
static bool
wants_better(const submission_t *c)
{
    const inflight_t *inflight = c->inflight;
    bool is_final =
        c->file.type == SYM_SOURCE_BREAKPAD && inflight->ref.is_either;

    return inflight->open != 0
           && ((inflight->flags & SYM_RPC_ALL_PLACES) != 0
               || c->outcome.state == SYM_MODULE_MALFORMED
               || (c->outcome.is_poor && !is_final));
}


/* Settles a search for an artifact that has arrived in another way.
 * Conversions settle their own searches.  A search for all files continues,
 * unless the artifact was loaded by hand. */
static void
settle_one(serve_t *s, inflight_t *inflight, sym_kind_t kind, bool is_by_hand)
{
    const fetch_result_t ready = { .state = SYM_MODULE_READY };

    if (inflight->kind == kind && inflight->phase != INFLIGHT_CONVERTING
        && (is_by_hand || (inflight->flags & SYM_RPC_ALL_PLACES) == 0))
    {
        inflight_settle(&s->inflights, inflight, &ready);
    }
}


/* `key` has SYM_SCOPE_ALL if the artifact was loaded by hand. */
static void
settle_waiting(serve_t *s, const sym_module_key_t *key,
               const sym_object_key_t *object, sym_kind_t kind)
{
    const sym_store_id_t ids[] = { sym_store_id_debug(&object->debug_id),
                                   sym_store_id_code(&object->code_id) };
    bool is_by_hand = sym_str_eq(key->scope, SYM_STR(SYM_SCOPE_ALL));
    inflight_t *inflight, *next;

    inflight = inflight_next_of(&s->inflights, key, NULL);
    for (; inflight != NULL; inflight = next) {
        next = inflight_next_of(&s->inflights, key, inflight);
        settle_one(s, inflight, kind, is_by_hand);
    }

    if (object->code_id.len == 0) {
        return;
    }

    inflight = inflight_next_by_code(&s->inflights, &object->code_id, NULL);
    for (; inflight != NULL; inflight = next) {
        next = inflight_next_by_code(&s->inflights, &object->code_id, inflight);

        if ((is_by_hand || sym_str_eq(inflight->key.scope, key->scope))
            && sym_store_ids_match(&inflight->ref, ids, 2))
        {
            settle_one(s, inflight, kind, is_by_hand);
        }
    }
}


/* Records what an artifact of the file means for waiting clients; a file may
 * have several kinds. */
static void
note_outcome(serve_t *s, submission_t *c, const conversion_end_t *how)
{
    fetch_result_t *o = &c->outcome;
    char reason[CONVERSION_REASON_MAX];

    if (how->state == SYM_MODULE_READY && how->kind == c->inflight->kind) {
        *o = (fetch_result_t){ .state = SYM_MODULE_READY,
                               .is_poor = is_poor(how) };
        return;
    }

    if (how->state == SYM_MODULE_READY && !c->conversion.is_void) {
        settle_waiting(s, &c->conversion.upload.key,
                       &c->conversion.upload.object, how->kind);
    }

    if (o->state != 0) {
        return;
    }

    if (how->state == SYM_MODULE_READY) {
        if (!how->has_more) {
            conversion_lacks_kind(c->inflight->kind, how->kind, reason);
            fetch_result_set(o, SYM_MODULE_MALFORMED, c->ttl.malformed,
                             sym_cstr(reason));
        }
        return;
    }

    fetch_result_set(o, how->state, fetch_result_ttl(&c->ttl, how->state),
                     sym_cstr(how->reason));
    o->is_too_large = how->is_too_large;
}


/* Adds an artifact of the file, or the lack of one, to the record of its
 * place. */
static void
describe_file(submission_t *c, const conversion_end_t *how)
{
    const sym_object_ref_t *ref = &c->inflight->ref;
    sym_path_record_t *r = &c->file.record;
    uint32_t ttl_s = c->ttl.malformed, wanted = 1u << c->inflight->kind;

    if (how->state == SYM_MODULE_READY) {
        r->given |= 1u << how->kind;
        r->features |=
            how->done != NULL ? how->done->features & SYM_FEATURES : 0;
        return;
    }

    r->n_ids = c->conversion.n_ids;
    memcpy(r->ids, c->conversion.ids, r->n_ids * sizeof(r->ids[0]));
    if (ref->url.len != 0) {
        r->n_ids = sym_store_ids_of_ref(ref, r->ids);
    }

    /* a valid file without artifacts was read, too */
    if (r->given != 0 || how->has_nothing) {
        r->outcome = SYM_PATH_READ;
        r->tried = conversion_tries(&c->conversion) | r->given | wanted;
    } else if (how->state == SYM_MODULE_FAILED) {
        r->outcome = SYM_PATH_FAILED;
        ttl_s = fetch_result_jitter(c->ttl.failed);
    } else {
        /* if another object was in the file, nothing was made from it */
        r->outcome =
            r->n_ids != 0 && !sym_store_ids_match(ref, r->ids, r->n_ids)
                ? SYM_PATH_READ
                : SYM_PATH_MALFORMED;
        r->tried = ref->url.len != 0 ? wanted : 0;
    }

    if (how->is_too_large) {
        r->word = SYM_STR(SYM_PATH_TOO_LARGE);
        r->bytes = sym_store_temp_bytes(c->conversion.all->store);
    }

    r->reason = r->given != 0 ? SYM_STR("") : sym_cstr(how->reason);
    r->expires_at = (uint32_t) time(NULL) + ttl_s;
}


/* Whether the artifacts of other nodes decide: they have the wanted kind, or
 * these nodes have found that the file does not give it. */
static bool
is_decided(const submission_t *c)
{
    return c->outcome.state == SYM_MODULE_READY
           || (!c->is_unusable
               && (c->conversion.lacks >> c->inflight->kind & 1) != 0);
}


/* The place of unusable artifacts, or of others than are wanted, is asked for
 * the file itself. */
static void
search_unshared(serve_t *s, submission_t *c)
{
    c->inflight->unshared = c->is_unusable ? SYM_RPC_UNUSABLE : SYM_RPC_LACKING;
    c->inflight->tried &= ~((uint64_t) 1 << c->file.number);
    s->unusable_shares += c->is_unusable;
    inflight_again(&s->inflights, c->inflight);
}


static void
inflight_ended(serve_t *s, submission_t *c, const conversion_end_t *how)
{
    fetch_result_t *o = &c->outcome;

    note_outcome(s, c, how);
    describe_file(c, how);
    c->is_unusable |= how->state != SYM_MODULE_READY && !how->has_nothing;
    if (how->has_more) {
        return;
    }

    inflight_return(&s->inflights, c->inflight, c->lease);

    if (c->conversion.is_shared && !c->conversion.is_void && !is_decided(c)) {
        search_unshared(s, c);
        return;
    }

    if (c->conversion.is_void) {
        c->inflight->is_void = true;
        inflight_again(&s->inflights, c->inflight);
        return;
    }

    if (how->state != SYM_MODULE_READY) {
        places_put_file(&s->negatives.places, &c->file);
    }

    if (wants_better(c)) {
        if (o->state == SYM_MODULE_MALFORMED && c->inflight->kept.state == 0
            && (!how->has_nothing || c->inflight->ref.is_either))
        {
            c->inflight->kept = *o;
        }
        inflight_again(&s->inflights, c->inflight);
        return;
    }

    if (o->state == SYM_MODULE_READY) {
        sym_kind_t kind = c->inflight->kind;
        bool is_poor = o->is_poor;

        inflight_settle(&s->inflights, c->inflight, o);

        /* the same module, in requests with other keys */
        if (!is_poor) {
            settle_waiting(s, &c->conversion.upload.key,
                           &c->conversion.upload.object, kind);
        }
        return;
    }

    negatives_add(&s->negatives, c->inflight, o);
}


static void
deposit_ended(serve_t *s, submission_t *c, const conversion_end_t *how)
{
    sym_rpc_message_t m = { .type = SYM_RPC_DONE,
                            .ticket = c->ticket,
                            .flags = how->has_more ? SYM_RPC_ANOTHER : 0 };
    sym_module_key_t all;
    char text[128];

    if (how->state == SYM_MODULE_READY) {
        m.key = c->conversion.upload.key;
        m.text = sym_cstr(conversion_describe(how, text));
        m.flags |= how->is_better_kept || how->is_later_kept ? SYM_RPC_KEPT
                                                             : SYM_RPC_DID;
        all = c->conversion.upload.key;
        all.scope = SYM_STR(SYM_SCOPE_ALL);
        settle_waiting(s, &all, &c->conversion.upload.object, how->kind);

    } else {
        m.flags |= how->has_nothing ? SYM_RPC_NOTHING : 0;
        m.text = sym_cstr(how->reason);
    }

    if (c->client != NULL) {
        c->client->n_deposits -= !how->has_more;
        client_send(c->client, &m);
    }
}


void
serve_arrived(void *owner, const store_upload_t *artifact)
{
    serve_t *s = owner;

    settle_waiting(s, &artifact->key, &artifact->object, artifact->kind);
    forget_running(s, &artifact->key);
}


void
serve_placed(void *owner)
{
    serve_t *s = owner;

    missing_news(&s->missing);
}


/* Failures cost a retry at most: requests get what was there before. */
void
serve_changed(void *owner, sym_str_t source, sym_str_t path)
{
    serve_t *s = owner;
    sym_error_t err = { 0 };
    sym_status_t rc;

    negatives_commit(&s->negatives);
    rc = forget_path(s, source, path, &err);
    if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
        serve_store_failed(s, &err);
    }
}


static sym_status_t
on_place(conversion_t *c, const converter_done_t *done,
         sym_conversion_format_t format, sym_error_t *err)
{
    return upload_place((submission_t *) c, done, format, err);
}


static sym_status_t
on_member(conversion_t *c, const converter_member_t *member, sym_error_t *err)
{
    return upload_member((submission_t *) c, member, err);
}


static sym_status_t
on_bytes(conversion_t *c, const uint8_t *data, size_t len, sym_error_t *err)
{
    return upload_bytes((submission_t *) c, data, len, err);
}


static void
on_ended(conversion_t *conversion, const conversion_end_t *how)
{
    submission_t *c = (submission_t *) conversion;
    serve_t *s = conversion->all->owner;

    if (how->store_error.status != SYM_OK) {
        serve_store_failed(s, &how->store_error);
    } else if (c->upload == NULL) {
        log_conversion(c, how);
    }

    if (c->upload != NULL) {
        upload_ended(c, how);
        return;
    }

    if (how->state == SYM_MODULE_READY && conversion->symcache == NULL) {
        missing_news(&s->missing);
    }

    if (c->inflight != NULL) {
        inflight_ended(s, c, how);
    } else if (c->is_report) {
        report_ended(c, how);
    } else if (c->is_made) {
        made_file_ended(c, how);
    } else {
        deposit_ended(s, c, how);
    }
}


static void
on_note(conversion_t *c, const char *text)
{
    submission_note((submission_t *) c, text);
}


static int
on_companion(conversion_t *conversion, const sym_companion_t *want,
             converter_given_t *given)
{
    submission_t *c = (submission_t *) conversion;
    serve_t *s = conversion->all->owner;

    return c->inflight != NULL
               ? supplement_give(&s->supplements, c, want, given)
           : c->upload != NULL ? upload_companion(c->upload, want, given)
                               : companion_request(c, want, given);
}


static void
on_release(conversion_t *c)
{
    supplement_leave((submission_t *) c);
    temporary_symcache_free(c->symcache);
    free(c);
}


const conversion_events_t serve_conversion_events = {
    .note = on_note,
    .companion = on_companion,
    .place = on_place,
    .member = on_member,
    .bytes = on_bytes,
    .ended = on_ended,
    .release = on_release,
};
