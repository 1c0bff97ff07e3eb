/*
 * reader.h - reads a symbfile (docs/formats/symbfile.md), piece by piece.
 *
 * The reader checks each record and passes it to the caller's functions in the
 * order of the file.  It keeps one string table, and the beginning of a message
 * that is cut by the end of a piece: at most 16 MiB each.
 */
#ifndef SYM_FORMATS_SYMBFILE_READER_H
#define SYM_FORMATS_SYMBFILE_READER_H

#include "base/error.h"
#include "base/str.h"

#define SYM_SYMBFILE_MAGIC "symbfile"

/* "no string" */
#define SYM_SYMBFILE_NO_STRING UINT32_MAX

/* A row of a line table.  It is valid up to the next one. */
typedef struct {
    uint32_t offset; /* offset from the start of the range */
    uint32_t line;
} sym_symbfile_line_t;

/* Strings are numbers that the caller's string() has returned. */
typedef struct {
    uint64_t addr;
    uint32_t size;
    uint32_t depth; /* 0: a function */
    uint32_t name;
    uint32_t file, call_file;
    uint32_t call_line;               /* 0: none */
    const sym_symbfile_line_t *lines; /* sorted by offset */
    size_t n_lines;
} sym_symbfile_range_t;

typedef struct {
    uint32_t name, file, line;
} sym_symbfile_frame_t;

/* The frames at one address; frames[0] is the outermost. */
typedef struct {
    uint64_t addr;
    const sym_symbfile_frame_t *frames;
    size_t n_frames;
} sym_symbfile_pad_t;

/* The caller's functions.  A record is valid until the function returns. */
typedef struct {
    sym_status_t (*string)(void *ctx, sym_str_t text, uint32_t *id,
                           sym_error_t *err);
    sym_status_t (*range)(void *ctx, const sym_symbfile_range_t *range,
                          sym_error_t *err);
    sym_status_t (*pad)(void *ctx, const sym_symbfile_pad_t *pad,
                        sym_error_t *err);
    void *ctx;
} sym_symbfile_sink_t;

typedef struct sym_symbfile_s sym_symbfile_t;

typedef struct {
    uint64_t bytes, ranges, pads, tables;
} sym_symbfile_stats_t;

/* NULL: out of memory. */
sym_symbfile_t *sym_symbfile_create(const sym_symbfile_sink_t *sink,
                                    sym_error_t *err);
void sym_symbfile_free(sym_symbfile_t *s);

/* After a failure only sym_symbfile_free() may be called. */
sym_status_t sym_symbfile_feed(sym_symbfile_t *s, const void *data, size_t len);

/* SYM_TRUNCATED: the file ends inside a message. */
sym_status_t sym_symbfile_end(sym_symbfile_t *s);

const sym_symbfile_stats_t *sym_symbfile_stats(const sym_symbfile_t *s);

#endif
