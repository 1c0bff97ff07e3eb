/*
 * daemon.h - `symloader serve`.
 */
#ifndef SYMLOADER_DAEMON_DAEMON_H
#define SYMLOADER_DAEMON_DAEMON_H

#include "common/options.h"

/* Runs until a signal arrives; returns the exit code. */
int serve_run(const options_t *options);

#endif
