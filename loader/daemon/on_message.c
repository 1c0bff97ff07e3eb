/*
 * on_message.c - handles each message of a client:
 * docs/formats/loader-protocol.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/module.h"
#include "common/say.h"
#include "daemon/companion_requests.h"
#include "daemon/forget.h"
#include "daemon/made_file.h"
#include "daemon/report.h"
#include "daemon/serve.h"

/* Maximum number of a client's files without an answer. */
#define DEPOSITS_MAX 64

/* A larger quota means more room for temporary files, and also drops the
   record. */
#define TOO_LARGE_TTL_S 86400

/* A client with too many waits may retry soon. */
#define BUSY_TTL_S 1

static void
on_hello(client_t *client, const sym_rpc_message_t *m)
{
    const sym_rpc_message_t welcome = {
        .type = SYM_RPC_WELCOME,
        .version = SYM_RPC_VERSION,
    };
    char text[128];

    if (client->is_welcome) {
        client_end(client, "HELLO twice");
        return;
    }

    if (m->version != SYM_RPC_VERSION) {
        snprintf(text, sizeof(text),
                 "the loader speaks version %d of the protocol, the client "
                 "version %" PRIu32 ": install both from one release",
                 SYM_RPC_VERSION, m->version);
        complain_about("refused a client", "%s", text);
        client_refuse(client, sym_cstr(text));
        return;
    }

    client->is_welcome = true;
    client_send(client, &welcome);
}


static void
refuse(client_t *client, const sym_rpc_message_t *m, const char *reason)
{
    sym_rpc_message_t answer;
    fetch_result_t o;

    fetch_result_set(&o, SYM_MODULE_FAILED, BUSY_TTL_S, sym_cstr(reason));
    fetch_result_message(&o, m->ticket, &answer);
    client_send(client, &answer);
}


static void
on_ensure(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    sym_rpc_message_t answer;
    sym_ref_key_t names;
    sym_module_key_t key;
    sym_error_t err = { 0 };
    fetch_result_t o;
    owner_plan_t plan;

    if (inflight_waiter(&s->inflights, client, m->ticket) != NULL) {
        client_end(client, "a ticket that is open already");
        return;
    }

    if (!object_key(&m->ref, m->key.scope, &names, &key)) {
        client_end(client, "an object that no store can have");
        return;
    }

    if (sym_kind_find(m->kind) == NULL) {
        refuse(client, m, "this loader makes no artifact of that kind");
        return;
    }

    if (heal_module(&s->heal, key.scope, &m->ref, s->now, &err) != SYM_OK) {
        serve_store_failed(s, &err);
    }

    if (places_look_up(&s->negatives.places, m, &o, &plan) == SYM_OK) {
        fetch_result_message(&o, m->ticket, &answer);
        client_send(client, &answer);
        return;
    }

    if (client->n_waiters >= CLIENT_TICKETS_MAX) {
        refuse(client, m, "too many modules are pending");
        return;
    }

    if (!inflight_join(&s->inflights, client, m, &plan, s->now)) {
        client_end(client, "out of memory");
    }
}


static void
on_cancel(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    waiter_t *w = inflight_waiter(&s->inflights, client, m->ticket);

    if (w != NULL) {
        inflight_leave(&s->inflights, w, s->now);
    } else {
        shares_closed(&s->shares, client, m->ticket);
    }
}


/*
 * Returns the inflight whose FETCH this message answers.  NULL: there is none
 * any more (it was settled in another way, or revoked), or the answer is void.
 */
static inflight_t *
answered_flight(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    inflight_t *inflight = inflight_elected(&s->inflights, client, m->ticket);

    return inflight != NULL && inflight_answered(&s->inflights, inflight)
               ? inflight
               : NULL;
}


static void
on_ingest(serve_t *s, client_t *client, const sym_rpc_message_t *m, int fd)
{
    inflight_t *inflight = answered_flight(s, client, m);
    sym_error_t err = { 0 };
    submission_t *c;
    fetch_result_t o;
    char text[256];

    if (inflight == NULL) {
        close(fd);
        return;
    }

    c = submission_create(m, fd, &err);

    if (c != NULL) {
        places_note(&s->negatives.places, inflight, m, &c->file);
    }

    if (c == NULL) {
        fetch_result_set(&o, SYM_MODULE_FAILED, m->ttl.failed,
                         sym_cstr(sym_error_text(&err, text, sizeof(text))));
        negatives_add(&s->negatives, inflight, &o);
        return;
    }

    store_upload_set_key(&c->conversion.upload, &inflight->key, &inflight->ref);
    c->conversion.place = c->file.place;
    c->conversion.number = c->file.number;
    c->conversion.file = &c->file.record;
    c->conversion.has_key = true;
    c->inflight = inflight;
    c->conversion.is_shared = (m->flags & SYM_RPC_SHARED) != 0;
    if (inflight->kind == SYM_KIND_CFI) {
        c->conversion.kinds = ~0U; /* because its symbols will be needed, too */
    }
    c->lease = inflight_convert(
        &s->inflights, inflight,
        c->file.place.path.len != 0 ? (uint64_t) 1 << c->file.number : 0);
    conversions_add(&s->conversions, &c->conversion);
}


static void
on_none(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    inflight_t *inflight = answered_flight(s, client, m);
    place_file_t file;
    fetch_result_t o;

    if (inflight == NULL) {
        return;
    }

    places_note(&s->negatives.places, inflight, m, &file);
    if (inflight->open != 0) {
        inflight_again(&s->inflights, inflight);
        return;
    }

    fetch_result_set(&o, m->state, fetch_result_ttl(&m->ttl, m->state),
                     m->text);
    if (inflight->kept.state != 0 && m->state == SYM_MODULE_ABSENT) {
        o = inflight->kept;
    }
    negatives_add(&s->negatives, inflight, &o);
}


/* The download continues, so the election stays valid. */
static void
on_more(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    inflight_t *inflight = inflight_elected(&s->inflights, client, m->ticket);
    fetch_result_t o;
    uint64_t want;

    if (inflight == NULL
        || !client_wants_more(client, m, inflight->lease.bytes)) {
        return;
    }

    want = lease_for(m->length, inflight->lease.bytes, s->inflights.leases.room,
                     client, &inflight->whole_to);

    if (want != 0 && inflight_extend(&s->inflights, inflight, want)) {
        return;
    }

    if (want != 0) {
        inflight_wait(&s->inflights, inflight, want, s->now);
        return;
    }

    if (m->places == 0) {
        inflight->unshared = SYM_RPC_UNUSABLE;
        inflight_again(&s->inflights, inflight);
        return;
    }

    inflight_hold(&s->inflights, inflight);

    if (inflight->is_void) {
        fetch_result_set(&o, SYM_MODULE_FAILED, BUSY_TTL_S,
                         SYM_STR("invalidated meanwhile"));
        inflight_settle(&s->inflights, inflight, &o);
        return;
    }

    fetch_result_set(&o, SYM_MODULE_MALFORMED, TOO_LARGE_TTL_S,
                     SYM_STR("the file is larger than all room for temporary "
                             "files (see the store's quota)"));
    o.is_too_large = true;
    places_settle(&s->negatives.places, inflight, m->places, &o);
    negatives_add(&s->negatives, inflight, &o);
}


static void
on_for_peer(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    waiter_t *w = inflight_waiter(&s->inflights, client, m->ticket);

    if (w != NULL) {
        inflight_set_for_peer(&s->inflights, w->inflight, s->now);
    }
}


static void
on_abandon(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    waiter_t *w = inflight_waiter(&s->inflights, client, m->ticket);

    if (w != NULL) {
        inflight_abandon(&s->inflights, w, !(m->flags & SYM_RPC_ADOPTED),
                         s->now);
    }
}


/* Handles an answer about a module, or about a companion file. */
static void
on_fetched(serve_t *s, client_t *client, const sym_rpc_message_t *m, int fd)
{
    const waiter_t *w = inflight_waiter(&s->inflights, client, m->ticket);

    if (supplements_answer(&s->supplements, w, m, fd)) {
        return;
    }

    switch (m->type) {
    case SYM_RPC_NONE:
        on_none(s, client, m);
        break;
    case SYM_RPC_MORE:
        on_more(s, client, m);
        break;
    default:
        on_ingest(s, client, m, fd);
        break;
    }
}


/* Answers INVALIDATE or CHANGED. */
static void
on_forget(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    sym_rpc_message_t done = { .type = SYM_RPC_DONE,
                               .ticket = m->ticket,
                               .key = m->key };
    sym_kind_counts_t before;
    sym_error_t err = { 0 };
    sym_status_t rc;
    char text[256];

    /* later requests must not get outcomes from before */
    negatives_commit(&s->negatives);
    before = sym_store_removed(s->store);
    rc = m->type == SYM_RPC_CHANGED
             ? forget_path(s, m->key.scope, m->source, &err)
             : forget_module(s, &m->key, &err);
    s->invalidations++;

    if (rc == SYM_OK) {
        done.flags = SYM_RPC_DID;
        done.kind = module_removed_kinds(s->store, &before);

    } else if (rc != SYM_NOT_FOUND) {
        serve_store_failed(s, &err);
        done.text = sym_cstr(sym_error_text(&err, text, sizeof(text)));
    }

    client_send(client, &done);
}


/* --- files that clients send --- */

/* Whether the client may send one more; if not it gets DONE, and tries again
 * later. */
static bool
may_send(client_t *client, const sym_rpc_message_t *m, int fd)
{
    if (client->n_deposits < DEPOSITS_MAX) {
        return true;
    }

    if (fd >= 0) {
        close(fd);
    }

    client_done(client, m, 0, SYM_STR("too many files at once"));
    return false;
}


static void
not_taken(client_t *client, const sym_rpc_message_t *m, const sym_error_t *err)
{
    char text[256];

    client_done(client, m, 0,
                sym_cstr(sym_error_text(err, text, sizeof(text))));
}


/* The client gets the outcome. */
static void
convert_for(serve_t *s, client_t *client, submission_t *c)
{
    c->client = client;
    client->n_deposits++;
    conversions_add(&s->conversions, &c->conversion);
}


static void
on_deposit(serve_t *s, client_t *client, const sym_rpc_message_t *m, int fd)
{
    sym_error_t err = { 0 };
    submission_t *c = submission_create(m, fd, &err);

    if (c != NULL && (m->flags & SYM_RPC_REPORT) != 0 && !report_begin(c, &err))
    {
        close(fd);
        free(c);
        c = NULL;
    }

    if (c == NULL) {
        not_taken(client, m, &err);
        return;
    }

    store_upload_set_site(&c->conversion.upload, m->text);
    convert_for(s, client, c);
}


static void
on_upload(serve_t *s, client_t *client, const sym_rpc_message_t *m, int fd)
{
    sym_error_t err = { 0 };

    if ((m->flags & SYM_RPC_EMPTY) == 0
        && submission_check_descriptor(fd, m, &err) != SYM_OK)
    {
        not_taken(client, m, &err);
        return;
    }

    upload_begin(&s->uploads, client, m, fd);
}


static void
on_make(serve_t *s, client_t *client, const sym_rpc_message_t *m, int fd)
{
    sym_error_t err = { 0 };
    submission_t *c = submission_create(m, fd, &err);

    if (c != NULL && !made_file_begin(c, m, s->options->store, &err)) {
        close(fd);
        free(c);
        c = NULL;
    }

    if (c == NULL) {
        not_taken(client, m, &err);
        return;
    }

    convert_for(s, client, c);
}


static void
on_sent(serve_t *s, client_t *client, const sym_rpc_message_t *m, int fd)
{
    if (!may_send(client, m, fd)) {
        return;
    }

    switch (m->type) {
    case SYM_RPC_ASSEMBLE:
        upload_assemble(&s->uploads, client, m);
        break;
    case SYM_RPC_UPLOAD:
        on_upload(s, client, m, fd);
        break;
    case SYM_RPC_MAKE:
        on_make(s, client, m, fd);
        break;
    default:
        on_deposit(s, client, m, fd);
        break;
    }
}


static void
on_stat(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    const inflights_t *f = &s->inflights;
    const sym_loader_stats_t stats = {
        .values = {
            [SYM_LOADER_FLIGHTS] = f->by_question.n,
            [SYM_LOADER_WAITING] = f->by_ticket.n,
            [SYM_LOADER_ELECTIONS] = f->elections,
            [SYM_LOADER_RE_ELECTIONS] = f->re_elections,
            [SYM_LOADER_JOINS] = f->joins,
            [SYM_LOADER_FETCHES_RUNNING] =
                f->n_fetching + s->supplements.n_fetching,
            [SYM_LOADER_LEASE_BYTES] = f->leases.leased,
            [SYM_LOADER_TEMP_ROOM_BYTES] = f->leases.room,
            [SYM_LOADER_CONVERSIONS_RUNNING] = pool_busy(s->conversions.pool),
            [SYM_LOADER_CLIENTS] = s->n_clients,
            [SYM_LOADER_INVALIDATIONS] = s->invalidations,
            [SYM_LOADER_AGED] = s->expiry.dropped,
            [SYM_LOADER_SUPPLEMENT_FETCHES] = s->supplements.elections,
            [SYM_LOADER_SUPPLEMENT_BYTES] = s->supplements.taken,
            [SYM_LOADER_SWIFT_MANGLED] = s->conversions.n_mangled,
            [SYM_LOADER_UNUSABLE_SHARES] = s->unusable_shares,
            [SYM_LOADER_SHARE_BYTES] = s->shares.bytes,
        },
        .conversions = s->conversions.counted,
    };
    sym_rpc_message_t answer = { .type = SYM_RPC_STATS, .ticket = m->ticket };
    char text[SYM_RPC_TEXT_MAX];
    sym_out_t out = sym_out_fixed(text, sizeof(text));

    sym_loader_write(&stats, &out);
    answer.text = sym_str(text, (size_t) (out.pos - text));
    client_send(client, &answer);
}


static void
on_missed(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    sym_error_t err = { 0 };

    if (!missing_note(&s->missing, m, &err)) {
        client_end(client, "a MISSED of no module");
    }

    if (err.status != SYM_OK) {
        serve_store_failed(s, &err);
    }
}


void
serve_message(serve_t *s, client_t *client, const sym_rpc_message_t *m, int fd)
{
    if (!client->is_welcome && m->type != SYM_RPC_HELLO) {
        client_end(client, "a message before HELLO");

        if (fd >= 0) {
            close(fd);
        }

        return;
    }

    switch (m->type) {
    case SYM_RPC_HELLO:
        on_hello(client, m);
        break;
    case SYM_RPC_ENSURE:
        on_ensure(s, client, m);
        break;
    case SYM_RPC_CANCEL:
        on_cancel(s, client, m);
        break;
    case SYM_RPC_INGEST:
    case SYM_RPC_NONE:
    case SYM_RPC_MORE:
        on_fetched(s, client, m, fd);
        break;
    case SYM_RPC_INVALIDATE:
    case SYM_RPC_CHANGED:
        on_forget(s, client, m);
        break;
    case SYM_RPC_STAT:
        on_stat(s, client, m);
        break;
    case SYM_RPC_DEPOSIT:
    case SYM_RPC_ASSEMBLE:
    case SYM_RPC_UPLOAD:
    case SYM_RPC_MAKE:
        on_sent(s, client, m, fd);
        break;
    case SYM_RPC_REPLY:
        upload_reply(&s->uploads, client, m);
        break;
    case SYM_RPC_SHARE:
        share_begin(&s->shares, client, m);
        break;
    case SYM_RPC_FOR_PEER:
        on_for_peer(s, client, m);
        break;
    case SYM_RPC_GIVEN:
        companion_requests_answer(&s->conversions, client, m, fd);
        break;
    case SYM_RPC_MISSED:
        on_missed(s, client, m);
        break;
    case SYM_RPC_ABANDON:
        on_abandon(s, client, m);
        break;
    case SYM_RPC_LISTEN:
        webhook_listen(&s->missing, client, m, s->now);
        break;
    default:
        client_end(client, "a message that only a loader sends");
        break;
    }
}
