/*
 * multipart.h - the parts of a body of the type multipart/form-data (RFC 7578,
 * in the syntax of RFC 2046, section 5.1.1).
 *
 * Texts are views of the body.
 */
#ifndef SYM_BASE_MULTIPART_H
#define SYM_BASE_MULTIPART_H

#include "base/error.h"
#include "base/str.h"

/* RFC 2046, section 5.1.1 */
#define SYM_BOUNDARY_MAX 70

typedef struct {
    sym_str_t rest; /* the body from the next part's headers on */
    char delimiter[4 + SYM_BOUNDARY_MAX]; /* CRLF, two dashes, boundary */
    size_t delimiter_len;
    const char *what; /* static text: the body's error */
} sym_multipart_t;

typedef struct {
    sym_str_t name;     /* as in the header: quotes removed, escapes kept */
    sym_str_t filename; /* in the same form; data NULL: the part is a field */
    sym_str_t body;
} sym_multipart_part_t;

/* Returns the boundary in a Content-Type header; data NULL: none. */
sym_str_t sym_multipart_boundary(sym_str_t content_type);

/* Finds the first part.  False: `what` has the reason. */
bool sym_multipart_begin(sym_multipart_t *m, sym_str_t boundary,
                         sym_str_t body);

/* SYM_OK; SYM_NOT_FOUND: there are no more parts; SYM_MALFORMED: `what` has the
 * reason. */
sym_status_t sym_multipart_next(sym_multipart_t *m, sym_multipart_part_t *part);

#endif
