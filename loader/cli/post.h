/*
 * post.h - one POST over plain HTTP, to a server on this machine or nearby.
 *
 * HTTP/1.0: the answer comes in one piece and ends with the connection.  TLS is
 * left to the proxy in front of such a server.
 */
#ifndef SYMLOADER_CLI_POST_H
#define SYMLOADER_CLI_POST_H

#include <stdbool.h>

#include "base/str.h"

typedef struct {
    unsigned status;
    char *data; /* the complete answer; the caller frees it */
    sym_str_t body;
} post_answer_t;

/* url: http://HOST[:PORT][/PATH].  False: the reason is on stderr. */
bool post_json(const char *url, sym_str_t body, post_answer_t *answer);

#endif
