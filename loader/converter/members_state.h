/*
 * members_state.h - an upload that is taken apart; only for members*.c.
 */
#ifndef SYMLOADER_CONVERTER_MEMBERS_STATE_H
#define SYMLOADER_CONVERTER_MEMBERS_STATE_H

#include "converter/members.h"

/* Error of archives. */
#define LEADS_OUT "the archive has a file whose name leads out of it"

typedef struct {
    input_t *input;
    int fd;
    uint64_t at;     /* offset in fd's file, and ... */
    sym_str_t whole; /* the upload */
    unsigned flags;
    uint64_t left; /* number of bytes that may still be unpacked */
} upload_t;

/* --- members.c --- */

/* Sends the head of a file, or of another member, and bytes of a file. */
sym_status_t members_send_head(sym_str_t name, sym_str_t field,
                               converter_member_t *m, sym_error_t *err);
sym_status_t members_send_bytes(const char *data, uint64_t len,
                                sym_error_t *err);

/* Begins to unpack a range of the upload. */
sym_status_t members_start_stream(upload_t *u, sym_str_t bytes,
                                  sym_error_t *err);

/* --- members_package.c --- */

/* Sends the debug files, executables and libraries of a package, and then the
 * number of its other files.  bytes: a tar, maybe compressed, or a deb or RPM
 * package. */
sym_status_t members_send_package(upload_t *u, sym_str_t field, sym_str_t bytes,
                                  sym_error_t *err);

/* --- members_map.c --- */

/* Sends the kind of the map that the upload is; nothing, if it is no map. */
sym_status_t members_send_map(sym_str_t file, sym_error_t *err);

#endif
