/*
 * output.h - standard output of commands.
 *
 * The project's JSON writer and the text helpers here collect it in memory.
 * The command decides when it is written: never while a snapshot of the store
 * is open, because `symloader ls | less` may wait for days, and the store
 * cannot reuse the snapshot's pages in that time.  Control characters from
 * symbol files never reach a terminal.
 *
 * Output that is too large for memory is written whenever the buffer is full.
 * Such an output_t is only for commands that have no open snapshot while they
 * print.
 */
#ifndef SYMLOADER_CLI_OUTPUT_H
#define SYMLOADER_CLI_OUTPUT_H

#include <stdint.h>

#include "common/say.h"
#include "json/out.h"

typedef struct {
    sym_out_t json; /* for sym_out_*() */
    char *buffer;   /* the bytes from here to json.pos are not written yet */
    int fd;
    bool is_stream; /* it is written whenever the buffer is full */
    int sys_errno;  /* errno of the write that failed */
} output_t;

/* Creates an output.  NULL: out of memory; the error was printed to stderr. */
output_t *output_create(void);

/* Same for an output that is written to fd whenever the buffer is full. */
output_t *output_create_stream(int fd);

/* Makes it such an output: no snapshot may be open from now on. */
void output_stream(output_t *out);

/* Number of collected bytes; _cut() drops those after a length. */
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


/* Writes the buffered text; false: the reader has closed the pipe, or writing
 * failed. */
bool output_flush(output_t *out);

/* The last flush: returns code, or EXIT_OUTPUT (with a message) if output was
 * lost.  It is not an error if the reader closed its pipe early (`| head`). */
int output_end(output_t *out, int code);

#define output_printf(out, ...) sym_out_printf(&(out)->json, __VA_ARGS__)

/* Writes text from a symbol file; control characters become '?'. */
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
