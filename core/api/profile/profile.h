/*
 * profile.h - a profile whose locations get functions, files and lines.  Private
 * to this API.
 *
 * The profile is one of pprof (profile.proto of github.com/google/pprof, commit
 * d04f2422c8a1) or of OTLP (profiles/v1development/profiles.proto of
 * github.com/open-telemetry/opentelemetry-proto, commit ac2c4b5d1f3a), of which the
 * numbers of fields are.  Both are tables, which are lists of fields in any order,
 * and parts of a list may be anywhere.  So the answer is the strings (OTLP: and the
 * functions) of the request, then its other fields one by one, with lines at the end
 * of locations, and with new functions and strings before the first location that has
 * them: it needs no tree, and no copy.
 *
 * The tables of OTLP are in a message of their own, the dictionary.  Its length would
 * be known only at the end of the answer.  So each of its fields is in a dictionary of
 * its own: readers merge them ("Last One Wins" in protobuf's page "Encoding").
 *
 * JSON has each table once, and a table cannot be continued.  So the answer in JSON has
 * the functions and strings at the end of the dictionary: until then new ones are only
 * numbered.
 */
#ifndef SYM_API_PROFILE_PROFILE_H
#define SYM_API_PROFILE_PROFILE_H

#include "api/fields.h"
#include "api/request.h"
#include "base/hash.h"
#include "base/protobuf.h"
#include "base/sort.h"
#include "json/tokens.h"

/* Most bytes of a mapping, of a function, or of a location: each is read in one
 * turn. */
#define PROFILE_MESSAGE_MAX 65536

#define PROFILE_MAPPINGS_MAX 16384

#define PROFILE_NO_NEED UINT32_MAX

/* Bytes of a message that take as long to read as a frame. */
#define PROFILE_BYTES_PER_FRAME 64

/* Content type of an answer in JSON. */
#define PROFILE_JSON_TYPE "application/json"

/* Versions whose tables or attributes have another form. */
#define OTLP_OLD "profiles of OTLP before 1.8 are not supported"

/* --- form.c: what differs between pprof and OTLP --- */

/* Kinds of fields.  The other tables are only copied. */
typedef enum {
    PROFILE_REST,
    PROFILE_DICTIONARY, /* the beginning of one; its fields follow */
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_ATTRIBUTE,
    PROFILE_HIDDEN, /* JSON: of a table that is written at the end */
    PROFILE_END     /* JSON: of the dictionary */
} profile_kind_t;

/* Tables have field numbers up to 7. */
#define PROFILE_TABLES 8

/* Fields of messages; 0: the form does not have it. */
typedef struct {
    const char *name;
    uint8_t dictionary;            /* the message with the tables */
    uint8_t table[PROFILE_TABLES]; /* profile_kind_t by field number */
    uint8_t string, function, location, mapping; /* numbers of these tables */
    uint8_t mapping_id, mapping_start, mapping_limit, mapping_offset,
        mapping_file, mapping_build, mapping_attributes;
    uint8_t location_mapping, location_address, location_line;
    uint8_t function_id, function_name, function_system_name, function_file;
} profile_form_t;

extern const profile_form_t profile_pprof, profile_otlp;

typedef struct {
    uint32_t from, to;
} profile_range_t;

/* Where a reader of JSON is. */
typedef struct {
    sym_json_tokens_t tokens;
    bool is_dictionary; /* the next value is the dictionary */
    bool is_inside;     /* of the dictionary */
    uint8_t table;      /* around the next token; 0: none */
    bool is_in_table;   /* its list has begun */
    bool is_in_string;
    uint8_t
        seen; /* bits: 0: a dictionary; others: the table with this number */
    profile_range_t functions, strings; /* their entries */
} profile_json_t;

/* Where a reader is. */
typedef struct {
    size_t at;  /* in the body: the next field */
    size_t end; /* of the dictionary that contains it; 0: of none */
    profile_json_t json;
} profile_place_t;

typedef struct {
    profile_kind_t kind;
    bool is_inside;    /* of a dictionary */
    sym_pb_field_t pb; /* JSON: only the bytes of an entry, if it is read */
    size_t at, end;    /* range in the body */
    uint32_t entry, entry_end; /* JSON: same of the entry in it */
} profile_field_t;

typedef struct profile_s profile_t;

/*
 * Decides by the next fields which form the body has, and sets it.  SYM_OK;
 * SYM_AGAIN: the budget is spent; SYM_MALFORMED: the request is refused.
 */
sym_status_t profile_find_form(profile_t *p, uint32_t *budget);

/* Reads the next field, and moves *place after it.  False: the end, or *err. */
bool profile_next(const profile_t *p, profile_place_t *place,
                  profile_field_t *field, sym_error_t *err);

/* --- parse.c --- */

typedef struct {
    uint64_t id; /* OTLP: its number */
    uint64_t start, limit, offset;
    uint64_t file;  /* number of a string */
    uint64_t build; /* its ids: a string, or attributes (modules.c) */
    uint32_t at;    /* of its entry in the body */
    uint32_t need;
} profile_mapping_t;

typedef struct {
    uint64_t mapping, address;
    uint64_t max_function; /* of its lines; only with `all` */
    bool has_lines;        /* it stays as it is */
} profile_location_t;

/* The largest reference into a table, and the item that has it. */
typedef struct {
    uint64_t number;
    uint32_t by;
} profile_max_t;

typedef struct {
    uint32_t at;
    uint32_t what; /* modules.c; 0: not read yet */
} profile_attribute_t;

/* A module: it may be known by a second id. */
typedef struct {
    sym_object_ref_t *other; /* NULL: it has only one id */
    uint32_t other_need;     /* PROFILE_NO_NEED: not asked for */
    uint32_t found;          /* its need in this snapshot, or PROFILE_NO_NEED */
} profile_module_t;

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

/* A text of a module, and a function of its texts, that the ends of JSON's tables will
 * have. */
typedef struct {
    uint32_t need, ref, what;
    uint8_t lang;
} profile_text_t;

typedef struct {
    uint32_t name, system_name, file; /* numbers of strings */
} profile_function_t;

/* The position in the end of JSON's dictionary. */
typedef struct {
    uint8_t table; /* the next one */
    uint8_t part;  /* of it */
    uint32_t n;    /* new entries of it that were written */
    char last;     /* of the dictionary so far */
} profile_end_t;

/* A location of a chunk. */
typedef struct {
    size_t at;         /* its field in the body */
    uint32_t question; /* in the chunk; PROFILE_NO_NEED: it stays as it is */
} profile_next_t;

struct profile_s {
    sym_request_t base; /* first */

    const profile_form_t *form; /* NULL: not known yet */
    bool is_json;               /* its form is OTLP's */
    uint8_t *scratch;           /* JSON: for an entry as protobuf */
    size_t scratch_size;
    profile_place_t place; /* of the next field, also in the answer */
    bool has_dictionary;
    bool is_read;          /* all fields; then mappings are identified */
    sym_list_t mappings;   /* profile_mapping_t */
    sym_list_t strings;    /* uint32_t: where each one's field is */
    sym_list_t functions;  /* same, in OTLP */
    sym_list_t attributes; /* profile_attribute_t */
    uint32_t n_locations;
    uint32_t n_identified; /* mappings whose attributes were read */
    uint64_t max_function; /* pprof: id */
    profile_max_t string, mapping, function; /* OTLP: by functions, locations,
                                                locations */
    sym_sort_item_t *ids;                    /* ids of mappings, sorted */
    profile_module_t *modules;

    /* state of an answer */
    uint64_t n_strings;   /* that were written, with new ones */
    uint64_t n_functions; /* OTLP: same; pprof: new ones */
    uint32_t n_mappings;  /* that were written */
    size_t n_copied;      /* bytes of the next field that were written */
    profile_numbers_t numbers;
    sym_list_t new_strings;   /* JSON: profile_text_t */
    sym_list_t new_functions; /* JSON: profile_function_t */
    profile_end_t ending;
    profile_next_t *chunk;
    sym_question_t *questions; /* questions of the chunk */
    uint32_t n_chunk, next;
    uint64_t *levels;  /* functions of the levels of the next location */
    uint32_t n_levels; /* number of levels already written */
};

sym_status_t profile_parse(sym_request_t *r, uint32_t budget);

/* Reads a location: without `all`, only until its first line.  Returns what is
 * wrong, or NULL. */
const char *profile_read_location(const profile_form_t *form, sym_str_t bytes,
                                  bool all, profile_location_t *location);

/* A field that was read before, at its place in the body.  It is valid until the next
 * one.  Data NULL: malformed. */
sym_str_t profile_bytes(const profile_t *p, profile_kind_t kind, uint32_t at);

/* Returns the string with a number; "": no string has it, or it is longer than
 * `most`. */
sym_str_t profile_string(const profile_t *p, uint64_t number, size_t most);

/* --- modules.c --- */

/* Reads the ids of mappings, and makes modules of them.  SYM_AGAIN: the budget
 * is spent. */
sym_status_t profile_identify(profile_t *p, uint32_t *budget);

/* Asks for the second ids of modules that were not found by the first. */
sym_status_t profile_ask_others(profile_t *p);

/* Sets which need of each module was found. */
void profile_choose(profile_t *p);

/* NULL: no entry has the id. */
const profile_mapping_t *profile_mapping(const profile_t *p, uint64_t id);

/* The need by which the mapping's module was found, or PROFILE_NO_NEED. */
uint32_t profile_found(const profile_t *p, const profile_mapping_t *m);

/* Whether it was found by a FileID. */
bool profile_is_file_id(const profile_t *p, uint32_t need);

/* --- json.c --- */

/* False: out of memory. */
bool profile_json_init(profile_t *p);

bool profile_json_next(const profile_t *p, profile_place_t *place,
                       profile_field_t *field, sym_error_t *err);
sym_str_t profile_json_bytes(const profile_t *p, profile_kind_t kind,
                             uint32_t at);
sym_str_t profile_json_string(const profile_t *p, uint32_t at, size_t most);

/* --- json_answer.c --- */

void profile_json_begin(profile_t *p);

/* Adds a text, and sets its number; adds the next function.  False: out of memory. */
bool profile_json_text(profile_t *p, const profile_text_t *text,
                       uint64_t *number);
bool profile_json_function(profile_t *p, uint64_t name, uint64_t system_name,
                           uint64_t file);

/* Writes a location with the functions p->levels. */
void profile_json_location(const profile_t *p, const profile_field_t *f,
                           const sym_answer_t *answer, sym_out_t *out);

/* Notes that a field was written. */
void profile_json_written(profile_t *p, const profile_field_t *f);

/* Writes the tables of functions and strings.  SYM_AGAIN: enough for now. */
sym_status_t profile_json_end(profile_t *p, sym_out_t *out, uint32_t *budget);

/* Whether all texts that are not written yet are still there. */
bool profile_json_resume(const profile_t *p);

/* --- answer.c: the steps of an answer --- */

/* Copies a range of the body that begins after p->n_copied bytes. */
sym_status_t profile_copy(profile_t *p, sym_str_t range, sym_out_t *out,
                          uint32_t *budget);

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
