/*
 * serve.c - `symloader serve`: the daemon that nginx's workers use.
 *
 * Start, loop and end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "common/interrupt.h"
#include "common/now.h"
#include "common/say.h"
#include "common/store_messages.h"
#include "daemon/companion_requests.h"
#include "daemon/daemon.h"
#include "daemon/serve.h"

/* Maximum wait for a reader.  It delays conversions, once for each stuck
 * snapshot. */
#define READER_WAIT_MS 500

/* Interval of the timer while a client waits. */
#define TICK_MS 1000

/* Maximum number of messages of one client before others get their turn. */
#define BURST 32

/* Time limit for HELLO, and for disconnecting after REFUSED. */
#define HELLO_MS 10000

/* nginx has one connection for each worker. */
#define CLIENTS_MAX 1024

/* A quarter of the room for temporary files is for supplementary ones. */
#define SUPPLEMENTS_PART 4

/* Artifacts for other nodes take what supplements leave of their part, but at most
 * this part of the room. */
#define SHARES_PART 16

/* Lifetime of a failure if no client has answered, so that there is no lifetime
   from a client. */
#define NOBODY_TTL_S 10

void
serve_store_failed(void *owner, const sym_error_t *err)
{
    serve_t *s = owner;
    char text[256], line[320];

    if (err->status == SYM_DAMAGED) {
        s->broken = *err;
        return;
    }

    snprintf(line, sizeof(line), "cannot store: %s",
             sym_error_text(err, text, sizeof(text)));
    log_limiter_tell(&s->store_log, s->now, line);
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
        serve_message(s, client, &m, fd);
    }
}


/* Accepts waiting connections; true: there may be more. */
static bool
accept_one(serve_t *s)
{
    int fd = accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    client_t *client;

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
            log_limiter_tell(&s->accept_log, s->now, strerror(errno));
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

    uploads_leave(&s->uploads, client);
    shares_leave(&s->shares, client);
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

/* Polls before those of the converters: listener and placer. */
#define FIRST_SLOT 2

/* Collects the polls of listener, placer, converters and clients; false: out of
   memory. */
static bool
fill_polls(serve_t *s)
{
    size_t n = FIRST_SLOT + pool_slots(s->conversions.pool), i = n;
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
    s->polls[1] = (struct pollfd){
        .fd = s->uploads.placer != NULL ? placer_fd(s->uploads.placer) : -1,
        .events = POLLIN,
    };
    pool_poll(s->conversions.pool, s->polls + FIRST_SLOT);

    for (client = s->clients; client != NULL; client = client->next) {
        s->polls[i++] = (struct pollfd){
            .fd = client->fd,
            .events = client->first != NULL ? POLLIN | POLLOUT : POLLIN,
        };
    }

    return true;
}


/* Whether time limits must be checked. */
static bool
is_anything_due(const serve_t *s)
{
    const client_t *client = s->clients;

    while (client != NULL && client->is_welcome) {
        client = client->next;
    }

    return client != NULL || s->inflights.by_question.n > 0
           || pool_needs_time(s->conversions.pool) || s->now < s->accept_at
           || s->n_clients >= CLIENTS_MAX || missing_is_due(&s->missing);
}


static void
handle_clients(serve_t *s)
{
    const struct pollfd *p =
        s->polls + FIRST_SLOT + pool_slots(s->conversions.pool);
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
        negatives_add(&s->negatives, inflight, &o);
    }
}


static void
drop_unused(serve_t *s)
{
    sym_error_t err = { 0 };

    if (expiry_sweep(&s->expiry, s->now, &err) != SYM_OK) {
        serve_store_failed(s, &err);
    }
}


/* The room for the ledger's file is part of the room for temporary files. */
static void
keep_ledger(serve_t *s)
{
    missing_t *m = &s->missing;
    uint64_t room = 2 * (uint64_t) m->bytes;
    leases_t *leases = &s->inflights.leases;
    sym_error_t err = { 0 };

    if (m->is_used && !m->has_room && leases->room - leases->leased >= room) {
        leases->room -= room;
        m->has_room = true;
    }

    if (missing_turn(m, s->now, &err) != SYM_OK) {
        serve_store_failed(s, &err);
    }
}


static void
prepare_converter(serve_t *s)
{
    sym_error_t err = { 0 };
    char text[256];

    if (!pool_prepare(s->conversions.pool, &err)) {
        log_limiter_tell(&s->converter_log, s->now,
                         sym_error_text(&err, text, sizeof(text)));
    }
}


/* Settles or continues the searches whose places may have outcomes from
 * others. */
static void
plan_searches(serve_t *s)
{
    inflight_t *inflight;
    fetch_result_t o;
    uint64_t open;

    while ((inflight = inflights_unplanned(&s->inflights)) != NULL) {
        sym_status_t rc =
            places_look_again(&s->negatives.places, inflight, &o, &open);

        if (rc == SYM_OK) {
            inflight_settle(&s->inflights, inflight, &o);

        } else if (!inflight_plan(&s->inflights, inflight, open, s->now)) {
            if (o.state != SYM_MODULE_READY) {
                o = inflight->kept;
            }
            if (o.state == 0) {
                fetch_result_set(&o, SYM_MODULE_ABSENT, 0,
                                 SYM_STR("no source has it"));
            }
            inflight_settle(&s->inflights, inflight, &o);
        }
    }
}


static void
set_rooms(serve_t *s)
{
    uint64_t all = sym_store_temp_bytes(s->store);
    uint64_t both = all / SUPPLEMENTS_PART, taken = s->supplements.taken;
    uint64_t left = both > taken ? both - taken : 0;
    uint64_t shares = s->shares.bytes;

    s->shares.room = left < all / SHARES_PART ? left : all / SHARES_PART;
    s->supplements.room = both > shares ? both - shares : 0;
}


static void
handle(serve_t *s)
{
    /* before accepting new clients, which are not in polls */
    handle_clients(s);

    while ((s->polls[0].revents & POLLIN) && may_accept(s) && accept_one(s)) {
    }

    pool_handle(s->conversions.pool, s->polls + FIRST_SLOT);
    uploads_turn(&s->uploads, s->now);
    set_rooms(s);
    shares_turn(&s->shares);
    tick(s);
    negatives_commit(&s->negatives);
    plan_searches(s);
    drop_unused(s);
    sweep_clients(s);
    keep_ledger(s);
    inflights_grant(&s->inflights, s->now);
    supplements_send(&s->supplements, s->now);
    conversions_start(&s->conversions);
    prepare_converter(s);
}


/* Returns the time until something must be checked; NULL: wait for an event. */
static const struct timespec *
waiting_time(const serve_t *s, struct timespec *time)
{
    int ms = expiry_wait_ms(&s->expiry, s->now);

    if (is_anything_due(s) && (ms < 0 || ms > TICK_MS)) {
        ms = TICK_MS;
    }

    if (pool_is_held(s->conversions.pool) && (ms < 0 || ms > POOL_HELD_MS)) {
        ms = POOL_HELD_MS;
    }

    if (uploads_are_due(&s->uploads) || shares_are_due(&s->shares)) {
        ms = 0;
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

        (void) ppoll(s->polls,
                     FIRST_SLOT + pool_slots(s->conversions.pool)
                         + s->n_clients,
                     waiting_time(s, &time), &s->waiting_mask);
        s->now = now_ms();
        handle(s);
    }
}


/* --- start and end --- */

/* Raises the limit of descriptors, because each client needs one, and so does
   each file that waits for a converter. */
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

    if (expiry_sweep(&s->expiry, s->now, &s->broken) != SYM_OK) {
        return;
    }

    set_rooms(s);
    s->inflights.leases.room =
        sym_store_temp_bytes(s->store)
        - sym_store_temp_bytes(s->store) / SUPPLEMENTS_PART;
    missing_open(&s->missing, s->options->store, s->store, &s->clients,
                 &s->uploads, s->now);
    store_warn_large(s->options, s->store);

    if (dropped > 0) {
        complain_about("serve",
                       "%" PRIu64
                       " files that were too large for a smaller quota may be "
                       "tried again",
                       dropped);
    }
}


static bool
prepare(serve_t *s)
{
    const options_t *o = s->options;
    pool_limits_t limits = conversion_limits(o);

    limits.wall_s = o->convert_time_s;
    limits.is_fresh = true; /* isolates sources and clients from each other */
    s->now = now_ms();
    s->store_log.subject = "store";
    s->converter_log.subject = "converter";
    s->accept_log.subject = "clients";
    s->supplements = (supplements_t){
        .conversions = &s->conversions,
        .places = &s->negatives.places,
        .fetch_timeout_ms = (int64_t) o->fetch_timeout_s * 1000,
    };
    s->expiry =
        (expiry_t){ .store = s->store, .max_unused_s = o->max_unused_s };
    s->heal.store = s->store;
    s->negatives = (negatives_t){ .places = { .store = s->store,
                                              .owner = s,
                                              .failed = serve_store_failed,
                                              .key = sym_hash_key() },
                                  .inflights = &s->inflights };

    if (!conversions_create(&s->conversions, &limits, &serve_conversion_events,
                            s)
        || !inflights_create(&s->inflights, 0,
                             (int64_t) o->fetch_timeout_s * 1000))
    {
        sym_fail(&s->broken, SYM_NOMEM, NULL);
        return false;
    }

    s->conversions.store = s->store;
    s->uploads = (uploads_t){ .conversions = &s->conversions,
                              .owner = s,
                              .arrived = serve_arrived,
                              .placed = serve_placed,
                              .changed = serve_changed };
    s->shares = (shares_t){ .store = s->store, .folder = o->store };
    return uploads_open(&s->uploads, o->upload_folders, o->n_upload_folders,
                        &s->bad_folder, &s->broken);
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
    missing_close(&s->missing, s->now);
    negatives_free(&s->negatives);
    inflights_free(&s->inflights);

    if (s->broken.status != SYM_DAMAGED) {
        (void) sym_store_guarded(s->store, drop_conversions, &s->conversions,
                                 &err);
    }

    supplements_free(&s->supplements);
    uploads_close(&s->uploads);
    shares_close(&s->shares);

    listen_close(&s->listener);
    free(s->polls);
}


/* Runs with an open store, until a signal arrives or the store fails. */
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
    const sym_store_options_t how = { .quota = options->quota,
                                      .create = true,
                                      .reader_wait_ms = READER_WAIT_MS,
                                      .never_blocks = true };
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

    if (s.bad_folder != NULL && s.broken.status != SYM_OK) {
        return file_failure(s.bad_folder, &s.broken);
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
