/*
 * google.h - tokens for Google's storage, in exchange for the key of a service
 * account.
 *
 * Source: RFC 7523 (a JWT as a grant), RFC 7515 (RS256), and Google's "Using
 * OAuth 2.0 for server to server applications".  The key is part of a request,
 * and any client may send one.  So the size of keys is limited, because it
 * determines the cost of a signature.  Error messages contain no part of a key.
 */
#ifndef SYM_SOURCES_GOOGLE_GOOGLE_H
#define SYM_SOURCES_GOOGLE_GOOGLE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/sha256.h"
#include "sources/request/sources.h"

/* Google's keys have 2,048 bits; a signature with 4,096 bits takes about 6
 * ms. */
#define SYM_GOOGLE_KEY_BITS_MIN 2048
#define SYM_GOOGLE_KEY_BITS_MAX 4096

#define SYM_GOOGLE_ANSWER_MAX ((size_t) 16384) /* bytes of a response */
#define SYM_GOOGLE_TOKEN_MAX 2048u             /* as documented by Google */
#define SYM_GOOGLE_TOKENS 64u
#define SYM_GOOGLE_REFUSALS 256u
#define SYM_GOOGLE_LIFE_S                                                      \
    3480u /* lifetime of a token, as in Symbolicator: 58
                                   min */

/*
 * Makes the form to post to the URL `audience`.  SYM_MALFORMED,
 * SYM_UNSUPPORTED: not a usable RSA key, err->what has the reason; SYM_NOMEM.
 */
sym_status_t sym_google_grant(sym_arena_t *arena, const sym_request_source_t *s,
                              sym_str_t audience, uint64_t now_s,
                              sym_str_t *form, sym_error_t *err);

/* Reads the response; the token is stored in the arena. */
sym_status_t sym_google_token_read(sym_arena_t *arena, sym_str_t text,
                                   sym_str_t *token, uint32_t *life_s,
                                   sym_error_t *err);

/* Recently used tokens, by key.  All zeros: an empty cache. */
typedef struct {
    sym_sha256_t key;
    uint64_t expires_at, used;
    uint32_t len; /* 0: the entry is free */
    char token[SYM_GOOGLE_TOKEN_MAX];
} sym_google_entry_t;

/* A key that got no token.  It must not be used again before some time has
 * passed, because each attempt costs a signature. */
typedef struct {
    sym_sha256_t key;
    uint64_t until;  /* 0: the entry is free */
    const char *why; /* static text: the key cannot be used; NULL: Google
                        refused it */
} sym_google_refusal_t;

typedef struct {
    uint64_t uses;
    sym_google_entry_t entries[SYM_GOOGLE_TOKENS];
    uint32_t n_refused;                                /* number since the
                                                          start */
    sym_google_refusal_t refused[SYM_GOOGLE_REFUSALS]; /* the latest */
} sym_google_tokens_t;

/* Writes the digest of key and account; requests with the same digest share a
 * token.  False: out of memory. */
bool sym_google_key(sym_arena_t *arena, const sym_request_source_t *s,
                    sym_str_t audience, sym_sha256_t *key);

/* Returns the token of the key; empty: none, or expired.  Valid until the next
 * call. */
sym_str_t sym_google_token_find(sym_google_tokens_t *tokens,
                                const sym_sha256_t *key, uint64_t now_s);
void sym_google_token_keep(sym_google_tokens_t *tokens, const sym_sha256_t *key,
                           sym_str_t token, uint64_t expires_at);

void sym_google_refuse(sym_google_tokens_t *tokens, const sym_sha256_t *key,
                       const char *why, uint64_t until);

/* Whether the key must not be used now; *why is as above. */
bool sym_google_is_refused(const sym_google_tokens_t *tokens,
                           const sym_sha256_t *key, uint64_t now_s,
                           const char **why);

void sym_google_token_forget(sym_google_tokens_t *tokens,
                             const sym_sha256_t *key);

#endif
