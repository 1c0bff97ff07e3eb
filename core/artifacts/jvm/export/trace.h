/*
 * trace.h - restores the original classes, methods and lines in stack traces of
 * Java and Android, and leaves all other text unchanged.
 *
 * Recognizes frames ("at a.b(SourceFile:1)", with a module or the prefix of a
 * log before it, or with a descriptor in place of the file), exceptions ("a.b:
 * text", "Caused by: ", "Suppressed: ", 'Exception in thread "x" '), and locks
 * ("- locked <0x1> (a a.b)").
 */
#ifndef SYM_ARTIFACTS_JVM_EXPORT_TRACE_H
#define SYM_ARTIFACTS_JVM_EXPORT_TRACE_H

#include "artifacts/jvm/read/frames.h"
#include "json/out.h"

/* Longer names of thrown classes are forgotten. */
#define SYM_TRACE_CLASS_MAX 4096

/* State between lines.  Zeroed at first, except `jvm`. */
typedef struct {
    const sym_jvm_t *jvm;
    sym_jvm_carried_t carried;
    bool has_thrown; /* set by the previous line */
    size_t thrown_len;
    char thrown[SYM_TRACE_CLASS_MAX];
} sym_trace_t;

/* Writes the lines that result from one line (without its newline), each with a
 * newline.  SYM_DAMAGED (the artifact), SYM_NOMEM: the line was written
 * unchanged. */
sym_status_t sym_trace_line(sym_trace_t *t, sym_str_t line, sym_out_t *out);

#endif
