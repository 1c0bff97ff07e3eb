#include "common/say.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "json/out.h"

/* Room for a path of PATH_MAX bytes, and a message. */
#define LINE_BYTES 10240

const char *
output_size(uint64_t bytes, char buf[OUTPUT_SIZE_TEXT])
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
    double n = (double) bytes / 1024;
    size_t u = 0;

    if (bytes < 1024) {
        snprintf(buf, OUTPUT_SIZE_TEXT, "%" PRIu64 " B", bytes);
        return buf;
    }

    /* 1023.95 would be printed as 1024.0 */
    while (n >= 1023.95 && u + 1 < sizeof(units) / sizeof(units[0])) {
        n /= 1024;
        u++;
    }

    snprintf(buf, OUTPUT_SIZE_TEXT, "%.1f %s", n, units[u]);
    return buf;
}


const char *
output_time(int64_t seconds, char buf[OUTPUT_TIME_TEXT])
{
    time_t t = (time_t) seconds;
    struct tm tm;

    if (seconds == 0 || gmtime_r(&t, &tm) == NULL
        || strftime(buf, OUTPUT_TIME_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
    {
        snprintf(buf, OUTPUT_TIME_TEXT, "-");
    }

    return buf;
}


/* Names of files and modules may contain any bytes. */
static void
print_clean_line(FILE *f, char *line, size_t len)
{
    size_t i = 0;

    while (i < len) {
        size_t n = sym_out_control_len(sym_str(line, len), i);

        memset(line + i, '?', n);
        i += n > 0 ? n : 1;
    }

    line[len] = '\n';
    fwrite(line, 1, len + 1, f);
}


/* Returns the number of bytes that vsnprintf() wrote. */
static size_t
printed_len(int n, size_t room)
{
    if (n < 0) {
        return 0;
    }

    return (size_t) n < room ? (size_t) n : room - 1;
}


void
say(const char *fmt, ...)
{
    char line[LINE_BYTES];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);

    print_clean_line(stdout, line, printed_len(n, sizeof(line)));
}


void
complain_about(const char *subject, const char *fmt, ...)
{
    char line[LINE_BYTES];
    size_t used;
    va_list args;
    int n;

    /* The error must be visible even after a long subject. */
    n = snprintf(line, sizeof(line) / 2, "symloader: %s: ", subject);
    used = printed_len(n, sizeof(line) / 2);

    va_start(args, fmt);
    n = vsnprintf(line + used, sizeof(line) - used, fmt, args);
    va_end(args);

    print_clean_line(stderr, line, used + printed_len(n, sizeof(line) - used));
}
