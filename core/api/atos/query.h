/*
 * query.h - the query of a GET, as the object that would be sent in a POST.
 * Private to this API.
 *
 * It takes one image, and any number of times address=.  The values are only
 * decoded here, and judged as those of a body are.
 */
#ifndef SYM_API_ATOS_QUERY_H
#define SYM_API_ATOS_QUERY_H

#include <jansson.h>

#include "api/atos/request.h"

/* Parses a->base.body.  SYM_OK: *root is for json_decref(); else it is NULL,
 * and the request is refused (SYM_MALFORMED), or there is no memory. */
sym_status_t atos_query_read(atos_t *a, json_t **root);

#endif
