#include "daemon/companion_requests.h"

#include <unistd.h>

#include "common/now.h"

/* Time limit for an answer.  The client only opens a file, but its disk may be
   slow. */
#define ANSWER_MS 10000

/* Time limit for all answers to a conversion, because it occupies a
 * converter. */
#define ANSWERS_MS 60000

static bool
may_ask(const submission_t *c, const sym_companion_t *want)
{
    return c->client != NULL && c->can_ask && !c->client->is_mute
           && want->name_len <= SYM_RPC_PATH_MAX
           && want->dir_len <= SYM_RPC_PATH_MAX
           && want->id_len <= SYM_BUILD_ID_MAX;
}


int
companion_request(submission_t *c, const sym_companion_t *want,
                  converter_given_t *given)
{
    const sym_rpc_message_t m = {
        .type = SYM_RPC_WANT,
        .ticket = c->ticket,
        .want = { .kind = want->kind,
                  .attempt = want->attempt,
                  .name = sym_str(want->name, want->name_len),
                  .dir = sym_str(want->dir, want->dir_len),
                  .id = sym_str((const char *) want->id, want->id_len) },
    };

    (void) given;

    if (!may_ask(c, want)) {
        return -1;
    }

    c->is_asking = true;
    c->asked_at_ms = now_ms();
    client_send(c->client, &m);
    return POOL_LATER;
}


static void
answer(submission_t *c, int fd, const converter_given_t *given)
{
    c->is_asking = false;
    c->waited_ms += now_ms() - c->asked_at_ms;
    pool_give(c->conversion.all->pool, c, fd, given);
}


void
companion_requests_answer(conversions_t *all, const client_t *client,
                          const sym_rpc_message_t *m, int fd)
{
    const converter_given_t given = {
        .offset = m->offset,
        .length = m->length,
        .is_by_id = (m->flags & SYM_RPC_BY_ID) != 0,
    };
    sym_error_t err = { 0 };
    submission_t *c = submission_first(all);

    while (c != NULL
           && (c->client != client || c->ticket != m->ticket || !c->is_asking))
    {
        c = submission_next(c);
    }

    if (c == NULL) {
        if (fd >= 0) {
            close(fd);
        }

        return;
    }

    if (fd >= 0 && submission_check_descriptor(fd, m, &err) != SYM_OK) {
        fd = -1;
    }

    answer(c, fd, &given);
}


void
companion_requests_leave(submission_t *c)
{
    c->client = NULL; /* the file is stored even without the client */

    if (c->is_asking) {
        answer(c, -1, &(converter_given_t){ 0 });
    }
}


static bool
is_too_late(const submission_t *c, int64_t now)
{
    int64_t waiting = now - c->asked_at_ms;

    return waiting >= ANSWER_MS || c->waited_ms + waiting >= ANSWERS_MS;
}


static void
note(submission_t *c, const char *text)
{
    store_upload_note(&c->conversion.upload, text);
    submission_note(c, text);
}


/* Only this client could answer its open requests. */
static void
give_up(conversions_t *all, client_t *client)
{
    submission_t *c;

    client->is_mute = true;

    for (c = submission_first(all); c != NULL; c = submission_next(c)) {
        if (c->client == client && c->is_asking) {
            note(c, "its companions are missing: the client did not "
                    "pass them in time");
            answer(c, -1, &(converter_given_t){ 0 });
        }
    }
}


void
companion_requests_expire(conversions_t *all, int64_t now)
{
    submission_t *c;

    for (c = submission_first(all); c != NULL; c = submission_next(c)) {
        if (c->is_asking && is_too_late(c, now)) {
            give_up(all, c->client);
        }
    }
}
