/*
 * trace.h - stack traces of Java and Android as text: renamed classes, methods and
 * lines become the original ones, and everything else stays as it is.
 *
 * Lines that are read: frames ("at a.b(SourceFile:1)", with a module or the prefix of
 * a log before it, or with a descriptor in the place of the file), exceptions
 * ("a.b: text", "Caused by: ", "Suppressed: ", 'Exception in thread "x" '), and
 * locks ("- locked <0x1> (a a.b)").
 */
#ifndef SYM_ARTIFACTS_JVM_EXPORT_TRACE_H
#define SYM_ARTIFACTS_JVM_EXPORT_TRACE_H

#include "artifacts/jvm/read/frames.h"
#include "json/out.h"

/* Longer names are not thrown. */
#define SYM_TRACE_CLASS_MAX 4096

/* What is kept from line to line; zeroed at first, but for `jvm`. */
typedef struct {
    const sym_jvm_t *jvm;
    sym_jvm_carried_t carried;
    bool has_thrown; /* by the line before */
    size_t thrown_len;
    char thrown[SYM_TRACE_CLASS_MAX];
} sym_trace_t;

/* Writes what a line (without its newline) becomes, each line with a newline.
 * SYM_DAMAGED, SYM_NOMEM: the artifact is, or memory is out, and the line was written
 * as it is. */
sym_status_t sym_trace_line(sym_trace_t *t, sym_str_t line, sym_out_t *out);

#endif
