/*
 * lookup.c - `symloader lookup`: addresses of one module to source lines.
 *
 * Text comes out as llvm-symbolizer prints it, JSON with the keys of the HTTP
 * interface (v5).  Addresses on standard input are answered as they come, so
 * that the command serves at the other end of a pipe; those that are there are
 * answered together.  While anything is read or written no snapshot is open.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "cli/batch.h"
#include "cli/commands.h"
#include "cli/lines.h"
#include "cli/lookup_print.h"
#include "common/module.h"

typedef struct {
    module_operand_t operand;
    char **addresses; /* of the command line; NULL: standard input */
    int n_addresses;
    uint64_t line; /* of standard input: so many are done */
    int code;      /* the worst so far */
    module_t module;
    char name[SYM_NAME_MAX]; /* the module's own */
    size_t name_len;
    batch_t *batch;
    lines_t lines;
} lookup_t;


/* Hexadecimal, with or without 0x. */
static bool
read_address(sym_str_t text, uint64_t *addr)
{
    if (text.len > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x') {
        text = sym_str(text.data + 2, text.len - 2);
    }

    return sym_hex_read(text, addr);
}


/* --- answers --- */

static int
open_module(session_t *r, lookup_t *l)
{
    int code =
        session_module(r, r->options->operands[0], &l->operand.key, &l->module);

    if (code == EXIT_FINE) {
        module_remember(&l->module);
        l->name_len = l->module.key.name.len;
        memcpy(l->name, l->module.key.name.data, l->name_len);
    }

    return code;
}


static int
out_of_memory(const session_t *r)
{
    complain_about(r->options->operands[0], "out of memory");
    return EXIT_STORE;
}


/* As many of the batch as are answered together. */
static int
answer_some(session_t *r, lookup_t *l)
{
    int code = open_module(r, l);

    if (code != EXIT_FINE) {
        return code;
    }

    if (!batch_answer(l->batch, &l->module)) {
        code = out_of_memory(r);
    }

    sym_snapshot_end(l->module.snapshot);
    return code;
}


static void
print_answer(session_t *r, lookup_t *l, const batch_answer_t *a)
{
    const question_t *q = a->question;

    if (q->is_damaged) {
        complain_about(r->options->operands[0], "damaged: symbols of 0x%llx",
                       (unsigned long long) q->addr);
        l->code = EXIT_STORE;

    } else if (q->n_levels == 0 && l->code == EXIT_FINE) {
        l->code = EXIT_PARTLY;
    }

    if (r->options->json) {
        lookup_print_json(r->out, a, sym_str(l->name, l->name_len));
    } else {
        lookup_print_text(r->out, a);
    }
}


/* All that was asked.  The module is looked for in any case: whoever asks
 * nothing wants to know whether it is there. */
static int
answer_batch(session_t *r, lookup_t *l)
{
    batch_answer_t answer;

    do {
        int code = answer_some(r, l);

        if (code != EXIT_FINE) {
            return code;
        }

        while (batch_next(l->batch, &answer)) {
            print_answer(r, l, &answer);
        }
    } while (!batch_is_done(l->batch));

    batch_clear(l->batch);
    return EXIT_FINE;
}


/* --- questions --- */

static int
ask(session_t *r, lookup_t *l, uint64_t addr, bool is_address)
{
    if (!batch_ask(l->batch, addr, is_address)) {
        return out_of_memory(r);
    }

    return batch_is_full(l->batch) ? answer_batch(r, l) : EXIT_FINE;
}


/* One line of standard input.  What is no address gets an answer too: whoever
 * counts answers must not lose step. */
static int
ask_line(session_t *r, lookup_t *l, sym_str_t line)
{
    sym_str_t text, more, rest = line;
    uint64_t addr = 0;

    if (!lines_word(&rest, &text)) {
        return EXIT_FINE;
    }

    if (!lines_word(&rest, &more) && read_address(text, &addr)) {
        return ask(r, l, addr, true);
    }

    complain_about("standard input",
                   "line %llu: not a hexadecimal address: %.*s",
                   (unsigned long long) l->line + 1,
                   (int) (text.len < 40 ? text.len : 40), text.data);
    return ask(r, l, 0, false);
}


/* What was read. */
static int
ask_lines(session_t *r, lookup_t *l)
{
    int code = EXIT_FINE;
    sym_str_t line;
    uint64_t addr;

    for (; code == EXIT_FINE; l->line++) {
        if (lines_number(&l->lines, &addr)) {
            code = ask(r, l, addr, true); /* nearly all are nothing else */
        } else if (lines_next(&l->lines, &line)) {
            code = ask_line(r, l, line);
        } else {
            break;
        }
    }

    return code;
}


static int
answer_stdin(session_t *r, lookup_t *l)
{
    bool is_wanted = true;
    ssize_t n;

    do {
        int code;

        n = lines_read(&l->lines, STDIN_FILENO);

        if (n < 0) {
            complain_about("standard input", "%s", strerror(errno));
        }

        code = ask_lines(r, l);

        if (code == EXIT_FINE && (n <= 0 || !lines_are_ready(STDIN_FILENO))) {
            code = answer_batch(r, l);
            is_wanted = output_flush(r->out);
        }

        if (code != EXIT_FINE) {
            return code;
        }
    } while (n > 0 && is_wanted);

    return n < 0 ? EXIT_PARTLY : l->code;
}


static int
answer_operands(session_t *r, lookup_t *l)
{
    int code = EXIT_FINE;

    for (int i = 0; i < l->n_addresses && code == EXIT_FINE; i++) {
        uint64_t addr = 0;

        /* take_addresses() read them once: they are addresses */
        (void) read_address(sym_cstr(l->addresses[i]), &addr);
        code = ask(r, l, addr, true);
    }

    if (code == EXIT_FINE) {
        code = answer_batch(r, l);
    }

    return code == EXIT_FINE ? l->code : code;
}


static int
lookup(session_t *r)
{
    lookup_t *l = r->ctx;

    /* there may be no end of answers */
    output_stream(r->out);
    return l->addresses != NULL ? answer_operands(r, l) : answer_stdin(r, l);
}


static bool
take_addresses(lookup_t *l, const options_t *options)
{
    int i;

    l->n_addresses = options->n_operands - 1;
    l->addresses = options->operands + 1;

    if (l->n_addresses == 0
        || (l->n_addresses == 1 && strcmp(l->addresses[0], "-") == 0))
    {
        l->addresses = NULL;
        return true;
    }

    for (i = 0; i < l->n_addresses; i++) {
        uint64_t addr;

        if (!read_address(sym_cstr(l->addresses[i]), &addr)) {
            complain_about(l->addresses[i], "not a hexadecimal address");
            return false;
        }
    }

    return true;
}


static int
run(const options_t *options, lookup_t *l)
{
    const string_cache_style_t style =
        lookup_print_style(options->json, options->no_demangle);
    int code;

    if (!module_operand_parse(options->operands[0], options->source,
                              &l->operand)
        || !take_addresses(l, options))
    {
        return EXIT_USAGE;
    }

    l->batch = batch_create(&style);

    if (l->batch == NULL) {
        return EXIT_STORE;
    }

    code = session_read(options, lookup, l);
    batch_free(l->batch);
    module_free(&l->module);
    return code;
}


int
lookup_run(const options_t *options)
{
    lookup_t *l = calloc(1, sizeof(*l));
    int code;

    if (l == NULL) {
        fprintf(stderr, "symloader: out of memory\n");
        return EXIT_STORE;
    }

    code = run(options, l);
    free(l);
    return code;
}
