/*
 * jvm.h - a request of Sentry's API for events of Java (POST /symbolicate-jvm):
 * the declarations that its files share.
 *
 *     read.c     reads requests; refuses invalid ones
 *     needs.c    adds needs for the modules of the request
 *     answer.c   writes the complete answer, in slices
 *     frame.c    maps frames to original ones, and writes them
 *     context.c  finds the source lines around a frame
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

/* Creates a request for the API `sentry`, which sets `scope`. */
extern const sym_request_ops_t jvm_ops;

/* --- the request: private to this API --- */

/* Optional texts have data NULL if absent.  `json`: as sent, with quotes or
 * brackets. */
typedef struct {
    sym_str_t module, function;
    sym_str_t abs_path, signature;
    sym_str_t filename_json, abs_path_json, signature_json;
    sym_str_t platform_json, context_line_json;
    sym_str_t pre_context_json, post_context_json;
    sym_field_number_t index, lineno;
    uint8_t in_app; /* of the type sym_field_bool_t */
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
    char uuid[SYM_ID_TEXT_MAX]; /* as shown in answers */
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
    uint32_t frame; /* index of the request's frame, from the first one of the
                       stack */
    bool is_mapped;
    bool is_class_only; /* the mapping has the class, but not the method */
} jvm_result_t;

typedef struct {
    sym_jvm_t jvm;
    uint32_t need;
    sym_jvm_carried_t carried; /* state that is carried through the stack */
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
    uint64_t steps; /* steps left for lookups */
    uint32_t next;  /* next exception, stack, class or module to write */
    bool is_first;  /* nothing of the current list is written yet */
    bool can_rewrite;
    sym_str_t thrown;
    uint32_t frame; /* next frame of the stack */
    sym_list_t results;
    uint32_t result;        /* next result to write */
    sym_sort_item_t *order; /* classes ordered by hash */
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

/* Call this in a new snapshot.  False: the answer cannot continue. */
bool jvm_resume(sym_request_t *r);

/* --- frame.c --- */

/* Adds the answers for a frame of the request to the results.  SYM_NOMEM. */
sym_status_t jvm_map_frame(jvm_t *j, uint32_t frame, uint32_t number,
                           uint32_t *budget);

/* Returns the class from the first mapping that contains it; data NULL:
 * none. */
sym_str_t jvm_map_class(const jvm_t *j, sym_str_t name, uint32_t *budget);

void jvm_write_frame(jvm_t *j, const jvm_result_t *result, sym_out_t *out,
                     uint32_t *budget);

/* --- context.c --- */

/* Opens the bundles.  SYM_NOMEM. */
sym_status_t jvm_open_context(jvm_t *j);

/* Writes `, "pre_context": ...` of a frame.  False: no source has the line, and
 * nothing was written. */
bool jvm_write_context(jvm_t *j, sym_str_t module, sym_str_t abs_path,
                       uint64_t line, sym_out_t *out, uint32_t *budget);

#endif
