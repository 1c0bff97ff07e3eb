/*
 * lookup_text.c - `symloader lookup` for kinds with lookups by text.
 *
 * Each kind defines its queries (artifacts/export/tools.h).  The artifact is
 * copied first (temporary_symcache.h), so no snapshot is open while the command
 * waits for input.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifacts/export/tools.h"
#include "cli/commands.h"
#include "cli/lines.h"
#include "driver/temporary_symcache.h"

/* Maximum length of a query in a message. */
#define SHOWN_MAX 40

typedef struct {
    const options_t *options;
    const sym_kind_tools_t *tools;
    module_operand_t operand;
    module_t module;
    temporary_symcache_t *copy;
    sym_extent_source_t extents;
    output_t *out;
    uint64_t line; /* number of finished lines of standard input */
    int code;      /* worst exit code so far */
    lines_t lines;
} lookup_t;


static int
shown(sym_str_t question)
{
    return (int) (question.len < SHOWN_MAX ? question.len : SHOWN_MAX);
}


static void
answer(lookup_t *l, sym_str_t question)
{
    sym_error_t err = { 0 };
    sym_status_t rc = l->tools->lookup(&l->extents, question, l->options->json,
                                       &l->out->json, &err);
    char text[512];

    if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
        complain_about(l->options->operands[0], "%.*s: %s", shown(question),
                       question.data, sym_error_text(&err, text, sizeof(text)));
        l->code = EXIT_STORE;
    } else if (rc != SYM_OK && l->code == EXIT_FINE) {
        l->code = EXIT_PARTLY;
    }
}


/* Even invalid lines are answered, so that lines and answers correspond. */
static void
answer_line(lookup_t *l, sym_str_t line)
{
    sym_str_t question = lines_trim(line);

    if (question.len == 0) {
        return;
    }

    if (!l->tools->is_question(question)) {
        complain_about("standard input", "line %" PRIu64 ": not %s: %.*s",
                       l->line + 1, l->tools->question, shown(question),
                       question.data);
    }

    answer(l, question);
}


static int
answer_stdin(lookup_t *l)
{
    bool is_open = true;
    ssize_t n;

    do {
        sym_str_t line;

        n = lines_read(&l->lines, STDIN_FILENO);

        if (n < 0) {
            complain_about("standard input", "%s", strerror(errno));
            l->code = l->code == EXIT_FINE ? EXIT_PARTLY : l->code;
        }

        for (; lines_next(&l->lines, &line); l->line++) {
            answer_line(l, line);
        }

        if (n <= 0 || !lines_are_ready(STDIN_FILENO)) {
            is_open = output_flush(l->out);
        }
    } while (n > 0 && is_open && !l->out->json.failed);

    return l->code;
}


static bool
is_stdin(const options_t *options)
{
    return options->n_operands == 1
           || (options->n_operands == 2
               && strcmp(options->operands[1], "-") == 0);
}


static int
answer_operands(lookup_t *l)
{
    for (int i = 1; i < l->options->n_operands; i++) {
        answer(l, sym_cstr(l->options->operands[i]));
    }

    return l->code;
}


/* --- the module --- */

static int
copy_module(session_t *s)
{
    lookup_t *l = s->ctx;
    sym_error_t err = { 0 };
    int code = session_module(s, s->options->operands[0], &l->operand.key,
                              l->options->kind, &l->module);

    if (code != EXIT_FINE) {
        return code;
    }

    l->copy = temporary_symcache_copy(&l->module, &l->operand.key, &err);
    sym_snapshot_end(l->module.snapshot);
    return l->copy != NULL ? EXIT_FINE : store_failure(s->options, &err);
}


static bool
are_questions(const lookup_t *l)
{
    for (int i = 1; i < l->options->n_operands && !is_stdin(l->options); i++) {
        if (!l->tools->is_question(sym_cstr(l->options->operands[i]))) {
            complain_about(l->options->operands[i], "not %s",
                           l->tools->question);
            return false;
        }
    }

    return true;
}


static int
run(lookup_t *l)
{
    const options_t *options = l->options;
    sym_error_t err = { 0 };
    int code;

    if (!module_operand_parse(options->operands[0], options->source,
                              &l->operand)
        || !are_questions(l))
    {
        return EXIT_USAGE;
    }

    code = session_read(options, copy_module, l);

    if (code != EXIT_FINE) {
        return code;
    }

    if (temporary_symcache_extents(l->copy, &l->extents, &err) != SYM_OK) {
        return store_failure(options, &err);
    }

    l->out = output_create_stream(STDOUT_FILENO);

    if (l->out == NULL) {
        return EXIT_OUTPUT;
    }

    code = is_stdin(options) ? answer_stdin(l) : answer_operands(l);
    return output_end(l->out, code);
}


int
lookup_text_run(const options_t *options)
{
    lookup_t *l = calloc(1, sizeof(*l));
    int code;

    if (l == NULL) {
        complain_about("lookup", "out of memory");
        return EXIT_STORE;
    }

    l->options = options;
    l->tools = sym_kind_tools(options->kind);
    code = run(l);
    temporary_symcache_free(l->copy);
    free(l);
    return code;
}
