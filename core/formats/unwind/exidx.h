/*
 * exidx.h - reads the exception tables of 32-bit ARM (.ARM.exidx, .ARM.extab).
 *
 * "Exception Handling ABI for the Arm Architecture", sections 6 and 10.  A
 * function has one list of instructions, which unwind its frame after the
 * prolog.  The resulting rules are used only for addresses that have no call
 * frame information.
 */
#ifndef SYM_FORMATS_UNWIND_EXIDX_H
#define SYM_FORMATS_UNWIND_EXIDX_H

#include "artifacts/cfi/write/cfi_writer.h"

/* A section, and its linked address. */
typedef struct {
    sym_str_t bytes;
    uint64_t address;
} sym_exidx_section_t;

typedef struct {
    sym_exidx_section_t index, table;
    uint64_t code_end;   /* end of the last function */
    uint64_t image_base; /* is subtracted from addresses */
    bool is_big_endian;
} sym_exidx_input_t;

/* *broken: number of functions whose instructions cannot be read. */
sym_status_t sym_exidx_read(const sym_exidx_input_t *in, sym_cfi_writer_t *w,
                            uint64_t *broken, sym_error_t *err);

#endif
