/*
 * query.h - converts the query of a GET to the object that a POST would send.
 * Private to this API.
 *
 * The query has one image, and address= any number of times.  Values are only
 * decoded here; they are checked like those of a body.
 */
#ifndef SYM_API_ATOS_QUERY_H
#define SYM_API_ATOS_QUERY_H

#include <jansson.h>

#include "api/atos/request.h"

/* Parses a->base.body.  SYM_OK: *root must be passed to json_decref(); else
 * *root is NULL, and the request is refused (SYM_MALFORMED), or there is no
 * memory. */
sym_status_t atos_query_read(atos_t *a, json_t **root);

#endif
