/*
 * trace_line.h - a line of a stack trace of Java or Android: its parts, and the line
 * with other parts (trace.h says which lines there are).
 *
 * Views point into the line, which has no newline.
 */
#ifndef SYM_ARTIFACTS_JVM_EXPORT_TRACE_LINE_H
#define SYM_ARTIFACTS_JVM_EXPORT_TRACE_LINE_H

#include "artifacts/jvm/read/frames.h"
#include "json/out.h"

/* "BEFORE at PREFIX CLASS.METHOD(SOURCE)AFTER" */
typedef struct {
    sym_str_t before; /* text up to the class */
    sym_str_t class_name, method;
    sym_str_t source;    /* text in the parentheses */
    sym_str_t signature; /* "(I)V"; empty: the frame has a source */
    sym_str_t after;
} sym_trace_frame_t;

bool sym_trace_read_frame(sym_str_t line, sym_trace_frame_t *f);

/* The line of "SourceFile:12"; 0: none. */
uint32_t sym_trace_number(sym_str_t source);

/* The line of another frame, with a newline.  signature: data NULL if the line
 * has a source. */
void sym_trace_write_frame(const sym_trace_frame_t *f, sym_str_t signature,
                           const sym_jvm_frame_t *frame, sym_out_t *out);

/* The class of an exception, or of a lock; "": the line is no such line. */
sym_str_t sym_trace_exception(sym_str_t line);
sym_str_t sym_trace_lock(sym_str_t line);

#endif
