/*
 * line.h - answers as atos(1) prints them.
 *
 * For the API and for `symloader atos`: both print the same lines, and the
 * same JSON.
 *
 *     func (in Image) (File.m:965)      file and line are known
 *     func (in Image) + 24              they are not: bytes from its beginning
 *     0x10035d580 (in Image)            nothing is known there
 *
 * Programs take these lines apart, so that they are never otherwise.
 */
#ifndef SYM_API_ATOS_LINE_H
#define SYM_API_ATOS_LINE_H

#include "json/out.h"
#include "artifacts/symcache/read/reader.h"

/* Which of the levels of an inlined call are shown. */
typedef enum {
    SYM_ATOS_OUTER, /* the function, and where the call stands in it */
    SYM_ATOS_DECL,  /* the inlined function, and where it is called */
    SYM_ATOS_LINE,  /* the function, and the line in the inlined one */
    SYM_ATOS_ALL    /* each, the innermost first */
} sym_atos_inline_t;

/* "outer", "decl", "line", "all"; false: another word. */
bool sym_atos_inline_read(sym_str_t word, sym_atos_inline_t *mode);

/* How answers are written, and texts of the module under way. */
typedef struct {
    sym_atos_inline_t mode;
    bool full_path; /* of files, not only their names */
    bool is_json;
    sym_str_t delimiter; /* between the lines of one address */

    /* A string of the module, until the next call. */
    sym_str_t (*read)(void *ctx, sym_string_ref_t ref);
    /* A name as its programmer wrote it, until the next call. */
    sym_str_t (*show)(void *ctx, sym_str_t name, uint8_t lang);
    /* True: enough for now; asked after each name.  NULL: never. */
    bool (*is_enough)(void *ctx);
    void *ctx;
} sym_atos_style_t;

/* One address, and what is known of it. */
typedef struct {
    sym_str_t address; /* as it was given */
    sym_str_t image;   /* "" if it is not known */
    uint64_t value;    /* of the address */
    uint64_t offset;   /* in the image */
    bool has_offset;   /* false: it lies before the image */
    bool is_missing;   /* the image's symbols are not there */
    sym_answer_t answer;
} sym_atos_frame_t;

/* "dwarf", "symbol_table", "gap", "missing" */
sym_str_t sym_atos_status(const sym_atos_style_t *style,
                          const sym_atos_frame_t *frame);

/*
 * The line or lines of a frame, without a newline at their end; control
 * characters become '?'.  False: stop for now; the next call continues.  *next
 * is the position to continue at, 0 at first.
 */
bool sym_atos_lines(const sym_atos_style_t *style,
                    const sym_atos_frame_t *frame, uint32_t *next,
                    sym_out_t *out);

/* Writes `"status": ..., "text": ..., "frames": [...]` in the same way. */
bool sym_atos_members(const sym_atos_style_t *style,
                      const sym_atos_frame_t *frame, uint32_t *next,
                      sym_out_t *out);

/* `"address": ..., "offset": ...` */
void sym_atos_head(const sym_atos_frame_t *frame, sym_out_t *out);

#endif
