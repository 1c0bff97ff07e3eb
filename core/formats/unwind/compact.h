/*
 * compact.h - reads Mach-O's compact unwind information (__unwind_info).
 *
 * Apple's <mach-o/compact_unwind_encoding.h> describes the tables and the
 * encodings.  Encodings that refer to call frame information are left to
 * frames.h.
 */
#ifndef SYM_FORMATS_UNWIND_COMPACT_H
#define SYM_FORMATS_UNWIND_COMPACT_H

#include "artifacts/cfi/write/cfi_writer.h"

typedef struct {
    sym_str_t bytes;
    sym_unwind_arch_t arch;
    bool is_big_endian;

    /* code of functions, because some have the frame size in an instruction */
    sym_str_t text;
    uint64_t text_address; /* is relative to the image base */
} sym_compact_input_t;

/* Reading ends at the first error in the tables; *broken is then the reason. */
sym_status_t sym_compact_read(const sym_compact_input_t *in,
                              sym_cfi_writer_t *w, sym_error_t *broken,
                              sym_error_t *err);

#endif
