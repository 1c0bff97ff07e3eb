/*
 * fields.h - reads the JSON body of a request in one pass, without a tree.
 * Lists are read one element at a time, and objects by a table of their fields.
 *
 * Refusals and their status follow Symbolicator: 400 for invalid JSON, 422 for
 * JSON with an unexpected structure.
 */
#ifndef SYM_API_FIELDS_H
#define SYM_API_FIELDS_H

#include "api/request.h"
#include "json/load.h"

/* Room for a position in the request:
 * "stacktraces[4294967295].frames[4294967295]". */
#define SYM_FIELDS_PLACE_MAX 64

typedef struct {
    sym_request_t *request;
    const char *p, *end;
} sym_fields_t;

typedef enum {
    SYM_FIELD_TEXT, /* decoded, and also as JSON if there is a field for that */
    SYM_FIELD_LIST, /* of strings, as JSON */
    SYM_FIELD_BOOL,
    SYM_FIELD_NUMBER, /* of 64 bits, or of 32 */
    SYM_FIELD_VALUE   /* any value, as JSON */
} sym_field_type_t;

typedef enum {
    SYM_FIELD_ABSENT,
    SYM_FIELD_FALSE,
    SYM_FIELD_TRUE
} sym_field_bool_t;

typedef struct {
    bool is_set;
    uint64_t value;
} sym_field_number_t;

/* Absent texts have data NULL. */
typedef struct {
    sym_str_t name;
    sym_field_type_t type;
    bool is_required;
    bool takes_null;   /* null counts as absent */
    size_t text, json; /* offsets of fields of type sym_str_t; SYM_FIELD_NONE:
                          not kept */
    size_t value;      /* offset of a field of type sym_field_number_t or
                          uint8_t */
    uint64_t most;
} sym_field_t;

#define SYM_FIELD_NONE SIZE_MAX

#define SYM_FIELD_REQUIRED_TEXT(key, type_, member)                            \
    {                                                                          \
        .name = { key, sizeof(key) - 1 }, .type = SYM_FIELD_TEXT,              \
        .is_required = true, .text = offsetof(type_, member),                  \
        .json = SYM_FIELD_NONE                                                 \
    }

#define SYM_FIELD_OPTIONAL_JSON(key, type_, member)                            \
    {                                                                          \
        .name = { key, sizeof(key) - 1 }, .type = SYM_FIELD_TEXT,              \
        .takes_null = true, .text = SYM_FIELD_NONE,                            \
        .json = offsetof(type_, member)                                        \
    }

/* Reads the field into `member`, and as JSON into `member_json`. */
#define SYM_FIELD_OPTIONAL_TEXT(key, type_, member)                            \
    {                                                                          \
        .name = { key, sizeof(key) - 1 }, .type = SYM_FIELD_TEXT,              \
        .takes_null = true, .text = offsetof(type_, member),                   \
        .json = offsetof(type_, member##_json)                                 \
    }

#define SYM_FIELD_STRINGS(key, type_, member)                                  \
    {                                                                          \
        .name = { key, sizeof(key) - 1 }, .type = SYM_FIELD_LIST,              \
        .json = offsetof(type_, member)                                        \
    }

/* Return values: SYM_OK; SYM_MALFORMED or SYM_LIMIT: the request is refused;
 * SYM_NOMEM. */

/* Makes room for another item in a growing list in the arena.  Returns the
 * zeroed item; NULL: out of memory. */
typedef struct {
    void *items;
    uint32_t n, max;
} sym_list_t;

void *sym_list_add(sym_arena_t *arena, sym_list_t *list, size_t size);

/* A list whose items are never moved. */
#define SYM_BLOCK_ITEMS 1024u

typedef struct {
    sym_list_t blocks;
    uint32_t n; /* items */
} sym_blocks_t;

/* size: of an item; most: maximum number of items. */
void *sym_blocks_add(sym_arena_t *arena, sym_blocks_t *list, size_t size,
                     size_t most);

static inline void *
sym_blocks_at(const sym_blocks_t *list, size_t size, uint32_t n)
{
    return ((char **) list->blocks.items)[n / SYM_BLOCK_ITEMS]
           + n % SYM_BLOCK_ITEMS * size;
}


/* Moves to the next element of the list or object, or to the end; *has: there
 * is one. */
sym_status_t sym_fields_next(sym_fields_t *f, char close, bool *is_begun,
                             bool *has);

/* Reads a key and its colon. */
sym_status_t sym_fields_key(sym_fields_t *f, sym_str_t *key);

/* Reads the next key of an object, and gets its number among the n known keys;
 * n: unknown.  *seen has a bit for each key, and must be 0 at the beginning of
 * the object.  Repeated known keys are refused. */
sym_status_t sym_fields_known_key(sym_fields_t *f, const char *const *keys,
                                  unsigned n, unsigned *seen, unsigned *key,
                                  bool *has);

sym_status_t sym_fields_skip(sym_fields_t *f);

/* Begin and end the object that is the complete body. */
sym_status_t sym_fields_begin(sym_fields_t *f, sym_request_t *request);
sym_status_t sym_fields_finish(sym_fields_t *f);

/* Enters a list. */
sym_status_t sym_fields_enter(sym_fields_t *f, const char *place);

/* A value. */
sym_status_t sym_fields_value(sym_fields_t *f, const sym_field_t *field,
                              void *object, const char *place);

/* Reads a text, or null; data NULL: null. */
sym_status_t sym_fields_text(sym_fields_t *f, const char *key, sym_str_t *text);

/* Options of Symbolicator's requests for JavaScript and Java. */
typedef struct {
    bool has_context;     /* from apply_source_context */
    bool is_callee_first; /* frame_order */
    bool explains; /* an extension of Symbolicator's API: the answer lists where
                    * files were looked for */
} sym_fields_options_t;

sym_status_t sym_fields_options(sym_fields_t *f, sym_fields_options_t *options);

/* Reads an object with these keys; others are skipped. */
sym_status_t sym_fields_object(sym_fields_t *f, const sym_field_t *fields,
                               size_t n, void *object, const char *place);

/* Reads a value as a tree, which the caller frees. */
sym_status_t sym_fields_tree(sym_fields_t *f, const char *place,
                             sym_json_t *json);

/* Takes over the message of another reader. */
sym_status_t sym_fields_refuse_as(sym_fields_t *f, sym_str_t message);

sym_status_t sym_fields_refuse(sym_fields_t *f, const char *place,
                               const char *what);
sym_status_t sym_fields_refuse_type(sym_fields_t *f, const char *place,
                                    sym_str_t key, const char *p,
                                    const char *expected);
sym_status_t sym_fields_refuse_twice(sym_fields_t *f, const char *place,
                                     sym_str_t key);
sym_status_t sym_fields_refuse_absent(sym_fields_t *f, const char *place,
                                      const char *key);
sym_status_t sym_fields_refuse_limit(sym_fields_t *f, const char *what,
                                     uint32_t limit);

/* The reader cannot continue: the body is not JSON, has another structure, or
 * exceeds the reader's limits. */
sym_status_t sym_fields_refuse_json(sym_fields_t *f);

#endif
