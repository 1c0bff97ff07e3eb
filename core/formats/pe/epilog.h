/*
 * epilog.h - the unwind rules of epilogs on x64 ("x64 exception handling",
 * Unwind procedure).  Exception tables do not describe epilogs, but their
 * instructions have a fixed form.
 *
 * An epilog is `add rsp, SIZE` or `lea rsp, [FRAME + OFFSET]`, then a pop of
 * each pushed register, then a return or a jump to another function.  The codes
 * of the prolog determine all bytes but those of the last instruction, so
 * epilogs are found by their bytes.
 */
#ifndef SYM_FORMATS_PE_EPILOG_H
#define SYM_FORMATS_PE_EPILOG_H

#include "formats/pe/unwind.h"

#define SYM_PE_PUSHES_MAX 16

/* The frame of a function after its prolog. */
typedef struct {
    uint8_t pushed[SYM_PE_PUSHES_MAX]; /* processor's register numbers, last
                                          pushed first */
    unsigned n;
    int64_t size; /* CFA - RSP */
    bool has_frame;
    uint8_t frame_register;
    int64_t frame_size; /* CFA - frame register */
} sym_pe_frame_t;

/* Passes the rules of a function's epilogs to the writer. */
void sym_pe_epilogs(sym_pe_unwind_t *u, const sym_pe_function_t *f,
                    const sym_pe_frame_t *frame);

/* DWARF numbers, indexed by the processor's register numbers. */
extern const uint8_t sym_pe_x64_registers[16];

#endif
