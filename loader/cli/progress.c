#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/output.h"

#define REDRAW_S 0.2
#define BAR_MAX 40

static double
now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}


void
progress_start(progress_t *p, bool quiet)
{
    *p = (progress_t){ .started_s = now_s() };
    p->has_bar = !quiet && isatty(STDERR_FILENO);
    p->has_lines = !quiet && !p->has_bar;
}


double
progress_seconds(const progress_t *p)
{
    return now_s() - p->started_s;
}


static size_t
terminal_columns(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 80;
    }

    return size.ws_col;
}


/* "1:05", "2:03:04" */
static void
time_left_text(double seconds, char *buf, size_t size)
{
    unsigned long s = seconds < 360000 ? (unsigned long) seconds : 360000;

    if (s >= 3600) {
        snprintf(buf, size, "%lu:%02lu:%02lu left", s / 3600, s / 60 % 60,
                 s % 60);

    } else {
        snprintf(buf, size, "%lu:%02lu left", s / 60, s % 60);
    }
}


static void
print_bar(const progress_t *p, const char *figures, double done)
{
    size_t columns = terminal_columns();
    size_t used = strlen(figures) + 4;
    size_t width = columns > used ? columns - used : 0;
    char bar[BAR_MAX + 1];
    size_t full;

    if (width > BAR_MAX) {
        width = BAR_MAX;
    }

    if (p->total_bytes == 0 || width < 4) {
        fprintf(stderr, "\r\033[K%.*s", (int) (columns - 1), figures);
        return;
    }

    full = (size_t) (done * (double) width);
    memset(bar, '.', width);
    memset(bar, '#', full < width ? full : width);
    bar[width] = '\0';
    fprintf(stderr, "\r\033[K[%s] %s", bar, figures);
}


void
progress_draw(progress_t *p, uint64_t bytes, uint64_t files)
{
    double now = now_s(), seconds = now - p->started_s, done = 0;
    double rate = seconds > 0 ? (double) bytes / seconds : 0;
    char have[OUTPUT_SIZE_TEXT], all[OUTPUT_SIZE_TEXT], per_s[OUTPUT_SIZE_TEXT];
    char left[32] = "", figures[160];

    if (!p->has_bar || (p->is_drawn && now - p->drawn_s < REDRAW_S)) {
        return;
    }

    if (p->total_bytes > 0 && bytes <= p->total_bytes) {
        done = (double) bytes / (double) p->total_bytes;

        if (rate > 0) {
            time_left_text((double) (p->total_bytes - bytes) / rate, left,
                           sizeof(left));
        }
    }

    snprintf(figures, sizeof(figures),
             "%" PRIu64 "/%" PRIu64 " files  %s of %s  %s/s  %s", files,
             p->total_files, output_size(bytes, have),
             output_size(p->total_bytes, all),
             output_size((uint64_t) rate, per_s), left);
    print_bar(p, figures, done);
    p->is_drawn = true;
    p->drawn_s = now;
}


void
progress_hide(progress_t *p)
{
    if (p->is_drawn) {
        fputs("\r\033[K", stderr);
        p->is_drawn = false;
    }
}
