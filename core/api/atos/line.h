/*
 * line.h - answers as atos(1) prints them.
 *
 * Used by the API and by `symloader atos`, so both print the same lines and the
 * same JSON.
 *
 *     func (in Image) (File.m:965)      file and line are known
 *     func (in Image) + 24              unknown: distance from the start
 *     0x10035d580 (in Image)            no symbol covers the address
 *
 * Programs parse these lines, so their form must not change.
 */
#ifndef SYM_API_ATOS_LINE_H
#define SYM_API_ATOS_LINE_H

#include "json/out.h"
#include "artifacts/symcache/read/reader.h"

/* Which levels of an inlined call are shown. */
typedef enum {
    SYM_ATOS_OUTER, /* the function, and the position of the call in it */
    SYM_ATOS_DECL,  /* the inlined function, and its call site */
    SYM_ATOS_LINE,  /* the function, and the line in the inlined one */
    SYM_ATOS_ALL    /* all levels, the innermost first */
} sym_atos_inline_t;

/* Parses "outer", "decl", "line", "all"; false: another word. */
bool sym_atos_inline_read(sym_str_t word, sym_atos_inline_t *mode);

/* Style of answers, and functions for texts of the current module. */
typedef struct {
    sym_atos_inline_t mode;
    bool full_path; /* show paths of files, not only their names */
    bool is_json;
    sym_str_t delimiter; /* separates the lines of one address */

    /* Returns a string of the module, valid until the next call. */
    sym_str_t (*read)(void *ctx, sym_string_ref_t ref);
    /* Returns a demangled name, valid until the next call. */
    sym_str_t (*show)(void *ctx, sym_str_t name, uint8_t lang);
    /* Called after each name.  True: stop for now.  NULL: never stop. */
    bool (*is_enough)(void *ctx);
    void *ctx;
} sym_atos_style_t;

/* An address and its answer. */
typedef struct {
    sym_str_t address; /* as sent */
    sym_str_t image;   /* "": unknown */
    uint64_t value;    /* value of the address */
    uint64_t offset;   /* offset in the image */
    bool has_offset;   /* false: the address is before the image */
    bool is_missing;   /* the image has no symbols */
    sym_answer_t answer;
} sym_atos_frame_t;

/* Returns "dwarf", "symbol_table", "gap" or "missing". */
sym_str_t sym_atos_status(const sym_atos_style_t *style,
                          const sym_atos_frame_t *frame);

/*
 * Writes the line or lines of a frame, without a newline at the end.  Control
 * characters become '?'.  False: stop for now; the next call continues.  *next
 * is the position where it continues, 0 at first.
 */
bool sym_atos_lines(const sym_atos_style_t *style,
                    const sym_atos_frame_t *frame, uint32_t *next,
                    sym_out_t *out);

/* Writes `"status": ..., "text": ..., "frames": [...]` in the same way. */
bool sym_atos_members(const sym_atos_style_t *style,
                      const sym_atos_frame_t *frame, uint32_t *next,
                      sym_out_t *out);

/* Writes `"address": ..., "offset": ...` */
void sym_atos_head(const sym_atos_frame_t *frame, sym_out_t *out);

#endif
