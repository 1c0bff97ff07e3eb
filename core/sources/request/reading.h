/* Declarations for the files that read the sources of a request. */

#ifndef SYM_SOURCES_REQUEST_READING_H
#define SYM_SOURCES_REQUEST_READING_H

#include "sources/request/sources.h"

typedef struct {
    sym_arena_t *arena;
    const json_t *object; /* the current source */
    uint32_t at;          /* its number */
    size_t bytes;         /* total length of all texts so far */
    sym_status_t status;  /* status of the first error */
    sym_str_t *message;   /* its text */
} source_reader_t;

/* --- errors: each function returns false; the first error is kept --- */

/* key: a key of the source, or NULL. */
bool source_refuse(source_reader_t *r, sym_status_t status, const char *key,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool source_no_memory(source_reader_t *r);
bool source_wrong_type(source_reader_t *r, const char *key, const json_t *value,
                       const char *expected);

/* --- values in r->object; false: refused --- */

bool source_copy_text(source_reader_t *r, const char *key, const json_t *value,
                      size_t max, sym_str_t *out);

/* A text that may be missing or null. */
bool source_read_text(source_reader_t *r, const char *key, size_t max,
                      sym_str_t *out);
bool source_need_text(source_reader_t *r, const char *key, size_t max,
                      sym_str_t *out);

/* A text to be sent as a header; it may be missing. */
bool source_read_secret(source_reader_t *r, const char *key, sym_str_t *out);
bool source_read_bool(source_reader_t *r, const json_t *object, const char *key,
                      bool *out);

/* An object that may be missing: then returns NULL. */
bool source_read_object(source_reader_t *r, const char *key,
                        const json_t **out);
bool source_read_url(source_reader_t *r, const char *key, const json_t *value,
                     sym_url_t *url);
bool source_need_url(source_reader_t *r, sym_url_t *url);

/* Appends `further` to *path if it is not empty, and makes *path end in '/'. */
bool source_make_folder(source_reader_t *r, sym_str_t *path, sym_str_t further);
sym_str_t source_without_slashes(sym_str_t s);

/* --- headers --- */

bool source_is_header_text(sym_str_t s);
bool source_read_headers(source_reader_t *r, sym_request_source_t *s);

/* Adds a header of `scraping`; omits one that cannot be sent.  False: no
 * memory. */
bool source_add_link_header(source_reader_t *r, const char *name,
                            const json_t *value,
                            sym_request_source_header_t *headers,
                            sym_request_source_t *s);

/* --- a complete source --- */

/* Reads the keys of a source of type s->type. */
bool source_read_type(source_reader_t *r, sym_request_source_t *s);

/* Sets s->realm and s->can_be_blocked. */
bool source_make_realm(source_reader_t *r,
                       const sym_request_source_realm_t *realm,
                       sym_request_source_t *s);

/* Sets s->scope. */
bool source_make_scope(source_reader_t *r,
                       const sym_request_source_realm_t *realm,
                       sym_request_source_t *s);

/* Every text of a source; the first ones are not part of its digest. */
#define SOURCE_TEXTS 17
#define SOURCE_FIRST_DIGESTED 2

sym_str_t *source_text(const sym_request_source_t *s, size_t i);
void source_clear_texts(sym_request_source_t *s);

#endif
