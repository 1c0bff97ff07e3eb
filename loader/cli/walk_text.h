/*
 * walk_text.h - stacks of a crash report as text, as minidump-stackwalk prints
 * them.
 */
#ifndef SYMLOADER_CLI_WALK_TEXT_H
#define SYMLOADER_CLI_WALK_TEXT_H

#include "api/request.h"
#include "artifacts/crash/read/crash.h"
#include "cli/output.h"
#include "common/options.h"

/* A text under way. */
typedef struct {
    const options_t *options;
    const sym_crash_t *crash;
    output_t *out;

    /* the rest is zero at first */
    enum {
        WALK_TEXT_HEAD,
        WALK_TEXT_STACKS,
        WALK_TEXT_MODULES,
    } place;
    uint32_t n_stacks; /* that are printed */
} walk_text_t;

/*
 * Prints what `part` has of the request's answer in JSON: the process, stacks
 * that are complete, at the end the modules.  *taken: the bytes that were
 * printed; the next part begins after them.  EXIT_PARTLY: a module of a frame
 * has no symbols.
 */
int walk_text_print(walk_text_t *t, const sym_request_t *r, sym_str_t part,
                    bool is_last, size_t *taken);

#endif
