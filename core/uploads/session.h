/*
 * session.h - a file of Mozilla's upload v2, which is sent in one request or in
 * several, each with a range of it.
 *
 * The text form is that of the message to the loader: "FROM TO END SIZE MD5
 * KEY".  SIZE and MD5 are those of the unpacked file; the range is one of the
 * bytes that are sent.
 */
#ifndef SYM_UPLOADS_SESSION_H
#define SYM_UPLOADS_SESSION_H

#include "base/md5.h"
#include "base/sha1.h"

#define SYM_SESSION_MD5 ((size_t) 2 * SYM_MD5_BYTES) /* digits in lower case */
#define SYM_SESSION_KEY_MAX 800
#define SYM_SESSION_TEXT (SYM_SESSION_KEY_MAX + 128)

typedef enum {
    SYM_SESSION_QUERY, /* nothing is sent: how many bytes are there? */
    SYM_SESSION_RANGE, /* others follow */
    SYM_SESSION_END,   /* the last range; may be empty */
    SYM_SESSION_WHOLE  /* all of the file */
} sym_session_end_t;

typedef struct {
    uint64_t from, to; /* the range; to is not part of it */
    sym_session_end_t end;
    uint64_t size;
    sym_str_t md5;
    sym_str_t key; /* NAME/ID/FILE */
} sym_session_t;

/* Whether size, MD5 and key of a file are valid. */
bool sym_session_md5_ok(sym_str_t md5);
bool sym_session_key_ok(sym_str_t key);

/* Reads a Content-Range (RFC 9110, 14.4), with "*" for an unknown range or
 * length.  data NULL: the request has none. */
bool sym_session_range(sym_str_t header, sym_session_t *session);

size_t sym_session_write(const sym_session_t *session,
                         char out[SYM_SESSION_TEXT]);

/* Views point into the text. */
bool sym_session_read(sym_str_t text, sym_session_t *session);

/* A name for the file: it depends on its key, size and MD5. */
void sym_session_id(const sym_session_t *session, uint8_t id[SYM_SHA1_BYTES]);

#endif
