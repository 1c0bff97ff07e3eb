/*
 * retrace.c - `symloader retrace`: stack traces of Java and Android with the names
 * and lines of the sources, by a mapping of ProGuard or R8.
 *
 * The mapping is read as `load` reads it, by a sandboxed converter; no store is
 * needed.  `symloader symbolicate` recognizes such traces, too.
 */
#include "cli/retrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifacts/jvm/export/trace.h"
#include "cli/commands.h"
#include "cli/compile.h"
#include "cli/lines.h"

typedef struct {
    temporary_symcache_t *copy;
    sym_extent_view_t *views;
    sym_jvm_t jvm;
    sym_trace_t trace;
    lines_t lines;
    output_t *out;
} retrace_t;

static int
fail(const char *operand, const sym_error_t *err, int code)
{
    char text[512];

    complain_about(operand, "%s", sym_error_text(err, text, sizeof(text)));
    return code;
}


static int
open_mapping(retrace_t *r, const options_t *options, const char *path)
{
    options_t mapping = *options;
    sym_extent_source_t extents;
    sym_error_t err = { 0 };

    mapping.kind = SYM_KIND_JVM;
    r->copy = compile_file(&mapping, path, NULL);
    if (r->copy == NULL) {
        return EXIT_PARTLY;
    }

    if (temporary_symcache_extents(r->copy, &extents, &err) != SYM_OK) {
        return fail(path, &err, EXIT_STORE);
    }

    r->views = calloc(extents.n, sizeof(*r->views));
    if (r->views == NULL) {
        (void) sym_fail(&err, SYM_NOMEM, NULL);
    } else {
        (void) sym_jvm_open(&r->jvm, extents.get, extents.ctx, &err);
    }

    if (err.status == SYM_OK && r->jvm.in.n != extents.n) {
        (void) sym_fail(&err, SYM_DAMAGED, "it miscounts its extents");
    }

    sym_jvm_remember(&r->jvm, r->views);
    r->trace.jvm = &r->jvm;
    return err.status == SYM_OK ? EXIT_FINE : fail(path, &err, EXIT_PARTLY);
}


static bool
trace_line(retrace_t *r, sym_str_t line, const char *name)
{
    sym_status_t rc = sym_trace_line(&r->trace, line, &r->out->json);

    if (rc != SYM_OK) {
        complain_about(name, rc == SYM_NOMEM ? "out of memory"
                                             : "the names are damaged");
    }

    return rc == SYM_OK;
}


static int
trace_lines(retrace_t *r, int fd, const char *name)
{
    bool is_open = true;
    ssize_t n;

    do {
        sym_str_t line;

        n = lines_read(&r->lines, fd);
        if (n < 0) {
            complain_about(name, "%s", strerror(errno));
            return EXIT_PARTLY;
        }

        while (lines_next(&r->lines, &line)) {
            if (!trace_line(r, line, name)) {
                return EXIT_STORE;
            }
        }

        if (n == 0 || !lines_are_ready(fd)) {
            is_open = output_flush(r->out);
        }
    } while (n > 0 && is_open && !r->out->json.failed);

    return EXIT_FINE;
}


static int
trace_file(retrace_t *r, const options_t *options)
{
    const char *name = options->n_operands > 1 ? options->operands[1] : "-";
    bool is_stdin = strcmp(name, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC), code;

    if (fd < 0) {
        complain_about(name, "%s", strerror(errno));
        return EXIT_PARTLY;
    }

    r->out = output_create_stream(STDOUT_FILENO);
    code = r->out != NULL
               ? trace_lines(r, fd, is_stdin ? "standard input" : name)
               : EXIT_OUTPUT;

    if (!is_stdin) {
        close(fd);
    }

    return r->out != NULL ? output_end(r->out, code) : code;
}


/* The next line without its newline; false: the end. */
static bool
next_line(sym_str_t *rest, sym_str_t *line)
{
    const char *end =
        rest->len != 0 ? memchr(rest->data, '\n', rest->len) : NULL;
    size_t len = end != NULL ? (size_t) (end - rest->data) : rest->len;
    size_t taken = end != NULL ? len + 1 : len;

    *line = sym_str(rest->data, len);
    rest->data += taken;
    rest->len -= taken;
    return taken != 0;
}


static int
trace_text(retrace_t *r, const options_t *options, sym_str_t text)
{
    sym_str_t line;
    int code = EXIT_FINE;

    r->out = output_create();
    if (r->out == NULL) {
        return EXIT_OUTPUT;
    }

    while (code == EXIT_FINE && next_line(&text, &line)) {
        code =
            trace_line(r, line, options->operands[0]) ? EXIT_FINE : EXIT_STORE;
    }

    return output_end(r->out, code);
}


/* text: NULL: of the operand. */
static int
run(const options_t *options, const char *mapping, const sym_str_t *text)
{
    retrace_t *r = calloc(1, sizeof(*r));
    int code;

    if (r == NULL) {
        complain_about("retrace", "out of memory");
        return EXIT_STORE;
    }

    code = open_mapping(r, options, mapping);
    if (code == EXIT_FINE) {
        code = text != NULL ? trace_text(r, options, *text)
                            : trace_file(r, options);
    }

    temporary_symcache_free(r->copy);
    free(r->views);
    free(r);
    return code;
}


int
retrace_run(const options_t *options)
{
    return run(options, options->operands[0], NULL);
}


bool
retrace_is(sym_str_t text)
{
    sym_str_t line;

    if (text.len != 0 && (text.data[0] == '{' || text.data[0] == '[')) {
        return false; /* an event */
    }

    while (next_line(&text, &line)) {
        if (sym_trace_is_frame(line)) {
            return true;
        }
    }

    return false;
}


int
retrace_text(const options_t *options, sym_str_t text)
{
    if (options->symbols == NULL) {
        complain_about("symbolicate",
                       "a stack trace of Java needs --symbols, the mapping of "
                       "ProGuard or R8");
        return EXIT_USAGE;
    }

    return run(options, options->symbols, &text);
}
