/*
 * profile.h - a profile whose locations get functions, files and lines.  Private
 * to this API.
 *
 * The profile is one of pprof (profile.proto of github.com/google/pprof, commit
 * d04f2422c8a1, of which the numbers of fields are).  It is a list of fields in any
 * order, and parts of a list may be anywhere.  So the answer is the strings of the
 * request, then its other fields one by one, with lines at the end of locations, and
 * with new functions and strings before the first location that has them: it needs
 * no tree, and no copy.
 */
#ifndef SYM_API_PROFILE_PROFILE_H
#define SYM_API_PROFILE_PROFILE_H

#include "api/fields.h"
#include "api/request.h"
#include "base/hash.h"
#include "base/protobuf.h"
#include "base/sort.h"

/* Fields of a profile. */
enum {
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6
};

/* Most bytes of a mapping, or of a location without lines: both are read in one
 * turn. */
#define PROFILE_MESSAGE_MAX 65536

#define PROFILE_MAPPINGS_MAX 16384

#define PROFILE_NO_NEED UINT32_MAX

typedef struct {
    uint64_t id, start, limit, offset;
    uint64_t file, build; /* numbers of strings */
    uint32_t need;
} profile_mapping_t;

typedef struct {
    uint64_t mapping, address;
    bool has_lines; /* it stays as it is */
} profile_location_t;

/* The number of a text or function of a module in the answer. */
typedef struct {
    uint32_t need, name, file; /* references into its symcache */
    uint32_t is_used;
    uint64_t number;
} profile_slot_t;

typedef struct {
    profile_slot_t *slots; /* NULL: none yet */
    size_t size, n;        /* size: a power of two */
    sym_hash_key_t key;
} profile_numbers_t;

/* A location of a chunk. */
typedef struct {
    size_t at, end;    /* range of its field in the body */
    uint32_t question; /* in the chunk; PROFILE_NO_NEED: it stays as it is */
} profile_next_t;

typedef struct {
    sym_request_t base; /* first */

    size_t at;            /* in the body: the next field, also of the answer */
    sym_list_t mappings;  /* profile_mapping_t */
    sym_list_t strings;   /* uint32_t: where each one's field is */
    sym_sort_item_t *ids; /* ids of mappings, sorted */
    uint64_t max_function;

    /* state of an answer */
    uint64_t n_strings;   /* that were written, with new ones */
    uint64_t n_functions; /* new ones */
    uint32_t n_mappings;  /* that were written */
    profile_numbers_t numbers;
    profile_next_t *chunk;
    sym_question_t *questions; /* questions of the chunk */
    uint32_t n_chunk, next;
    uint64_t *functions; /* functions of the levels of the next location */
    uint32_t n_levels;   /* number of levels already written */
} profile_t;

sym_status_t profile_parse(sym_request_t *r, uint32_t budget);

/* The cursor over the body, from `at` on. */
sym_cursor_t profile_cursor(const profile_t *p, sym_error_t *err);

/* Reads a field without its contents, but for lines of a location. */
bool profile_read_location(sym_str_t bytes, profile_location_t *location);

/* Returns the string with a number; "": no string has it. */
sym_str_t profile_string(const profile_t *p, uint64_t number);

/* NULL: no entry has the id. */
const profile_mapping_t *profile_mapping(const profile_t *p, uint64_t id);

/* The steps of an answer. */
sym_status_t profile_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget);
bool profile_resume(sym_request_t *r);

/* --- numbers.c --- */

/* For a text instead of a function. */
#define PROFILE_FILE UINT32_MAX
#define PROFILE_SHOWN (UINT32_MAX - 1)
#define PROFILE_RAW (UINT32_MAX - 2)

/* The slot of a text or function, new if its number is 0.  NULL: out of memory. */
profile_slot_t *profile_slot(sym_arena_t *arena, profile_numbers_t *numbers,
                             uint32_t need, uint32_t name, uint32_t file);

#endif
