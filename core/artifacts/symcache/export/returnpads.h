/*
 * returnpads.h - writes the return pads of a module as a symbfile
 * (docs/formats/symbfile.md): the frames of each call instruction.
 *
 * The caller has the module's code and finds the calls in it.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_EXPORT_RETURNPADS_H
#define SYM_ARTIFACTS_SYMCACHE_EXPORT_RETURNPADS_H

#include "artifacts/export/tools.h"

typedef struct {
    uint32_t addr, size; /* of an instruction */
} sym_code_call_t;

/* Both see the instructions from addr up to end, which is at most 2^32.  An
 * instruction begins at addr. */
typedef struct {
    /* Finds the first call.  False: the range has no call. */
    bool (*next_call)(void *ctx, uint32_t addr, uint64_t end,
                      sym_code_call_t *call);

    /* The size of the first instruction; 0: unknown. */
    uint32_t (*first_size)(void *ctx, uint32_t addr, uint64_t end);
    void *ctx;
} sym_code_t;

/* If out->failed is set, it ends early and returns SYM_OK. */
sym_status_t sym_returnpads_export(const sym_extent_source_t *extents,
                                   const sym_dump_t *how,
                                   const sym_code_t *code, sym_out_t *out,
                                   sym_error_t *err);

#endif
