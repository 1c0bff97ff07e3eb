/*
 * webhook.c - batches of modules that have arrived, for nginx to deliver.
 *
 * A batch is sent to one client, which delivers it to nginx's location and
 * reports the outcome.  If a batch failed, or its client disconnected, it is
 * sent again with newer arrivals, after growing pauses.  A module that could
 * not be delivered for an hour is given up.  A batch accepted shortly before
 * its client died is delivered twice.
 */
#include <stdio.h>
#include <time.h>

#include "daemon/missing.h"
#include "ledger/page.h"

#define GIVE_UP_S 3600

/* Time limit for a client's report; nginx's own limits are shorter. */
#define ANSWER_MS 300000

#define PAUSE_MS 1000
#define PAUSE_MAX_MS 300000

/* Length of the text around the modules in the body. */
#define HEAD SYM_STR("{\"event\": \"arrived\", \"modules\": [")
#define TAIL SYM_STR("]}\n")

static bool
is_in(const sym_ledger_entry_t *e, sym_ledger_told_t told)
{
    return e->told == told;
}


/* Moves all modules from one state to another; returns their number. */
static uint32_t
move(missing_t *m, sym_ledger_told_t from, sym_ledger_told_t to)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < sym_ledger_count(m->ledger); i++) {
        if (is_in(sym_ledger_entry(m->ledger, i), from)) {
            sym_ledger_tell(m->ledger, i, to);
            n++;
        }
    }

    return n;
}


/* --- outcome of a batch --- */

static void
failed(missing_t *m, int64_t now, sym_str_t why)
{
    unsigned shift = m->failures < 10 ? m->failures : 10;
    int64_t pause = (int64_t) PAUSE_MS << shift;
    char line[256];

    m->failures++;
    m->teller = 0;
    m->is_due = true;
    m->tell_at = now + (pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS);
    (void) move(m, SYM_LEDGER_TELLING, SYM_LEDGER_DUE);
    sym_ledger_tell_failed(m->ledger);
    snprintf(line, sizeof(line),
             "modules that have come were not delivered: "
             "%.*s",
             (int) (why.len < 160 ? why.len : 160), why.data);
    log_limiter_tell(&m->webhook_log, now, line);
}


void
webhook_listen(missing_t *m, client_t *client, const sym_rpc_message_t *listen,
               int64_t now)
{
    client->is_listening = true;
    m->is_listened = true;

    if (m->ledger == NULL || m->teller != client->serial
        || listen->offset != m->batch)
    {
        return;
    }

    if (!(listen->flags & SYM_RPC_DELIVERED)) {
        failed(m, now, listen->text);
        return;
    }

    m->teller = 0;
    m->failures = 0;
    (void) move(m, SYM_LEDGER_TELLING, SYM_LEDGER_TOLD);
}


/* --- the next batch --- */

/* Returns the client that connected last: a worker of the newest nginx. */
static client_t *
listener(const missing_t *m)
{
    client_t *client = *m->clients;

    while (client != NULL && (client->is_ended || !client->is_listening)) {
        client = client->next;
    }

    return client;
}


static const client_t *
teller(const missing_t *m)
{
    const client_t *client = *m->clients;

    while (client != NULL && (client->is_ended || client->serial != m->teller))
    {
        client = client->next;
    }

    return client;
}


/* Adds as many modules as fit; returns their number. */
static uint32_t
write_batch(missing_t *m, sym_out_t *out)
{
    char buf[SYM_RPC_TEXT_MAX];
    uint32_t n = 0;

    sym_out_raw(out, HEAD);

    for (uint32_t i = 0; i < sym_ledger_count(m->ledger); i++) {
        const sym_ledger_entry_t *e = sym_ledger_entry(m->ledger, i);
        sym_out_t one = sym_out_fixed(buf, sizeof(buf));
        size_t len;

        if (!is_in(e, SYM_LEDGER_DUE)) {
            continue;
        }

        sym_ledger_write_arrival(e, &one);
        len = (size_t) (one.pos - buf);
        if (one.failed || len + 2 + TAIL.len > (size_t) (out->end - out->pos)) {
            break;
        }

        sym_out_raw(out, n == 0 ? SYM_STR("") : SYM_STR(", "));
        sym_out_raw(out, sym_str(buf, len));
        sym_ledger_tell(m->ledger, i, SYM_LEDGER_TELLING);
        n++;
    }

    sym_out_raw(out, TAIL);
    return n;
}


static void
send_batch(missing_t *m, client_t *client, int64_t now)
{
    sym_rpc_message_t message = { .type = SYM_RPC_ARRIVED };
    char text[SYM_RPC_TEXT_MAX];
    sym_out_t out = sym_out_fixed(text, sizeof(text));

    if (write_batch(m, &out) == 0) {
        return;
    }

    message.offset = ++m->batch;
    message.text = sym_str(text, (size_t) (out.pos - text));
    m->teller = client->serial;
    m->sent_at = now;
    client_send(client, &message);
}


/* --- the turn --- */

/* Gives up modules that were due for too long.  Without a listener they cannot
 * be delivered.  False: nothing is left to report. */
static bool
give_up(missing_t *m)
{
    int64_t now_s = (int64_t) time(NULL);
    bool is_left = false;

    for (uint32_t i = 0; i < sym_ledger_count(m->ledger); i++) {
        const sym_ledger_entry_t *e = sym_ledger_entry(m->ledger, i);

        if (!is_in(e, SYM_LEDGER_DUE)) {
            continue;
        }

        if (now_s - e->came_s < GIVE_UP_S) {
            is_left = true;
        } else {
            sym_ledger_tell(m->ledger, i,
                            m->is_listened ? SYM_LEDGER_GIVEN_UP
                                           : SYM_LEDGER_UNTOLD);
        }
    }

    return is_left;
}


void
webhook_turn(missing_t *m, int64_t now)
{
    client_t *client;

    if (m->teller != 0 && (teller(m) == NULL || now - m->sent_at >= ANSWER_MS))
    {
        failed(m, now,
               teller(m) == NULL ? SYM_STR("the worker that had them has gone")
                                 : SYM_STR("the worker that had them did not "
                                           "say what became of them"));
    }

    if (!m->is_due || m->teller != 0 || now < m->tell_at) {
        return;
    }

    /* modules that arrive within the pause share a batch */
    m->tell_at = now + PAUSE_MS;
    m->is_due = give_up(m);
    client = m->is_due ? listener(m) : NULL;
    if (client != NULL) {
        send_batch(m, client, now);
    }
}
