/*
 * store_messages.h - what people are told of a store, and exit codes.
 */
#ifndef SYMLOADER_COMMON_STORE_MESSAGES_H
#define SYMLOADER_COMMON_STORE_MESSAGES_H

#include "common/options.h"
#include "store/store.h"

/* Says so if a quota that was lowered has left a file larger than it allows. */
void store_warn_large(const options_t *options, const sym_store_t *store);

/* Says so if an older version has made it, and what that cost. */
void store_warn_converted(const options_t *options, const sym_store_t *store);

/* Says what is wrong with a file; the exit code that goes with it. */
int file_failure(const char *file, const sym_error_t *err);

/* The same of the store. */
int store_failure(const options_t *options, const sym_error_t *err);

#endif
