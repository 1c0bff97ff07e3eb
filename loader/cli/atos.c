/*
 * atos.c - `symloader atos`: addresses of a file to lines, as atos(1) does.
 *
 * It prints one line for each address, in order, even for invalid ones, because
 * programs drive atos through a pipe and count lines.  Input is answered before
 * more is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/atos_options.h"
#include "cli/commands.h"
#include "cli/compile.h"
#include "symbolicate/cache/names.h"
#include "cli/lines.h"
#include "common/module.h"
#include "symbolicate/resolver.h"

typedef struct {
    atos_options_t o;
    sym_atos_style_t style;
    sym_str_t image;
    output_t *out;
    int code;

    session_t *session; /* NULL: the object is a file */
    module_operand_t operand;
    module_t module;

    lines_t lines;
    sym_atos_frame_t frames[SYM_RESOLVE_CHUNK]; /* the current addresses */
    uint32_t n_frames;
    sym_question_t questions[SYM_RESOLVE_CHUNK];
    uint32_t n_questions;

    sym_arena_t arena; /* memory of the resolver */
    sym_resolver_t *resolver;
    sym_names_t *names;
    bool has_failed; /* there was no memory for a text */
} atos_t;


static sym_str_t
read_text(void *ctx, sym_string_ref_t ref)
{
    atos_t *a = ctx;
    sym_str_t text;

    a->has_failed |= !sym_resolver_text(a->resolver, 0, ref, &text);
    return text;
}


static sym_str_t
show_name(void *ctx, sym_str_t name, uint8_t lang)
{
    const atos_t *a = ctx;

    return sym_resolver_show(a->resolver, name, lang);
}


/* --- addresses --- */

static void
print_frame(atos_t *a, const sym_atos_frame_t *frame)
{
    sym_out_t *json = &a->out->json;
    uint32_t next = 0;

    if (a->o.json) {
        output_printf(a->out, "{");
        sym_atos_head(frame, json);
        output_printf(a->out, ", ");
        (void) sym_atos_members(&a->style, frame, &next, json);
        output_printf(a->out, "}\n");
        return;
    }

    (void) sym_atos_lines(&a->style, frame, &next, json);
    output_printf(a->out, "\n");

    /* otherwise the end of an address's calls is unknown */
    if (a->o.mode == SYM_ATOS_ALL && strcmp(a->o.delimiter, "\n") == 0) {
        output_printf(a->out, "\n");
    }
}


/* Addresses in a symcache have at most 32 bits. */
static bool
is_question(const sym_atos_frame_t *frame)
{
    return frame->has_offset && frame->offset <= UINT32_MAX;
}


static void
answer_words(atos_t *a)
{
    uint32_t next = 0;

    sym_resolver_ask(a->resolver, a->questions, a->n_questions);

    for (uint32_t i = 0; i < a->n_frames; i++) {
        sym_atos_frame_t *frame = &a->frames[i];

        if (is_question(frame)
            && sym_resolver_statement(a->resolver, next++, &frame->answer)
                   != SYM_OK)
        {
            complain_about(a->o.object, "damaged: symbols of 0x%llx",
                           (unsigned long long) frame->offset);
            a->code = EXIT_STORE;
        }

        print_frame(a, frame);
    }

    a->n_frames = 0;
    a->n_questions = 0;
}


static void
ask_word(atos_t *a, sym_str_t word)
{
    sym_atos_frame_t *frame = &a->frames[a->n_frames++];

    *frame = (sym_atos_frame_t){ .address = word };

    if (sym_atos_address_read(word, &frame->value)) {
        frame->image = a->image;
        frame->has_offset =
            sym_atos_offset(&a->o.base, sym_resolver_image_base(a->resolver, 0),
                            frame->value, &frame->offset);
    }

    if (is_question(frame)) {
        a->questions[a->n_questions++] =
            (sym_question_t){ 0, (uint32_t) frame->offset };
    }

    if (a->n_frames == SYM_RESOLVE_CHUNK) {
        answer_words(a);
    }
}


/* --- all addresses --- */

/* Answers the lines that have been read. */
static void
answer_lines(atos_t *a)
{
    sym_str_t line, word;

    while (lines_next(&a->lines, &line)) {
        while (lines_word(&line, &word)) {
            ask_word(a, word);
        }
    }

    answer_words(a);
}


/* The store is read only between begin and end, because a snapshot must not
   stay open while the command waits for input. */
static bool
begin_answers(atos_t *a)
{
    int code = a->session != NULL
                   ? session_attach(a->session, a->o.object, &a->operand.key,
                                    &a->module, a->resolver)
                   : EXIT_FINE;

    /* reports earlier damage, too */
    a->code = code != EXIT_FINE ? code : a->code;
    return code == EXIT_FINE;
}


static void
end_answers(atos_t *a)
{
    if (a->session != NULL) {
        sym_snapshot_end(a->module.snapshot);
    }
}


static int
answer_input(atos_t *a, int fd, const char *name)
{
    ssize_t n;

    do {
        n = lines_read(&a->lines, fd);

        if (n < 0) {
            complain_about(name, "%s", strerror(errno));
            return EXIT_PARTLY;
        }

        if (!begin_answers(a)) {
            return a->code;
        }

        answer_lines(a);
        end_answers(a);
    } while (n != 0 && output_flush(a->out));

    return a->code;
}


static int
answer_file(atos_t *a)
{
    int fd = open(a->o.file, O_RDONLY | O_CLOEXEC);
    int code;

    if (fd < 0) {
        complain_about(a->o.file, "%s", strerror(errno));
        return EXIT_PARTLY;
    }

    code = answer_input(a, fd, a->o.file);
    close(fd);
    return code;
}


static int
answer_all(atos_t *a)
{
    if (a->o.file != NULL) {
        return answer_file(a);
    }

    if (a->o.n_addresses == 0) {
        return answer_input(a, STDIN_FILENO, "standard input");
    }

    if (!begin_answers(a)) {
        return a->code;
    }

    for (int i = 0; i < a->o.n_addresses; i++) {
        ask_word(a, sym_cstr(a->o.addresses[i]));
    }

    answer_words(a);
    end_answers(a);
    return a->code;
}


/* --- the object --- */

static int
run_store(session_t *s)
{
    atos_t *a = s->ctx;

    a->session = s;
    a->out = s->out;
    return answer_all(a);
}


static int
run_module(atos_t *a, const options_t *options)
{
    options_t with_store = *options;

    with_store.store = a->o.store;

    if (!module_operand_parse(a->o.object, NULL, &a->operand)) {
        return EXIT_USAGE;
    }

    a->image = a->operand.key.name;
    return session_read(&with_store, run_store, a);
}


static int
open_file(atos_t *a, temporary_symcache_t *s)
{
    sym_extent_source_t extents;
    sym_error_t err = { 0 };
    char text[256];

    if (temporary_symcache_extents(s, &extents, &err) != SYM_OK
        || sym_resolver_attach(a->resolver, 0, 1, &extents, &err) != SYM_OK)
    {
        complain_about(a->o.object, "%s",
                       sym_error_text(&err, text, sizeof(text)));
        return EXIT_STORE;
    }

    a->image = temporary_symcache_key(s)->name;
    a->out = output_create();
    return a->out != NULL ? EXIT_FINE : EXIT_OUTPUT;
}


static int
run_file(atos_t *a, const options_t *options)
{
    temporary_symcache_t *s = compile_file(options, a->o.object, a->o.arch);
    int code = s != NULL ? open_file(a, s) : EXIT_PARTLY;

    if (code == EXIT_FINE) {
        code = output_end(a->out, answer_all(a));
    }

    temporary_symcache_free(s);
    return code;
}


static int
run(atos_t *a, const options_t *options)
{
    if (!atos_options_parse(options->n_operands, options->operands, &a->o)) {
        return EXIT_USAGE;
    }

    if (a->o.wants_help) {
        atos_options_help();
        return EXIT_FINE;
    }

    a->style = (sym_atos_style_t){
        .mode = a->o.mode,
        .full_path = a->o.full_path,
        .is_json = a->o.json,
        .delimiter = sym_cstr(a->o.delimiter),
        .read = read_text,
        .show = show_name,
        .ctx = a,
    };

    return a->o.store != NULL ? run_module(a, options) : run_file(a, options);
}


static bool
make_resolver(atos_t *a)
{
    a->names = sym_names_create(NAMES_BYTES);
    a->resolver = sym_resolver_create(&a->arena, NULL, 0, 1, SYM_RESOLVE_CHUNK);

    if (a->names == NULL || a->resolver == NULL) {
        return false;
    }

    sym_resolver_use_names(a->resolver, a->names);
    return true;
}


int
atos_run(const options_t *options)
{
    atos_t *a = calloc(1, sizeof(*a));
    bool is_made = a != NULL && make_resolver(a);
    int code = is_made ? run(a, options) : EXIT_STORE;

    if (!is_made || a->has_failed) {
        complain_about("atos", "out of memory");
        code = EXIT_STORE;
    }

    if (a != NULL) {
        sym_names_free(a->names);
        sym_arena_drop(&a->arena);
    }

    free(a);
    return code;
}
