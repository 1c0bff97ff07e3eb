#include "api/download.h"

#include <stdio.h>

#include "base/hex.h"
#include "protocol/message.h"

#define FAILED SYM_DOWNLOAD_FAILED
#define LOGIN_PAGE "Potential login page detected"

/* Maximum length of the error that blocked a host. */
#define CAUSE_MAX 512

uint64_t
sym_download_http(sym_str_t outcome)
{
    uint64_t status = 0;

    return sym_dec_read(outcome, &status) ? status : 0;
}


sym_download_status_t
sym_download_of(sym_str_t outcome)
{
    uint64_t status = sym_download_http(outcome);

    if (status == 200) {
        return SYM_DOWNLOAD_OK;
    }

    if (status == 401 || status == 403 || status == 302) {
        return SYM_DOWNLOAD_NOPERM;
    }

    return status >= 400 && status < 500 ? SYM_DOWNLOAD_NOT_FOUND
                                         : SYM_DOWNLOAD_ERROR;
}


sym_download_status_t
sym_download_of_place(const sym_place_t *place)
{
    char text[SYM_PLACE_OUTCOME_MAX];

    if (place->state == SYM_MODULE_MALFORMED
        || place->record->outcome == SYM_PATH_MALFORMED)
    {
        return SYM_DOWNLOAD_MALFORMED;
    }

    return place->record->outcome == SYM_PATH_READ
               ? SYM_DOWNLOAD_OK
               : sym_download_of(sym_place_outcome(place->record, text));
}


static const char *
reason_of(uint64_t status)
{
    static const struct {
        uint16_t status;
        const char *reason;
    } reasons[] = {
        { 204, "No Content" },
        { 301, "Moved Permanently" },
        { 303, "See Other" },
        { 307, "Temporary Redirect" },
        { 308, "Permanent Redirect" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
        { 507, "Insufficient Storage" },
    };

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }

    return "<unknown status code>";
}


/* Writes durations like Rust's humantime, which Symbolicator's messages use:
 * "1h 30m". */
static void
write_duration(uint64_t ms, char *out, size_t size)
{
    static const struct {
        uint64_t ms;
        const char *one, *many;
    } units[] = {
        { 86400000, "day", "days" }, { 3600000, "h", "h" }, { 60000, "m", "m" },
        { 1000, "s", "s" },          { 1, "ms", "ms" },
    };
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        unsigned n = (unsigned) (ms / units[i].ms);

        ms %= units[i].ms;
        if (n != 0 && len < size) {
            len += (size_t) snprintf(out + len, size - len, "%s%u%s",
                                     len == 0 ? "" : " ", n,
                                     n == 1 ? units[i].one : units[i].many);
        }
    }
}


/* Returns the host of a URL, which must have no userinfo. */
static sym_str_t
host_of(sym_str_t url)
{
    const char *end = url.data + url.len, *p = url.data, *from;

    while (end - p > 3 && memcmp(p, "://", 3) != 0) {
        p++;
    }
    if (end - p <= 3) {
        return url;
    }

    from = p + 3;
    for (p = from; p < end && *p != '/'; p++) {
        if (*p == ':' && *from != '[') {
            break;
        }
        if (*p == ']') {
            p++;
            break;
        }
    }
    return sym_str(from, (size_t) (p - from));
}


/* Writes the text of an error; returns 0 if there is no error. */
static size_t
write_failure(const sym_download_t *c, const char *prefix, char *out,
              size_t size)
{
    uint64_t status = sym_download_http(c->outcome);
    int n = 0;

    if (c->status == SYM_DOWNLOAD_NOPERM) {
        n = status == 302 ? snprintf(out, size, "%s", LOGIN_PAGE)
                          : snprintf(out, size, "%u %s", (unsigned) status,
                                     reason_of(status));

    } else if (c->status == SYM_DOWNLOAD_ERROR && status != 0) {
        n = snprintf(out, size, "%s%u %s", prefix, (unsigned) status,
                     reason_of(status));

    } else if (sym_str_eq(c->outcome, SYM_STR("timeout"))) {
        n = c->ms != 0 && c->ms % 1000 == 0
                ? snprintf(out, size, "download timed out after %us",
                           (unsigned) (c->ms / 1000))
                : snprintf(out, size, "download timed out after %ums",
                           (unsigned) c->ms);

    } else if (sym_str_eq(c->outcome, SYM_STR(SYM_PLACE_BAD_KEY))) {
        n = snprintf(out, size, "%sfailed encoding JWT", prefix);

    } else if (sym_str_eq(c->outcome, SYM_STR(SYM_PLACE_NO_TOKEN))) {
        n = snprintf(out, size, "%sfailed to send authentication request",
                     prefix);

    } else if (sym_str_eq(c->outcome, SYM_STR(SYM_PLACE_RESTRICTED))) {
        n = snprintf(out, size, "%sdestination is restricted", prefix);

    } else if (c->status == SYM_DOWNLOAD_ERROR) {
        n = snprintf(out, size, "%s%.*s", prefix, (int) c->outcome.len,
                     c->outcome.data);
    }

    return n > 0 && (size_t) n < size ? (size_t) n : 0;
}


/* For a file that was not requested because its host keeps failing. */
static size_t
write_blocked(const sym_download_t *c, const sym_place_blocked_t *blocked,
              const char *prefix, char *out, size_t size)
{
    char duration[64], cause[CAUSE_MAX];
    sym_str_t host = host_of(c->location);
    sym_download_t failed = { .outcome = blocked->outcome,
                              .ms = blocked->ms,
                              .status = SYM_DOWNLOAD_ERROR };
    size_t len = write_failure(&failed, FAILED, cause, sizeof(cause));
    int n;

    write_duration(blocked->block_ms, duration, sizeof(duration));
    n = snprintf(out, size,
                 "%sHost %.*s is temporarily blocked because "
                 "there were too many download failures. It will remain "
                 "blocked for a maximum of %s. The error that triggered the "
                 "block was: `%.*s`.",
                 prefix, (int) host.len, host.data, duration, (int) len, cause);
    return n > 0 && (size_t) n < size ? (size_t) n : 0;
}


size_t
sym_download_details(const sym_download_t *c, const char *prefix, char *out,
                     size_t size)
{
    sym_place_blocked_t blocked;

    return sym_place_blocked(c->outcome, &blocked)
               ? write_blocked(c, &blocked, prefix, out, size)
               : write_failure(c, prefix, out, size);
}
