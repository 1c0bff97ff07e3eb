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
#include "demangle/memo.h"
#include "lines.h"
#include "module.h"

typedef struct {
    module_operand_t operand;
    char **addresses; /* of the command line; NULL: standard input */
    int n_addresses;
    uint64_t line; /* of standard input */
    int code;      /* the worst so far */
    module_t module;
    sym_names_t *names; /* NULL: as they are kept */
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


/* In memory that the next call needs. */
static sym_str_t
shown_name(lookup_t *l, const sym_answer_t *answer, uint32_t level)
{
    sym_str_t name = module_string(&l->module, answer->levels[level].name);

    return l->names != NULL && l->module.cache.has_linker_names
               ? sym_names_show(l->names, name, sym_answer_lang(answer, level),
                                SYM_DEMANGLE_FULL)
               : name;
}


static void
print_location(output_t *out, module_t *m, const sym_level_t *level)
{
    sym_str_t file = module_string(m, level->file);

    if (file.len == 0) {
        output_printf(out, "??:0\n");
        return;
    }

    output_text(out, file);
    output_printf(out, ":%u\n", level->line);
}


static void
print_text(output_t *out, lookup_t *l, const sym_answer_t *answer)
{
    uint32_t i;

    for (i = 0; i < answer->n_levels; i++) {
        sym_str_t name = shown_name(l, answer, i);

        output_text(out, name.len != 0 ? name : SYM_STR("??"));
        output_printf(out, "\n");
        print_location(out, &l->module, &answer->levels[i]);
    }

    output_printf(out, answer->n_levels == 0 ? "??\n??:0\n\n" : "\n");
}


/* A line number means nothing without its file. */
static void
print_json_location(output_t *out, module_t *m, const sym_level_t *level,
                    bool *first)
{
    sym_str_t file = module_string(m, level->file);

    if (file.len == 0) {
        return;
    }

    output_key_string(out, "file", file, first);

    if (level->line != 0) {
        output_key_dec(out, "line", level->line, first);
    }
}


static void
print_json_inlines(output_t *out, lookup_t *l, const sym_answer_t *answer,
                   bool *first)
{
    uint32_t i;

    output_key(out, "inlines", first);

    for (i = 0; i + 1 < answer->n_levels; i++) {
        bool first_key = true;

        output_printf(out, i == 0 ? "[{" : ", {");
        output_key_string(out, "function", shown_name(l, answer, i),
                          &first_key);
        print_json_location(out, &l->module, &answer->levels[i], &first_key);
        output_printf(out, "}");
    }

    output_printf(out, "]");
}


static void
print_json(output_t *out, lookup_t *l, uint64_t addr,
           const sym_answer_t *answer)
{
    bool first = true;

    output_printf(out, "{");
    output_key_string(out, "module", l->module.key.name, &first);
    output_key(out, "module_offset", &first);
    sym_out_hex_string(&out->json, addr);

    if (answer->n_levels > 0) {
        const sym_level_t *outermost = &answer->levels[answer->n_levels - 1];

        output_key_string(out, "function",
                          shown_name(l, answer, answer->n_levels - 1), &first);
        output_key(out, "function_offset", &first);
        sym_out_hex_string(&out->json, addr - answer->function_addr);

        if (answer->function_size != 0) {
            output_key_dec(out, "function_size", answer->function_size, &first);
        }

        print_json_location(out, &l->module, outermost, &first);
    }

    if (answer->n_levels > 1) {
        print_json_inlines(out, l, answer, &first);
    }

    output_printf(out, "}\n");
}


/* Damaged bytes are no reason to keep the other answers back. */
static void
answer_address(session_t *r, lookup_t *l, uint64_t addr)
{
    sym_answer_t answer = { 0 };

    if (sym_symcache_lookup(&l->module.cache, addr, l->module.levels, &answer)
        != SYM_OK)
    {
        complain_about(r->options->operands[0], "damaged: symbols of 0x%llx",
                       (unsigned long long) addr);
        answer.n_levels = 0;
        l->code = EXIT_STORE;

    } else if (answer.n_levels == 0 && l->code == EXIT_FINE) {
        l->code = EXIT_PARTLY;
    }

    if (r->options->json) {
        print_json(r->out, l, addr, &answer);

    } else {
        print_text(r->out, l, &answer);
    }
}


static int
open_module(session_t *r, lookup_t *l)
{
    return session_module(r, r->options->operands[0], &l->operand.key,
                          &l->module);
}


/* One line of standard input.  What is no address gets an answer too: whoever
 * counts answers must not lose step. */
static void
answer_line(session_t *r, lookup_t *l, sym_str_t line)
{
    const sym_answer_t nothing = { 0 };
    sym_str_t text, more, rest = line;
    uint64_t addr;

    l->line++;

    if (!lines_word(&rest, &text)) {
        return;
    }

    if (!lines_word(&rest, &more) && read_address(text, &addr)) {
        answer_address(r, l, addr);
        return;
    }

    if (l->code == EXIT_FINE) {
        l->code = EXIT_PARTLY;
    }

    complain_about("standard input",
                   "line %llu: not a hexadecimal address: %.*s",
                   (unsigned long long) l->line,
                   (int) (text.len < 40 ? text.len : 40), text.data);

    if (r->options->json) {
        output_printf(r->out, "{}\n");

    } else {
        print_text(r->out, l, &nothing);
    }
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
        answer_address(r, l, addr);
    }

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
    int code;

    if (!module_operand_parse(options->operands[0], &l->operand)
        || !take_addresses(l, options))
    {
        return EXIT_USAGE;
    }

    if (!options->no_demangle) {
        l->names = sym_names_create(NAMES_BYTES);

        if (l->names == NULL) {
            fprintf(stderr, "symloader: out of memory\n");
            return EXIT_STORE;
        }
    }

    code = session_read(options, lookup, l);
    sym_names_free(l->names);
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
