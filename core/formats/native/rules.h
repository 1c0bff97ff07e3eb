/*
 * rules.h - the unwind rules of ELF, Mach-O and PE files.
 */
#ifndef SYM_FORMATS_NATIVE_RULES_H
#define SYM_FORMATS_NATIVE_RULES_H

#include "formats/native/native.h"
#include "formats/unwind/frames.h"

/* Creates n->cfi for the processor n->arch.  SYM_NOT_FOUND: rules are not
 * requested, or the processor is unknown. */
sym_status_t sym_native_rules_begin(sym_native_t *n, sym_unwind_arch_t *arch,
                                    uint32_t flags, sym_error_t *err);

/* Reads call frame information, and adds a note about broken functions. */
sym_status_t sym_native_frames(sym_native_t *n, const sym_frames_input_t *in,
                               sym_error_t *err);

#endif
