/*
 * output.h - standard output of commands.
 *
 * It is collected in memory, by the project's JSON writer and the text helpers
 * here, and written when the command says so: never while a snapshot of the
 * store is open, because `symloader ls | less` may wait for days, and the store
 * cannot reuse the snapshot's pages meanwhile.  Control characters from symbol
 * files never reach a terminal.
 *
 * Output too large for memory is written as it comes: such an output_t is for
 * commands that do not hold the store while they print.
 */
#ifndef SYMLOADER_CLI_OUTPUT_H
#define SYMLOADER_CLI_OUTPUT_H

#include <stdint.h>

#include "common/say.h"
#include "json/out.h"

typedef struct {
    sym_out_t json; /* for sym_out_*() */
    char *buffer;   /* from here to json.pos: not written yet */
    int fd;
    bool is_stream; /* written whenever the buffer is full */
    int sys_errno;  /* of the write that failed */
} output_t;

/* NULL: out of memory, reported on stderr. */
output_t *output_create(void);

/* Same, but written to fd whenever the buffer is full. */
output_t *output_create_stream(int fd);

/* Turns it into one of those: the store must not be held while it is filled. */
void output_stream(output_t *out);

/* Number of collected bytes; drops those from a length on. */
static inline size_t
output_length(const output_t *out)
{
    return (size_t) (out->json.pos - out->buffer);
}


static inline void
output_cut(output_t *out, size_t length)
{
    out->json.pos = out->buffer + length;
}


/* Writes the buffered text; false: the reader is gone, or writing failed. */
bool output_flush(output_t *out);

/* The last flush: returns code, or EXIT_OUTPUT (with a message) if output was
 * lost.  A reader that closed its pipe early (`| head`) has what it wanted. */
int output_end(output_t *out, int code);

#define output_printf(out, ...) sym_out_printf(&(out)->json, __VA_ARGS__)

/* Text of a symbol file: control characters become '?'. */
static inline void
output_text(output_t *out, sym_str_t text)
{
    sym_out_visible(&out->json, text);
}


/* JSON: see sym_out_key() and others. */
#define output_key(out, ...) sym_out_key(&(out)->json, __VA_ARGS__)
#define output_key_dec(out, ...) sym_out_key_dec(&(out)->json, __VA_ARGS__)
#define output_key_string(out, ...)                                            \
    sym_out_key_string(&(out)->json, __VA_ARGS__)

#endif
