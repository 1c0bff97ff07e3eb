/*
 * retrace.c - `symloader retrace`: restores the names and lines of stack traces
 * of Java and Android with a mapping of ProGuard or R8.
 *
 * As in `load`, a sandboxed converter reads the mapping.  No store is needed.
 */
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
open_mapping(retrace_t *r, const options_t *options)
{
    options_t mapping = *options;
    sym_extent_source_t extents;
    sym_error_t err = { 0 };

    mapping.kind = SYM_KIND_JVM;
    r->copy = compile_file(&mapping, options->operands[0], NULL);
    if (r->copy == NULL) {
        return EXIT_PARTLY;
    }

    if (temporary_symcache_extents(r->copy, &extents, &err) != SYM_OK) {
        return fail(options->operands[0], &err, EXIT_STORE);
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
    return err.status == SYM_OK ? EXIT_FINE
                                : fail(options->operands[0], &err, EXIT_PARTLY);
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
            sym_status_t rc = sym_trace_line(&r->trace, line, &r->out->json);

            if (rc != SYM_OK) {
                complain_about(name, rc == SYM_NOMEM ? "out of memory"
                                                     : "the names are damaged");
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


int
retrace_run(const options_t *options)
{
    retrace_t *r = calloc(1, sizeof(*r));
    int code;

    if (r == NULL) {
        complain_about("retrace", "out of memory");
        return EXIT_STORE;
    }

    code = open_mapping(r, options);
    code = code == EXIT_FINE ? trace_file(r, options) : code;

    temporary_symcache_free(r->copy);
    free(r->views);
    free(r);
    return code;
}
