/*
 * jvm.h - a request of Sentry's API for events of Java (POST /symbolicate-jvm), as
 * its parts share it.
 *
 *     read.c     requests to the structures below; what is refused, and why
 *     needs.c    modules of the request to needs
 *     answer.c   the answer as a whole, in slices
 *     frame.c    renamed frames to original ones; writing them
 *     context.c  lines of source around a frame
 *
 * It is a route of the API `sentry`, which has the errors and the query of all
 * routes.
 */
#ifndef SYM_API_JVM_JVM_H
#define SYM_API_JVM_JVM_H

#include "api/fields.h"
#include "artifacts/jvm/read/frames.h"
#include "base/sort.h"
#include "object/object_ref.h"

/* For the API `sentry`, which sets `scope`. */
extern const sym_request_ops_t jvm_ops;

/* --- the request: private to this API --- */

/* Optional texts have data NULL if they are absent.  `json`: as sent, with
 * quotes or brackets. */
typedef struct {
    sym_str_t module, function;
    sym_str_t abs_path, signature;
    sym_str_t filename_json, abs_path_json, signature_json;
    sym_str_t platform_json, context_line_json;
    sym_str_t pre_context_json, post_context_json;
    sym_field_number_t index, lineno;
    uint8_t in_app; /* sym_field_bool_t */
    uint8_t is_synthesized;
} jvm_frame_t;

typedef struct {
    sym_str_t type, module; /* type.data NULL: no exception */
} jvm_exception_t;

typedef struct {
    jvm_exception_t exception;
    uint32_t first, n; /* frames */
} jvm_stack_t;

typedef struct {
    sym_object_ref_t ref;
    char uuid[SYM_ID_TEXT_MAX]; /* as answers show it */
    size_t uuid_len;
    bool is_source; /* a bundle of sources, not a mapping */
    uint32_t need;
} jvm_module_t;

typedef struct {
    sym_blocks_t frames;
    sym_list_t stacks, exceptions, modules, classes;
    sym_str_t release_package; /* data NULL: absent */
    sym_fields_options_t options;
} jvm_request_t;

/* A frame of the answer. */
typedef struct {
    sym_jvm_frame_t mapped;
    uint32_t frame; /* of the request, from the stack's first */
    bool is_mapped;
    bool is_class_only; /* as the mapping does not know the method */
} jvm_result_t;

typedef struct {
    sym_jvm_t jvm;
    uint32_t need;
    sym_jvm_carried_t carried; /* of the stack */
} jvm_mapping_t;

typedef struct {
    sym_request_t base; /* first */

    jvm_request_t request;
    sym_str_t scope;

    struct jvm_reader_s *reader;

    /* the answer */
    jvm_mapping_t *mappings;
    uint32_t n_mappings;
    struct jvm_context_s *context;
    uint64_t steps; /* of lookups that are left */
    uint32_t next;  /* exception, stack, class or module to be written */
    bool is_first;  /* nothing is written of the list */
    bool can_rewrite;
    sym_str_t thrown;
    uint32_t frame; /* next of the stack */
    sym_list_t results;
    uint32_t result;        /* next to be written */
    sym_sort_item_t *order; /* of classes, by hash */
} jvm_t;

static inline jvm_frame_t *
jvm_frame(const jvm_request_t *q, uint32_t n)
{
    return sym_blocks_at(&q->frames, sizeof(jvm_frame_t), n);
}


/* --- read.c --- */

/* SYM_OK; SYM_AGAIN: the budget is spent; SYM_MALFORMED, SYM_LIMIT: refused;
 * SYM_NOMEM. */
sym_status_t jvm_read(jvm_t *j, uint32_t budget);

/* --- needs.c --- */

sym_status_t jvm_find_needs(jvm_t *j);

/* --- answer.c --- */

sym_status_t jvm_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget);

/* After another snapshot: false, if the answer cannot go on. */
bool jvm_resume(sym_request_t *r);

/* --- frame.c --- */

/* Adds the answers of a frame of the request to the results.  SYM_NOMEM. */
sym_status_t jvm_map_frame(jvm_t *j, uint32_t frame, uint32_t number,
                           uint32_t *budget);

/* The class in the first mapping that contains it; data NULL: none. */
sym_str_t jvm_map_class(const jvm_t *j, sym_str_t name, uint32_t *budget);

void jvm_write_frame(jvm_t *j, const jvm_result_t *result, sym_out_t *out,
                     uint32_t *budget);

/* --- context.c --- */

/* Opens the bundles.  SYM_NOMEM. */
sym_status_t jvm_open_context(jvm_t *j);

/* Writes `, "pre_context": ...` of a frame; false: no source has the line, and
 * nothing is written. */
bool jvm_write_context(jvm_t *j, sym_str_t module, sym_str_t abs_path,
                       uint64_t line, sym_out_t *out, uint32_t *budget);

#endif
