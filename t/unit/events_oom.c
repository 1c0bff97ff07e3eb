/*
 * Memory runs out at the 1st, 2nd, .. nth allocation of reading events: each
 * time the reader says so, returns nothing and frees everything (the leak check
 * of the sanitizer run sees that).
 */
#include <jansson.h>

#include "sources/events/s3_events.h"
#include "oom.h"
#include "tap.h"

#define ID "44E4EC8C2F41492B9369D6B9A059577C2"

/* Enough for the list of events to grow, and for the arena's second chunk. */
static size_t
make_text(char *text, size_t size, unsigned records)
{
    size_t n = (size_t) snprintf(text, size,
                                 "{\"Type\":\"Notification\",\"Message\":"
                                 "\"{\\\"Records\\\":[");

    for (unsigned i = 0; i < records; i++) {
        n += (size_t) snprintf(
            text + n, size - n,
            "%s{\\\"eventName\\\":\\\"ObjectCreated:Put\\\",\\\"s3\\\":{"
            "\\\"bucket\\\":{\\\"name\\\":\\\"bucket\\\"},\\\"object\\\":{"
            "\\\"key\\\":\\\"v1/some+module.%u/" ID
            "/some+module.%u.sym\\\"}}}",
            i == 0 ? "" : ",", i, i);
    }

    return n + (size_t) snprintf(text + n, size - n, "]}\"}");
}


/* Repeats until memory suffices; the result must then be want, and the status
 * with it. */
static void
sweep(sym_str_t text, sym_status_t want, size_t n_keys)
{
    unsigned long n = 0, wrong = 0;
    sym_s3_events_t out = { 0 };
    sym_status_t rc;

    do {
        sym_error_t err = { 0 };
        sym_arena_t arena;

        sym_arena_init(&arena, 0);
        allocations_left = n++;
        rc = sym_s3_events_read(&arena, text, &out, &err);
        allocations_left = (unsigned long) -1;
        wrong += rc != want && rc != SYM_NOMEM;
        wrong += rc != SYM_OK && (out.n_keys != 0 || out.keys != NULL);
        wrong += rc != err.status;
        sym_arena_drop(&arena);
    } while (rc != want && n < 100000);

    is_status(rc, want, NULL, "with enough memory it succeeds");
    is_u64(out.n_keys, n_keys, "... so many keys");
    is_u64(wrong, 0, "... before: out of memory");
    ok(n > 1, "... %lu allocations were made to fail", n - 1);
}


int
main(void)
{
    static char text[40000];
    size_t len;

    /* the linker cannot wrap jansson's allocations */
    json_set_alloc_funcs(__wrap_malloc, free);
    json_object_seed(1);

    len = make_text(text, sizeof(text), 100);
    ok(len < sizeof(text) - 1, "the input fits");
    sweep(sym_str(text, len), SYM_OK, 200);

    len = make_text(text, sizeof(text), 3);
    sweep(sym_str(text, len - 1), SYM_MALFORMED, 0);
    return done_testing();
}
