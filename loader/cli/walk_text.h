/*
 * walk_text.h - prints stacks of a crash report in the format of
 * minidump-stackwalk.
 */
#ifndef SYMLOADER_CLI_WALK_TEXT_H
#define SYMLOADER_CLI_WALK_TEXT_H

#include "api/request.h"
#include "artifacts/crash/read/crash.h"
#include "cli/output.h"
#include "common/options.h"

/* State of a text. */
typedef struct {
    const options_t *options;
    const sym_crash_t *crash;
    output_t *out;

    /* other fields must be zero at first */
    enum {
        WALK_TEXT_HEAD,
        WALK_TEXT_STACKS,
        WALK_TEXT_MODULES,
    } place;
    uint32_t n_stacks; /* number of stacks printed */
} walk_text_t;

/*
 * Prints the complete parts in `part` of the request's JSON answer: the
 * process, stacks, and at the end the modules.  *taken: number of bytes
 * consumed; the next part begins after them.  EXIT_PARTLY: a module of a frame
 * has no symbols.
 */
int walk_text_print(walk_text_t *t, const sym_request_t *r, sym_str_t part,
                    bool is_last, size_t *taken);

#endif
