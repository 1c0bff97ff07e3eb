/*
 * frames.h - reads call frame information: .eh_frame and .debug_frame.
 *
 * DWARF 5, 6.4 and 7.24; for .eh_frame LSB 5.0 Core, 10.6.  Each FDE's program
 * is run once, and each resulting row becomes a range of addresses.  FDEs that
 * cannot be read are counted and left out.
 */
#ifndef SYM_FORMATS_UNWIND_FRAMES_H
#define SYM_FORMATS_UNWIND_FRAMES_H

#include "artifacts/cfi/write/cfi_writer.h"

typedef struct {
    sym_str_t bytes;
    uint64_t address;    /* linked address of the section */
    uint64_t text, data; /* bases of encoded pointers, or 0 */
    uint64_t image_base; /* is subtracted from addresses */
    sym_unwind_arch_t arch;
    bool is_eh; /* .eh_frame */
    bool is_64bit, is_big_endian;
    bool is_apple; /* .eh_frame exchanges the numbers of ESP and EBP */
} sym_frames_input_t;

typedef struct {
    uint64_t functions, broken;
    sym_error_t first_broken;
} sym_frames_stats_t;

/* Adds to *stats, which also shows whether a table ends early. */
sym_status_t sym_frames_read(const sym_frames_input_t *in, sym_cfi_writer_t *w,
                             sym_frames_stats_t *stats, sym_error_t *err);

#endif
