/*
 * progress.h - progress of `symloader load`.
 *
 * On a terminal: one line on stderr with a bar, bytes, rate and time left,
 * redrawn a few times a second.  Otherwise: a plain line on stdout for every
 * file.  With --quiet: neither.  Call progress_hide() before warnings and
 * errors, so that they do not appear inside the bar.
 */
#ifndef SYMLOADER_CLI_PROGRESS_H
#define SYMLOADER_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    bool has_bar, has_lines, is_drawn;
    uint64_t total_bytes, total_files; /* 0: unknown */
    double started_s, drawn_s;
} progress_t;

void progress_start(progress_t *p, bool quiet);

/* Draws the bar, if there is one and its time has come. */
void progress_draw(progress_t *p, uint64_t bytes, uint64_t files);
void progress_hide(progress_t *p);

double progress_seconds(const progress_t *p);

#endif
