#include "metrics/loader.h"

#include "base/hex.h"

static const sym_loader_row_t rows[SYM_LOADER_VALUES] = {
    [SYM_LOADER_FLIGHTS] = { "flights", "loader_flights", "gauge",
                             "Modules in flight: waited for, being "
                             "fetched or being converted." },
    [SYM_LOADER_WAITING] = { "waiting", "loader_waiting", "gauge",
                             "Open requests of clients for them." },
    [SYM_LOADER_ELECTIONS] = { "elections", "loader_elections_total", "counter",
                               "Fetches that workers were elected for." },
    [SYM_LOADER_RE_ELECTIONS] = { "re_elections", "loader_re_elections_total",
                                  "counter",
                                  "Those that replaced a lost or late "
                                  "worker." },
    [SYM_LOADER_JOINS] = { "joins", "loader_joins_total", "counter",
                           "Requests for a module already in flight." },
    [SYM_LOADER_FETCHES_RUNNING] = { "fetches_running",
                                     "loader_fetches_running", "gauge",
                                     "Running fetches." },
    [SYM_LOADER_LEASE_BYTES] = { "lease_bytes", "loader_lease_bytes", "gauge",
                                 "Bytes leased for temporary files." },
    [SYM_LOADER_TEMP_ROOM_BYTES] = { "temp_room_bytes",
                                     "loader_temp_room_bytes", "gauge",
                                     "Limit of all leases together." },
    [SYM_LOADER_CONVERSIONS_RUNNING] = { "conversions_running",
                                         "loader_conversions_running", "gauge",
                                         "Running converters." },
    [SYM_LOADER_CLIENTS] = { "clients", "loader_clients", "gauge",
                             "Connections to the loader." },
    [SYM_LOADER_INVALIDATIONS] = { "invalidations",
                                   "loader_invalidations_total", "counter",
                                   "Invalidations of modules and paths." },
    [SYM_LOADER_AGED] = { "aged", "loader_aged_total", "counter",
                          "Modules dropped by --max-unused." },
    [SYM_LOADER_SUPPLEMENT_FETCHES] = { "supplement_fetches",
                                        "loader_supplement_fetches_total",
                                        "counter",
                                        "Fetches of supplementary files." },
    [SYM_LOADER_SUPPLEMENT_BYTES] = { "supplement_bytes",
                                      "loader_supplement_bytes", "gauge",
                                      "Bytes of supplementary files, kept or "
                                      "leased." },
    [SYM_LOADER_SWIFT_MANGLED] = { "swift_mangled",
                                   "loader_swift_names_mangled_total",
                                   "counter",
                                   "Names of Swift without a demangler." },
    [SYM_LOADER_UNUSABLE_SHARES] = { "unusable_shares",
                                     "loader_unusable_shares_total", "counter",
                                     "Artifacts of other nodes that were "
                                     "refused." },
    [SYM_LOADER_SHARE_BYTES] = { "share_bytes", "loader_share_bytes", "gauge",
                                 "Bytes of artifacts on their way to the "
                                 "bucket of the fleet." },
};

/* The names continue: conversions_FORMAT_END, conversion_seconds_le_BOUND
 * (cumulative, the last one "inf"), and the sum of the times. */
#define CONVERSIONS SYM_STR("conversions_")
#define BUCKETS SYM_STR("conversion_seconds_le_")
#define SUM SYM_STR("conversion_ns")


const sym_loader_row_t *
sym_loader_row(sym_loader_value_t value)
{
    return &rows[value];
}


#define FORMAT_WORD(format) [SYM_CONVERSION_##format] = #format,

sym_str_t
sym_conversion_format_word(sym_conversion_format_t format)
{
    static const char *const words[SYM_CONVERSION_FORMATS] = {
        [SYM_CONVERSION_UNKNOWN] = "unknown", SYM_FORMATS(FORMAT_WORD)
    };

    return sym_cstr(words[format]);
}


sym_module_state_t
sym_conversion_end(unsigned i)
{
    static const sym_module_state_t ends[SYM_CONVERSION_ENDS] = {
        SYM_MODULE_READY, SYM_MODULE_MALFORMED, SYM_MODULE_FAILED
    };

    return ends[i];
}


void
sym_conversions_count(sym_conversions_t *c, sym_conversion_format_t format,
                      sym_module_state_t state, uint64_t ns)
{
    for (unsigned i = 0; i < SYM_CONVERSION_ENDS; i++) {
        c->ended[format][i] += sym_conversion_end(i) == state;
    }

    sym_histogram_observe(&c->seconds, ns);
}


static sym_str_t
end_word(unsigned i)
{
    return sym_cstr(sym_module_state_name(sym_conversion_end(i)));
}


static sym_str_t
bucket_word(unsigned i)
{
    return i < SYM_HISTOGRAM_BOUNDS ? sym_histogram_bound(i) : SYM_STR("inf");
}


/* --- writing --- */

static void
write_value(sym_out_t *out, uint64_t value)
{
    sym_out_raw(out, SYM_STR(" "));
    sym_out_dec(out, value);
    sym_out_raw(out, SYM_STR("\n"));
}


static void
write_conversions(const sym_conversions_t *c, sym_out_t *out)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < SYM_CONVERSION_FORMATS * SYM_CONVERSION_ENDS; i++)
    {
        unsigned format = i / SYM_CONVERSION_ENDS,
                 end = i % SYM_CONVERSION_ENDS;

        sym_out_raw(out, CONVERSIONS);
        sym_out_raw(out, sym_conversion_format_word(format));
        sym_out_raw(out, SYM_STR("_"));
        sym_out_raw(out, end_word(end));
        write_value(out, c->ended[format][end]);
    }

    for (unsigned i = 0; i <= SYM_HISTOGRAM_BOUNDS; i++) {
        n += c->seconds.buckets[i];
        sym_out_raw(out, BUCKETS);
        sym_out_raw(out, bucket_word(i));
        write_value(out, n);
    }

    sym_out_raw(out, SUM);
    write_value(out, c->seconds.sum_ns);
}


void
sym_loader_write(const sym_loader_stats_t *stats, sym_out_t *out)
{
    for (unsigned i = 0; i < SYM_LOADER_VALUES; i++) {
        sym_out_raw(out, sym_cstr(rows[i].name));
        write_value(out, stats->values[i]);
    }

    write_conversions(&stats->conversions, out);
}


/* --- reading --- */

/* Which lines were read; some are valid only together. */
typedef struct {
    sym_loader_stats_t *stats;
    bool ended[SYM_CONVERSION_FORMATS][SYM_CONVERSION_ENDS];
    bool buckets[SYM_HISTOGRAM_BOUNDS + 1];
    bool sum;
} reader_t;

/* Where to store a number; value NULL: the name is unknown. */
typedef struct {
    uint64_t *value;
    bool *has;
} place_t;


/* Skips the word if s begins with it. */
static bool
skip(sym_str_t *s, sym_str_t word)
{
    if (!sym_str_starts(*s, word)) {
        return false;
    }

    *s = sym_str(s->data + word.len, s->len - word.len);
    return true;
}


static place_t
find_ended(reader_t *r, sym_str_t name)
{
    uint64_t(*ended)[SYM_CONVERSION_ENDS] = r->stats->conversions.ended;

    for (unsigned i = 0; i < SYM_CONVERSION_FORMATS * SYM_CONVERSION_ENDS; i++)
    {
        unsigned format = i / SYM_CONVERSION_ENDS,
                 end = i % SYM_CONVERSION_ENDS;
        sym_str_t rest = name;

        if (skip(&rest, sym_conversion_format_word(format))
            && skip(&rest, SYM_STR("_")) && sym_str_eq(rest, end_word(end)))
        {
            return (place_t){ &ended[format][end], &r->ended[format][end] };
        }
    }

    return (place_t){ NULL, NULL };
}


static place_t
find_bucket(reader_t *r, sym_str_t name)
{
    for (unsigned i = 0; i <= SYM_HISTOGRAM_BOUNDS; i++) {
        if (sym_str_eq(name, bucket_word(i))) {
            return (place_t){ &r->stats->conversions.seconds.buckets[i],
                              &r->buckets[i] };
        }
    }

    return (place_t){ NULL, NULL };
}


static place_t
find(reader_t *r, sym_str_t name)
{
    for (unsigned i = 0; i < SYM_LOADER_VALUES; i++) {
        if (sym_str_eq(name, sym_cstr(rows[i].name))) {
            return (place_t){ &r->stats->values[i], &r->stats->has_value[i] };
        }
    }

    if (sym_str_eq(name, SUM)) {
        return (place_t){ &r->stats->conversions.seconds.sum_ns, &r->sum };
    }

    if (skip(&name, BUCKETS)) {
        return find_bucket(r, name);
    }

    return skip(&name, CONVERSIONS) ? find_ended(r, name)
                                    : (place_t){ NULL, NULL };
}


static bool
read_line(reader_t *r, sym_str_t line)
{
    const char *space = memchr(line.data, ' ', line.len);
    size_t len = space != NULL ? (size_t) (space - line.data) : line.len;
    sym_str_t value = sym_str(line.data + len, line.len - len);
    place_t place = find(r, sym_str(line.data, len));

    if (place.value == NULL) {
        return true;
    }

    if (*place.has || !skip(&value, SYM_STR(" "))
        || !sym_dec_read(value, place.value))
    {
        return false;
    }

    *place.has = true;
    return true;
}


static bool
has_all_buckets(const reader_t *r)
{
    bool has = true;

    for (unsigned i = 0; i <= SYM_HISTOGRAM_BOUNDS; i++) {
        has = has && r->buckets[i];
    }

    return has;
}


/* Makes buckets cumulative again: each includes all buckets below it. */
static bool
part_buckets(uint64_t *buckets)
{
    uint64_t below = 0;

    for (unsigned i = 0; i <= SYM_HISTOGRAM_BOUNDS; i++) {
        uint64_t n = buckets[i];

        if (n < below) {
            return false;
        }

        buckets[i] = n - below;
        below = n;
    }

    return true;
}


/* If a loader does not report a format, it does not support it. */
static bool
has_any_ended(const reader_t *r)
{
    bool has = false;

    for (unsigned i = 0; i < SYM_CONVERSION_FORMATS * SYM_CONVERSION_ENDS; i++)
    {
        has = has || r->ended[i / SYM_CONVERSION_ENDS][i % SYM_CONVERSION_ENDS];
    }

    return has;
}


bool
sym_loader_read(sym_str_t text, sym_loader_stats_t *stats)
{
    reader_t r = { .stats = stats };

    *stats = (sym_loader_stats_t){ 0 };

    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        sym_str_t line;

        /* the line is truncated, so its number would be wrong */
        if (end == NULL) {
            return false;
        }

        line = sym_str(text.data, (size_t) (end - text.data));

        if (!read_line(&r, line)) {
            return false;
        }

        text = sym_str(end + 1, text.len - line.len - 1);
    }

    stats->has_ended = has_any_ended(&r);
    stats->has_seconds = r.sum && has_all_buckets(&r);

    return !stats->has_seconds
           || part_buckets(stats->conversions.seconds.buckets);
}
