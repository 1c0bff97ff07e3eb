/*
 * conversion_check.h - checks whether a module of a file is the wanted one.
 */
#ifndef SYMLOADER_DRIVER_CONVERSION_CHECK_H
#define SYMLOADER_DRIVER_CONVERSION_CHECK_H

#include "driver/conversion.h"

/* Checks a module.  The requested name is used, because files are often found
 * under several names. */
sym_status_t conversion_check_id(conversion_t *c, const pool_module_t *module,
                                 sym_error_t *err);

/* Checks an artifact.  All artifacts of a file are stored; a temporary one must
 * have the wanted kind. */
sym_status_t conversion_check_kind(conversion_t *c, const pool_module_t *module,
                                   sym_error_t *err);

/* Adds the ids of an object in the file to c->ids. */
void conversion_note_id(conversion_t *c, sym_str_t debug_id);
void conversion_note_ids(conversion_t *c, const pool_module_t *module);

#endif
