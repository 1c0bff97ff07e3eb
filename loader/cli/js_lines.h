/*
 * js_lines.h - the lines of a JavaScript stack, for code that answers its
 * frames.
 */
#ifndef SYMLOADER_CLI_JS_LINES_H
#define SYMLOADER_CLI_JS_LINES_H

#include "base/arena.h"
#include "common/options.h"

/* A frame of Chrome and Node is "at NAME (URL:LINE:COLUMN)" or "at URL:..", one
 * of Firefox and Safari "NAME@URL:LINE:COLUMN". */
typedef struct {
    sym_str_t before; /* start of the line, up to the name */
    sym_str_t name;   /* data NULL: none */
    sym_str_t url;
    uint32_t line, column; /* from 1 */
    sym_str_t after;       /* text after the position, without ")" */
    bool is_at;
} js_line_frame_t;

typedef struct {
    sym_str_t line; /* with its newline, if it has one */
    js_line_frame_t frame;
    bool is_frame;

    /* the answer */
    bool is_mapped;
    sym_str_t function, source; /* source "": as in the frame */
    uint64_t source_line, source_column;
} js_line_t;

typedef struct {
    js_line_t *all;
    size_t n;
    sym_str_t rest; /* text after the lines that were read */
    sym_str_t explanation;
    sym_arena_t arena; /* memory for the answers */
} js_lines_t;

/* Sends the frames to a server.  Prints an error to stderr, and returns the
 * exit code. */
int js_server_ask(const options_t *options, js_lines_t *lines);

#endif
