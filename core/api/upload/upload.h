/*
 * upload.h - protocols by which clients upload symbol files.
 *
 * A protocol is a structure of functions.  The server itself does not read the
 * body.  Before the body arrives, the protocol classifies the request.  The
 * body is passed to the loader, and the protocol writes the answer from the
 * loader's report.
 */
#ifndef SYM_API_UPLOAD_UPLOAD_H
#define SYM_API_UPLOAD_UPLOAD_H

#include "base/str.h"
#include "json/out.h"
#include "uploads/counts.h"
#include "uploads/tokens.h"

typedef enum {
    SYM_UPLOAD_GET = 2,
    SYM_UPLOAD_POST = 8,
    SYM_UPLOAD_PUT = 16
} sym_upload_method_t; /* same bits as in nginx */

#define SYM_UPLOAD_ROOM 1024

/* A request before its body is read. */
typedef struct {
    unsigned method;
    bool needs_token;
    const sym_upload_token_t *token; /* of the client, once it is checked; NULL:
                                        nginx has checked the client */
    char uuid[37];                   /* UUID of this request */
    char *room;                      /* SYM_UPLOAD_ROOM bytes for hint() */
    sym_str_t path; /* path below the location, with its first slash */
    sym_str_t query;
    sym_str_t base;  /* URL of the location: "https://host/upload" */
    uint64_t number; /* unique to the request */
    uint64_t now_ms;
    sym_str_t (*header)(void *ctx, const char *name); /* data NULL: absent */
    /* Whether the target has symbols of a module. */
    bool (*has)(void *ctx, sym_str_t name, sym_str_t id);
    /* Signs a text with a secret of this server. */
    bool (*sign)(void *ctx, sym_str_t text, char out[SYM_SHA256_HEX_LEN]);
    void *ctx;
} sym_upload_call_t;

/* Results of a request that lists files (assembly.h). */
typedef enum {
    SYM_UPLOAD_NOTHING,
    SYM_UPLOAD_FILES,
    SYM_UPLOAD_SCRIPTS, /* a bundle of scripts, source maps and sources */
    SYM_UPLOAD_SESSIONS /* files that will be sent, each to a URL of its own */
} sym_upload_made_t;

/* Why a request is refused. */
typedef enum {
    SYM_UPLOAD_FINE,
    SYM_UPLOAD_NO_PATH, /* no protocol has the path */
    SYM_UPLOAD_NO_METHOD,
    SYM_UPLOAD_NO_TOKEN,
    SYM_UPLOAD_BAD_TOKEN,
    SYM_UPLOAD_EXPIRED,
    SYM_UPLOAD_NO_RIGHT,
    SYM_UPLOAD_TOO_LARGE,
    SYM_UPLOAD_BUSY,
    SYM_UPLOAD_UNAVAILABLE, /* there is no loader, or it could not store the
                               files */
    SYM_UPLOAD_MALFORMED,   /* the upload as a whole is invalid; has a reason */
    SYM_UPLOAD_REMOTE       /* the server of its URL has failed; has a reason */
} sym_upload_refusal_t;

typedef struct {
    unsigned status;
    const char *type;
} sym_upload_answer_t;

/* An upload that the loader has processed. */
typedef struct {
    const sym_upload_call_t *call;
    const sym_upload_token_t *token; /* NULL: nginx has checked the client */
    sym_upload_counts_t counts;
    sym_str_t report; /* JSON */
    uint64_t bytes;   /* of the body */
    double started_s, now_s;
    sym_str_t url;       /* where the file was; or empty: it was sent */
    sym_str_t redirects; /* that led to it, each with a newline after it */
} sym_upload_done_t;

#define SYM_UPLOAD_URL_MAX 4096

typedef struct {
    const char *name;
    /* Whether the request belongs to this protocol. */
    bool (*takes)(const sym_upload_call_t *call);
    unsigned methods;
    /* Returns the token's text; data NULL: none was sent. */
    sym_str_t (*secret)(const sym_upload_call_t *call);
    /* Checks a URL that is used in place of a token, and finds its token in `tokens`.
     * NULL: the token is sent. */
    sym_upload_refusal_t (*admit)(const sym_upload_call_t *call,
                                  const sym_upload_tokens_t *tokens,
                                  const sym_upload_token_t **token);
    bool takes_try;   /* also from tokens that may only upload try symbols */
    bool takes_empty; /* the loader answers a request without a body, too */
    /* Returns the result that the request assembles; NULL: nothing. */
    sym_upload_made_t (*assembles)(const sym_upload_call_t *call);
    /* Answers a request that has no body for the loader; false: it has one. */
    bool (*reply)(const sym_upload_call_t *call, sym_upload_answer_t *answer,
                  sym_out_t *out);
    /* Returns flags for the message to the loader: SYM_RPC_FORM ... */
    unsigned (*flags)(const sym_upload_call_t *call);
    /* Returns a path that names the file, or "". */
    sym_str_t (*hint)(const sym_upload_call_t *call);
    void (*answer)(const sym_upload_done_t *done, sym_upload_answer_t *answer,
                   sym_out_t *out);
    /* Copies the URL of the file if the upload names one instead of sending it,
     * as it was sent; returns its length.  NULL: this protocol has no URLs. */
    size_t (*url)(const sym_upload_done_t *done, char to[SYM_UPLOAD_URL_MAX],
                  bool *is_try);
    /* reason: for SYM_UPLOAD_MALFORMED. */
    void (*refuse)(const sym_upload_call_t *call, sym_upload_refusal_t why,
                   sym_str_t reason, sym_upload_answer_t *answer,
                   sym_out_t *out);
} sym_upload_protocol_t;

/* Returns the protocol of a request; the last protocol accepts all. */
const sym_upload_protocol_t *sym_upload_protocol(const sym_upload_call_t *call);

extern const sym_upload_protocol_t sym_upload_plain, sym_upload_mozilla,
    sym_upload_session, sym_upload_breakpad1, sym_upload_breakpad2,
    sym_upload_sentry, sym_upload_elastic;

/* --- for the protocols --- */

/* Returns the token in "Authorization: Bearer TOKEN"; the case of the scheme
 * does not matter. */
sym_str_t sym_upload_bearer(const sym_upload_call_t *call, const char *scheme);

/* Whether the body is multipart/form-data. */
bool sym_upload_is_form(const sym_upload_call_t *call);

/* Returns the usual status of a refusal, and its message. */
unsigned sym_upload_status(sym_upload_refusal_t why);
const char *sym_upload_words(sym_upload_refusal_t why);

/* Writes {KEY: reason}. */
void sym_upload_error(const char *key, unsigned status, sym_str_t reason,
                      sym_upload_answer_t *answer, sym_out_t *out);

/* The same with the usual status, and message if the reason is empty. */
void sym_upload_refuse(const char *key, sym_upload_refusal_t why,
                       sym_str_t reason, sym_upload_answer_t *answer,
                       sym_out_t *out);

#endif
