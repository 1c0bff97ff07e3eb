/*
 * jvm_writer.h - builds an artifact of kind `jvm`, line by line of a mapping.
 *
 * All texts are borrowed until the end.  Every call returns SYM_OK or the
 * status that it also put in *err; after a failure only sym_jvm_writer_free()
 * may be called.
 */
#ifndef SYM_ARTIFACTS_JVM_WRITE_JVM_WRITER_H
#define SYM_ARTIFACTS_JVM_WRITE_JVM_WRITER_H

#include <stdbool.h>

#include "artifacts/jvm/format.h"
#include "artifacts/symcache/write/writer.h"

typedef struct sym_jvm_writer_s sym_jvm_writer_t;

typedef struct {
    sym_str_t name; /* renamed */
    sym_str_t original, parameters;
    sym_str_t owner; /* class of the original; data NULL: the current class */
    bool has_range;  /* lines in the renamed code */
    uint32_t start, end;
    uint32_t n_lines; /* number of original lines: none, the first, or both */
    uint32_t first, last;
} sym_jvm_given_t;

/* NULL: out of memory. */
sym_jvm_writer_t *sym_jvm_writer_create(sym_extent_put_pt put, void *ctx,
                                        sym_error_t *err);
void sym_jvm_writer_free(sym_jvm_writer_t *w);

/* Begins a class.  A class that exists already gets the new original name and
   keeps its methods. */
sym_status_t sym_jvm_begin_class(sym_jvm_writer_t *w, sym_str_t name,
                                 sym_str_t original);
sym_status_t sym_jvm_set_file(sym_jvm_writer_t *w, sym_str_t file);
void sym_jvm_set_class_synthesized(sym_jvm_writer_t *w);

/* Adds a member to the class.  The following calls apply to this member. */
sym_status_t sym_jvm_add_member(sym_jvm_writer_t *w,
                                const sym_jvm_given_t *member);
void sym_jvm_set_synthesized(sym_jvm_writer_t *w);
void sym_jvm_set_outline(sym_jvm_writer_t *w);

/* Makes the member findable by its parameters, unless the class already has
   such a member. */
sym_status_t sym_jvm_find_by_parameters(sym_jvm_writer_t *w);

/* Replaces the positions of the member. */
typedef struct {
    uint32_t from, to;
} sym_jvm_pair_t;

sym_status_t sym_jvm_set_positions(sym_jvm_writer_t *w,
                                   const sym_jvm_pair_t *pairs, size_t n);
sym_status_t sym_jvm_add_rule(sym_jvm_writer_t *w, sym_str_t thrown,
                              uint32_t removed);

/* Sets bytes, extents and quality of *stats. */
sym_status_t sym_jvm_finish(sym_jvm_writer_t *w, sym_writer_stats_t *stats);

#endif
