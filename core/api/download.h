/*
 * download.h - how an attempt to fetch a file ended, in Symbolicator's words.
 */
#ifndef SYM_API_DOWNLOAD_H
#define SYM_API_DOWNLOAD_H

#include "places/places.h"
#include "protocol/outcomes.h"

typedef enum {
    SYM_DOWNLOAD_OK,
    SYM_DOWNLOAD_MALFORMED,
    SYM_DOWNLOAD_NOPERM,
    SYM_DOWNLOAD_NOT_FOUND,
    SYM_DOWNLOAD_ERROR
} sym_download_status_t;

typedef struct {
    sym_str_t location, outcome; /* the outcome as in the attempt */
    uint64_t ms;
    sym_download_status_t status;
} sym_download_t;

/* The status of HTTP in an outcome; 0: it is a word. */
uint64_t sym_download_http(sym_str_t outcome);

sym_download_status_t sym_download_of(sym_str_t outcome);

/* Same for a place with a record, whose file may be malformed. */
sym_download_status_t sym_download_of_place(const sym_place_t *place);

/* Writes the text of `details`; 0: there are none.  Symbolicator's texts of
 * errors begin with SYM_DOWNLOAD_FAILED where it shows them with their kind. */
#define SYM_DOWNLOAD_FAILED "download failed: "
size_t sym_download_details(const sym_download_t *c, const char *prefix,
                            char *out, size_t size);

#endif
