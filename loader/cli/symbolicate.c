/*
 * symbolicate.c - `symloader symbolicate`: one event, or one request of Sentry's
 * native API, answered without a server, or by one.
 *
 * Without a server the same code answers as in nginx, out of a store.  With
 * --symbols that is a temporary store, into which `symloader load` compiles the
 * files that the answer needs.  It runs in a child process, so that no files
 * remain if it dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/registry.h"
#include "cli/commands.h"
#include "cli/event.h"
#include "cli/js_stack.h"
#include "cli/post.h"
#include "cli/stack_text.h"
#include "common/interrupt.h"
#include "json/load.h"
#include "sources/paths/plan.h"

#define READ_FIRST ((size_t) 1 << 16)

/* Limit on the rounds in which an answer requests further artifacts. */
#define ROUNDS_MAX 8

/* Files that a module may have, of all its kinds. */
#define FILES_MAX 64

typedef struct {
    const options_t *options;
    sym_source_rules_t rules;
    const char *folder;    /* NULL: no folder, the store has everything */
    char *temporary;       /* the folder of the temporary store */
    sigset_t waiting_mask; /* signal mask before signals were caught */
    options_t store;       /* options with its path */

    sym_arena_t arena; /* of the request */
    sym_request_t *request;
    sym_names_t *names;
    output_t *answer; /* never written: its contents are printed later */
    sym_status_t status;
} symbolicate_t;


static double
now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}


/* --- the event --- */

/* Reads the file, or standard input; NULL: the reason is on stderr. */
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


/* --- a temporary store --- */

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void) st;
    (void) type;
    (void) ftw;
    return remove(path);
}


static void
remove_store(symbolicate_t *s)
{
    if (s->temporary != NULL) {
        (void) nftw(s->temporary, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        free(s->temporary);
        s->temporary = NULL;
    }
}


static int
make_store(symbolicate_t *s)
{
    const char *above = getenv("TMPDIR");

    above = above != NULL && above[0] != '\0' ? above : "/tmp";
    if (asprintf(&s->temporary, "%s/symloader-XXXXXX", above) < 0) {
        s->temporary = NULL;
        complain_about("symbolicate", "out of memory");
        return EXIT_STORE;
    }

    if (mkdtemp(s->temporary) == NULL) {
        complain_about(s->temporary, "%s", strerror(errno));
        free(s->temporary);
        s->temporary = NULL;
        return EXIT_STORE;
    }

    s->store.store = s->temporary;
    s->store.quiet = true;
    s->store.is_search = true;
    return init_run(&s->store);
}


/* Compiles the files into the store, in a child.  A signal that ends it also
 * arrives here, so that the store can be removed. */
static void
load(symbolicate_t *s, char **files, int n)
{
    int status = 0, signal_number;
    pid_t child;

    fflush(stdout);
    child = fork();

    if (child == 0) {
        (void) sigprocmask(SIG_SETMASK, &s->waiting_mask, NULL);
        s->store.operands = files;
        s->store.n_operands = n;
        _exit(load_run(&s->store));
    }

    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }

    signal_number = child > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal_number == SIGINT || signal_number == SIGTERM
        || signal_number == SIGHUP)
    {
        (void) raise(signal_number);
    }
}


/* --- needed files, from a folder --- */

static bool
has_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}


static bool
is_json(const options_t *o)
{
    return o->format != NULL && strcmp(o->format, "json") == 0;
}


/* Adds the existing files of a need. */
static void
find_files(const symbolicate_t *s, const sym_need_t *need, char **files,
           int *n_files)
{
    sym_source_plan_t plan;
    sym_arena_t arena;

    sym_arena_init(&arena, 0);
    if (sym_source_plan(&arena, need->ref, &s->rules,
                        sym_kind_files(need->kind, need->ref->type)
                            & ~need->without,
                        SYM_CODE_FILES_FIRST, &plan)
        != SYM_OK)
    {
        plan.n = 0;
    }

    for (unsigned i = 0; i < plan.n && *n_files < FILES_MAX; i++) {
        char *path;

        if (asprintf(&path, "%s/%.*s", s->folder, (int) plan.at[i].path.len,
                     plan.at[i].path.data)
            < 0)
        {
            continue;
        }

        if (has_file(path)) {
            files[(*n_files)++] = path;
        } else {
            free(path);
        }
    }

    sym_arena_drop(&arena);
}


static void
settle_needs(symbolicate_t *s)
{
    char *files[FILES_MAX];
    uint32_t n_needs;
    sym_need_t *needs = sym_request_needs(s->request, &n_needs);

    for (uint32_t i = 0; i < n_needs; i++) {
        int n = 0;

        if (needs[i].is_settled || needs[i].found == SYM_NEED_FOUND) {
            continue;
        }

        needs[i].is_settled = true;
        if (s->folder != NULL) {
            find_files(s, &needs[i], files, &n);
        }

        if (n != 0) {
            load(s, files, n);
            sym_request_fetched(s->request, i);
        }

        while (n > 0) {
            free(files[--n]);
        }
    }
}


/* --- the answer --- */

static int
answer_once(session_t *session)
{
    symbolicate_t *s = session->ctx;
    sym_view_t view = { .store = session->store,
                        .now_s = (uint32_t) time(NULL) };
    sym_error_t err = { 0 };

    s->status = sym_snapshot_begin(view.store, &view.snapshot, &err);
    if (s->status != SYM_OK) {
        return store_failure(session->options, &err);
    }

    do {
        s->status =
            sym_request_answer(s->request, &view, &s->answer->json, UINT32_MAX);
        s->answer->json.is_full = false;
    } while (s->status == SYM_AGAIN);

    sym_snapshot_end(view.snapshot);
    return EXIT_FINE;
}


static int
answer(symbolicate_t *s)
{
    int code = EXIT_FINE;

    for (int round = 0; round < ROUNDS_MAX; round++) {
        code = session_read(&s->store, answer_once, s);

        if (code != EXIT_FINE || s->status != SYM_NOT_FOUND) {
            break;
        }

        settle_needs(s);
        if (interrupt_signal() != 0) {
            return EXIT_STORE;
        }
        sym_request_reopen(s->request);
    }

    if (code == EXIT_FINE && s->status != SYM_OK) {
        complain_about(s->options->operands[0], "no answer: %s",
                       sym_status_name(s->status));
        return EXIT_STORE;
    }

    return code;
}


static sym_str_t
no_header(void *ctx, const char *name)
{
    (void) ctx;
    (void) name;
    return sym_str(NULL, 0);
}


static int
answer_request(symbolicate_t *s, sym_str_t text)
{
    const sym_request_options_t options = { .tells_missing = true,
                                            .now_s = now_s,
                                            .names = s->names };
    const sym_api_t *api = sym_api_find(SYM_STR("sentry"));
    const sym_api_call_t call = { .route = &api->routes[0],
                                  .body = text,
                                  .header = no_header };
    sym_status_t rc;
    sym_str_t why;

    s->request = sym_api_create(api, &s->arena, &options, &call);
    if (s->request == NULL) {
        complain_about("symbolicate", "out of memory");
        return EXIT_STORE;
    }

    do {
        rc = sym_request_parse(s->request, UINT32_MAX);
    } while (rc == SYM_AGAIN);

    if (rc != SYM_OK) {
        why = sym_request_message(s->request);
        complain_about(s->options->operands[0], "%.*s", (int) why.len,
                       why.data);
        return rc == SYM_NOMEM ? EXIT_STORE : EXIT_USAGE;
    }

    return answer(s);
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


/* The result itself, without the server's data about the job. */
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
                      "the answer is no JSON", &err)
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
        complain_about(o->server, "status %u: %.*s", answer.status,
                       answer.body.len < 512 ? (int) answer.body.len : 512,
                       answer.body.data);
    }

    free(answer.data);
    return code;
}


/* [LAYOUT:]PATH; a path that has a colon begins with "./". */
static bool
read_symbols(symbolicate_t *s, const char *text)
{
    const char *colon = strchr(text, ':');

    s->rules.layout = SYM_LAYOUT_UNIFIED;
    s->rules.files = ~0U;
    s->folder = text;

    if (colon != NULL && memchr(text, '/', (size_t) (colon - text)) == NULL) {
        if (!sym_layout_find(sym_str(text, (size_t) (colon - text)),
                             &s->rules.layout)) {
            complain_about(text, "there is no such layout");
            return false;
        }
        s->folder = colon + 1;
    }

    if (access(s->folder, X_OK) != 0) {
        complain_about(s->folder, "%s", strerror(errno));
        return false;
    }

    return true;
}


static int
ask_here(const options_t *o, sym_str_t request)
{
    symbolicate_t s = { .options = o, .store = *o };
    int code = EXIT_FINE;

    if (o->symbols != NULL) {
        if (!read_symbols(&s, o->symbols)) {
            return EXIT_USAGE;
        }
        interrupt_catch(&s.waiting_mask);
        code = make_store(&s);
    } else if (!options_need_store(o)) {
        return EXIT_USAGE;
    }

    sym_arena_init(&s.arena, 0);
    s.names = sym_names_create(NAMES_BYTES);
    s.answer = output_create();

    if (code == EXIT_FINE && (s.names == NULL || s.answer == NULL)) {
        complain_about("symbolicate", "out of memory");
        code = EXIT_STORE;
    }

    code = code != EXIT_FINE ? code : answer_request(&s, request);
    remove_store(&s);

    if (o->symbols != NULL && interrupt_signal() != 0) {
        interrupt_die();
    }

    if (code == EXIT_FINE) {
        code =
            print_answer(o, sym_str(s.answer->buffer, output_length(s.answer)));
    }

    if (s.answer != NULL) {
        output_cut(s.answer, 0);
        (void) output_end(s.answer, code);
    }
    sym_names_free(s.names);
    sym_arena_drop(&s.arena);
    return code;
}


int
symbolicate_run(const options_t *o)
{
    size_t len = 0, request_len = 0;
    char *text, *request, why[256];
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

    request = event_request(sym_str(text, len), o->server == NULL, &request_len,
                            &err);
    free(text);

    if (request == NULL) {
        complain_about(o->operands[0], "%s",
                       sym_error_text(&err, why, sizeof(why)));
        return EXIT_USAGE;
    }

    code = o->server != NULL ? ask_server(o, sym_str(request, request_len))
                             : ask_here(o, sym_str(request, request_len));
    free(request);
    return code;
}
