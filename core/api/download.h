/*
 * download.h - the result of an attempt to fetch a file, in Symbolicator's
 * words.
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
    sym_str_t location, outcome; /* outcome: as in the attempt */
    uint64_t ms;
    sym_download_status_t status;
} sym_download_t;

/* Returns the HTTP status in an outcome; 0: the outcome is a word. */
uint64_t sym_download_http(sym_str_t outcome);

sym_download_status_t sym_download_of(sym_str_t outcome);

/* Same for a place with a record; its file may be malformed. */
sym_download_status_t sym_download_of_place(const sym_place_t *place);

/* Writes the text of `details`; returns 0 if there are none.  Symbolicator's
 * error texts begin with SYM_DOWNLOAD_FAILED where it shows their kind. */
#define SYM_DOWNLOAD_FAILED "download failed: "
size_t sym_download_details(const sym_download_t *c, const char *prefix,
                            char *out, size_t size);

#endif
