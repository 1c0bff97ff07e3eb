/*
 * serve.c - `symloader serve`: the daemon behind nginx's workers.
 *
 * One thread, one loop around one ppoll(): clients, converters, time.  Here is
 * what each message means, docs/formats/loader-protocol.md; who waits is inflight.c, what
 * is converted submission.c, who is connected client.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/expiry.h"
#include "daemon/companion_requests.h"
#include "cli/commands.h"
#include "daemon/heal.h"
#include "common/interrupt.h"
#include "daemon/listen.h"
#include "common/module.h"
#include "common/now.h"
#include "daemon/negatives.h"
#include "daemon/submission.h"
#include "daemon/supplement.h"
#include "artifacts/symcache/format.h"
#include "common/log_limiter.h"

/* How often time is looked at while somebody waits. */
#define TICK_MS 1000

/* Messages of one client before the others get their turn. */
#define BURST 32

/* A client that has not said HELLO by then, or does not go after REFUSED. */
#define HELLO_MS 10000

/* nginx has one connection for each worker. */
#define CLIENTS_MAX 1024

/* Files that a client may have handed over and not heard of yet. */
#define DEPOSITS_MAX 64

/* Room for temporary files becomes more with the quota; that drops it, too. */
#define TOO_LARGE_TTL_S 86400

/* Of the room for temporary files this part is for supplementary ones. */
#define SUPPLEMENTS_PART 4

/* A client that waits for too much may ask again soon. */
#define BUSY_TTL_S 1

/* Nobody came back with anything: nobody said either how long that counts. */
#define NOBODY_TTL_S 10

typedef struct {
    const options_t *options;
    sym_store_t *store;
    listen_t listener;
    bool is_deaf; /* it could not be opened: broken says why */
    inflights_t inflights;
    conversions_t conversions;
    supplements_t supplements;
    negatives_t settling;
    heal_t heal;
    expiry_t age;
    sigset_t waiting_mask;

    client_t *clients;
    unsigned n_clients;
    uint64_t next_serial;
    struct pollfd *polls;
    size_t n_polls;

    int64_t now, tick_at;
    int64_t accept_at; /* nobody is let in before */
    uint64_t invalidations;
    log_limiter_t store_trouble, converter_trouble, accept_trouble;
    sym_error_t broken; /* the store is: no use to go on */
} serve_t;


/* --- the store --- */

static void
store_failed(void *owner, const sym_error_t *err)
{
    serve_t *s = owner;
    char text[256], line[320];

    if (err->status == SYM_DAMAGED) {
        s->broken = *err;
        return;
    }

    snprintf(line, sizeof(line), "cannot store: %s",
             sym_error_text(err, text, sizeof(text)));
    log_limiter_tell(&s->store_trouble, s->now, line);
}


/* What the store says; false: nothing that counts. */
static bool
look_up(serve_t *s, const sym_module_key_t *key, fetch_result_t *o)
{
    sym_error_t err = { 0 };
    sym_status_t rc = fetch_result_find(s->store, key, o, &err);

    if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
        store_failed(s, &err);
    }

    return rc == SYM_OK;
}


/* --- what became of a conversion --- */

static const char *
ready_text(const submission_t *c, const conversion_end_t *how)
{
    return c->conversion.is_void ? "dropped: invalidated meanwhile"
           : how->is_better_kept ? "kept: the store's symbols tell more"
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

    if (how->state == SYM_MODULE_READY) {
        complain_about(subject, "%s", ready_text(c, how));
        return;
    }

    complain_about(key->name.len != 0 ? subject : "a deposit", "%s: %s",
                   sym_module_state_name(how->state), how->reason);
}


/* What the store has instead is not worse. */
static bool
is_poor(const conversion_end_t *how)
{
    return how->state == SYM_MODULE_READY && how->done != NULL
           && how->done->quality < SYM_QUALITY_FUNCTIONS
           && !how->is_better_kept;
}


/*
 * A stripped executable, or a file that cannot be read, does not end the search
 * while there are places that were not asked: what tells lines may lie there.
 * What is stored meanwhile is given to whoever asks.
 */
static bool
wants_better(const submission_t *c, const conversion_end_t *how)
{
    if (!c->is_offer) {
        return false;
    }

    return is_poor(how) || how->state == SYM_MODULE_MALFORMED;
}


static void
inflight_ended(serve_t *s, submission_t *c, const conversion_end_t *how)
{
    fetch_result_t o = { .state = SYM_MODULE_READY, .is_poor = is_poor(how) };

    inflight_return(&s->inflights, c->inflight, c->lease);

    if (c->conversion.is_void) {
        inflight_again(&s->inflights, c->inflight, 0, s->now);
        return;
    }

    if (how->state != SYM_MODULE_READY) {
        fetch_result_set(&o, how->state, fetch_result_ttl(&c->ttl, how->state),
                         sym_cstr(how->reason));
        o.is_too_large = how->is_too_large;
    }

    if (wants_better(c, how)) {
        if (how->state == SYM_MODULE_MALFORMED && !c->inflight->is_bad) {
            c->inflight->is_bad = true;
            c->inflight->bad = o;
        }
        inflight_again(&s->inflights, c->inflight, 0, s->now);
        return;
    }

    if (how->state == SYM_MODULE_READY) {
        inflight_settle(&s->inflights, c->inflight, &o);
        return;
    }

    negatives_add(&s->settling, c->inflight, c->conversion.attempts, &o);
}


/* What was deposited everybody sees, whichever source he waits for. */
static void
deposit_settles(serve_t *s, const sym_module_key_t *key)
{
    const fetch_result_t ready = { .state = SYM_MODULE_READY };
    const sym_module_key_t all = { .scope = SYM_STR(SYM_SCOPE_ALL),
                                   .name = key->name,
                                   .id = key->id };
    inflight_t *inflight = inflight_next_of(&s->inflights, &all, NULL), *next;

    for (; inflight != NULL; inflight = next) {
        next = inflight_next_of(&s->inflights, &all, inflight);

        /* what is being converted settles itself */
        if (inflight->phase != FLIGHT_CONVERTING) {
            inflight_settle(&s->inflights, inflight, &ready);
        }
    }
}


static void
deposit_ended(serve_t *s, submission_t *c, const conversion_end_t *how)
{
    sym_rpc_message_t m = { .type = SYM_RPC_DONE,
                            .ticket = c->ticket,
                            .flags = how->has_more ? SYM_RPC_ANOTHER : 0 };
    char text[128];

    if (how->state == SYM_MODULE_READY) {
        m.key = c->conversion.upload.key;
        m.text = sym_cstr(conversion_describe(how, text));
        m.flags |= how->is_better_kept || how->is_later_kept ? SYM_RPC_KEPT
                                                             : SYM_RPC_DID;
        deposit_settles(s, &c->conversion.upload.key);

    } else {
        m.flags |= how->has_nothing ? SYM_RPC_NOTHING : 0;
        m.text = sym_cstr(how->reason);
    }

    if (c->client != NULL) {
        c->client->n_deposits -= !how->has_more;
        client_send(c->client, &m);
    }
}


static void
on_ended(conversion_t *conversion, const conversion_end_t *how)
{
    submission_t *c = (submission_t *) conversion;
    serve_t *s = conversion->all->owner;

    if (how->store_error.status != SYM_OK) {
        store_failed(s, &how->store_error);
    } else {
        log_conversion(c, how);
    }

    if (c->inflight != NULL) {
        inflight_ended(s, c, how);
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
               : companion_request(c, want, given);
}


static void
on_release(conversion_t *c)
{
    supplement_leave((submission_t *) c);
    free(c);
}


/* --- messages --- */

static void
on_hello(client_t *client, const sym_rpc_message_t *m)
{
    const bool is_old = m->version < SYM_RPC_VERSION;
    const sym_rpc_message_t welcome = {
        .type = SYM_RPC_WELCOME,
        .version = m->version,
        .features = is_old ? 0 : SYM_RPC_CAN_KIND,
    };
    char text[80];

    if (client->is_welcome) {
        client_end(client, "HELLO twice");
        return;
    }

    if (m->version < SYM_RPC_VERSION_OLDEST || m->version > SYM_RPC_VERSION) {
        snprintf(text, sizeof(text),
                 "this loader speaks versions %d to %d of the protocol, not "
                 "%" PRIu32,
                 SYM_RPC_VERSION_OLDEST, SYM_RPC_VERSION, m->version);
        complain_about("refused a client", "%s", text);
        client_refuse(client, sym_cstr(text));
        return;
    }

    client->is_welcome = true;
    client->features = m->features;
    client_send(client, &welcome);
}


static void
on_ensure(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    sym_rpc_message_t answer;
    sym_error_t err = { 0 };
    fetch_result_t o;

    if (inflight_waiter(&s->inflights, client, m->ticket) != NULL) {
        client_end(client, "a ticket that is open already");
        return;
    }

    if (m->kind != 0 && m->kind != SYM_KIND_SYMCACHE) {
        fetch_result_set(&o, SYM_MODULE_FAILED, BUSY_TTL_S,
                         SYM_STR("this loader makes no artifact of that kind"));
        fetch_result_message(&o, m->ticket, &answer);
        client_send(client, &answer);
        return;
    }

    if (heal_module(&s->heal, &m->key, s->now, &err) != SYM_OK) {
        store_failed(s, &err);
    }

    if (look_up(s, &m->key, &o)) {
        fetch_result_message(&o, m->ticket, &answer);
        client_send(client, &answer);
        return;
    }

    if (client->n_waiters >= CLIENT_TICKETS_MAX) {
        fetch_result_set(&o, SYM_MODULE_FAILED, BUSY_TTL_S,
                         SYM_STR("too many modules are waited for"));
        fetch_result_message(&o, m->ticket, &answer);
        client_send(client, &answer);
        return;
    }

    if (!inflight_join(&s->inflights, client, m->ticket, &m->key, s->now)) {
        client_end(client, "out of memory");
    }
}


static void
on_cancel(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    waiter_t *w = inflight_waiter(&s->inflights, client, m->ticket);

    if (w != NULL) {
        inflight_leave(&s->inflights, w, s->now);
    }
}


/*
 * The inflight that this message answers FETCH of; NULL: none any more (it may
 * have been settled otherwise, or taken back), or its answer is void.
 */
static inflight_t *
answered_flight(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    inflight_t *inflight = inflight_elected(&s->inflights, client, m->ticket);

    if (inflight == NULL || !inflight_answered(&s->inflights, inflight, s->now))
    {
        return NULL;
    }

    return inflight;
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

    if (c == NULL) {
        fetch_result_set(&o, SYM_MODULE_FAILED, m->ttl.failed,
                         sym_cstr(sym_error_text(&err, text, sizeof(text))));
        negatives_add(&s->settling, inflight, m->attempts, &o);
        return;
    }

    store_upload_set_key(&c->conversion.upload, &inflight->key);
    c->conversion.has_key = true;
    c->inflight = inflight;
    c->lease = inflight_convert(inflight);
    conversions_add(&s->conversions, &c->conversion);
}


static void
on_none(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    inflight_t *inflight = answered_flight(s, client, m);
    fetch_result_t o;

    if (inflight != NULL) {
        fetch_result_set(&o, m->state, fetch_result_ttl(&m->ttl, m->state),
                         m->text);
        if (inflight->is_bad && m->state == SYM_MODULE_ABSENT) {
            o = inflight->bad;
        }
        negatives_add(&s->settling, inflight, m->attempts, &o);
    }
}


/* The download goes on meanwhile, so an election is not lost for it. */
static void
on_more(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    inflight_t *inflight = inflight_elected(&s->inflights, client, m->ticket);
    fetch_result_t o;
    uint64_t want;

    if (inflight == NULL || !client_wants_more(client, m, inflight->lease)) {
        return;
    }

    want = lease_for(m->length, inflight->lease, s->inflights.room, client,
                     &inflight->whole_to);

    if (want != 0 && inflight_extend(&s->inflights, inflight, want)) {
        return;
    }

    inflight_hold(&s->inflights, inflight);

    if (want == 0 && inflight->is_void) {
        fetch_result_set(&o, SYM_MODULE_FAILED, BUSY_TTL_S,
                         SYM_STR("invalidated meanwhile"));
        inflight_settle(&s->inflights, inflight, &o);
        return;
    }

    if (want == 0) {
        fetch_result_set(
            &o, SYM_MODULE_MALFORMED, TOO_LARGE_TTL_S,
            SYM_STR("the file is larger than all room for temporary "
                    "files (see the store's quota)"));
        o.is_too_large = true;
        negatives_add(&s->settling, inflight, SYM_STR(""), &o);
        return;
    }

    inflight_again(&s->inflights, inflight, want, s->now);
}


/* Of a module, or of what goes with one. */
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


static void
doubt_flight(serve_t *s, inflight_t *inflight)
{
    submission_t *c;

    inflight_doubt(inflight);

    for (c = submission_first(&s->conversions); c != NULL;
         c = submission_next(c)) {
        c->conversion.is_void |= c->inflight == inflight;
    }
}


typedef struct {
    serve_t *serve;
    const sym_module_key_t *key;
} doubt_t;

static void
doubt_id(void *ctx, table_node_t *node)
{
    const doubt_t *d = ctx;
    inflight_t *inflight = (inflight_t *) node;

    if (inflight_is_of(inflight, d->key)) {
        doubt_flight(d->serve, inflight);
    }
}


/* What is under way for a key is not believed any more; without a name: for all
 * of the id. */
static void
doubt(serve_t *s, const sym_module_key_t *key)
{
    doubt_t d = { s, key };
    inflight_t *inflight = NULL;

    if (key->name.len == 0) {
        table_each(&s->inflights.by_key, doubt_id, &d);
        return;
    }

    while ((inflight = inflight_next_of(&s->inflights, key, inflight)) != NULL)
    {
        doubt_flight(s, inflight);
    }
}


static void
on_invalidate(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    sym_rpc_message_t done = { .type = SYM_RPC_DONE,
                               .ticket = m->ticket,
                               .key = m->key };
    sym_error_t err = { 0 };
    sym_status_t rc;
    char text[256];

    /* who asks after this must not be told what was found out before it */
    negatives_all(&s->settling);
    rc = module_remove(s->store, &m->key, &err);
    s->invalidations++;
    doubt(s, &m->key);

    if (rc == SYM_OK) {
        done.flags = SYM_RPC_DID;

    } else if (rc != SYM_NOT_FOUND) {
        store_failed(s, &err);
        done.text = sym_cstr(sym_error_text(&err, text, sizeof(text)));
    }

    client_send(client, &done);
}


static void
on_deposit(serve_t *s, client_t *client, const sym_rpc_message_t *m, int fd)
{
    sym_rpc_message_t done = { .type = SYM_RPC_DONE, .ticket = m->ticket };
    sym_error_t err = { 0 };
    submission_t *c;
    char text[256];

    if (client->n_deposits >= DEPOSITS_MAX) {
        close(fd);
        client_end(client, "too many deposits at once");
        return;
    }

    c = submission_create(m, fd, &err);

    if (c == NULL) {
        done.text = sym_cstr(sym_error_text(&err, text, sizeof(text)));
        client_send(client, &done);
        return;
    }

    c->client = client;
    client->n_deposits++;
    conversions_add(&s->conversions, &c->conversion);
}


static void
on_stat(serve_t *s, client_t *client, const sym_rpc_message_t *m)
{
    const inflights_t *f = &s->inflights;
    const sym_loader_stats_t stats = {
        .values = {
            [SYM_LOADER_FLIGHTS] = f->by_key.n,
            [SYM_LOADER_WAITING] = f->by_ticket.n,
            [SYM_LOADER_ELECTIONS] = f->elections,
            [SYM_LOADER_RE_ELECTIONS] = f->re_elections,
            [SYM_LOADER_JOINS] = f->joins,
            [SYM_LOADER_FETCHES_RUNNING] =
                f->n_fetching + s->supplements.n_fetching,
            [SYM_LOADER_LEASE_BYTES] = f->leased,
            [SYM_LOADER_TEMP_ROOM_BYTES] = f->room,
            [SYM_LOADER_CONVERSIONS_RUNNING] = pool_busy(s->conversions.pool),
            [SYM_LOADER_CLIENTS] = s->n_clients,
            [SYM_LOADER_INVALIDATIONS] = s->invalidations,
            [SYM_LOADER_AGED] = s->age.dropped,
            [SYM_LOADER_SUPPLEMENT_FETCHES] = s->supplements.elections,
            [SYM_LOADER_SUPPLEMENT_BYTES] = s->supplements.taken,
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
on_message(serve_t *s, client_t *client, const sym_rpc_message_t *m, int fd)
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
    case SYM_RPC_OFFER:
    case SYM_RPC_NONE:
    case SYM_RPC_MORE:
        on_fetched(s, client, m, fd);
        break;
    case SYM_RPC_INVALIDATE:
        on_invalidate(s, client, m);
        break;
    case SYM_RPC_STAT:
        on_stat(s, client, m);
        break;
    case SYM_RPC_DEPOSIT:
        on_deposit(s, client, m, fd);
        break;
    case SYM_RPC_GIVEN:
        /* a client of version 2 has no other way to say it */
        client->features |= m->flags & SYM_RPC_ABLE ? SYM_RPC_CAN_ALSO : 0;
        companion_requests_answer(&s->conversions, client, m, fd);
        break;
    default:
        client_end(client, "a message that only a loader sends");
        break;
    }
}


/* --- clients --- */

static void
read_client(serve_t *s, client_t *client)
{
    uint8_t packet[SYM_RPC_MAX];
    sym_rpc_message_t m;
    unsigned i;
    int fd;

    for (i = 0; i < BURST && client_receive(client, packet, &m, &fd); i++) {
        on_message(s, client, &m, fd);
    }
}


/* Connections that wait; true: there may be more. */
static bool
accept_one(serve_t *s)
{
    int fd = accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    client_t *client;

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
            log_limiter_tell(&s->accept_trouble, s->now, strerror(errno));
            s->accept_at = s->now + TICK_MS;
        }

        return errno == EINTR || errno == ECONNABORTED;
    }

    client = client_create(fd, ++s->next_serial, s->now);

    if (client != NULL) {
        client->next = s->clients;
        s->clients = client;
        s->n_clients++;
    }

    return true;
}


static bool
may_accept(const serve_t *s)
{
    return s->n_clients < CLIENTS_MAX && s->now >= s->accept_at;
}


static void
part_with(serve_t *s, client_t *client)
{
    submission_t *c;

    if (client->why != NULL) {
        complain_about("client disconnected", "%s", client->why);
    }

    inflight_leave_all(&s->inflights, client, s->now);

    for (c = submission_first(&s->conversions); c != NULL;
         c = submission_next(c)) {
        if (c->client == client) {
            companion_requests_leave(c);
        }
    }

    client_free(client);
    s->n_clients--;
}


static void
sweep_clients(serve_t *s)
{
    client_t **at = &s->clients;

    while (*at != NULL) {
        client_t *client = *at;

        if (!client->is_ended && !client->is_welcome
            && s->now - client->since_ms >= HELLO_MS)
        {
            client_end(client, client->is_refused ? NULL : "no HELLO came");
        }

        if (!client->is_ended) {
            at = &client->next;
            continue;
        }

        *at = client->next;
        part_with(s, client);
    }
}


/* --- the loop --- */

/* The listener, the converters, the clients; false: out of memory. */
static bool
fill_polls(serve_t *s)
{
    size_t n = 1 + pool_slots(s->conversions.pool), i = n;
    const client_t *client;

    if (n + s->n_clients > s->n_polls) {
        size_t size = 2 * (n + s->n_clients);
        struct pollfd *grown = realloc(s->polls, size * sizeof(*grown));

        if (grown == NULL) {
            return false;
        }

        s->polls = grown;
        s->n_polls = size;
    }

    s->polls[0] = (struct pollfd){
        .fd = may_accept(s) ? s->listener.fd : -1,
        .events = POLLIN,
    };
    pool_poll(s->conversions.pool, s->polls + 1);

    for (client = s->clients; client != NULL; client = client->next) {
        s->polls[i++] = (struct pollfd){
            .fd = client->fd,
            .events = client->first != NULL ? POLLIN | POLLOUT : POLLIN,
        };
    }

    return true;
}


/* Whether time has to be looked at. */
static bool
is_anything_due(const serve_t *s)
{
    const client_t *client = s->clients;

    while (client != NULL && client->is_welcome) {
        client = client->next;
    }

    return client != NULL || s->inflights.by_key.n > 0
           || pool_needs_time(s->conversions.pool) || s->now < s->accept_at
           || s->n_clients >= CLIENTS_MAX;
}


static void
handle_clients(serve_t *s)
{
    const struct pollfd *p = s->polls + 1 + pool_slots(s->conversions.pool);
    client_t *client;

    for (client = s->clients; client != NULL; client = client->next, p++) {
        if (p->revents & POLLOUT) {
            client_flush(client);
        }

        if (p->revents & (POLLIN | POLLHUP | POLLERR)) {
            read_client(s, client);
        }
    }
}


static void
tick(serve_t *s)
{
    inflight_t *inflight;
    fetch_result_t o;

    if (s->now < s->tick_at) {
        return;
    }

    s->tick_at = s->now + TICK_MS;
    companion_requests_expire(&s->conversions, s->now);
    supplements_expire(&s->supplements, s->now);

    while ((inflight = inflights_expire(&s->inflights, s->now)) != NULL) {
        fetch_result_set(&o, SYM_MODULE_FAILED, NOBODY_TTL_S,
                         SYM_STR("it could not be fetched in time "
                                 "(--fetch-timeout)"));
        negatives_add(&s->settling, inflight, SYM_STR(""), &o);
    }
}


static void
drop_unused(serve_t *s)
{
    sym_error_t err = { 0 };

    if (expiry_sweep(&s->age, s->now, &err) != SYM_OK) {
        store_failed(s, &err);
    }
}


static void
prepare_converter(serve_t *s)
{
    sym_error_t err = { 0 };
    char text[256];

    if (!pool_prepare(s->conversions.pool, &err)) {
        log_limiter_tell(&s->converter_trouble, s->now,
                         sym_error_text(&err, text, sizeof(text)));
    }
}


static void
handle(serve_t *s)
{
    /* before new clients come: polls know the old ones only */
    handle_clients(s);

    while ((s->polls[0].revents & POLLIN) && may_accept(s) && accept_one(s)) {
    }

    pool_handle(s->conversions.pool, s->polls + 1);
    tick(s);
    negatives_all(&s->settling);
    drop_unused(s);
    sweep_clients(s);
    inflights_grant(&s->inflights, s->now);
    supplements_send(&s->supplements, s->now);
    conversions_start(&s->conversions);
    prepare_converter(s);
}


/* For how long nothing has to be looked at; NULL: until something comes. */
static const struct timespec *
waiting_time(const serve_t *s, struct timespec *time)
{
    int ms = expiry_wait_ms(&s->age, s->now);

    if (is_anything_due(s) && (ms < 0 || ms > TICK_MS)) {
        ms = TICK_MS;
    }

    *time = (struct timespec){ ms / 1000, (long) (ms % 1000) * 1000000 };
    return ms < 0 ? NULL : time;
}


static void
serve_loop(void *arg)
{
    serve_t *s = arg;
    struct timespec time;

    prepare_converter(s);

    while (interrupt_signal() == 0 && s->broken.status == SYM_OK) {
        if (!fill_polls(s)) {
            sym_fail(&s->broken, SYM_NOMEM, NULL);
            return;
        }

        (void) ppoll(s->polls, 1 + pool_slots(s->conversions.pool) + s->n_clients,
                     waiting_time(s, &time), &s->waiting_mask);
        s->now = now_ms();
        handle(s);
    }
}


/* --- the beginning and the end --- */

/* Descriptors: a client each, and a file that waits for its converter each. */
static void
raise_descriptors(void)
{
    struct rlimit rl;

    if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
        rl.rlim_cur = rl.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &rl);
    }
}


static void
open_store(void *arg)
{
    serve_t *s = arg;
    uint64_t dropped;

    if (fetch_result_drop_stale(s->store, &dropped, &s->broken) != SYM_OK) {
        return;
    }

    if (expiry_sweep(&s->age, s->now, &s->broken) != SYM_OK) {
        return;
    }

    s->supplements.room = sym_store_temp_bytes(s->store) / SUPPLEMENTS_PART;
    s->inflights.room = sym_store_temp_bytes(s->store) - s->supplements.room;
    store_warn_unowned(s->options, s->store);
    store_warn_large(s->options, s->store);

    if (dropped > 0) {
        complain_about("serve",
                       "%" PRIu64 " modules that another version could not "
                       "read, or a smaller quota not hold, may be tried again",
                       dropped);
    }
}


static bool
prepare(serve_t *s)
{
    static const conversion_events_t events = { .note = on_note,
                                                .companion = on_companion,
                                                .ended = on_ended,
                                                .release = on_release };
    const options_t *o = s->options;
    pool_limits_t limits = convert_limits(o);

    limits.wall_s = o->convert_time_s;
    limits.is_fresh = true; /* sources and clients are not to meet */
    s->now = now_ms();
    s->store_trouble.subject = "store";
    s->converter_trouble.subject = "converter";
    s->accept_trouble.subject = "clients";
    s->supplements = (supplements_t){
        .conversions = &s->conversions,
        .fetch_timeout_ms = (int64_t) o->fetch_timeout_s * 1000,
    };
    s->age = (expiry_t){ .store = s->store, .max_unused_s = o->max_unused_s };
    s->heal.store = s->store;
    s->settling = (negatives_t){ .store = s->store,
                                 .inflights = &s->inflights,
                                 .owner = s,
                                 .failed = store_failed };

    if (!conversions_create(&s->conversions, &limits, &events, s)
        || !inflights_create(&s->inflights, 0,
                             (int64_t) o->fetch_timeout_s * 1000))
    {
        sym_fail(&s->broken, SYM_NOMEM, NULL);
        return false;
    }

    s->conversions.store = s->store;
    return true;
}


static void
drop_conversions(void *arg)
{
    conversions_free(arg);
}


static void
clean_up(serve_t *s)
{
    sym_error_t err = { 0 };

    while (s->clients != NULL) {
        client_t *client = s->clients;

        s->clients = client->next;
        client->why = NULL;
        part_with(s, client);
    }

    conversions_stop(&s->conversions);
    negatives_free(&s->settling);
    inflights_free(&s->inflights);

    if (s->broken.status != SYM_DAMAGED) {
        (void) sym_store_guarded(s->store, drop_conversions, &s->conversions,
                                 &err);
    }

    supplements_free(&s->supplements);

    listen_close(&s->listener);
    free(s->polls);
}


/* With an open store, until a signal comes or the store breaks. */
static void
run(serve_t *s)
{
    sym_error_t guard = { 0 };

    if (sym_store_guarded(s->store, open_store, s, &guard) == SYM_OK
        && s->broken.status == SYM_OK)
    {
        s->is_deaf =
            listen_open(&s->listener, s->options, &s->broken) != SYM_OK;

        if (!s->is_deaf) {
            complain_about("serve", "listening on %s", s->listener.path);
            (void) sym_store_guarded(s->store, serve_loop, s, &guard);
        }
    }

    if (guard.status != SYM_OK) {
        s->broken = guard;
    }
}


int
serve_run(const options_t *options)
{
    const sym_store_options_t how = { .quota = options->quota, .create = true };
    serve_t s = { .options = options, .listener = { .fd = -1 } };
    sym_error_t err = { 0 };

    raise_descriptors();
    interrupt_catch(&s.waiting_mask);

    if (sym_store_open_write(options->store, &how, &s.store, &err) != SYM_OK) {
        return store_failure(options, &err);
    }

    if (prepare(&s)) {
        run(&s);
    }

    clean_up(&s);

    if (s.broken.status == SYM_DAMAGED) {
        sym_store_abandon(s.store);
    } else {
        sym_store_close(s.store);
    }

    if (s.is_deaf) {
        return file_failure(options->socket != NULL ? options->socket
                                                    : s.listener.path,
                            &s.broken);
    }

    if (s.broken.status != SYM_OK) {
        return store_failure(options, &s.broken);
    }

    complain_about("serve", "stopped");
    return EXIT_FINE;
}
