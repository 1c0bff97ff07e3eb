/*
 * profile.c - `symloader profile`: a profile of pprof or OTLP gets the functions,
 * files and lines of its addresses, without a server.
 *
 * The API's own code reads it: it only copies and skips, so no sandbox is needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "api/registry.h"
#include "cli/commands.h"
#include "cli/local_answer.h"
#include "cli/outfile.h"
#include "object/file_id.h"

#define READ_FIRST ((size_t) 1 << 20)

/* Most bytes of an unpacked profile. */
#define PROFILE_MAX ((size_t) 1 << 30)

/* The speed of compression: profiles of Go's runtime have the fastest, too. */
#define WRITE_MODE "wb1"

typedef struct {
    const char *path; /* path of the answer */
    sym_str_t body;
    sym_request_t *request;
    gzFile out;
} profile_file_t;

/* --- reading --- */

/* "-": standard input. */
static gzFile
open_input(const char *path)
{
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
                                    : open(path, O_RDONLY | O_CLOEXEC);
    gzFile in = fd >= 0 ? gzdopen(fd, "rb") : NULL;

    if (in == NULL && fd >= 0) {
        close(fd);
        errno = ENOMEM;
    }

    return in;
}


/* NULL, or why not all could be read. */
static const char *
read_all(gzFile in, char **data, size_t *len)
{
    size_t size = 0;
    int n = 1, code;

    while (n > 0) {
        if (*len == size) {
            char *grown;

            size = size == 0 ? READ_FIRST : 2 * size;
            if (size > PROFILE_MAX) {
                return "it is larger than 1 GiB when unpacked";
            }

            grown = realloc(*data, size);
            if (grown == NULL) {
                return "out of memory";
            }
            *data = grown;
        }

        n = gzread(in, *data + *len, (unsigned) (size - *len));
        *len += n > 0 ? (size_t) n : 0;
    }

    (void) gzerror(in, &code);
    return code == Z_OK          ? NULL
           : code == Z_ERRNO     ? strerror(errno)
           : code == Z_BUF_ERROR ? "it is truncated"
                                 : "it is not valid gzip";
}


/* Unpacked; NULL: the reason is on stderr. */
static char *
read_profile(const char *path, size_t *len)
{
    gzFile in = open_input(path);
    const char *why = in == NULL ? strerror(errno) : NULL;
    char *data = NULL;

    if (in != NULL) {
        why = read_all(in, &data, len);
        (void) gzclose_r(in);
    }

    if (why != NULL) {
        complain_about(path, "%s", why);
        free(data);
        return NULL;
    }

    return data;
}


/* --- the request --- */

static sym_str_t
no_header(void *ctx, const char *name)
{
    (void) ctx;
    (void) name;
    return sym_str(NULL, 0);
}


static sym_request_t *
create(void *ctx, sym_arena_t *arena, const sym_request_options_t *options)
{
    profile_file_t *p = ctx;
    const sym_api_t *api = sym_api_find(SYM_STR("profile"));
    const sym_api_call_t call = { .route = &api->routes[0],
                                  .body = p->body,
                                  .header = no_header };

    p->request = sym_api_create(api, arena, options, &call);
    return p->request;
}


/* A module of OTLP may have only a FileID, which is in its debug id. */
static void
complain_about_module(const sym_object_ref_t *ref)
{
    const sym_str_t name = sym_object_ref_name(ref);
    char file_id[SYM_FILE_ID_HEX];
    sym_str_t id = sym_str(ref->code_id.text, ref->code_id.len);

    if (id.len == 0) {
        sym_file_id_hex(ref->debug_id.signature, file_id);
        id = sym_str(file_id, sizeof(file_id));
    }

    complain_about("no symbols", "%.*s, %s %.*s", (int) name.len, name.data,
                   ref->code_id.len != 0 ? "build id" : "FileID", (int) id.len,
                   id.data);
}


/* Names the modules without symbols. */
static int
report(sym_request_t *r)
{
    int code = EXIT_FINE;
    uint32_t n;
    const sym_need_t *modules = sym_request_modules(r, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (modules[i].found != SYM_NEED_FOUND
            && modules[i].found != SYM_NEED_UNUSED) {
            complain_about_module(modules[i].ref);
            code = EXIT_PARTLY;
        }
    }

    return code;
}


static int
print(void *ctx, const sym_request_t *r, sym_str_t answer, bool is_last,
      size_t *taken)
{
    profile_file_t *p = ctx;

    (void) r;
    (void) taken; /* all */
    while (answer.len != 0) {
        const unsigned most = 1u << 30;
        const unsigned len = answer.len < most ? (unsigned) answer.len : most;

        if (gzwrite(p->out, answer.data, len) != (int) len) {
            complain_about(p->path, "%s", strerror(errno));
            return EXIT_OUTPUT;
        }
        answer = sym_str(answer.data + len, answer.len - len);
    }

    return is_last ? report(p->request) : EXIT_FINE;
}


/* --- the answer --- */

static int
answer_into(const options_t *o, profile_file_t *p, int fd)
{
    const local_request_t here = {
        .create = create, .print = print, .ctx = p, .is_streamed = true
    };
    int copy = dup(fd), code;

    p->out = copy >= 0 ? gzdopen(copy, WRITE_MODE) : NULL;
    if (p->out == NULL) {
        complain_about(p->path, "out of memory");
        if (copy >= 0) {
            close(copy);
        }
        return EXIT_OUTPUT;
    }

    code = local_answer(o, &here);
    if (gzclose_w(p->out) != Z_OK && code != EXIT_OUTPUT) {
        complain_about(p->path, "%s", strerror(errno));
        code = EXIT_OUTPUT;
    }

    return code;
}


static int
answer(const options_t *o, profile_file_t *p)
{
    sym_error_t err = { 0 };
    char why[256];
    int fd = outfile_open(p->path, &err), code = EXIT_OUTPUT;

    if (fd >= 0) {
        code = answer_into(o, p, fd);
        if (code != EXIT_FINE && code != EXIT_PARTLY) {
            outfile_drop(fd);
            return code;
        }
        (void) outfile_keep(fd, p->path, &err);
    }

    if (err.status != SYM_OK) {
        complain_about(p->path, "%s", sym_error_text(&err, why, sizeof(why)));
        code = EXIT_OUTPUT;
    }

    return code;
}


int
profile_run(const options_t *o)
{
    profile_file_t p = { .path = o->operands[1] };
    size_t len = 0;
    char *data = read_profile(o->operands[0], &len);
    int code;

    if (data == NULL) {
        return EXIT_USAGE;
    }

    p.body = sym_str(data, len);
    code = answer(o, &p);
    free(data);
    return code;
}
