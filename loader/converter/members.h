/*
 * members.h - takes an upload apart: the files of a form, of an archive, or of a
 * bundle of scripts.
 *
 * Runs in the sandbox.  If a file is a range of the upload, only its name and
 * range are sent; a file in a zip or a tar is unpacked, checked and sent.
 */
#ifndef SYMLOADER_CONVERTER_MEMBERS_H
#define SYMLOADER_CONVERTER_MEMBERS_H

#include "common/converter_protocol.h"
#include "unpack/input.h"

/* Sends all files of the upload, which begins at fd's position.  At most `most`
 * bytes are unpacked.  SYM_AGAIN: see input_create().  SYM_UNSUPPORTED,
 * SYM_MALFORMED, SYM_LIMIT: *err is for the client. */
sym_status_t members_send(input_t *input, int fd, const converter_job_t *order,
                          uint64_t most, sym_error_t *err);

#endif
