#include "cli/atos_options.h"

#include <stdio.h>
#include <string.h>

#include "common/suggest.h"

enum {
    OPT_OBJECT,
    OPT_ARCH,
    OPT_LOAD,
    OPT_SLIDE,
    OPT_OFFSET,
    OPT_INLINE_FRAMES,
    OPT_INLINE_LONG,
    OPT_FULL_PATH,
    OPT_DELIMITER,
    OPT_FILE,
    OPT_PRINT_HEADER,
    OPT_PROCESS,
    OPT_TEXT_EXEC,
    OPT_INLINE,
    OPT_JSON,
    OPT_STORE,
    OPT_HELP,
    OPT_HELP_SHORT,
    OPT_COUNT
};

typedef struct {
    const char *name;
    const char *argument; /* NULL: no argument */
    const char *help;     /* NULL: not shown */
} option_t;

static const option_t option_table[OPT_COUNT] = {
    [OPT_OBJECT] = { "-o", "PATH",
                     "binary, debug file or dSYM bundle; with --store: "
                     "NAME/ID" },
    [OPT_ARCH] = { "-arch", "ARCH", "which slice of a fat file" },
    [OPT_LOAD] = { "-l", "ADDRESS",
                   "where the image was loaded (hexadecimal)" },
    [OPT_SLIDE] = { "-s", "SLIDE", "slide of the image (hexadecimal)" },
    [OPT_OFFSET] = { "-offset", NULL, "addresses are offsets in the image" },
    [OPT_INLINE_FRAMES] = { "-i", NULL,
                            "inlined calls too, the innermost first" },
    [OPT_INLINE_LONG] = { "-inlineFrames", NULL, "the same" },
    [OPT_FULL_PATH] = { "-fullPath", NULL, "whole paths of files" },
    [OPT_DELIMITER] = { "-d", "TEXT",
                        "between inlined calls (default: a newline)" },
    [OPT_FILE] = { "-f", "FILE", "addresses are in a file" },
    [OPT_PRINT_HEADER] = { "-printHeader", NULL, NULL },
    [OPT_PROCESS] = { "-p", "PROCESS", NULL },
    [OPT_TEXT_EXEC] = { "-textExecAddress", "ADDRESS", NULL },
    [OPT_INLINE] = { "--inline", "MODE",
                     "which of inlined calls: outer, decl, line, all" },
    [OPT_JSON] = { "--json", NULL, "JSON instead of text" },
    [OPT_STORE] = { "--store", "PATH", "look in a store" },
    [OPT_HELP] = { "--help", NULL, "this text" },
    [OPT_HELP_SHORT] = { "-h", NULL, "the same" },
};


void
atos_options_help(void)
{
    printf("Usage: symloader atos -o PATH [OPTION]... [ADDRESS]...\n"
           "Prints functions and lines as atos(1) does; addresses come from "
           "standard input if\nnone are given.\n\nOptions:\n");

    for (int i = 0; i < OPT_COUNT; i++) {
        const option_t *o = &option_table[i];
        char left[40];

        if (o->help == NULL) {
            continue;
        }

        snprintf(left, sizeof(left), "%s%s%s", o->name,
                 o->argument != NULL ? " " : "",
                 o->argument != NULL ? o->argument : "");
        printf("  %-26s %s\n", left, o->help);
    }

    printf("\nAddresses are hexadecimal with 0x, else decimal.\n"
           "Exit codes and more: man symloader\n");
}


static bool
complain(const char *what, const char *subject)
{
    fprintf(stderr, "symloader: %s%s%s (see symloader atos --help)\n", what,
            subject != NULL ? ": " : "", subject != NULL ? subject : "");
    return false;
}


/* Only one option can set an image's address. */
static bool
set_base(atos_options_t *o, bool *has_base, sym_atos_from_t from,
         const char *value)
{
    if (*has_base) {
        return complain("give one of -l, -s and -offset", NULL);
    }

    *has_base = true;
    o->base.from = from;

    if (value != NULL && !sym_atos_base_read(sym_cstr(value), &o->base.value)) {
        return complain("not a hexadecimal address", value);
    }

    return true;
}


static bool
set_option(atos_options_t *o, int option, const char *value, bool *has_base)
{
    switch (option) {
    case OPT_OBJECT:
        o->object = value;
        return true;
    case OPT_ARCH:
        o->arch = value;
        return value[0] != '\0' || complain("which architecture?", NULL);
    case OPT_LOAD:
        return set_base(o, has_base, SYM_ATOS_LOAD, value);
    case OPT_SLIDE:
        return set_base(o, has_base, SYM_ATOS_SLIDE, value);
    case OPT_OFFSET:
        return set_base(o, has_base, SYM_ATOS_OFFSET, NULL);
    case OPT_INLINE_FRAMES:
    case OPT_INLINE_LONG:
        o->mode = SYM_ATOS_ALL;
        return true;
    case OPT_FULL_PATH:
        return o->full_path = true;
    case OPT_DELIMITER:
        o->delimiter = value;
        return true;
    case OPT_FILE:
        o->file = value;
        return true;
    case OPT_PRINT_HEADER: /* ignored, because it applies to processes */
        return true;
    case OPT_PROCESS:
        return complain(
            "-p is not supported: symloader does not examine processes", NULL);
    case OPT_TEXT_EXEC:
        return complain("-textExecAddress is not supported; use -l or -s",
                        NULL);
    case OPT_INLINE:
        return sym_atos_inline_read(sym_cstr(value), &o->mode)
               || complain("not outer, decl, line or all", value);
    case OPT_JSON:
        return o->json = true;
    case OPT_STORE:
        o->store = value;
        return true;
    default: /* OPT_HELP, OPT_HELP_SHORT */
        return o->wants_help = true;
    }
}


/* OPT_COUNT: unknown option. */
static int
find_option(const char *name)
{
    int i = 0;

    while (i < OPT_COUNT && strcmp(option_table[i].name, name) != 0) {
        i++;
    }

    return i;
}


static bool
unknown_option(const char *typed)
{
    suggest_t s = suggest_begin(typed);
    char text[SUGGEST_TEXT];

    for (int i = 0; i < OPT_COUNT; i++) {
        suggest_offer(&s, option_table[i].name);
    }

    return complain("unknown option", suggest_text(&s, typed, "", text));
}


static bool
check(const atos_options_t *o)
{
    if (o->wants_help) {
        return true;
    }

    if (o->object == NULL) {
        return complain("no file given; use -o PATH", NULL);
    }

    return (o->file == NULL || o->n_addresses == 0)
           || complain("give addresses or -f FILE, not both", NULL);
}


bool
atos_options_parse(int argc, char **argv, atos_options_t *o)
{
    bool has_base = false, are_options = true;

    *o = (atos_options_t){ .delimiter = "\n", .addresses = argv };

    for (int i = 0; i < argc; i++) {
        int option;

        if (!are_options || argv[i][0] != '-') {
            argv[o->n_addresses++] = argv[i];
            continue;
        }

        if (strcmp(argv[i], "--") == 0) {
            are_options = false;
            continue;
        }

        option = find_option(argv[i]);

        if (option == OPT_COUNT) {
            return unknown_option(argv[i]);
        }

        if (option_table[option].argument != NULL && i + 1 == argc) {
            return complain("missing value", argv[i]);
        }

        i += option_table[option].argument != NULL;

        if (!set_option(o, option, argv[i], &has_base)) {
            return false;
        }
    }

    return check(o);
}
