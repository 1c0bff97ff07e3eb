/*
 * frames.h - parts of frames that the APIs for JavaScript and Java write alike.
 */
#ifndef SYM_API_FRAMES_H
#define SYM_API_FRAMES_H

#include "json/out.h"
#include "symbolicate/context.h"

/* A value as it was sent; data NULL: absent.  The key comes with its quotes and
 * what is around it. */
void sym_frame_json(sym_out_t *out, const char *key, sym_str_t json);

/* A list of strings, unless it is empty. */
void sym_frame_strings(sym_out_t *out, const char *key, sym_str_t json);

/* The keys pre_context, context_line and post_context. */
void sym_frame_lines(sym_out_t *out, const sym_context_t *lines);

#endif
