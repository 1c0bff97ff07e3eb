/*
 * atos.c - `symloader atos`: addresses of a file to lines, as atos(1) does.
 *
 * One line for each address, in order, whatever it is: programs drive atos
 * through a pipe and count.  What they type is answered before more is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/atos_options.h"
#include "cli/commands.h"
#include "cli/compile.h"
#include "symbolicate/cache/names.h"
#include "cli/lines.h"
#include "common/module.h"

typedef struct {
    atos_options_t o;
    sym_atos_style_t style;
    sym_str_t image;
    sym_symcache_t *cache;
    output_t *out;
    int code;

    session_t *session; /* NULL: the object is a file */
    module_operand_t operand;
    module_t module;

    lines_t lines;
    sym_level_t levels[SYM_LEVELS_MAX];
    char text[SYM_STRING_MAX + SYM_STRING_SLACK];
    sym_names_t *names;
} atos_t;


static sym_str_t
read_text(void *ctx, sym_string_ref_t ref)
{
    atos_t *a = ctx;
    bool is_plain;

    return sym_str(a->text,
                   sym_symcache_string(a->cache, ref, a->text, &is_plain));
}


static sym_str_t
show_name(void *ctx, sym_str_t name, uint8_t lang)
{
    const atos_t *a = ctx;

    return sym_names_show(a->names, name, lang, SYM_DEMANGLE_FULL);
}


/* --- one address --- */

static void
look_up(atos_t *a, sym_atos_frame_t *frame)
{
    frame->has_offset = sym_atos_offset(&a->o.base, a->cache->image_base,
                                        frame->value, &frame->offset);

    /* a symcache knows no address past 32 bits */
    if (!frame->has_offset || frame->offset > UINT32_MAX) {
        return;
    }

    if (sym_symcache_lookup(a->cache, frame->offset, a->levels, &frame->answer)
        != SYM_OK)
    {
        complain_about(a->o.object, "damaged: symbols of 0x%llx",
                       (unsigned long long) frame->offset);
        frame->answer.n_levels = 0;
        a->code = EXIT_STORE;
    }

    if (frame->answer.n_levels != 0) {
        (void) sym_symcache_statement(a->cache, (uint32_t) frame->offset,
                                      &a->levels[0]);
    }
}


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

    /* or nobody knew where the calls of one address end */
    if (a->o.mode == SYM_ATOS_ALL && strcmp(a->o.delimiter, "\n") == 0) {
        output_printf(a->out, "\n");
    }
}


static void
answer_word(atos_t *a, sym_str_t word)
{
    sym_atos_frame_t frame = { .address = word };

    if (sym_atos_address_read(word, &frame.value)) {
        frame.image = a->image;
        look_up(a, &frame);
    }

    print_frame(a, &frame);
}


/* --- all addresses --- */

/* What the lines that are there ask. */
static void
answer_lines(atos_t *a)
{
    sym_str_t line, word;

    while (lines_next(&a->lines, &line)) {
        while (lines_word(&line, &word)) {
            answer_word(a, word);
        }
    }
}


/* Of a store only between begin and end: readers must not wait for input. */
static bool
begin_answers(atos_t *a)
{
    if (a->session == NULL) {
        return true;
    }

    a->code =
        session_module(a->session, a->o.object, &a->operand.key, &a->module);
    a->cache = &a->module.cache;

    return a->code == EXIT_FINE;
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
        answer_word(a, sym_cstr(a->o.addresses[i]));
    }

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
    sym_error_t err = { 0 };
    char text[256];

    if (temporary_symcache_open(s, &a->module, &err) != SYM_OK) {
        complain_about(a->o.object, "%s",
                       sym_error_text(&err, text, sizeof(text)));
        return EXIT_STORE;
    }

    a->cache = &a->module.cache;
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


int
atos_run(const options_t *options)
{
    atos_t *a = calloc(1, sizeof(*a));
    int code;

    if (a == NULL) {
        complain_about("atos", "out of memory");
        return EXIT_STORE;
    }

    a->names = sym_names_create(NAMES_BYTES);

    if (a->names != NULL) {
        code = run(a, options);
    } else {
        complain_about("atos", "out of memory");
        code = EXIT_STORE;
    }

    sym_names_free(a->names);
    free(a);
    return code;
}
