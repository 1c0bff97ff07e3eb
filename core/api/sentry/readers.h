/*
 * readers.h - functions that both readers of requests share.  Private to this
 * API.
 */
#ifndef SYM_API_SENTRY_READERS_H
#define SYM_API_SENTRY_READERS_H

#include "api/sentry/sentry.h"
#include "api/sentry/values.h"

/*
 * The direct reader.  SYM_OK; SYM_AGAIN: the budget is spent; SYM_UNSUPPORTED:
 * not the usual structure, so the general reader decides; SYM_NOMEM.
 */
sym_status_t sentry_read_direct(sentry_t *s, uint32_t budget);

/* The general reader.  SYM_OK; SYM_MALFORMED, SYM_LIMIT: refused; SYM_NOMEM. */
sym_status_t sentry_read_general(sentry_t *s);

/* Parses the text, and passes the value to `read`.  Statuses as above. */
sym_status_t sentry_load(sentry_t *s, sym_str_t text,
                         sym_status_t (*read)(sentry_t *s, const json_t *root));

/* Read parts of a body that jansson has parsed; value: NULL if the key is
 * absent.  Statuses as above. */
sym_status_t sentry_read_options(const sentry_reader_t *request,
                                 const json_t *value);
sym_status_t sentry_read_scraping(const sentry_reader_t *request,
                                  const json_t *value);
sym_status_t sentry_read_sources(const sentry_reader_t *request,
                                 const json_t *value);
sym_status_t sentry_read_rewrites(const sentry_reader_t *request,
                                  const json_t *value);

/* The general reader must read stacks with more registers. */
#define SENTRY_REGISTERS_MAX 256

/* Add a zeroed item to the request; NULL: no memory. */
sentry_stack_t *sentry_add_stack(sentry_t *s);
sentry_module_t *sentry_add_module(sentry_t *s);
sentry_frame_t *sentry_add_frame(sentry_t *s);

/* Same for any stack; its frames are added one by one. */
sentry_frame_t *sentry_add_frame_to(sentry_t *s, uint32_t stack);

/* Adds a register; its texts are not copied.  False: no memory. */
bool sentry_add_field(sentry_t *s, sentry_frame_t *frame, sentry_key_t key,
                      sym_str_t text);
bool sentry_add_number(sentry_t *s, sentry_frame_t *frame, sentry_key_t key,
                       uint64_t number);
bool sentry_add_register(sentry_t *s, sentry_stack_t *stack, sym_str_t name,
                         uint64_t value);

/* Read the words of an enumeration.  False: not such a word. */
bool sentry_mode(sym_str_t text, sentry_frame_t *frame);
bool sentry_trust(sym_str_t text, sentry_frame_t *frame);
bool sentry_order(sym_str_t text, sentry_request_t *q);
bool sentry_is_language(sym_str_t text);

/* Reads an address like Rust's parser of numbers.  Returns NULL, or why the
 * text is refused. */
const char *sentry_hex(sym_str_t text, uint64_t *number);

/* Keys of the request whose values are always parsed by jansson. */
typedef enum {
    SENTRY_PART_SOURCES,
    SENTRY_PART_SCRAPING,
    SENTRY_PART_OPTIONS,
    SENTRY_PART_REWRITE, /* only for minidumps */
    SENTRY_PARTS
} sentry_part_t;

/* Names of these keys. */
extern const sym_str_t sentry_parts[SENTRY_PARTS];

/* Reads the value of one of these keys; text.data NULL: the key is absent.
 * Statuses as for sentry_read_general(). */
sym_status_t sentry_read_part(sentry_t *s, sentry_part_t part, sym_str_t text);

/*
 * Reads these parts of a form with a crash report; data NULL: the part is
 * absent.  The answer to a report always has source context, and the innermost
 * call is first.  If Symbolicator refuses a form, its status is 400.
 */
sym_status_t sentry_read_form(sentry_t *s, const sym_str_t parts[SENTRY_PARTS]);

/* SYM_LIMIT: the request has more than `limit` items; 0: no limit. */
sym_status_t sentry_check_limit(sentry_t *s, uint64_t n, uint32_t limit,
                                const char *what);

/* Call this after sentry_read_parts(): allows requests for texts of source
 * links, with the headers in `scraping`. */
sym_status_t sentry_allow_links(sentry_t *s);

#endif
