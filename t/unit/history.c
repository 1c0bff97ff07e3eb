/*
 * The history of the counters: an operator who opens the page after an incident
 * sees in which half minute it happened, even if nothing was counted in
 * between.
 */
#include "metrics/counters.h"

#include "tap.h"

static sym_metrics_t m;

static const char *
history(uint64_t now_s)
{
    static char text[16384];
    sym_out_t out = sym_out_fixed(text, sizeof(text) - 1);
    sym_totals_t totals;

    sym_metrics_totals(&m, &totals);
    sym_history_write(&m.history, now_s, &totals, &out);
    *out.pos = '\0';
    ok(!out.failed, "the history fits");
    return text;
}


static void
count(uint64_t now_s, uint64_t frames)
{
    sym_metrics_remember(&m, now_s);
    sym_count(&m.frames, frames);
}


/* The list of frame counts in the text. */
static void
frames_are(uint64_t now_s, const char *list, const char *name)
{
    const char *found = strstr(history(now_s), "\"frames\": [") + 11;

    is_str(sym_str(found, strcspn(found, "]")), list, name);
}


int
main(void)
{
    char hour[3 * SYM_HISTORY_INTERVALS + 16];
    uint64_t i;

    is_str(sym_cstr(history(1000)),
           "{\"interval_s\": 30, \"requests\": [0], \"errors\": [0], "
           "\"frames\": [0], \"misses\": [0], \"fetches\": [0]}\n",
           "nothing was counted");

    count(1000, 5); /* 990 to 1019 */
    count(1019, 6);
    frames_are(1019, "11", "all in one half minute");
    frames_are(1020, "11, 0", "the next one begins");
    count(1020, 7);
    count(1110, 8);
    frames_are(1115, "11, 7, 0, 0, 8", "half minutes without anything");
    frames_are(1200, "11, 7, 0, 0, 8, 0, 0, 0", "... also at the end");

    sym_metrics_remember(&m, 900);
    frames_are(1200, "11, 7, 0, 0, 8, 0, 0, 0", "a clock that was set back");

    /* The ring is full: the oldest half minute, of an hour ago, is dropped. */
    for (i = 0; i < SYM_HISTORY_INTERVALS; i++) {
        memcpy(hour + 3 * i, "1, ", 3);
        count(5000 + SYM_HISTORY_INTERVAL_S * i, 1);
    }
    hour[3 * i - 2] = '\0';
    frames_are(5000 + SYM_HISTORY_INTERVAL_S * (i - 1), hour, "a whole hour");
    memcpy(hour + 3 * (i - 1), "0", 2);
    frames_are(5000 + SYM_HISTORY_INTERVAL_S * i, hour, "... half a minute on");

    for (i = 0; i < SYM_HISTORY_INTERVALS; i++) {
        hour[3 * i] = '0';
    }
    frames_are(900000, hour, "days later: nothing is left");

    memset(&m, 0, sizeof(m));
    sym_metrics_request(&m, 1, SYM_SERVED_OK, 200);
    sym_metrics_request(&m, 1, SYM_SERVED_INVALID, 400);
    sym_count(&m.modules[SYM_OUTCOME_FOUND], 4);
    sym_count(&m.modules[SYM_OUTCOME_ABSENT], 2);
    sym_count(&m.modules[SYM_OUTCOME_FAILED], 1);
    sym_metrics_fetch(&m, SYM_METRICS_OTHER, SYM_OUTCOME_FOUND, 10, 10);
    {
        sym_totals_t totals;

        sym_metrics_totals(&m, &totals);
        is_u64(totals.requests, 2, "requests");
        is_u64(totals.errors, 1, "errors");
        is_u64(totals.misses, 3, "misses");
        is_u64(totals.fetches, 1, "fetches");
    }
    return done_testing();
}
