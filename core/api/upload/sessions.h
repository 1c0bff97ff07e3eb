/*
 * sessions.h - the request of Mozilla's upload v2, which lists files, its
 * answer, and the URLs in that.
 *
 * A client sends each file to its URL, without a token.  The URL has everything
 * that the server needs to know about the file, who may send it, until when,
 * and a signature of all that, so no worker keeps state.
 */
#ifndef SYM_API_UPLOAD_SESSIONS_H
#define SYM_API_UPLOAD_SESSIONS_H

#include "api/upload/assembly.h"
#include "api/upload/upload.h"
#include "uploads/session.h"

/* Most files of a request, as in Tecken. */
#define SYM_SESSIONS_MAX 1024

/* Lifetime of a URL. */
#define SYM_SESSION_S 86400u

/* Reads the request, as sym_assembly_read() does.  Files with errors get the
 * state ERROR. */
sym_status_t sym_sessions_read(sym_arena_t *arena, sym_account_t *account,
                               sym_str_t body, sym_assembly_t *assembly,
                               const char **why);

void sym_sessions_write(const sym_upload_call_t *call,
                        const sym_assembly_t *assembly, sym_out_t *out);

/* Whether the path is that of a file's URL; *key is its key. */
bool sym_session_path(const sym_upload_call_t *call, sym_str_t *key);

/* Checks the URL, and reads its file.  *id: of the token.  BAD_TOKEN, or
 * EXPIRED. */
sym_upload_refusal_t sym_session_check(const sym_upload_call_t *call,
                                       sym_session_t *session, uint32_t *id);

#endif
