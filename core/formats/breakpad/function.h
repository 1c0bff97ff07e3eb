/*
 * function.h - the current FUNC: collects its line and INLINE records and
 * passes them to the symcache writer when the next FUNC begins.
 *
 * Only one function's records are kept at a time.  Following specs 3.3,
 * addresses that do not fit 32 bits and records without a size are dropped
 * here, and counted.
 */
#ifndef SYM_FORMATS_BREAKPAD_FUNCTION_H
#define SYM_FORMATS_BREAKPAD_FUNCTION_H

#include "formats/breakpad/records.h"
#include "artifacts/symcache/write/writer.h"

/* A crafted file could put all its records into one function. */
#define SYM_FUNCTION_LINES_MAX ((size_t) 1 << 23)
#define SYM_FUNCTION_INLINES_MAX ((size_t) 1 << 22)

typedef struct {
    bool is_open; /* the following lines are this function's records */
    bool is_kept; /* false: its address or size is unusable */
    sym_function_t function;
    sym_line_t *lines;
    size_t lines_size;
    sym_inline_t *inlines;
    size_t inlines_size;

    /* form of 2021: file of the open origin at each depth */
    uint32_t origin_files[SYM_INLINE_DEPTH_MAX];
    uint32_t n_origin_files;

    /* form of 2021: some calls have the file of the function's first line */
    bool has_own_file;

    uint64_t *dropped; /* number of dropped records */
    sym_error_t *err;
} sym_current_t;

/* An INLINE_ORIGIN. */
typedef struct {
    uint32_t name; /* string id */
    uint32_t file; /* form of 2021: string id or SYM_NO_STRING */
} sym_origin_t;

void sym_current_init(sym_current_t *c, uint64_t *dropped, sym_error_t *err);
void sym_current_free(sym_current_t *c);

/* True if symbols can be stored for a FUNC at addr with this size. */
bool sym_current_wants(uint64_t addr, uint64_t size);

/* Begins a FUNC; its name is a string id. */
void sym_current_open(sym_current_t *c, const sym_symbol_record_t *r,
                      uint32_t name);

/* Begins a FUNC that will be dropped. */
void sym_current_skip(sym_current_t *c);

/* Makes room for another line record, at lines[function.n_lines]. */
sym_status_t sym_current_room(sym_current_t *c);

sym_status_t sym_current_line(sym_current_t *c, const sym_line_record_t *r,
                              uint32_t file);

/*
 * Sets the call's file and depth for each of the record's ranges.  The form of
 * 2021 ignores call_file.
 */
sym_inline_t sym_current_inline(sym_current_t *c, const sym_inline_record_t *r,
                                const sym_origin_t *origin, uint32_t call_file);

/* Adds a range of the call. */
sym_status_t sym_current_range(sym_current_t *c, const sym_inline_t *call,
                               uint64_t addr, uint64_t size);

/* Passes on the open function, if any, and closes it. */
sym_status_t sym_current_close(sym_current_t *c, sym_writer_t *w);

#endif
