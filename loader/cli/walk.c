/*
 * walk.c - `symloader walk`: walks and symbolicates the stacks of a minidump,
 * without a server.
 *
 * A sandboxed converter reads the dump and returns a crash report.  The memory
 * of stacks is then read from the file.  Unwind rules and symbols come from a
 * store, or from files in a folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/sentry/dump.h"
#include "cli/commands.h"
#include "cli/compile.h"
#include "cli/local_answer.h"
#include "cli/walk_text.h"

/* The answer begins like this; only the result is printed. */
#define STATUS "{\"status\": \"completed\", "

/* The file, and the state of its output. */
typedef struct {
    const options_t *options;
    int fd;
    sym_crash_t crash;
    output_t *out;
    bool is_begun; /* the beginning of the JSON was printed */
    walk_text_t text;
} dump_t;


static bool
read_at(void *ctx, uint64_t at, void *to, size_t len)
{
    const dump_t *d = ctx;
    size_t done = 0;

    while (done < len) {
        ssize_t n =
            pread(d->fd, (char *) to + done, len - done, (off_t) (at + done));

        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        done += n > 0 ? (size_t) n : 0;
    }

    return true;
}


static bool
is_json(const options_t *o)
{
    return o->format != NULL && strcmp(o->format, "json") == 0;
}


static sym_request_t *
create(void *ctx, sym_arena_t *arena, const sym_request_options_t *options)
{
    dump_t *d = ctx;
    const sentry_dump_file_t file = { read_at, d };
    /* the text does not show source lines */
    const sentry_dump_options_t how = { .has_context = is_json(d->options) };
    sym_request_t *r =
        sym_request_create(arena, &sentry_dump_ops, options, SYM_STR(""));

    if (r != NULL) {
        sentry_dump_use(r, &d->crash, &file, &how);
    }

    return r;
}


static int
print_json(dump_t *d, sym_str_t part, bool is_last)
{
    size_t skip = d->is_begun ? 0 : sizeof(STATUS) - 1;

    sym_out_raw(&d->out->json, d->is_begun ? SYM_STR("") : SYM_STR("{"));
    sym_out_raw(&d->out->json, sym_str(part.data + skip, part.len - skip));
    sym_out_raw(&d->out->json, is_last ? SYM_STR("\n") : SYM_STR(""));
    d->is_begun = true;
    return EXIT_FINE;
}


static int
print(void *ctx, const sym_request_t *r, sym_str_t part, bool is_last,
      size_t *taken)
{
    dump_t *d = ctx;

    return is_json(d->options)
               ? print_json(d, part, is_last)
               : walk_text_print(&d->text, r, part, is_last, taken);
}


/* Reads the converter's report. */
static int
read_report(dump_t *d, temporary_symcache_t *report, sym_arena_t *arena)
{
    const char *path = d->options->operands[0];
    sym_extent_source_t extents;
    sym_error_t err = { 0 };
    char why[256];

    if (temporary_symcache_extents(report, &extents, &err) != SYM_OK
        || sym_crash_read(&extents, arena, &d->crash, &err) != SYM_OK)
    {
        complain_about(path, "%s", sym_error_text(&err, why, sizeof(why)));
        return EXIT_STORE;
    }

    d->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (d->fd < 0) {
        complain_about(path, "%s", strerror(errno));
        return EXIT_PARTLY;
    }

    return EXIT_FINE;
}


int
walk_run(const options_t *o)
{
    dump_t d = { .options = o, .fd = -1 };
    const local_request_t request = { .create = create,
                                      .print = print,
                                      .ctx = &d,
                                      .is_streamed = true,
                                      .has_walks = true };
    options_t reading = *o;
    temporary_symcache_t *report;
    sym_arena_t arena;
    int code;

    if (o->format != NULL && !is_json(o) && strcmp(o->format, "text") != 0) {
        complain_about("--format", "stacks are printed as json or text");
        return EXIT_USAGE;
    }

    reading.kind = SYM_KIND_CRASH;
    report = compile_file(&reading, o->operands[0], NULL);
    if (report == NULL) {
        return EXIT_PARTLY;
    }

    sym_arena_init(&arena, 0);
    code = read_report(&d, report, &arena);
    temporary_symcache_free(report);
    d.out = output_create_stream(STDOUT_FILENO);
    code = d.out == NULL && code == EXIT_FINE ? EXIT_OUTPUT : code;
    d.text = (walk_text_t){ .options = o, .crash = &d.crash, .out = d.out };
    code = code != EXIT_FINE ? code : local_answer(o, &request);
    code = d.out != NULL ? output_end(d.out, code) : code;

    if (d.fd >= 0) {
        close(d.fd);
    }
    sym_arena_drop(&arena);
    return code;
}
