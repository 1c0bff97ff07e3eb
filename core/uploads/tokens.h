/*
 * tokens.h - tokens and their rights to upload: the file of
 * symbolicate_upload_tokens.
 *
 * A line is
 *
 *     SHA256 NAME [rights=upload,try] [sources=NAME,...] [expires=DATE]
 *                 [bytes=NUMBER] [at_once=NUMBER] [mozilla=1|2]
 *
 * SHA256 is that of the token's text, in hexadecimal digits, so reading the
 * file does not enable anyone to upload.  Empty lines and lines that begin with
 * '#' are ignored.  DATE has the form 2027-01-31, and means the end of that day
 * in UTC.
 */
#ifndef SYM_UPLOADS_TOKENS_H
#define SYM_UPLOADS_TOKENS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/sha256.h"

#define SYM_UPLOAD_MAY_UPLOAD 1u
#define SYM_UPLOAD_MAY_TRY 2u

#define SYM_UPLOAD_TOKENS_MAX 4096
#define SYM_UPLOAD_AT_ONCE 4 /* default unless a line has another value */

typedef struct {
    uint8_t hash[SYM_SHA256_LEN];
    sym_str_t name; /* name for logs and answers */
    unsigned rights;
    sym_str_t sources;  /* separated by commas; "": all */
    uint64_t expires_s; /* seconds since 1970; 0: never */
    uint64_t bytes;     /* limit for an upload; 0: no limit of its own */
    unsigned at_once;
    unsigned
        version; /* of Mozilla's uploads, that its clients are told to use */
} sym_upload_token_t;

typedef struct {
    const sym_upload_token_t *list;
    size_t n;
} sym_upload_tokens_t;

/* Reads the file's text; copies everything.  SYM_MALFORMED with the line;
 * SYM_LIMIT; SYM_NOMEM. */
sym_status_t sym_upload_tokens_read(sym_arena_t *arena, sym_str_t text,
                                    sym_upload_tokens_t *tokens,
                                    sym_error_t *err);

/* Finds a token.  NULL: it does not exist. */
const sym_upload_token_t *sym_upload_token_find(
    const sym_upload_tokens_t *tokens, sym_str_t secret);

/* A number for the client: it says nothing about the token's text. */
uint32_t sym_upload_token_id(const sym_upload_token_t *token);
const sym_upload_token_t *sym_upload_token_by_id(
    const sym_upload_tokens_t *tokens, uint32_t id);

/* Whether uploads that do not say what they are go to the source for try
 * symbols.  token NULL: nginx has checked the client. */
bool sym_upload_token_is_try(const sym_upload_token_t *token);

/* Compares in constant time, so the time does not reveal which byte differs. */
bool sym_upload_secret_is(sym_str_t a, sym_str_t b);

bool sym_upload_token_has_source(const sym_upload_token_t *token,
                                 sym_str_t source);

#endif
