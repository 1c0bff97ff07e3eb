/*
 * frames.h - lookups in an artifact of kind `jvm`: from a renamed class, method
 * and line to the original frames.
 *
 * The results are those of Sentry's crate `proguard`; docs/formats/jvm.md
 * summarizes them.  Views live as long as the extents stay mapped.
 */
#ifndef SYM_ARTIFACTS_JVM_READ_FRAMES_H
#define SYM_ARTIFACTS_JVM_READ_FRAMES_H

#include "artifacts/jvm/read/jvm.h"
#include "base/arena.h"

typedef struct {
    sym_str_t class_name, method;
    uint32_t line;               /* 0: unknown */
    const sym_str_t *parameters; /* "int,java.lang.String"; NULL: by line */
    const sym_str_t *thrown;     /* class whose rules apply; NULL: none do */
} sym_jvm_question_t;

typedef struct {
    sym_str_t class_name, method;
    sym_str_t file, extension; /* to be concatenated */
    uint32_t line;
    bool has_line;
    bool is_synthesized; /* made by the compiler */
} sym_jvm_frame_t;

/* The position in an outline (code that several methods share), which
 * determines the position of the next frame, its caller. */
typedef struct {
    bool is_set;
    uint32_t line;
} sym_jvm_carried_t;

typedef enum {
    SYM_JVM_UNKNOWN, /* the class is not in the mapping */
    SYM_JVM_OUTLINE, /* no frame; *carried is set */
    SYM_JVM_FRAMES   /* possibly none: rules may remove all */
} sym_jvm_found_t;

/* Only frames.c looks inside. */
typedef struct {
    const sym_jvm_t *jvm;
    sym_jvm_question_t question;
    sym_jvm_class_t class;
    sym_jvm_method_t method;
    sym_jvm_cursor_t cursor;
    uint64_t *steps;
    uint64_t skip; /* frames that rules remove */
    enum { BY_LINE, BY_PARAMETERS, BASES, SORTED_BASES, ONE_FRAME, ENDED } mode;
    bool has_matched;
    bool has_wide_base, has_same_name; /* of members without a range */
    uint32_t n_bare;

    /* a frame with more lines to return */
    sym_jvm_frame_t span;
    uint32_t n_span;

    sym_str_t last_name; /* last of the sorted members, and its number */
    uint32_t last;
} sym_jvm_answer_t;

/*
 * steps: work left (base/steps.h); SYM_LIMIT: used up.  SYM_DAMAGED. carried:
 * for this artifact and stack; zeroed at first.
 */
sym_status_t sym_jvm_ask(const sym_jvm_t *j, const sym_jvm_question_t *q,
                         sym_jvm_carried_t *carried, uint64_t *steps,
                         sym_jvm_answer_t *answer, sym_jvm_found_t *found);

/* The next frame, innermost first.  SYM_NOT_FOUND: no more frames. */
sym_status_t sym_jvm_next_frame(sym_jvm_answer_t *answer,
                                sym_jvm_frame_t *frame);

typedef struct {
    sym_str_t parameters; /* as in a lookup */
    sym_str_t readable;   /* "(int, java.lang.String): a.B" */
} sym_jvm_signature_t;

/* "(ILjava/lang/String;)La;" with the original names of classes.
 * SYM_NOT_FOUND: not a signature; SYM_LIMIT: too long; SYM_NOMEM. */
sym_status_t sym_jvm_signature(const sym_jvm_t *j, sym_arena_t *arena,
                               sym_str_t signature, sym_jvm_signature_t *s);

#endif
