/*
 * store_messages.h - messages about a store, and their exit codes.
 */
#ifndef SYMLOADER_COMMON_STORE_MESSAGES_H
#define SYMLOADER_COMMON_STORE_MESSAGES_H

#include "common/options.h"
#include "store/store.h"

/* Warns if data.mdb is larger than a lowered quota allows. */
void store_warn_large(const options_t *options, const sym_store_t *store);


/* Prints the error of a file; returns the exit code. */
int file_failure(const char *file, const sym_error_t *err);

/* Same for an error of the store. */
int store_failure(const options_t *options, const sym_error_t *err);

#endif
