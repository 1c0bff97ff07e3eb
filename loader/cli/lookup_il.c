/*
 * lookup_il.c - `symloader lookup --kind=ppdb`: methods and IL offsets of .NET to
 * source lines.
 *
 * Questions are METHOD+OFFSET, both hexadecimal, the method by its row or its
 * token.  The artifact is copied first (temporary_symcache.h), so nothing of the
 * store is held while questions are waited for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/language.h"
#include "cli/commands.h"
#include "cli/lines.h"
#include "driver/temporary_symcache.h"
#include "artifacts/ppdb/read/il.h"

typedef struct {
    uint32_t method, offset;
} question_t;

typedef struct {
    const options_t *options;
    module_operand_t operand;
    module_t module;
    temporary_symcache_t *copy;
    sym_arena_t arena;
    sym_ppdb_t ppdb;
    output_t *out;
    uint64_t line; /* of standard input: so many are done */
    int code;      /* the worst so far */
    lines_t lines;
} lookup_t;


/* --- questions --- */

/* Hexadecimal, with or without 0x. */
static bool
read_number(sym_str_t text, uint32_t *number)
{
    uint64_t value;

    if (text.len > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x') {
        text = sym_str(text.data + 2, text.len - 2);
    }

    if (!sym_hex_read(text, &value) || value > UINT32_MAX) {
        return false;
    }

    *number = (uint32_t) value;
    return true;
}


static bool
read_question(sym_str_t text, question_t *q)
{
    const char *plus = memchr(text.data, '+', text.len);
    size_t len = plus != NULL ? (size_t) (plus - text.data) : text.len;

    *q = (question_t){ 0 };
    return len != text.len && read_number(sym_str(text.data, len), &q->method)
           && read_number(sym_str(plus + 1, text.len - len - 1), &q->offset);
}


/* --- answers --- */

static void
print_text(output_t *out, const sym_il_frame_t *frame)
{
    if (frame == NULL) {
        output_printf(out, "??:0\n");
        return;
    }

    output_text(out, frame->folder);
    output_text(out, frame->file);
    output_printf(out, ":%" PRIu32 "\n", frame->line);
}


static void
print_json(output_t *out, const question_t *q, const sym_il_frame_t *frame)
{
    output_printf(
        out, "{\"method\":\"0x%" PRIx32 "\",\"il_offset\":\"0x%" PRIx32 "\"",
        q->method, q->offset);

    if (frame != NULL) {
        output_printf(out, ",\"file\":\"");
        sym_out_escaped(&out->json, frame->folder);
        sym_out_escaped(&out->json, frame->file);
        output_printf(out, "\",\"line\":%" PRIu32 ",\"lang\":\"%s\"",
                      frame->line, sym_language_name(frame->lang));
    }

    output_printf(out, "}\n");
}


static void
answer(lookup_t *l, const question_t *q)
{
    sym_il_frame_t frame;
    sym_status_t rc = sym_il_answer(&l->ppdb, q->method, q->offset, &frame);

    if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
        complain_about(l->options->operands[0],
                       "damaged: lines of method 0x%" PRIx32, q->method);
        l->code = EXIT_STORE;
    } else if (rc != SYM_OK && l->code == EXIT_FINE) {
        l->code = EXIT_PARTLY;
    }

    if (l->options->json) {
        print_json(l->out, q, rc == SYM_OK ? &frame : NULL);
    } else {
        print_text(l->out, rc == SYM_OK ? &frame : NULL);
    }
}


/* A line that is no question is answered, too, so that lines and answers stay in
 * step. */
static void
answer_line(lookup_t *l, sym_str_t line)
{
    question_t q;
    sym_str_t text, more, rest = line;

    if (!lines_word(&rest, &text)) {
        return;
    }

    if (!lines_word(&rest, &more) && read_question(text, &q)) {
        answer(l, &q);
        return;
    }

    complain_about("standard input",
                   "line %" PRIu64 ": not METHOD+OFFSET: %.*s", l->line + 1,
                   (int) (text.len < 40 ? text.len : 40), text.data);
    output_printf(l->out, l->options->json ? "{}\n" : "??:0\n");
    l->code = l->code == EXIT_FINE ? EXIT_PARTLY : l->code;
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


/* Those of the command line, which were read once: they are questions. */
static int
answer_operands(lookup_t *l)
{
    for (int i = 1; i < l->options->n_operands; i++) {
        question_t q;

        (void) read_question(sym_cstr(l->options->operands[i]), &q);
        answer(l, &q);
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
                              SYM_KIND_PPDB, &l->module);

    if (code != EXIT_FINE) {
        return code;
    }

    l->copy = temporary_symcache_copy(&l->module, &l->operand.key, &err);
    sym_snapshot_end(l->module.snapshot);
    return l->copy != NULL ? EXIT_FINE : store_failure(s->options, &err);
}


static int
open_copy(lookup_t *l)
{
    sym_extent_source_t extents;
    sym_error_t err = { 0 };

    if (temporary_symcache_extents(l->copy, &extents, &err) == SYM_OK
        && sym_il_open(&l->ppdb, &l->arena, &extents, &err) == SYM_OK)
    {
        return EXIT_FINE;
    }

    return store_failure(l->options, &err);
}


static bool
are_questions(const options_t *options)
{
    for (int i = 1; i < options->n_operands && !is_stdin(options); i++) {
        question_t q;

        if (!read_question(sym_cstr(options->operands[i]), &q)) {
            complain_about(options->operands[i],
                           "not METHOD+OFFSET, like 6000012+1a");
            return false;
        }
    }

    return true;
}


static int
run(lookup_t *l)
{
    const options_t *options = l->options;
    int code;

    if (!module_operand_parse(options->operands[0], options->source,
                              &l->operand)
        || !are_questions(options))
    {
        return EXIT_USAGE;
    }

    code = session_read(options, copy_module, l);
    code = code == EXIT_FINE ? open_copy(l) : code;

    if (code != EXIT_FINE) {
        return code;
    }

    l->out = output_create_stream(STDOUT_FILENO);

    if (l->out == NULL) {
        return EXIT_OUTPUT;
    }

    code = is_stdin(options) ? answer_stdin(l) : answer_operands(l);
    return output_end(l->out, code);
}


int
lookup_il_run(const options_t *options)
{
    lookup_t *l = calloc(1, sizeof(*l));
    int code;

    if (l == NULL) {
        complain_about("lookup", "out of memory");
        return EXIT_STORE;
    }

    l->options = options;
    code = run(l);
    temporary_symcache_free(l->copy);
    sym_arena_drop(&l->arena);
    free(l);
    return code;
}
