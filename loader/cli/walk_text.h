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

/* answer: the request's, in JSON.  EXIT_PARTLY: a module of a frame has no
 * symbols. */
int walk_text_print(const options_t *o, const sym_crash_t *crash,
                    const sym_request_t *r, sym_str_t answer, output_t *out);

#endif
