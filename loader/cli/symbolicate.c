/*
 * symbolicate.c - `symloader symbolicate`: answers one event, or one request of
 * Sentry's native API, locally or by a server.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/registry.h"
#include "cli/commands.h"
#include "cli/event.h"
#include "cli/js_stack.h"
#include "cli/jvm_stack.h"
#include "cli/local_answer.h"
#include "cli/post.h"
#include "cli/stack_text.h"
#include "json/load.h"

#define READ_FIRST ((size_t) 1 << 16)

/* --- the event --- */

/* Reads the file, or standard input; NULL: the reason was printed to stderr. */
static char *
read_file(const char *path, size_t *len)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    size_t size = READ_FIRST;
    char *data = malloc(size);
    ssize_t n = -1;

    *len = 0;
    while (fd >= 0 && data != NULL
           && (n = read(fd, data + *len, size - *len)) != 0) {
        if (n < 0 && errno != EINTR) {
            break;
        }

        *len += n > 0 ? (size_t) n : 0;
        if (*len == size) {
            char *grown = size > SYM_JSON_CONVERTER_BYTES_MAX
                              ? NULL
                              : realloc(data, size * 2);

            if (grown == NULL) {
                errno = size > SYM_JSON_CONVERTER_BYTES_MAX ? EFBIG : ENOMEM;
                n = -1;
                break;
            }
            data = grown;
            size *= 2;
        }
    }

    if (n != 0) {
        complain_about(path, "%s", strerror(errno));
        free(data);
        data = NULL;
    }

    if (fd >= 0 && !is_stdin) {
        close(fd);
    }

    return data;
}


static bool
is_json(const options_t *o)
{
    return o->format != NULL && strcmp(o->format, "json") == 0;
}


/* --- output --- */

static bool
is_any_without_symbols(const json_t *answer)
{
    const json_t *module;
    size_t i;

    json_array_foreach(json_object_get(answer, "modules"), i, module)
    {
        if (stack_text_lacks_symbols(module)) {
            return true;
        }
    }

    return false;
}


static int
write_json(const char *bytes, size_t len, void *ctx)
{
    sym_out_raw(&((output_t *) ctx)->json, sym_str(bytes, len));
    return 0;
}


/* Returns the result itself, without the server's data about the job. */
static void
print_json(json_t *answer, output_t *out)
{
    const char *key, *before = "{";
    json_t *value;

    json_object_foreach(answer, key, value)
    {
        if (strcmp(key, "status") != 0) {
            output_printf(out, "%s\"%s\":", before, key);
            (void) json_dump_callback(value, write_json, out,
                                      JSON_COMPACT | JSON_ENCODE_ANY
                                          | JSON_ENSURE_ASCII);
            before = ",";
        }
    }

    output_printf(out, "%s}\n", before[0] == '{' ? before : "");
}


static int
print_answer(const options_t *o, sym_str_t text)
{
    sym_error_t err = { 0 };
    char why[256];
    sym_json_t json = { 0 };
    const char *status;
    output_t *out;
    int code;

    if (sym_json_load(&json, text, SYM_JSON_CONVERTER_MAX, 0,
                      "the answer is not JSON", &err)
        != SYM_OK)
    {
        complain_about(o->operands[0], "%s",
                       sym_error_text(&err, why, sizeof(why)));
        sym_json_drop(&json);
        return EXIT_STORE;
    }

    status = json_string_value(json_object_get(json.root, "status"));
    if (status == NULL || strcmp(status, "completed") != 0) {
        complain_about(o->operands[0], "the server says: %.*s",
                       text.len < 512 ? (int) text.len : 512, text.data);
        sym_json_drop(&json);
        return EXIT_PARTLY;
    }

    out = output_create();
    code = is_any_without_symbols(json.root) ? EXIT_PARTLY : EXIT_FINE;

    if (out != NULL) {
        if (is_json(o)) {
            print_json(json.root, out);
        } else {
            stack_text_print(json.root, out);
        }
    }

    sym_json_drop(&json);
    return out == NULL ? EXIT_OUTPUT : output_end(out, code);
}


/* --- both ways --- */

static int
ask_server(const options_t *o, sym_str_t request)
{
    post_answer_t answer;
    int code = EXIT_PARTLY;

    if (!post_json(o->server, request, &answer)) {
        return EXIT_STORE;
    }

    if (answer.status == 200) {
        code = print_answer(o, answer.body);
    } else {
        post_complain(o->server, &answer);
    }

    free(answer.data);
    return code;
}


/* Answers a request in this process. */
typedef struct {
    const options_t *options;
    sym_str_t body;
} asked_t;


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
    const asked_t *asked = ctx;
    const sym_api_t *api = sym_api_find(SYM_STR("sentry"));
    const sym_api_call_t call = { .route = &api->routes[0],
                                  .body = asked->body,
                                  .header = no_header };

    return sym_api_create(api, arena, options, &call);
}


static int
print_local(void *ctx, const sym_request_t *r, sym_str_t answer, bool is_last,
            size_t *taken)
{
    const asked_t *asked = ctx;

    (void) r;
    (void) is_last; /* it is */
    (void) taken;
    return print_answer(asked->options, answer);
}


int
symbolicate_run(const options_t *o)
{
    size_t len = 0, request_len = 0;
    char *text, *request, why[256];
    asked_t asked;
    const local_request_t here = { .create = create,
                                   .print = print_local,
                                   .ctx = &asked };
    sym_error_t err = { 0 };
    int code;

    if (o->format != NULL && !is_json(o) && strcmp(o->format, "text") != 0) {
        complain_about("--format", "a stack is printed as json or text");
        return EXIT_USAGE;
    }

    text = read_file(o->operands[0], &len);
    if (text == NULL) {
        return EXIT_PARTLY;
    }

    if (js_stack_is(sym_str(text, len))) {
        code = js_stack_run(o, sym_str(text, len));
        free(text);
        return code;
    }

    if (jvm_stack_is(sym_str(text, len))) {
        code = jvm_stack_run(o, sym_str(text, len));
        free(text);
        return code;
    }

    request = event_request(sym_str(text, len), o->server == NULL, &request_len,
                            &err);
    free(text);

    if (request == NULL) {
        complain_about(o->operands[0], "%s",
                       sym_error_text(&err, why, sizeof(why)));
        return EXIT_USAGE;
    }

    asked = (asked_t){ o, sym_str(request, request_len) };
    code =
        o->server != NULL ? ask_server(o, asked.body) : local_answer(o, &here);
    free(request);
    return code;
}
