/*
 * lookup.c - `symloader lookup`: addresses of one module to source lines.
 *
 * Text has the format of llvm-symbolizer, JSON the keys of the HTTP interface
 * (v5).  Addresses on standard input are answered as they arrive, so that the
 * command can serve a pipe; all available ones are answered together.  No
 * snapshot is open while the command reads or writes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifacts/export/tools.h"
#include "base/hex.h"
#include "base/pages.h"
#include "cli/commands.h"
#include "cli/lines.h"
#include "cli/lookup_print.h"
#include "common/module.h"

/* The room for addresses grows in steps, up to a complete batch. */
#define ASKED_FIRST 512u
#define GROWTH 16u

_Static_assert(ASKED_FIRST *GROWTH *GROWTH == SYM_RESOLVE_BATCH,
               "as they grow");

/* When this much output is collected, the snapshot is ended and the output
 * written. */
#define OUTPUT_MANY ((size_t) 512 << 10)

/* An address.  Even an invalid one has an answer, in order. */
typedef struct {
    uint64_t addr;
    bool is_address;
} asked_t;

typedef struct {
    module_operand_t operand;
    char **addresses; /* from the command line; NULL: read standard input */
    int n_addresses;
    uint64_t line;  /* number of lines of standard input that were answered */
    int code;       /* worst exit code so far */
    bool is_closed; /* the reader of the output has closed it */
    module_t module;

    asked_t *asked;
    uint32_t n_asked, printed, room;

    sym_arena_t arena; /* memory for the next lines */
    sym_resolver_t *resolver;
    uint32_t batch;            /* capacity */
    sym_question_t *questions; /* questions for addresses below 2^32 */
    uint32_t n_questions, next_question;
    uint32_t first_question; /* first question of the current chunk */

    sym_names_t *names;
    lines_t lines;
} lookup_t;


/* Parses hexadecimal digits, with or without 0x. */
static bool
read_address(sym_str_t text, uint64_t *addr)
{
    if (text.len > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x') {
        text = sym_str(text.data + 2, text.len - 2);
    }

    return sym_hex_read(text, addr);
}


/* --- the engine --- */

static int
out_of_memory(const session_t *r)
{
    complain_about(r->options->operands[0], "out of memory");
    return EXIT_STORE;
}


/* Creates a resolver for any number of addresses. */
static bool
make_resolver(lookup_t *l, const options_t *options)
{
    if (l->resolver != NULL && l->batch >= l->room) {
        return true;
    }

    sym_arena_drop(&l->arena);
    l->batch = l->room;
    l->questions = sym_arena_alloc(&l->arena, l->batch * sizeof(*l->questions));
    l->resolver = sym_resolver_create_batch(
        &l->arena, l->batch, options->json ? SYM_TEXT_JSON : SYM_TEXT_TERMINAL);

    if (l->questions == NULL || l->resolver == NULL) {
        l->resolver = NULL;
        return false;
    }

    if (!options->no_demangle) {
        sym_resolver_use_names(l->resolver, l->names);
    }

    return true;
}


/* Selects the addresses that a symcache may contain: at most 32 bits. */
static bool
is_question(const asked_t *asked)
{
    return asked->is_address && asked->addr <= UINT32_MAX;
}


static void
ask_from(lookup_t *l, uint32_t first)
{
    l->first_question = first;
    l->next_question = first;
    sym_resolver_ask(l->resolver, l->questions + first, l->n_questions - first);
}


/* Opens the module in a new snapshot.  If it was replaced, the rest is looked
 * up in the new one. */
static int
open_module(session_t *r, lookup_t *l)
{
    const uint64_t before = l->module.record.module_id;
    int code = session_attach(r, r->options->operands[0], &l->operand.key,
                              &l->module, l->resolver);

    if (code == EXIT_FINE && l->module.record.module_id != before) {
        ask_from(l, l->next_question);
    }

    return code;
}


static int
begin_answers(session_t *r, lookup_t *l)
{
    if (!make_resolver(l, r->options)) {
        return out_of_memory(r);
    }

    l->n_questions = 0;
    l->next_question = 0;
    l->printed = 0;
    l->module.record.module_id = 0; /* makes the next call look it up again */

    for (uint32_t i = 0; i < l->n_asked; i++) {
        if (is_question(&l->asked[i])) {
            l->questions[l->n_questions++] =
                (sym_question_t){ 0, (uint32_t) l->asked[i].addr };
        }
    }

    return open_module(r, l);
}


/* --- answers --- */

/* Writes the collected output, while no snapshot is open. */
static int
write_output(session_t *r, lookup_t *l)
{
    sym_snapshot_end(l->module.snapshot);
    l->is_closed = !output_flush(r->out);
    return open_module(r, l);
}


static int
report_damage(session_t *r, lookup_t *l, uint64_t addr)
{
    sym_snapshot_end(l->module.snapshot);
    complain_about(r->options->operands[0], "damaged: symbols of 0x%llx",
                   (unsigned long long) addr);
    l->code = EXIT_STORE;
    return open_module(r, l);
}


static int
print_next(session_t *r, lookup_t *l)
{
    const asked_t *asked = &l->asked[l->printed++];
    sym_answer_t answer = { 0 };
    sym_status_t rc = SYM_OK;

    if (is_question(asked)) {
        uint32_t i = l->next_question++ - l->first_question;

        sym_resolver_fetch_ahead(l->resolver, i);
        rc = sym_resolver_answer(l->resolver, i, &answer);
    }

    if (answer.n_levels == 0 && l->code == EXIT_FINE) {
        l->code = EXIT_PARTLY;
    }

    if (!r->options->json) {
        lookup_print_text(r->out, l->resolver, &answer);
    } else if (asked->is_address) {
        lookup_print_json(r->out, l->resolver, &answer, l->module.key.name,
                          asked->addr);
    } else {
        sym_out_raw(&r->out->json, SYM_STR("{}\n"));
    }

    if (rc != SYM_OK) {
        return report_damage(r, l, asked->addr);
    }

    return output_length(r->out) > OUTPUT_MANY ? write_output(r, l) : EXIT_FINE;
}


/* Answers all questions.  If there are none, it still looks up the module, to
 * report that it is missing. */
static int
answer_batch(session_t *r, lookup_t *l)
{
    int code = begin_answers(r, l);

    while (code == EXIT_FINE && l->printed < l->n_asked && !l->is_closed) {
        code = print_next(r, l);
    }

    if (code == EXIT_FINE) {
        sym_snapshot_end(l->module.snapshot);
        l->n_asked = 0;
    }

    return code;
}


/* --- questions --- */

static bool
grow(lookup_t *l)
{
    uint32_t room = l->room == 0 ? ASKED_FIRST : GROWTH * l->room;
    asked_t *asked = sym_pages_alloc(room * sizeof(*asked));

    if (asked == NULL) {
        return false;
    }

    if (l->n_asked != 0) {
        memcpy(asked, l->asked, l->n_asked * sizeof(*asked));
    }
    free(l->asked);

    l->asked = asked;
    l->room = room;
    return true;
}


static int
ask(session_t *r, lookup_t *l, uint64_t addr, bool is_address)
{
    if (l->n_asked == l->room && !grow(l)) {
        return out_of_memory(r);
    }

    l->asked[l->n_asked++] = (asked_t){ addr, is_address };
    return l->n_asked == SYM_RESOLVE_BATCH ? answer_batch(r, l) : EXIT_FINE;
}


/* Handles a line of standard input.  Even a line without an address is
 * answered, so that lines and answers correspond. */
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


/* Handles the lines that were read. */
static int
ask_lines(session_t *r, lookup_t *l)
{
    int code = EXIT_FINE;
    sym_str_t line;
    uint64_t addr;

    for (; code == EXIT_FINE; l->line++) {
        if (lines_number(&l->lines, &addr)) {
            code = ask(r, l, addr, true); /* nearly all are plain addresses */
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
            l->is_closed = !output_flush(r->out);
        }

        if (code != EXIT_FINE) {
            return code;
        }
    } while (n > 0 && !l->is_closed);

    return n < 0 ? EXIT_PARTLY : l->code;
}


static int
answer_operands(session_t *r, lookup_t *l)
{
    int code = EXIT_FINE;

    for (int i = 0; i < l->n_addresses && code == EXIT_FINE; i++) {
        uint64_t addr = 0;

        /* they are valid, because take_addresses() has read them */
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
    int code;

    if (!module_operand_parse(options->operands[0], options->source,
                              &l->operand)
        || !take_addresses(l, options))
    {
        return EXIT_USAGE;
    }

    /* the resolver caches demangled texts */
    l->names = sym_names_create(0);

    if (l->names == NULL || !grow(l)) {
        complain_about("lookup", "out of memory");
        return EXIT_STORE;
    }

    code = session_read(options, lookup, l);
    sym_arena_drop(&l->arena);
    return code;
}


int
lookup_run(const options_t *options)
{
    const sym_kind_tools_t *tools = sym_kind_tools(options->kind);
    lookup_t *l;
    int code;

    if (!tools->has_frames && tools->lookup == NULL) {
        complain_about("lookup", "kind %s has no questions; dump prints it",
                       sym_kind_name(options->kind));
        return EXIT_USAGE;
    }

    if (!tools->has_frames) {
        return lookup_text_run(options);
    }

    l = calloc(1, sizeof(*l));

    if (l == NULL) {
        complain_about("lookup", "out of memory");
        return EXIT_STORE;
    }

    l->arena.has_large_pages = true;
    code = run(options, l);
    sym_names_free(l->names);
    free(l->asked);
    free(l);
    return code;
}
