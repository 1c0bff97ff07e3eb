/*
 * post.h - one POST or GET over plain HTTP, to a server on this machine or
 * nearby.
 *
 * HTTP/1.0: the answer comes in one piece and ends with the connection.  TLS is
 * not supported: it is the task of a proxy.
 */
#ifndef SYMLOADER_CLI_POST_H
#define SYMLOADER_CLI_POST_H

#include <stdbool.h>

#include "base/str.h"

typedef struct {
    unsigned status;
    char *data; /* the complete response; the caller frees it */
    sym_str_t body;
    unsigned retry_after_s; /* 0: the server does not say */
    bool is_late;           /* post_get(): it took longer than it may */
} post_answer_t;

/* Sends the request.  url: http://HOST[:PORT][/PATH].  False: the reason was
 * printed to stderr. */
bool post_json(const char *url, sym_str_t body, post_answer_t *answer);

/* A body: `head`, then bytes of a file. */
typedef struct {
    sym_str_t head;
    int fd;
    uint64_t offset, length;
} post_file_t;

/* Sends it with these headers, each of which ends with CRLF.  Returns NULL, or
 * why there is no answer, which then has the status 0. */
const char *post_file(const char *url, const char *headers,
                      const post_file_t *file, post_answer_t *answer);

/* Where the body of an answer goes. */
typedef struct {
    /* False: no more is wanted; it has noted why. */
    bool (*take)(void *ctx, const char *data, size_t len);
    void *ctx;
    unsigned wait_s; /* maximum time of waiting for the server, in all */
} post_sink_t;

/* Sends a GET.  The body of an answer with status 200 goes to the sink, that of
 * others is dropped.  Returns NULL, or why the answer is not complete, which then
 * has the status 0. */
const char *post_get(const char *url, const post_sink_t *sink,
                     post_answer_t *answer);

/* For `do ... while (post_again(&answer, tries++))`.  A busy server, or one that
 * has not been reached, is asked again, four times; one that is late is not.
 * True: the answer was freed, and the time that the server asks for is over. */
bool post_again(post_answer_t *answer, unsigned tries);

/* Whether this answer tells more of the server than of the request. */
bool post_is_trouble(const post_answer_t *answer);

/* The variable with the server's key; NULL: it is not set.  False: it has
 * characters that would end a header; the error was printed to stderr. */
#define POST_KEY "SYMBOLICATE_API_KEY"
bool post_key(const char **key);

/* An answer other than 200, on stderr. */
void post_complain(const char *url, const post_answer_t *answer);

/*
 * Sends the request to `name` next to the address of native events, and frees it
 * (NULL: out of memory).  EXIT_FINE: the answer is 200; otherwise the exit code,
 * with the error on stderr.  The caller frees answer->data.
 */
int post_beside(const char *server, const char *name, char *request,
                post_answer_t *answer);

#endif
