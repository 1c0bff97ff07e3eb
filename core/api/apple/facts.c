#include "api/apple/apple.h"

#include "base/date.h"
#include "base/hex.h"
#include "json/out.h"

#define MINUTE_S 60
#define HOUR_S 3600

/* --- values --- */

static bool
read_zone(sym_str_t zone, int64_t *offset_s)
{
    uint64_t hours, minutes;
    size_t colon = zone.len == 6 && zone.data[3] == ':' ? 1 : 0;

    if (zone.len != 5 + colon || (zone.data[0] != '+' && zone.data[0] != '-')
        || !sym_dec_read(sym_str(zone.data + 1, 2), &hours)
        || !sym_dec_read(sym_str(zone.data + 3 + colon, 2), &minutes)
        || minutes > 59)
    {
        return false;
    }

    *offset_s = (int64_t) (hours * HOUR_S + minutes * MINUTE_S);
    if (zone.data[0] == '-') {
        *offset_s = -*offset_s;
    }

    return true;
}


bool
apple_read_time(sym_str_t text, int64_t *time_s)
{
    char iso[SYM_ISO_DATE_LEN];
    size_t at = sizeof(iso) - 1;
    uint64_t local_s;
    int64_t offset_s;

    if (text.len <= at || text.data[10] != ' ') {
        return false;
    }

    memcpy(iso, text.data, at);
    iso[10] = 'T';
    iso[at] = 'Z';

    if (text.data[at] == '.') {
        for (at++;
             at < text.len && text.data[at] >= '0' && text.data[at] <= '9';
             at++) {
        }
    }

    if (at >= text.len || text.data[at] != ' '
        || !sym_iso_date_read(sym_str(iso, sizeof(iso)), &local_s)
        || !read_zone(sym_str(text.data + at + 1, text.len - at - 1),
                      &offset_s))
    {
        return false;
    }

    *time_s = (int64_t) local_s - offset_s;
    return true;
}


sym_str_t
apple_arch(sym_str_t word)
{
    static const struct {
        sym_str_t word, arch;
    } archs[] = {
        { { "X86-64", 6 }, { "x86_64", 6 } },
        { { "x86_64", 6 }, { "x86_64", 6 } },
        { { "x86_64h", 7 }, { "x86_64h", 7 } },
        { { "X86", 3 }, { "x86", 3 } },
        { { "i386", 4 }, { "x86", 3 } },
        { { "ARM-64", 6 }, { "arm64", 5 } },
        { { "arm64", 5 }, { "arm64", 5 } },
        { { "arm64e", 6 }, { "arm64e", 6 } },
        { { "arm64_32", 8 }, { "arm64_32", 8 } },
        { { "ARM", 3 }, { "arm", 3 } },
        { { "armv7", 5 }, { "armv7", 5 } },
        { { "armv7s", 6 }, { "armv7s", 6 } },
        { { "armv7k", 6 }, { "armv7k", 6 } },
        { { "PPC", 3 }, { "ppc", 3 } },
        { { "PPC-64", 6 }, { "ppc64", 5 } },
    };

    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        if (sym_str_eq(word, archs[i].word)) {
            return archs[i].arch;
        }
    }

    return sym_str(NULL, 0);
}


/* --- the answer --- */

/* Removes digits; false: there are none. */
static bool
skip_digits(sym_str_t *text)
{
    size_t n = 0;

    while (n < text->len && text->data[n] >= '0' && text->data[n] <= '9') {
        n++;
    }

    *text = sym_str(text->data + n, text->len - n);
    return n != 0;
}


static bool
skip(sym_str_t *text, sym_str_t prefix)
{
    bool is_there = sym_str_starts(*text, prefix);

    if (is_there) {
        *text = sym_str(text->data + prefix.len, text->len - prefix.len);
    }

    return is_there;
}


/* "Mac OS X A.B.C[ (BUILD)]" is split; any other text is the name. */
static void
take_os(apple_facts_t *f)
{
    sym_str_t rest = f->os, version;

    if (f->os.data == NULL) {
        return;
    }

    f->os_name = f->os;
    if (!skip(&rest, SYM_STR("Mac OS X "))) {
        return;
    }

    version = rest;
    if (!skip_digits(&rest) || !skip(&rest, SYM_STR(".")) || !skip_digits(&rest)
        || !skip(&rest, SYM_STR(".")) || !skip_digits(&rest))
    {
        return;
    }

    version.len -= rest.len;
    if (rest.len != 0) {
        if (!skip(&rest, SYM_STR(" (")) || rest.len < 2
            || memchr(rest.data, ')', rest.len) != rest.data + rest.len - 1)
        {
            return;
        }
        f->build = sym_str(rest.data, rest.len - 1);
    }

    f->os_name = SYM_STR("macOS");
    f->version = version;
}


void
apple_write_facts(const sentry_t *s, sym_out_t *out)
{
    apple_facts_t f = ((const apple_t *) s)->facts;
    bool first = true;

    take_os(&f);
    if (f.has_time && f.time_s >= 0) {
        sym_out_raw(out, SYM_STR("\"timestamp\": "));
        sym_out_dec(out, (uint64_t) f.time_s);
        sym_out_raw(out, SYM_STR(", "));
    }

    sym_out_raw(out, SYM_STR("\"system_info\": {"));
    sym_out_key_string(out, "os_name", f.os_name, &first);
    sym_out_key_string(out, "os_version", f.version, &first);
    sym_out_key_string(out, "os_build", f.build, &first);
    sym_out_key_string(out, "cpu_arch",
                       f.arch.data != NULL ? f.arch : SYM_STR("unknown"),
                       &first);
    sym_out_key_string(out, "device_model", f.device, &first);
    sym_out_raw(out, SYM_STR("}, \"crashed\": true"));

    if (f.reason.data != NULL) {
        sym_out_key_string(out, "crash_reason", f.reason, &first);
    }

    if (f.details.data != NULL) {
        sym_out_key_string(out, "crash_details", f.details, &first);
    }

    sym_out_raw(out, SYM_STR(", "));
}
