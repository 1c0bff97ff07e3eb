/*
 * conversion_check.h - whether a module of a file is the wanted one.
 */
#ifndef SYMLOADER_DRIVER_CONVERSION_CHECK_H
#define SYMLOADER_DRIVER_CONVERSION_CHECK_H

#include "driver/conversion.h"

/* The requested name is used: files are often found under several names. */
sym_status_t conversion_check_id(conversion_t *c, const pool_module_t *module,
                                 sym_error_t *err);

/* All artifacts of a file are stored; a temporary one has the wanted kind. */
sym_status_t conversion_check_kind(conversion_t *c, const pool_module_t *module,
                                   sym_error_t *err);

/* Adds the ids of an object in the file to c->ids. */
void conversion_note_id(conversion_t *c, sym_str_t debug_id);
void conversion_note_ids(conversion_t *c, const pool_module_t *module);

#endif
