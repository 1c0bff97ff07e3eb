/*
 * lookup.c - `symloader lookup`: addresses of one module to source lines.
 *
 * Text comes out as llvm-symbolizer prints it, JSON with the keys of the HTTP
 * interface (v5).  Addresses on standard input are answered as they come, so
 * that the command serves at the other end of a pipe, and between two reads no
 * snapshot is open.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "commands.h"
#include "lines.h"
#include "lookup_print.h"
#include "module.h"

/* For the names and files of 100,000 addresses all over a program. */
#define TEXTS_BYTES ((size_t) 8 << 20)

/* Questions that wait for memory together. */
#define GROUP 16

typedef struct {
    uint64_t addr;
    bool is_address; /* else it has an answer, too: an empty one */
} question_t;

typedef struct {
    module_operand_t operand;
    char **addresses; /* of the command line; NULL: standard input */
    int n_addresses;
    uint64_t line; /* of standard input */
    int code;      /* the worst so far */
    module_t module;
    texts_t *texts;
    question_t group[GROUP];
    uint32_t n_group;
    sym_level_t levels[GROUP][SYM_LEVELS_MAX];
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


/* Damaged bytes are no reason to keep the other answers back. */
static void
take_answer(session_t *r, lookup_t *l, const sym_probe_t *probe,
            const question_t *q, sym_level_t *levels, sym_answer_t *answer)
{
    if (sym_symcache_answer(probe, levels, answer) != SYM_OK) {
        complain_about(r->options->operands[0], "damaged: symbols of 0x%llx",
                       (unsigned long long) q->addr);
        l->code = EXIT_STORE;

    } else if (answer->n_levels == 0 && l->code == EXIT_FINE) {
        l->code = EXIT_PARTLY;
    }

    texts_expect(l->texts, &l->module, answer);
}


static void
print_answer(session_t *r, lookup_t *l, const question_t *q,
             const sym_answer_t *answer)
{
    if (!r->options->json) {
        lookup_print_text(r->out, l->texts, &l->module, answer);

    } else if (q->is_address) {
        lookup_print_json(r->out, l->texts, &l->module, q->addr, answer);

    } else {
        sym_out_raw(&r->out->json, SYM_STR("{}\n"));
    }
}


/* All that was asked and not answered yet. */
static void
answer_group(session_t *r, lookup_t *l)
{
    sym_probe_t probes[GROUP];
    sym_answer_t answers[GROUP];
    uint32_t i, n = l->n_group;

    for (i = 0; i < n; i++) {
        probes[i] = (sym_probe_t){ .rc = SYM_NOT_FOUND };

        if (l->group[i].is_address) {
            sym_symcache_seek(&l->module.cache, l->group[i].addr, &probes[i]);
        }
    }

    sym_symcache_lead(probes, n);

    for (i = 0; i < n; i++) {
        take_answer(r, l, &probes[i], &l->group[i], l->levels[i], &answers[i]);
    }

    for (i = 0; i < n; i++) {
        print_answer(r, l, &l->group[i], &answers[i]);
    }

    l->n_group = 0;
}


static void
ask(session_t *r, lookup_t *l, question_t q)
{
    l->group[l->n_group++] = q;

    if (l->n_group == GROUP) {
        answer_group(r, l);
    }
}


static int
open_module(session_t *r, lookup_t *l)
{
    int code =
        session_module(r, r->options->operands[0], &l->operand.key, &l->module);

    if (code == EXIT_FINE) {
        module_remember(&l->module);
    }

    return code;
}


/* One line of standard input.  What is no address gets an answer too: whoever
 * counts answers must not lose step. */
static void
answer_line(session_t *r, lookup_t *l, sym_str_t line)
{
    sym_str_t text, more, rest = line;
    uint64_t addr;

    l->line++;

    if (!lines_word(&rest, &text)) {
        return;
    }

    if (!lines_word(&rest, &more) && read_address(text, &addr)) {
        ask(r, l, (question_t){ .addr = addr, .is_address = true });
        return;
    }

    complain_about("standard input",
                   "line %llu: not a hexadecimal address: %.*s",
                   (unsigned long long) l->line,
                   (int) (text.len < 40 ? text.len : 40), text.data);
    ask(r, l, (question_t){ .is_address = false });
}


static int
answer_stdin(session_t *r, lookup_t *l)
{
    sym_str_t line;
    ssize_t n;

    do {
        int code;

        n = lines_read(&l->lines, STDIN_FILENO);

        if (n < 0) {
            complain_about("standard input", "%s", strerror(errno));
            return EXIT_PARTLY;
        }

        code = open_module(r, l);

        if (code != EXIT_FINE) {
            return code;
        }

        while (lines_next(&l->lines, &line)) {
            answer_line(r, l, line);
        }

        answer_group(r, l);
        sym_snapshot_end(l->module.snapshot);
    } while (n != 0 && output_flush(r->out));

    return l->code;
}


static int
answer_operands(session_t *r, lookup_t *l)
{
    int code = open_module(r, l);
    int i;

    if (code != EXIT_FINE) {
        return code;
    }

    for (i = 0; i < l->n_addresses; i++) {
        uint64_t addr = 0;

        /* take_addresses() read them once: they are addresses */
        (void) read_address(sym_cstr(l->addresses[i]), &addr);
        ask(r, l, (question_t){ .addr = addr, .is_address = true });
    }

    answer_group(r, l);
    sym_snapshot_end(l->module.snapshot);
    return l->code;
}


static int
lookup(session_t *r)
{
    lookup_t *l = r->ctx;

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
    texts_style_t style = { .is_json = options->json,
                            .is_mangled = options->no_demangle };
    int code;

    if (!module_operand_parse(options->operands[0], &l->operand)
        || !take_addresses(l, options))
    {
        return EXIT_USAGE;
    }

    /* as many as anybody types are not worth the memory */
    style.bytes = l->addresses == NULL ? TEXTS_BYTES : 0;
    l->texts = texts_create(&style);

    if (l->texts == NULL) {
        return EXIT_STORE;
    }

    code = session_read(options, lookup, l);
    texts_free(l->texts);
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
