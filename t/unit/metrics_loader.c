/*
 * What a loader reports for the metrics page.  The socket may be anybody's, so
 * a text is read completely or not at all, and adds only numbers.  Names are
 * those of docs/use/operations.md.
 */
#include "metrics/loader.h"

#include "protocol/message.h"
#include "metrics/page.h"
#include "tap.h"

static const char complete[] = "flights 3\n"
                               "waiting 50\n"
                               "elections 18446744073709551615\n"
                               "re_elections 1\n"
                               "joins 49\n"
                               "fetches_running 2\n"
                               "lease_bytes 67108864\n"
                               "temp_room_bytes 0\n"
                               "conversions_running 4\n"
                               "clients 7\n"
                               "invalidations 5\n"
                               "aged 6\n"
                               "supplement_fetches 21\n"
                               "supplement_bytes 22\n"
                               "swift_mangled 23\n"
                               "unusable_shares 24\n"
                               "share_bytes 25\n"
                               "conversions_unknown_ready 0\n"
                               "conversions_unknown_malformed 2\n"
                               "conversions_unknown_failed 0\n"
                               "conversions_breakpad_ready 9\n"
                               "conversions_breakpad_malformed 8\n"
                               "conversions_breakpad_failed 6\n"
                               "conversions_elf_ready 10\n"
                               "conversions_elf_malformed 11\n"
                               "conversions_elf_failed 12\n"
                               "conversions_macho_ready 13\n"
                               "conversions_macho_malformed 14\n"
                               "conversions_macho_failed 15\n"
                               "conversions_pe_ready 0\n"
                               "conversions_pe_malformed 0\n"
                               "conversions_pe_failed 0\n"
                               "conversions_pdb_ready 0\n"
                               "conversions_pdb_malformed 0\n"
                               "conversions_pdb_failed 0\n"
                               "conversions_sourcebundle_ready 16\n"
                               "conversions_sourcebundle_malformed 17\n"
                               "conversions_sourcebundle_failed 18\n"
                               "conversions_ppdb_ready 0\n"
                               "conversions_ppdb_malformed 0\n"
                               "conversions_ppdb_failed 0\n"
                               "conversions_wasm_ready 0\n"
                               "conversions_wasm_malformed 0\n"
                               "conversions_wasm_failed 0\n"
                               "conversions_proguard_ready 0\n"
                               "conversions_proguard_malformed 0\n"
                               "conversions_proguard_failed 0\n"
                               "conversions_sourcemap_ready 0\n"
                               "conversions_sourcemap_malformed 0\n"
                               "conversions_sourcemap_failed 0\n"
                               "conversions_script_ready 0\n"
                               "conversions_script_malformed 0\n"
                               "conversions_script_failed 0\n"
                               "conversions_symbfile_ready 0\n"
                               "conversions_symbfile_malformed 0\n"
                               "conversions_symbfile_failed 0\n"
                               "conversions_artifact_ready 0\n"
                               "conversions_artifact_malformed 0\n"
                               "conversions_artifact_failed 0\n"
                               "conversions_minidump_ready 0\n"
                               "conversions_minidump_malformed 0\n"
                               "conversions_minidump_failed 0\n"
                               "conversions_upload_ready 0\n"
                               "conversions_upload_malformed 0\n"
                               "conversions_upload_failed 0\n"
                               "conversion_seconds_le_0.00001 1\n"
                               "conversion_seconds_le_0.00002 1\n"
                               "conversion_seconds_le_0.00005 1\n"
                               "conversion_seconds_le_0.0001 1\n"
                               "conversion_seconds_le_0.0002 1\n"
                               "conversion_seconds_le_0.0005 1\n"
                               "conversion_seconds_le_0.001 1\n"
                               "conversion_seconds_le_0.002 4\n"
                               "conversion_seconds_le_0.005 4\n"
                               "conversion_seconds_le_0.01 4\n"
                               "conversion_seconds_le_0.02 4\n"
                               "conversion_seconds_le_0.05 4\n"
                               "conversion_seconds_le_0.1 4\n"
                               "conversion_seconds_le_0.2 4\n"
                               "conversion_seconds_le_0.5 4\n"
                               "conversion_seconds_le_1 4\n"
                               "conversion_seconds_le_2 4\n"
                               "conversion_seconds_le_5 4\n"
                               "conversion_seconds_le_10 20\n"
                               "conversion_seconds_le_20 20\n"
                               "conversion_seconds_le_50 20\n"
                               "conversion_seconds_le_100 21\n"
                               "conversion_seconds_le_inf 23\n"
                               "conversion_ns 100000000001\n";

/* Lines on the page for a loader that reported everything. */
#define ROWS (43 + SYM_CONVERSION_FORMATS * SYM_CONVERSION_ENDS)

static char text[SYM_RPC_TEXT_MAX], page_text[1 << 18];

static sym_str_t
written(const sym_loader_stats_t *stats)
{
    sym_out_t out = sym_out_fixed(text, sizeof(text));

    sym_loader_write(stats, &out);
    ok(!out.failed, "it fits into a message");
    return sym_str(text, (size_t) (out.pos - text));
}


/* The page for one loader that answered, or did not. */
static const char *
page_of(const sym_loader_stats_t *stats)
{
    static const sym_metrics_t m;
    static const sym_metrics_endpoint_t none[SYM_METRICS_ENDPOINTS];
    sym_metrics_loader_t loader = { .path = SYM_STR("/run/a\"b"),
                                    .is_up = stats != NULL };
    sym_metrics_page_t page = { .metrics = &m,
                                .endpoints = none,
                                .loaders = &loader,
                                .n_loaders = 1,
                                .version = SYM_STR("1") };
    sym_out_t out = sym_out_fixed(page_text, sizeof(page_text) - 1);

    if (stats != NULL) {
        loader.stats = *stats;
    }

    sym_metrics_page(&page, &out);
    ok(!out.failed, "the page fits");
    *out.pos = '\0';
    return page_text;
}


/* The line of the loader must be on the page, once. */
static void
has_line(const char *name, const char *labels, const char *value)
{
    char line[160];
    const char *p;

    (void) snprintf(line, sizeof(line),
                    "\nsymbolicate_loader_%s{loader=\"/run/a\\\"b\"%s} %s\n",
                    name, labels, value);
    p = strstr(page_text, line);
    ok(p != NULL && strstr(p + 1, line) == NULL, "%s%s %s", name, labels,
       value);
}


static unsigned
lines_of_loader(void)
{
    unsigned n = 0;

    for (const char *p = page_text; (p = strstr(p, "{loader=")) != NULL; p++) {
        n++;
    }

    return n;
}


static void
test_complete(void)
{
    sym_loader_stats_t stats;

    ok(sym_loader_read(sym_cstr(complete), &stats), "a complete text");
    (void) page_of(&stats);

    has_line("up", "", "1");
    has_line("flights", "", "3");
    has_line("waiting", "", "50");
    has_line("elections_total", "", "18446744073709551615");
    has_line("re_elections_total", "", "1");
    has_line("joins_total", "", "49");
    has_line("fetches_running", "", "2");
    has_line("lease_bytes", "", "67108864");
    has_line("temp_room_bytes", "", "0");
    has_line("conversions_running", "", "4");
    has_line("clients", "", "7");
    has_line("invalidations_total", "", "5");
    has_line("aged_total", "", "6");
    has_line("supplement_fetches_total", "", "21");
    has_line("supplement_bytes", "", "22");
    has_line("swift_names_mangled_total", "", "23");
    has_line("share_bytes", "", "25");
    has_line("conversions_total", ",format=\"breakpad\",outcome=\"ready\"",
             "9");
    has_line("conversions_total", ",format=\"breakpad\",outcome=\"malformed\"",
             "8");
    has_line("conversions_total", ",format=\"breakpad\",outcome=\"failed\"",
             "6");
    has_line("conversions_total", ",format=\"elf\",outcome=\"ready\"", "10");
    has_line("conversions_total", ",format=\"macho\",outcome=\"failed\"", "15");
    has_line("conversions_total", ",format=\"unknown\",outcome=\"malformed\"",
             "2");
    has_line("conversion_seconds_bucket", ",le=\"0.001\"", "1");
    has_line("conversion_seconds_bucket", ",le=\"0.002\"", "4");
    has_line("conversion_seconds_bucket", ",le=\"5\"", "4");
    has_line("conversion_seconds_bucket", ",le=\"10\"", "20");
    has_line("conversion_seconds_bucket", ",le=\"100\"", "21");
    has_line("conversion_seconds_bucket", ",le=\"+Inf\"", "23");
    has_line("conversion_seconds_count", "", "23");
    has_line("conversion_seconds_sum", "", "100.000000001");
    is_u64(lines_of_loader(), ROWS, "and no other row");

    is_str(written(&stats), complete, "written as it was received");
}


static void
test_away(void)
{
    (void) page_of(NULL);
    has_line("up", "", "0");
    is_u64(lines_of_loader(), 1, "for a loader that is away, only that fact");
}


/* Another version: values that it does not report are not shown as zero. */
static void
test_others(void)
{
    sym_loader_stats_t stats;

    ok(sym_loader_read(SYM_STR("joins 4\nconversions_ready 4\n"
                               "conversion_seconds 0.123\nnews\n\n"
                               "news of 5\nevil\"} 1\n"),
                       &stats),
       "an older one, and a newer one");
    (void) page_of(&stats);
    has_line("joins_total", "", "4");
    is_u64(lines_of_loader(), 2, "only its known values");
    ok(strstr(page_text, "news") == NULL && strstr(page_text, "evil") == NULL,
       "no name from the text is on the page");

    ok(sym_loader_read(SYM_STR("conversions_breakpad_ready 1\n"
                               "conversions_abacus_ready 1\n"
                               "conversions_breakpad_eaten 1\n"
                               "conversions_breakpad 1\n"),
                       &stats),
       "unknown formats and outcomes");
    (void) page_of(&stats);
    has_line("conversions_total", ",format=\"breakpad\",outcome=\"ready\"",
             "1");
    is_u64(lines_of_loader(), 1 + SYM_CONVERSION_FORMATS * SYM_CONVERSION_ENDS,
           "are omitted");

    ok(sym_loader_read(SYM_STR(""), &stats), "nothing");
    (void) page_of(&stats);
    has_line("up", "", "1");
    is_u64(lines_of_loader(), 1, "... is told");
}


/* A histogram with a missing bucket would be wrong. */
static void
test_histogram(void)
{
    sym_loader_stats_t stats;
    const char *bucket = strstr(complete, "conversion_seconds_le_10 ");
    const char *next = strchr(bucket, '\n') + 1;
    char without[sizeof(complete)];

    (void) snprintf(without, sizeof(without), "%.*s%s",
                    (int) (bucket - complete), complete, next);
    ok(sym_loader_read(sym_cstr(without), &stats), "a bucket is missing");
    (void) page_of(&stats);
    is_u64(lines_of_loader(), ROWS - 25, "the whole histogram is omitted");

    *strstr(without, "conversion_ns") = 'x';
    ok(sym_loader_read(sym_cstr(without), &stats), "the sum as well");
    (void) page_of(&stats);
    is_u64(lines_of_loader(), ROWS - 25, "... the same");
}


static void
test_refused(void)
{
    static const struct {
        const char *input, *why;
    } cases[] = {
        { "joins 1\njoins 2", "the last line is cut" },
        { "joins", "... before its number" },
        { "joins\n", "no number" },
        { "joins \n", "an empty one" },
        { "joins  1\n", "two spaces" },
        { "joins 1 \n", "a space after it" },
        { "joins 1\r\n", "CR" },
        { "joins -1\n", "a sign" },
        { "joins +1\n", "... also of the other kind" },
        { "joins 1.5\n", "a fraction" },
        { "joins 0x10\n", "hexadecimal" },
        { "joins NaN\n", "not a number" },
        { "joins 18446744073709551616\n", "2^64" },
        { "joins 1\"} 2\n", "text after a number" },
        { "joins 1\njoins 1\n", "a name twice" },
        { "conversions_breakpad_ready 1\nconversions_breakpad_ready 1\n",
          "conversions twice" },
        { "conversions_breakpad_ready x\n", "conversions without a number" },
        { "conversion_seconds_le_inf 1\nconversion_seconds_le_inf 1\n",
          "a bucket twice" },
        { "conversion_ns 1\nconversion_ns 1\n", "a sum twice" },
        { "conversion_ns 0.5\n", "a sum with a fraction" },
    };
    sym_loader_stats_t stats;
    char shrinking[sizeof(complete)];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ok(!sym_loader_read(sym_cstr(cases[i].input), &stats), "refused: %s",
           cases[i].why);
    }

    memcpy(shrinking, complete, sizeof(complete));
    strstr(shrinking, "le_100 21")[7] = '1';
    ok(!sym_loader_read(sym_cstr(shrinking), &stats),
       "refused: buckets that shrink");

    ok(!sym_loader_read(sym_str("joins 1\0\n", 9), &stats), "refused: NUL");
}


/* Each prefix of a text is refused, or ends with a complete line. */
static void
test_cut(void)
{
    sym_loader_stats_t stats;
    bool is_right = true;

    for (size_t len = 1; len < sizeof(complete); len++) {
        is_right = is_right
                   && sym_loader_read(sym_str(complete, len), &stats)
                          == (complete[len - 1] == '\n');
    }

    ok(is_right, "refused wherever it is truncated");
}


static void
test_counting(void)
{
    sym_loader_stats_t stats = { 0 };
    sym_conversions_t *c = &stats.conversions;
    sym_str_t out;

    sym_conversions_count(c, SYM_CONVERSION_breakpad, SYM_MODULE_READY, 10000);
    sym_conversions_count(c, SYM_CONVERSION_breakpad, SYM_MODULE_READY, 20001);
    sym_conversions_count(c, SYM_CONVERSION_breakpad, SYM_MODULE_FAILED, 1);
    sym_conversions_count(c, SYM_CONVERSION_breakpad, SYM_MODULE_MALFORMED,
                          UINT64_C(200000000000));
    out = written(&stats);
    text[out.len - 1] = '\0'; /* up to the last line's end */

    ok(strstr(text, "\nconversions_breakpad_ready 2\n") != NULL, "ready");
    ok(strstr(text, "\nconversions_breakpad_failed 1\n") != NULL, "failed");
    ok(strstr(text, "\nconversions_breakpad_malformed 1\n") != NULL,
       "malformed");
    ok(strstr(text, "\nconversion_seconds_le_0.00001 2\n") != NULL,
       "a bound is in its own bucket");
    ok(strstr(text, "\nconversion_seconds_le_0.00002 2\n") != NULL,
       "a larger value is not");
    ok(strstr(text, "\nconversion_seconds_le_0.00005 3\n") != NULL,
       "it is in the next bucket");
    ok(strstr(text, "\nconversion_seconds_le_100 3\n") != NULL,
       "too long for all");
    ok(strstr(text, "\nconversion_seconds_le_inf 4\n") != NULL, "inf: all");
    ok(strstr(text, "\nconversion_ns 200000030002") != NULL, "the sum");
}


/* A text truncated by the message would not be read. */
static void
test_largest(void)
{
    sym_loader_stats_t stats = { 0 }, again;

    memset(stats.values, 0xff, sizeof(stats.values));
    memset(stats.conversions.ended, 0xff, sizeof(stats.conversions.ended));
    stats.conversions.seconds.buckets[0] = UINT64_MAX;
    stats.conversions.seconds.sum_ns = UINT64_MAX;
    ok(sym_loader_read(written(&stats), &again), "the largest numbers");
    ok(memcmp(again.values, stats.values, sizeof(stats.values)) == 0
           && memcmp(&again.conversions, &stats.conversions,
                     sizeof(stats.conversions))
                  == 0,
       "come back");
}


int
main(void)
{
    test_complete();
    test_away();
    test_others();
    test_histogram();
    test_refused();
    test_cut();
    test_counting();
    test_largest();
    return done_testing();
}
