#include "cli/post.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "common/options.h"
#include "common/say.h"

/* Time limit, longer than any job of the server. */
#define WAIT_S 1000

#define ANSWER_MAX ((size_t) 256 << 20)
#define HOST_MAX 255
#define URL_MAX 4096
#define HEAD_MAX 2048
#define ANSWER_HEAD_MAX 16384
#define KEY_MAX 512

#define NOT_HTTP "the server closed the connection, or does not speak HTTP"

#define TRIES 5
#define PAUSE_MAX_S 60

typedef struct {
    char host[HOST_MAX + 1], port[8];
    const char *authority; /* as sent */
    int authority_len;
    const char *path; /* "" or a path that begins with '/' */
} url_t;


/* Parses HOST, HOST:PORT or [ADDRESS]:PORT. */
static bool
read_authority(const char *text, size_t len, url_t *url)
{
    const char *end = text + len, *host = text, *host_end, *port;

    if (len != 0 && text[0] == '[') {
        host++;
        host_end = memchr(text, ']', len);
        port = host_end != NULL ? host_end + 1 : end;
    } else {
        host_end = memchr(text, ':', len);
        host_end = host_end != NULL ? host_end : end;
        port = host_end;
    }

    if (host_end == NULL || host_end == host
        || (size_t) (host_end - host) > HOST_MAX
        || (port != end && *port != ':')
        || (size_t) (end - port) > sizeof(url->port))
    {
        return false;
    }

    memcpy(url->host, host, (size_t) (host_end - host));
    url->host[host_end - host] = '\0';
    (void) snprintf(url->port, sizeof(url->port), "%.*s",
                    port != end ? (int) (end - port - 1) : 2,
                    port != end ? port + 1 : "80");
    return true;
}


static bool
read_url(const char *text, url_t *url)
{
    static const char scheme[] = "http://";
    size_t len;

    if (strncmp(text, scheme, sizeof(scheme) - 1) != 0) {
        return false;
    }

    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char) *c <= ' ' || *c == 0x7f) {
            return false; /* such a byte would end the request line */
        }
    }

    url->authority = text + sizeof(scheme) - 1;
    len = strcspn(url->authority, "/");
    url->authority_len = (int) len;
    url->path = url->authority + len;
    return read_authority(url->authority, len, url);
}


static int
connect_to(const url_t *url, const char **why)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    const struct timeval wait = { .tv_sec = WAIT_S };
    struct addrinfo *list, *a;
    int fd = -1, rc = getaddrinfo(url->host, url->port, &hints, &list);

    if (rc != 0) {
        *why = gai_strerror(rc);
        return -1;
    }

    for (a = list; a != NULL && fd < 0; a = a->ai_next) {
        fd =
            socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);

        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            *why = strerror(errno);
            close(fd);
            fd = -1;
        }
    }

    freeaddrinfo(list);
    if (fd >= 0) {
        (void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
        (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    }

    return fd;
}


static bool
send_all(int fd, sym_str_t text)
{
    while (text.len != 0) {
        ssize_t n = send(fd, text.data, text.len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR) {
            continue;
        }

        if (n <= 0) {
            return false;
        }
        text = sym_str(text.data + n, text.len - (size_t) n);
    }

    return true;
}


/* Reads to the end of the connection; NULL: *why has the reason. */
static char *
receive_all(int fd, size_t *len, const char **why)
{
    size_t size = 65536;
    char *data = malloc(size);

    for (*len = 0; data != NULL;) {
        ssize_t n = recv(fd, data + *len, size - *len, 0);
        char *grown;

        if (n < 0 && errno == EINTR) {
            continue;
        }

        if (n == 0) {
            return data;
        }

        if (n < 0) {
            *why = strerror(errno);
            break;
        }

        *len += (size_t) n;
        if (*len < size) {
            continue;
        }

        if (size >= ANSWER_MAX) {
            *why = "the answer is too large";
            break;
        }

        size *= 2;
        grown = realloc(data, size);
        if (grown == NULL) {
            break;
        }
        data = grown;
    }

    *why = *why != NULL ? *why : "out of memory";
    free(data);
    return NULL;
}


/* The response is "HTTP/1.1 200 OK", headers, an empty line, the body.  Reads it
 * up to the body; *length: Content-Length, or UINT64_MAX.  Returns the size of
 * that part; 0: it is not complete, or is not HTTP. */
static size_t
read_head(post_answer_t *answer, char *data, size_t len, uint64_t *length)
{
    const char *end = memmem(data, len, "\r\n\r\n", 4);
    char *at = data;

    if (end == NULL || len < 12 || memcmp(at, "HTTP/1.", 7) != 0) {
        return 0;
    }

    data[end - data + 3] = '\0'; /* overwrites a part of the empty line */
    answer->status = (unsigned) strtoul(at + 9, NULL, 10);
    *length = UINT64_MAX;

    for (at = strstr(at, "\r\n"); at != NULL; at = strstr(at + 2, "\r\n")) {
        if (strncasecmp(at + 2, "content-length:", 15) == 0) {
            *length = strtoul(at + 17, NULL, 10);
        } else if (strncasecmp(at + 2, "retry-after:", 12) == 0) {
            answer->retry_after_s = (unsigned) strtoul(at + 14, NULL, 10);
        }
    }

    return answer->status != 0 ? (size_t) (end + 4 - data) : 0;
}


/* If the body is shorter than Content-Length, the connection was cut. */
static bool
read_answer(post_answer_t *answer, size_t len)
{
    uint64_t length;
    size_t head = read_head(answer, answer->data, len, &length);

    answer->body = sym_str(answer->data + head, len - head);
    if (head != 0 && length != UINT64_MAX) {
        if (length > answer->body.len) {
            return false;
        }
        answer->body.len = (size_t) length;
    }

    return head != 0;
}


static bool
send_file(int fd, const post_file_t *file)
{
    char window[65536];

    for (uint64_t at = 0; at < file->length;) {
        uint64_t left = file->length - at;
        ssize_t n =
            pread(file->fd, window,
                  left < sizeof(window) ? (size_t) left : sizeof(window),
                  (off_t) (file->offset + at));

        if (n <= 0 || !send_all(fd, sym_str(window, (size_t) n))) {
            return false;
        }
        at += (uint64_t) n;
    }

    return true;
}


const char *
post_file(const char *text, const char *headers, const post_file_t *file,
          post_answer_t *answer)
{
    const char *why = NULL;
    char head[HEAD_MAX];
    url_t url = { 0 };
    size_t len = 0;
    int fd, n;

    *answer = (post_answer_t){ 0 };
    if (!read_url(text, &url)) {
        return "not http://HOST[:PORT][/PATH]";
    }

    n = snprintf(head, sizeof(head),
                 "POST %s HTTP/1.0\r\nHost: %.*s\r\n%s"
                 "Content-Length: %" PRIu64 "\r\n\r\n",
                 url.path[0] != '\0' ? url.path : "/", url.authority_len,
                 url.authority, headers, file->head.len + file->length);
    if (n < 0 || (size_t) n >= sizeof(head)) {
        return "the URL is too long";
    }

    fd = connect_to(&url, &why);
    if (fd >= 0) {
        /* a server that refuses the request may answer before it has read
         * everything */
        if (send_all(fd, sym_str(head, (size_t) n)) && send_all(fd, file->head))
        {
            (void) send_file(fd, file);
        }
        answer->data = receive_all(fd, &len, &why);
        close(fd);
    }

    if (answer->data != NULL && !read_answer(answer, len)) {
        free(answer->data);
        *answer = (post_answer_t){ 0 };
        return NOT_HTTP;
    }

    return answer->data != NULL ? NULL : why != NULL ? why : "cannot connect";
}


/* --- GET --- */

/* The time that is left for one answer. */
typedef struct {
    int fd;
    int64_t left_ms;
} wait_t;

/* Waits for bytes and receives them.  0: the end; -1: *why has the reason. */
static ssize_t
receive(wait_t *w, char *to, size_t size, const char **why)
{
    struct pollfd p = { .fd = w->fd, .events = POLLIN };
    const int64_t begun = now_ms();
    ssize_t n = -1;
    int rc;

    do {
        rc = poll(&p, 1,
                  (int) (w->left_ms < INT32_MAX ? w->left_ms : INT32_MAX));
    } while (rc < 0 && errno == EINTR);

    w->left_ms -= now_ms() - begun;
    if (rc == 0 || w->left_ms <= 0) {
        *why = "the download takes too long (--fetch-timeout)";
        return -1;
    }

    do {
        n = recv(w->fd, to, size, 0);
    } while (n < 0 && errno == EINTR);

    *why = n < 0 ? strerror(errno) : NULL;
    return n;
}


/* Passes on what has come of the body; *length counts what is missing.  False:
 * the sink wants no more. */
static bool
pass(const post_sink_t *sink, const char *data, size_t len, uint64_t *length)
{
    const size_t n = len < *length ? len : (size_t) *length;

    *length -= *length != UINT64_MAX ? n : 0;
    return n == 0 || sink->take(sink->ctx, data, n);
}


/* Receives an answer; returns NULL, or why none came. */
static const char *
receive_body(wait_t *w, const post_sink_t *sink, post_answer_t *answer)
{
    char data[ANSWER_HEAD_MAX];
    const char *why = NULL;
    size_t len = 0, head = 0;
    uint64_t length;
    ssize_t n;

    while (head == 0) {
        n = len < sizeof(data)
                ? receive(w, data + len, sizeof(data) - len, &why)
                : 0;
        if (n <= 0) {
            return why != NULL ? why : NOT_HTTP;
        }
        len += (size_t) n;
        head = read_head(answer, data, len, &length);
    }

    if (answer->status != 200) {
        return NULL;
    }

    if (!pass(sink, data + head, len - head, &length)) {
        return NULL;
    }

    while (length != 0) {
        n = receive(w, data, sizeof(data), &why);
        if (n < 0) {
            return why;
        }
        if (n == 0) {
            return length != UINT64_MAX ? NOT_HTTP : NULL;
        }
        if (!pass(sink, data, (size_t) n, &length)) {
            return NULL;
        }
    }

    return NULL;
}


const char *
post_get(const char *text, const post_sink_t *sink, post_answer_t *answer)
{
    const char *why = NULL;
    char head[URL_MAX + HOST_MAX];
    url_t url = { 0 };
    wait_t w;
    int n;

    *answer = (post_answer_t){ 0 };
    if (!read_url(text, &url)) {
        return "not http://HOST[:PORT][/PATH]";
    }

    n = snprintf(head, sizeof(head), "GET %s HTTP/1.0\r\nHost: %.*s\r\n\r\n",
                 url.path[0] != '\0' ? url.path : "/", url.authority_len,
                 url.authority);
    if (n < 0 || (size_t) n >= sizeof(head)) {
        return "the URL is too long";
    }

    w = (wait_t){ connect_to(&url, &why), (int64_t) sink->wait_s * 1000 };
    if (w.fd < 0) {
        return why != NULL ? why : "cannot connect";
    }

    (void) send_all(w.fd, sym_str(head, (size_t) n));
    why = receive_body(&w, sink, answer);
    close(w.fd);
    if (why != NULL) {
        *answer = (post_answer_t){ .is_late = w.left_ms <= 0 };
    }

    return why;
}


/* --- helpers of commands --- */

bool
post_is_trouble(const post_answer_t *answer)
{
    return answer->status == 0 || answer->status == 429
           || answer->status >= 500;
}


bool
post_again(post_answer_t *answer, unsigned tries)
{
    unsigned seconds =
        answer->retry_after_s != 0 ? answer->retry_after_s : 1u << tries;
    struct timespec left = {
        .tv_sec = (time_t) (seconds < PAUSE_MAX_S ? seconds : PAUSE_MAX_S)
    };

    if (!post_is_trouble(answer) || answer->is_late || tries + 1 == TRIES) {
        return false;
    }

    free(answer->data);
    answer->data = NULL;
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }

    return true;
}


bool
post_key(const char **key)
{
    *key = getenv(POST_KEY);

    for (const char *c = *key; c != NULL && *c != '\0'; c++) {
        if ((unsigned char) *c <= ' ' || *c == 0x7f || c - *key == KEY_MAX) {
            complain_about(POST_KEY,
                           "the API key is too long, or has a blank or another "
                           "character that no key has");
            *key = NULL;
            return false;
        }
    }

    if (*key != NULL && (*key)[0] == '\0') {
        *key = NULL;
    }

    return true;
}


bool
post_json(const char *text, sym_str_t body, post_answer_t *answer)
{
    const post_file_t file = { .head = body, .fd = -1 };
    const char *why =
        post_file(text, "Content-Type: application/json\r\n", &file, answer);

    if (why != NULL) {
        complain_about(text, "%s", why);
    }

    return why == NULL;
}


void
post_complain(const char *url, const post_answer_t *answer)
{
    complain_about(url, "status %u: %.*s", answer->status,
                   answer->body.len < 512 ? (int) answer->body.len : 512,
                   answer->body.data);
}


int
post_beside(const char *server, const char *name, char *request,
            post_answer_t *answer)
{
    const char *host = strstr(server, "://");
    const char *slash = host != NULL ? strrchr(host + 3, '/') : NULL;
    size_t len = slash != NULL ? (size_t) (slash - server) : strlen(server);
    char url[URL_MAX];
    int n = snprintf(url, sizeof(url), "%.*s/%s", (int) len, server, name);
    int code = EXIT_STORE;

    *answer = (post_answer_t){ 0 };
    if (request == NULL || n < 0 || n >= URL_MAX) {
        complain_about(server, request == NULL ? "out of memory"
                                               : "the URL is too long");
    } else if (post_json(url, sym_cstr(request), answer)) {
        code = answer->status == 200 ? EXIT_FINE : EXIT_PARTLY;
        if (code != EXIT_FINE) {
            post_complain(url, answer);
        }
    }

    free(request);
    return code;
}
