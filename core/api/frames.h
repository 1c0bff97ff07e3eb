/*
 * frames.h - parts of frames that the APIs for JavaScript and Java write in the
 * same way.
 */
#ifndef SYM_API_FRAMES_H
#define SYM_API_FRAMES_H

#include "json/out.h"
#include "symbolicate/context.h"

/* Writes a value as it was sent; data NULL: absent.  The key includes its
 * quotes and the punctuation around it. */
void sym_frame_json(sym_out_t *out, const char *key, sym_str_t json);

/* Writes a list of strings, unless it is empty. */
void sym_frame_strings(sym_out_t *out, const char *key, sym_str_t json);

/* Writes the keys pre_context, context_line and post_context. */
void sym_frame_lines(sym_out_t *out, const sym_context_t *lines);

#endif
