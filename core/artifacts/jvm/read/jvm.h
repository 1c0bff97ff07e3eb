/*
 * jvm.h - reads an artifact of kind `jvm`: classes, methods, members.
 *
 * The reader sees the artifact as numbered extents that its caller owns, and
 * trusts none of their bytes.  For any contents, each call returns a result or
 * a status in bounded time, and reads only inside the extents.  It allocates
 * nothing.  Views live as long as the extents stay mapped.  frames.h uses it
 * for lookups.
 */
#ifndef SYM_ARTIFACTS_JVM_READ_JVM_H
#define SYM_ARTIFACTS_JVM_READ_JVM_H

#include <stdbool.h>

#include "artifacts/extent_reader.h"
#include "artifacts/jvm/format.h"

/* Only the reader uses the members. */
typedef struct {
    sym_extent_reader_t in;
    uint32_t n_classes, n_methods, n_owners, n_originals;
    uint32_t classes_ref, methods_ref, owners_ref, originals_ref;
    uint64_t n_members, n_lines; /* n_lines: members with original lines */
} sym_jvm_t;

typedef struct {
    sym_str_t name; /* renamed */
    sym_str_t original;
    sym_str_t file; /* source file; data NULL: unknown */
    uint32_t first_method, n_methods;
} sym_jvm_class_t;

typedef struct {
    sym_str_t name; /* renamed */
    uint8_t flags;  /* SYM_JVM_HAS_LINES, ... */
    uint32_t n_members, n_pieces;
    sym_str_t members; /* ref of the only piece, or of the list of pieces */
} sym_jvm_method_t;

/* A line of the mapping: it maps code to an original method, or a part of
 * it. */
typedef struct {
    uint8_t form;
    bool has_range; /* first and last line in the renamed code */
    uint32_t start, end;
    uint32_t n_lines; /* number of original lines: 0; 1, the first; 2, first
                         and last */
    uint32_t first, last;
    uint32_t original; /* number of the original */
    uint32_t notes;    /* ref; 0: none */
} sym_jvm_member_t;

typedef struct {
    sym_str_t owner; /* class */
    sym_str_t file;  /* file of the class; data NULL: unknown */
    sym_str_t name, parameters;
    bool is_synthesized;
} sym_jvm_original_t;

/* An iterator over the members of a method.  Only the reader uses its
 * members. */
typedef struct {
    const sym_jvm_t *jvm;
    const uint8_t *list;
    const uint8_t *pos, *end; /* rest of the current piece */
    uint32_t n_pieces, next_piece, left, n_left;
    uint32_t start, range_end;
    bool has_range;
    uint32_t line; /* skips pieces that cannot contain this line; 0: skips
                      none */
} sym_jvm_cursor_t;

/* SYM_VERSION: the version is unknown.  SYM_DAMAGED: bytes are invalid; any
 * other call may also return this. */
sym_status_t sym_jvm_open(sym_jvm_t *j, sym_extent_get_pt get, void *ctx,
                          sym_error_t *err);

/* Gives the reader a table of n_extents zeroed entries to cache extents in, so
 * that it gets each only once.  The extents must not move. */
void sym_jvm_remember(sym_jvm_t *j, sym_extent_view_t *table);

/* Find a class or a method by name.  SYM_NOT_FOUND: no such name. */
sym_status_t sym_jvm_find_class(const sym_jvm_t *j, sym_str_t name,
                                sym_jvm_class_t *class);
sym_status_t sym_jvm_find_method(const sym_jvm_t *j,
                                 const sym_jvm_class_t *class, sym_str_t name,
                                 sym_jvm_method_t *method);

/* Get a class by number, i < n_classes, in the order of the table; or a method,
 * i < n_methods. */
sym_status_t sym_jvm_class(const sym_jvm_t *j, uint32_t i,
                           sym_jvm_class_t *class);
sym_status_t sym_jvm_method(const sym_jvm_t *j, const sym_jvm_class_t *class,
                            uint32_t i, sym_jvm_method_t *method);

/* Iterates over members in the order of the mapping.  line: members whose range
 * cannot contain it may be skipped; 0: skips none.  SYM_NOT_FOUND: there are no
 * more members. */
void sym_jvm_members(const sym_jvm_t *j, const sym_jvm_method_t *method,
                     uint32_t line, sym_jvm_cursor_t *cursor);
sym_status_t sym_jvm_next(sym_jvm_cursor_t *cursor, sym_jvm_member_t *member);

sym_status_t sym_jvm_original(const sym_jvm_t *j, uint32_t number,
                              sym_jvm_original_t *original);

/* Look up a member's notes.  SYM_NOT_FOUND: there is no such position or
 * rule. */
sym_status_t sym_jvm_position(const sym_jvm_t *j, uint32_t notes, uint32_t from,
                              uint32_t *line);
/* Gets the number of innermost frames that the rules remove if an exception of
 * this class was thrown. */
sym_status_t sym_jvm_removed(const sym_jvm_t *j, uint32_t notes,
                             sym_str_t thrown, uint64_t *n);

/* Reads the complete artifact, and checks order, bounds and counts. */
sym_status_t sym_jvm_check(const sym_jvm_t *j, sym_error_t *err);

#endif
