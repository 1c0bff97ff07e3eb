/*
 * make.h - makes a file of a file, for clients that read symbols themselves.
 *
 * The file is unpacked, a section of it is cut out, or its symbols are written
 * as Breakpad text, or those of its calls as a symbfile.  The result is sent to the loader like the extents of an
 * artifact; all extents but the last have the same length.
 */
#ifndef SYMLOADER_CONVERTER_MAKE_H
#define SYMLOADER_CONVERTER_MAKE_H

#include "formats/format.h"
#include "formats/native/callsites.h"
#include "object/files.h"
#include "unpack/input.h"

/* A file in progress.  Must be freed even after a failure. */
typedef struct making_s making_t;

/* name: of the section, or the name that the client uses for the module; it
 * must stay in place.  For return pads: not empty if names stay mangled. */
making_t *making_begin(sym_make_t make, sym_str_t name, sym_error_t *err);
void making_free(making_t *m);

/* Sets the file whose calls are the return pads.  The bytes must stay in place.
 * SYM_UNSUPPORTED: it is no ELF file with code. */
sym_status_t making_calls(making_t *m, sym_callsites_t *callsites,
                          sym_str_t bytes, sym_error_t *err);

/* Takes an artifact of an object if its symbols are wanted; otherwise takes
 * only its name. */
sym_status_t making_put(making_t *m, const sym_format_output_t *output,
                        const sym_module_info_t *info, sym_error_t *err);

/* Sends the file made from these artifacts.  SYM_UNSUPPORTED: there were no
 * symbols. */
sym_status_t making_end(making_t *m, sym_error_t *err);

/* Sends all bytes of the input, or a section of it, or a single byte if it has
 * debug information. */
sym_status_t making_copy(making_t *m, input_t *in, sym_error_t *err);
sym_status_t making_section(making_t *m, sym_str_t bytes, sym_error_t *err);
sym_status_t making_proof(making_t *m, sym_str_t bytes, sym_error_t *err);

/* Sends a file from a source bundle. */
sym_status_t making_source(making_t *m, const sym_format_file_t *f,
                           sym_error_t *err);

#endif
