#include "cli/local_answer.h"

#include <errno.h>
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

#include "cli/commands.h"
#include "common/interrupt.h"
#include "sources/paths/plan.h"

/* Maximum number of rounds in which an answer requests further artifacts. */
#define ROUNDS_MAX 64

/* Maximum number of files of a module, for all kinds together. */
#define FILES_MAX 64

/* Number of frames of an answer that are printed together. */
#define PART_FRAMES 1024

typedef struct {
    const options_t *options;
    const local_request_t *how;
    const char *command; /* name of the command, for messages */
    sym_source_rules_t rules;
    const char *folder;    /* NULL: no folder; all files are in the store */
    char *temporary;       /* path of the temporary store */
    sigset_t waiting_mask; /* signal mask from before signals were caught */
    options_t store;       /* options with the path of the store */

    sym_arena_t arena; /* memory of the request */
    sym_request_t *request;
    sym_names_t *names;
    output_t *answer; /* only collected, then printed from memory */
    sym_status_t status;
    int printed; /* exit code of printing */
} local_t;


static double
now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
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
remove_store(local_t *s)
{
    if (s->temporary != NULL) {
        (void) nftw(s->temporary, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        free(s->temporary);
        s->temporary = NULL;
    }
}


static int
make_store(local_t *s)
{
    const char *above = getenv("TMPDIR");

    above = above != NULL && above[0] != '\0' ? above : "/tmp";
    if (asprintf(&s->temporary, "%s/symloader-XXXXXX", above) < 0) {
        s->temporary = NULL;
        complain_about(s->command, "out of memory");
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
    s->store.kinds = s->how->has_walks ? ~0U : 0;
    return init_run(&s->store);
}


/* Compiles the files into the store, in a child process.  A signal that ends
 * the child also reaches this process, so that it can remove the store. */
static void
load(local_t *s, char **files, int n)
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


/* --- files that are needed, from a folder --- */

static bool
has_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}


/* All files are loaded together: rules and symbols of a module come from the
 * same files, and for some kinds of symbols the first one loaded wins. */
static unsigned
files_of(const sym_need_t *need)
{
    unsigned files = sym_kind_files(need->kind, need->ref->type);

    if (need->kind == SYM_KIND_CFI) {
        files |= sym_kind_files(SYM_KIND_SYMCACHE, need->ref->type);
    }

    return files & ~need->without;
}


/* Adds the files of a need that exist. */
static void
find_files(const local_t *s, const sym_need_t *need, char **files, int *n_files)
{
    sym_source_plan_t plan;
    sym_arena_t arena;

    sym_arena_init(&arena, 0);
    if (sym_source_plan(&arena, need->ref, &s->rules, files_of(need),
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
settle_needs(local_t *s)
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

/* Prints the collected output, and drops the part that was consumed. */
static void
print(local_t *s, bool is_last)
{
    size_t length = output_length(s->answer), taken = length;

    s->printed =
        s->how->print(s->how->ctx, s->request,
                      sym_str(s->answer->buffer, length), is_last, &taken);
    memmove(s->answer->buffer, s->answer->buffer + taken, length - taken);
    output_cut(s->answer, length - taken);
}


/* Continues in another snapshot, because the reader of the output may be
 * slow. */
static sym_status_t
print_part(local_t *s, sym_store_t *store, sym_view_t *view)
{
    sym_error_t err = { 0 };

    sym_snapshot_end(view->snapshot);
    view->snapshot = NULL;
    print(s, false);
    if (s->printed != EXIT_FINE) {
        return SYM_IO;
    }

    if (sym_snapshot_begin(store, &view->snapshot, &err) != SYM_OK) {
        view->snapshot = NULL;
        return err.status;
    }

    return sym_request_resume(s->request, view) ? SYM_AGAIN : SYM_TRUNCATED;
}


static int
answer_once(session_t *session)
{
    local_t *s = session->ctx;
    sym_view_t view = { .now_s = (uint32_t) time(NULL) };
    sym_error_t err = { 0 };

    s->status = sym_snapshot_begin(session->store, &view.snapshot, &err);
    if (s->status != SYM_OK) {
        return store_failure(session->options, &err);
    }

    do {
        s->status =
            sym_request_answer(s->request, &view, &s->answer->json,
                               s->how->is_streamed ? PART_FRAMES : UINT32_MAX);
        s->answer->json.is_full = false;

        if (s->status == SYM_AGAIN && s->how->is_streamed
            && output_length(s->answer) != 0)
        {
            s->status = print_part(s, session->store, &view);
        }
    } while (s->status == SYM_AGAIN);

    if (view.snapshot != NULL) {
        sym_snapshot_end(view.snapshot);
    }
    return s->printed;
}


static int
answer(local_t *s)
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


static int
parse_and_answer(local_t *s)
{
    sym_status_t rc;
    sym_str_t why;

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


/* --- the folder --- */

/* Parses [LAYOUT:]PATH; a path that contains a colon must begin with "./". */
static bool
read_symbols(local_t *s, const char *text)
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
find_store(local_t *s)
{
    const options_t *o = s->options;

    if (o->symbols == NULL) {
        return options_need_store(o) ? EXIT_FINE : EXIT_USAGE;
    }

    if (!read_symbols(s, o->symbols)) {
        return EXIT_USAGE;
    }

    interrupt_catch(&s->waiting_mask);
    return make_store(s);
}


int
local_answer(const options_t *o, const local_request_t *how)
{
    const sym_request_options_t options = { .tells_missing = true,
                                            .now_s = now_s };
    local_t s = {
        .options = o, .how = how, .command = o->command->name, .store = *o
    };
    sym_request_options_t own = options;
    int code = find_store(&s);

    if (code == EXIT_USAGE) {
        return code;
    }

    sym_arena_init(&s.arena, 0);
    s.names = sym_names_create(NAMES_BYTES);
    s.answer = output_create();
    own.names = s.names;
    s.request = s.names != NULL && s.answer != NULL
                    ? how->create(how->ctx, &s.arena, &own)
                    : NULL;

    if (code == EXIT_FINE && s.request == NULL) {
        complain_about(s.command, "out of memory");
        code = EXIT_STORE;
    }

    code = code != EXIT_FINE ? code : parse_and_answer(&s);
    remove_store(&s);

    if (o->symbols != NULL && interrupt_signal() != 0) {
        interrupt_die();
    }

    if (code == EXIT_FINE) {
        print(&s, true);
        code = s.printed;
    }

    if (s.answer != NULL) {
        output_cut(s.answer, 0);
        (void) output_end(s.answer, code);
    }
    sym_names_free(s.names);
    sym_arena_drop(&s.arena);
    return code;
}
