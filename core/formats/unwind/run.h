/*
 * run.h - runs the instructions of call frame information.  These change the
 * current rules, or advance the address to which the rules apply.  Private to
 * unwind/.
 */
#ifndef SYM_FORMATS_UNWIND_RUN_H
#define SYM_FORMATS_UNWIND_RUN_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "formats/unwind/frames.h"

/* DW_CFA_remember_state */
#define SYM_FRAME_STATES_MAX 16

/* Limit on the programs of CIEs.  One is run again only if others were run
 * since, but a hostile file could make each FDE use another CIE. */
#define SYM_CIES_KEPT 8

typedef struct {
    uint64_t offset; /* offset in the section; UINT64_MAX: unused */
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra; /* register */
    uint8_t encoding;
    uint8_t address_bytes;
    bool has_augmentation; /* its augmentation data have a length */
    bool is_signal;        /* its frames are signal frames */
    sym_cfi_rules_t initial;
} sym_cie_t;

typedef struct {
    const sym_frames_input_t *in;
    const sym_unwind_arch_row_t *arch;
    sym_cfi_writer_t *w;
    uint64_t work_left; /* bytes of programs */
    sym_arena_t programs;
    sym_buffer_t code;
    sym_cie_t cies[SYM_CIES_KEPT];
    unsigned next_cie;
    sym_error_t *err; /* an error that ends everything */
} sym_frames_t;

/* State while one program runs. */
typedef struct {
    sym_frames_t *f;
    const sym_cie_t *cie;
    sym_cfi_rules_t rules;
    sym_cfi_rules_t states[SYM_FRAME_STATES_MAX];
    unsigned n_states;
    uint64_t location, end; /* linked addresses; end of the function */
    bool is_initial;        /* the program of a CIE, which has no locations */
} sym_frame_run_t;

/* Reads a number in the format of an encoding (LSB 5.0 Core, 10.5.1). */
uint64_t sym_frames_number(sym_cursor_t *c, uint8_t format,
                           unsigned address_bytes);

/* Reads an address in the CIE's encoding. */
uint64_t sym_frames_address(const sym_frames_t *f, const sym_cie_t *cie,
                            sym_cursor_t *c);

/* Runs the remaining instructions in c. c->err is the reason if they end
 * early. */
void sym_frame_run(sym_frame_run_t *r, sym_cursor_t *c);

/* Passes on the rules from the location up to an address. */
void sym_frame_pass_row(sym_frame_run_t *r, sym_cursor_t *c, uint64_t end);

#endif
