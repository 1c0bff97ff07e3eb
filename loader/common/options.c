#include "common/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "object/module_key.h"
#include "common/converter_protocol.h"
#include "common/suggest.h"

#define DEFAULT_MAX_EXPANDED ((uint64_t) 8 << 30)
#define DEFAULT_CONVERT_MEMORY ((uint64_t) 2 << 30)
#define DEFAULT_CONVERT_CPU_S 300
#define DEFAULT_CONVERT_STALL_S 600
#define DEFAULT_CONVERT_TIME_S 600
#define DEFAULT_FETCH_TIMEOUT_S 900
#define DEFAULT_SOCKET_MODE 0660
#define DEFAULT_PART_SIZE ((uint64_t) 32 << 20)

/* Maximum number of jobs: each converter costs a socket and some memory. */
#define JOBS_MAX 256

/* A converter cannot start with less memory. */
#define CONVERT_MEMORY_MIN ((uint64_t) 64 << 20)

/* LMDB keeps 64 bytes for each reader slot. */
#define MAX_READERS_MAX 65536

enum {
    OPT_STORE,
    OPT_HELP,
    OPT_VERSION,
    OPT_JSON,
    OPT_JOBS,
    OPT_THREADS,
    OPT_FORCE,
    OPT_STRICT,
    OPT_QUIET,
    OPT_MAX_EXPANDED,
    OPT_CONVERT_MEMORY,
    OPT_CONVERT_CPU,
    OPT_CONVERT_STALL,
    OPT_TO,
    OPT_QUOTA,
    OPT_GROUP,
    OPT_MAX_READERS,
    OPT_SOCKET,
    OPT_SOCKET_MODE,
    OPT_SOCKET_GROUP,
    OPT_FETCH_TIMEOUT,
    OPT_CONVERT_TIME,
    OPT_NO_DEMANGLE,
    OPT_FORMAT,
    OPT_OUTPUT,
    OPT_ARCH,
    OPT_MAX_UNUSED,
    OPT_SOURCE,
    OPT_KIND,
    OPT_PATH,
    OPT_SYMBOLS,
    OPT_SERVER,
    OPT_SWIFT_DEMANGLER,
    OPT_EXPLAIN,
    OPT_URL_PREFIX,
    OPT_UPLOAD_FOLDER,
    OPT_DEBUG,
    OPT_PART_SIZE,
    OPT_RATE,
    OPT_STATE,
    OPT_MATCH,
    OPT_IDS,
    OPT_COUNT
};

typedef struct {
    const char *name;
    const char *argument; /* NULL: no argument */
    const char *commands; /* " load " ...; NULL: all */
    const char *help;
} option_t;

#define KIND_WORD(number, NAME, name) "|" #name
#define KIND_WORDS ("" SYM_ARTIFACT_KINDS(KIND_WORD))

static const option_t option_table[OPT_COUNT] = {
    [OPT_STORE] = { "store", "PATH", NULL,
                    "the store's folder (or $SYMBOLICATE_STORE)" },
    [OPT_HELP] = { "help", NULL, NULL, "print this text" },
    [OPT_VERSION] = { "version", NULL, NULL, "print the program's version" },
    [OPT_JSON] = { "json", NULL, " lookup ls show stat missing ",
                   "print JSON instead of text" },
    [OPT_JOBS] = { "jobs", "N", " load serve symbolicate walk profile ",
                   "conversions at once (default: one a processor)" },
    [OPT_THREADS] = { "threads", "N",
                      " load serve dump push-symbols symbolicate walk ",
                      "threads of all conversions (default: one a processor)" },
    [OPT_FORCE] = { "force", NULL, " load ",
                    "replace symbols even if they are better" },
    [OPT_URL_PREFIX] = { "url-prefix", "PATH", " load ",
                         "where scripts and source maps are on their site" },
    [OPT_STRICT] = { "strict", NULL, " load ",
                     "exit with 1 if there was a warning" },
    [OPT_QUIET] = { "quiet", NULL, " load mirror ",
                    "print warnings and errors only" },
    [OPT_MAX_EXPANDED] = { "max-expanded", "SIZE",
                           " load serve dump push-symbols mirror retrace "
                           "symbolicate walk profile ",
                           "limit on a file's unpacked size (default 8g)" },
    [OPT_CONVERT_MEMORY] = { "convert-memory", "SIZE",
                             " load serve dump push-symbols retrace "
                             "symbolicate walk "
                             "profile ",
                             "memory of one converter (default 2g)" },
    [OPT_CONVERT_CPU] = { "convert-cpu", "SECONDS",
                          " load serve dump push-symbols retrace symbolicate "
                          "walk profile ",
                          "CPU time of one conversion (default 300)" },
    [OPT_CONVERT_STALL] = { "convert-stall", "SECONDS",
                            " load serve dump push-symbols retrace symbolicate "
                            "walk "
                            "profile ",
                            "longest stall of one conversion (default 600)" },
    [OPT_TO] = { "to", "SIZE", " evict ",
                 "bytes that the modules may take afterwards" },
    [OPT_QUOTA] = { "quota", "SIZE", " init serve ",
                    "limit on the store's disk space (default 10g)" },
    [OPT_GROUP] = { "group", "NAME", " init ",
                    "group that may read the store (nginx's)" },
    [OPT_MAX_READERS] = { "max-readers", "N", " init ",
                          "processes that read at once (default 1024)" },
    [OPT_SOCKET] = { "socket", "PATH", " serve load rm ",
                     "the daemon's socket (default: loader.sock in the "
                     "store)" },
    [OPT_SOCKET_MODE] = { "socket-mode", "MODE", " serve ",
                          "the socket's permissions (default 660)" },
    [OPT_SOCKET_GROUP] = { "socket-group", "NAME", " serve ",
                           "the socket's group (default: the store's)" },
    [OPT_FETCH_TIMEOUT] = { "fetch-timeout", "TIME", " serve mirror ",
                            "longest download of one file (default 15m)" },
    [OPT_CONVERT_TIME] = { "convert-time", "TIME", " serve ",
                           "longest conversion of one file (default 10m)" },
    [OPT_NO_DEMANGLE] = { "no-demangle", NULL, " lookup dump ",
                          "keep the linker's names" },
    [OPT_FORMAT] = { "format", "FORMAT", " dump symbolicate walk ",
                     "breakpad, symbfile or returnpads (of dump only), json or "
                     "text" },
    [OPT_OUTPUT] = { "output", "FILE", " dump ",
                     "write to FILE, whole or not at all" },
    [OPT_ARCH] = { "arch", "ARCH", " dump push-symbols ",
                   "architecture in a fat file (default: this machine's)" },
    [OPT_MAX_UNUSED] = { "max-unused", "TIME", " serve ",
                         "drop modules not used for this time, such as 45d" },
    [OPT_UPLOAD_FOLDER] = { "upload-folder", "NAME=PATH", " serve ",
                            "folder of the source NAME, for uploads" },
    [OPT_SOURCE] = { "source", "NAME", " lookup dump export ls show rm ",
                     "only modules of this source (local: loaded by hand)" },
    [OPT_KIND] = { "kind", &KIND_WORDS[1], " lookup dump ",
                   "which artifact (default symcache)" },
    [OPT_PATH] = { "path", "PATH", " dump ",
                   "the text of this source; without it, all paths" },
    [OPT_SYMBOLS] = { "symbols", "[LAYOUT:]PATH", " symbolicate walk profile ",
                      "folder of symbol files (default layout: unified)" },
    [OPT_SERVER] = { "server", "URL", " symbolicate push-symbols mirror ",
                     "the server, as http://HOST[:PORT]/PATH" },
    [OPT_SWIFT_DEMANGLER] = { "swift-demangler", "PATH|off",
                              " load serve symbolicate walk profile ",
                              "library that demangles names of Swift" },
    [OPT_EXPLAIN] = { "explain", NULL, " walk symbolicate ",
                      "print why a walk ended; which files of scripts were "
                      "tried" },
    [OPT_DEBUG] = { "debug", "FILE", " push-symbols ",
                    "file with the symbols of the executable" },
    [OPT_PART_SIZE] = { "part-size", "SIZE", " push-symbols ",
                        "least size of a part, except the last (default 32m)" },
    [OPT_RATE] = { "rate", "SIZE", " mirror ",
                   "most bytes to download in a second" },
    [OPT_STATE] = { "state", "FILE", " mirror ",
                    "what is done, for the next run to skip" },
    [OPT_MATCH] = { "match", "PATTERN", " mirror ",
                    "only packages with such a name" },
    [OPT_IDS] = { "ids", "FILE", " mirror ",
                  "build ids, one a line, to get from a debuginfod" },
};


/* Letters of short options: "-o" for "--output"; 0: none. */
static const char option_letters[OPT_COUNT] = {
    [OPT_HELP] = 'h', [OPT_OUTPUT] = 'o', [OPT_ARCH] = 'a'
};


static bool
option_fits(const option_t *option, const command_t *command)
{
    char word[32];

    if (option->commands == NULL) {
        return true;
    }

    snprintf(word, sizeof(word), " %s ", command->name);
    return strstr(option->commands, word) != NULL;
}


/* Prints "-o, ", or nothing. */
static const char *
letter_text(char letter, char text[8])
{
    if (letter == '\0') {
        return "";
    }

    snprintf(text, 8, "-%c, ", letter);
    return text;
}


static void
print_options(const command_t *command)
{
    int i;

    for (i = 0; i < OPT_COUNT; i++) {
        const option_t *o = &option_table[i];
        char left[40], letter[8];

        if (command == NULL ? o->commands != NULL : !option_fits(o, command)) {
            continue;
        }

        snprintf(left, sizeof(left), "%s--%s%s%s",
                 letter_text(option_letters[i], letter), o->name,
                 o->argument != NULL ? " " : "",
                 o->argument != NULL ? o->argument : "");
        printf("  %-26s %s\n", left, o->help);
    }
}


void
options_help(const command_t *commands, const command_t *command)
{
    const command_t *c;

    if (command != NULL) {
        printf("Usage: symloader %s [OPTION]... %s\n%s.\n\nOptions:\n",
               command->name, command->operands, command->summary);
        print_options(command);
        printf("\nSIZE is a number of bytes, or one with k, m, g or t.\n"
               "Exit codes and more: man symloader\n");
        return;
    }

    printf("Usage: symloader COMMAND [OPTION]... [OPERAND]...\n"
           "Compiles symbol files into the store that nginx answers from.\n\n"
           "Commands:\n");

    for (c = commands; c->name != NULL; c++) {
        printf("  %-12s %s\n", c->name, c->summary);
    }

    printf("\nOptions of every command:\n");
    print_options(NULL);
    printf("\nMore about a command: symloader help COMMAND, or man "
           "symloader\n");
}


/* Every error message ends with the command's help option if the command is
   known. */
static bool
complain(const options_t *o, const char *what, const char *subject)
{
    const char *command = o->command != NULL ? o->command->name : "";

    fprintf(stderr, "symloader: %s%s%s (see symloader %s%s--help)\n", what,
            subject != NULL ? ": " : "", subject != NULL ? subject : "",
            command, command[0] != '\0' ? " " : "");
    return false;
}


static bool
unknown_command(const options_t *o, const command_t *commands,
                const char *typed)
{
    suggest_t s = suggest_begin(typed);
    char text[SUGGEST_TEXT];

    for (const command_t *c = commands; c->name != NULL; c++) {
        suggest_offer(&s, c->name);
    }

    return complain(o, "unknown command", suggest_text(&s, typed, "", text));
}


/* Suggests only options of the command. */
static bool
unknown_option(const options_t *o, const char *typed)
{
    char name[64], text[SUGGEST_TEXT];
    suggest_t s;

    snprintf(name, sizeof(name), "%s", typed + strspn(typed, "-"));
    name[strcspn(name, "=")] = '\0';
    s = suggest_begin(name);

    for (int i = 0; i < OPT_COUNT; i++) {
        if (o->command == NULL || option_fits(&option_table[i], o->command)) {
            suggest_offer(&s, option_table[i].name);
        }
    }

    return complain(o, "unknown option", suggest_text(&s, typed, "--", text));
}


/* Reads a number of bytes, with a suffix for powers of 1024: "500m", "2g". */
static bool
read_size(const char *text, uint64_t *value)
{
    static const char units[] = "kmgt";
    size_t len = strlen(text);
    unsigned shift = 0;
    uint64_t n;

    if (len > 0) {
        const char *unit = strchr(units, text[len - 1] | 0x20);

        if (unit != NULL && *unit != '\0') {
            shift = 10 * (unsigned) (unit - units + 1);
            len--;
        }
    }

    if (!sym_dec_read(sym_str(text, len), &n) || n > UINT64_MAX >> shift) {
        return false;
    }

    *value = n << shift;
    return true;
}


/* Reads a time in seconds, or minutes, hours or days with a suffix: "90",
   "15m", "1h", "45d". */
static bool
read_age(const char *text, unsigned *value)
{
    static const struct {
        char unit;
        unsigned seconds;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
    size_t len = strlen(text), i;
    unsigned scale = 1;
    uint64_t n;

    for (i = 0; len > 0 && i < sizeof(units) / sizeof(units[0]); i++) {
        if (text[len - 1] == units[i].unit) {
            scale = units[i].seconds;
            len--;
            break;
        }
    }

    if (!sym_dec_read(sym_str(text, len), &n) || n == 0
        || n > UINT32_MAX / scale) {
        return false;
    }

    *value = (unsigned) n * scale;
    return true;
}


/* Same without days, because no timeout is that long. */
static bool
read_time(const char *text, unsigned *value)
{
    return strchr(text, 'd') == NULL && read_age(text, value);
}


/* Reads permissions in the form of chmod(1): "660". */
static bool
read_mode(const char *text, unsigned *value)
{
    char *end;
    unsigned long n = strtoul(text, &end, 8);

    if (text[0] < '0' || text[0] > '7' || *end != '\0' || n > 0777) {
        return false;
    }

    *value = (unsigned) n;
    return true;
}


static bool
read_kind(const char *text, sym_kind_t *value)
{
    const sym_kind_row_t *kind = sym_kind_named(sym_cstr(text));

    *value = kind != NULL ? kind->kind : SYM_KIND_ALL;
    return kind != NULL;
}


static bool
read_count(const char *text, uint64_t most, unsigned *value)
{
    uint64_t n;

    if (!sym_dec_read(sym_cstr(text), &n) || n == 0 || n > most) {
        return false;
    }

    *value = (unsigned) n;
    return true;
}


/* "NAME=PATH" */
static bool
add_folder(options_t *o, const char *argument)
{
    const char *equals = strchr(argument, '=');

    if (equals == NULL || equals == argument || equals[1] == '\0'
        || (size_t) (equals - argument) > SYM_SCOPE_MAX
        || o->n_upload_folders == OPTIONS_FOLDERS_MAX)
    {
        return false;
    }

    o->upload_folders[o->n_upload_folders++] = argument;
    return true;
}


/* Stores one option in *o; false: its argument is invalid. */
static bool
set_option(options_t *o, int option, const char *argument)
{
    switch (option) {
    case OPT_STORE:
        o->store = argument;
        return argument[0] != '\0';
    case OPT_HELP:
        return o->wants_help = true;
    case OPT_VERSION:
        return o->wants_version = true;
    case OPT_JSON:
        return o->json = true;
    case OPT_FORCE:
        return o->force = true;
    case OPT_URL_PREFIX:
        o->url_prefix = argument;
        return true;
    case OPT_UPLOAD_FOLDER:
        return add_folder(o, argument);
    case OPT_STRICT:
        return o->strict = true;
    case OPT_QUIET:
        return o->quiet = true;
    case OPT_EXPLAIN:
        return o->explain = true;
    case OPT_FORMAT:
        o->format = argument;
        return true;
    case OPT_OUTPUT:
        o->output = argument;
        return argument[0] != '\0';
    case OPT_ARCH:
        o->arch = argument;
        return argument[0] != '\0';
    case OPT_NO_DEMANGLE:
        return o->no_demangle = true;
    case OPT_JOBS:
        return read_count(argument, JOBS_MAX, &o->jobs);
    case OPT_THREADS:
        return read_count(argument, CONVERT_THREADS_MAX, &o->threads);
    case OPT_MAX_EXPANDED:
        return read_size(argument, &o->max_expanded) && o->max_expanded > 0;
    case OPT_CONVERT_MEMORY:
        return read_size(argument, &o->convert_memory)
               && o->convert_memory >= CONVERT_MEMORY_MIN;
    case OPT_CONVERT_CPU:
        return read_count(argument, UINT32_MAX, &o->convert_cpu_s);
    case OPT_CONVERT_STALL:
        return read_count(argument, UINT32_MAX, &o->convert_stall_s);
    case OPT_TO:
        return o->has_to = read_size(argument, &o->to);
    case OPT_QUOTA:
        return read_size(argument, &o->quota) && o->quota > 0;
    case OPT_GROUP:
        o->group = argument;
        return argument[0] != '\0';
    case OPT_SOCKET:
        o->socket = argument;
        return argument[0] != '\0';
    case OPT_SOCKET_MODE:
        return read_mode(argument, &o->socket_mode);
    case OPT_SOCKET_GROUP:
        o->socket_group = argument;
        return argument[0] != '\0';
    case OPT_FETCH_TIMEOUT:
        return read_time(argument, &o->fetch_timeout_s);
    case OPT_CONVERT_TIME:
        return read_time(argument, &o->convert_time_s);
    case OPT_MAX_UNUSED:
        return read_age(argument, &o->max_unused_s);
    case OPT_SOURCE:
        o->source = argument;
        return argument[0] != '\0' && strlen(argument) <= SYM_SCOPE_MAX;
    case OPT_KIND:
        return read_kind(argument, &o->kind);
    case OPT_PATH:
        o->path = argument;
        return argument[0] != '\0';
    case OPT_SYMBOLS:
        o->symbols = argument;
        return argument[0] != '\0';
    case OPT_DEBUG:
        o->debug = argument;
        return argument[0] != '\0';
    case OPT_PART_SIZE:
        return read_size(argument, &o->part_size) && o->part_size > 0;
    case OPT_RATE:
        return read_size(argument, &o->rate) && o->rate > 0;
    case OPT_STATE:
        o->state = argument;
        return argument[0] != '\0';
    case OPT_MATCH:
        o->match = argument;
        return argument[0] != '\0';
    case OPT_IDS:
        o->ids = argument;
        return argument[0] != '\0';
    case OPT_SERVER:
        o->server = argument;
        return argument[0] != '\0';
    case OPT_SWIFT_DEMANGLER:
        o->swift_demangler = argument;
        return strcmp(argument, CONVERT_SWIFT_OFF) == 0
               || (argument[0] == '/' && access(argument, R_OK) == 0);
    default: /* OPT_MAX_READERS */
        return read_count(argument, MAX_READERS_MAX, &o->max_readers);
    }
}


/* Returns the first of the folders that contains the file, or NULL. */
static const char *
find_swift_demangler(void)
{
    static const char *const paths[] = {
        "/usr/local/lib/symloader/libsymdemangle-swift.so",
        "/usr/lib/symloader/libsymdemangle-swift.so"
    };

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (access(paths[i], R_OK) == 0) {
            return paths[i];
        }
    }

    return NULL;
}


static void
set_defaults(options_t *o)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    memset(o, 0, sizeof(*o));
    o->store = getenv("SYMBOLICATE_STORE");
    o->jobs = cpus < 1 ? 1 : cpus > JOBS_MAX ? JOBS_MAX : (unsigned) cpus;
    o->threads = o->jobs > CONVERT_THREADS_MAX ? CONVERT_THREADS_MAX : o->jobs;
    o->max_expanded = DEFAULT_MAX_EXPANDED;
    o->convert_memory = DEFAULT_CONVERT_MEMORY;
    o->convert_cpu_s = DEFAULT_CONVERT_CPU_S;
    o->convert_stall_s = DEFAULT_CONVERT_STALL_S;
    o->convert_time_s = DEFAULT_CONVERT_TIME_S;
    o->fetch_timeout_s = DEFAULT_FETCH_TIMEOUT_S;
    o->socket_mode = DEFAULT_SOCKET_MODE;
    o->part_size = DEFAULT_PART_SIZE;
    o->swift_demangler = find_swift_demangler();
    o->kind = SYM_KIND_SYMCACHE;
}


static const command_t *
find_command(const command_t *commands, const char *name)
{
    const command_t *c;

    for (c = commands; c->name != NULL; c++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }

    return NULL;
}


/* Appends the option's letter to the string for getopt(). */
static void
add_letter(char *letters, int option)
{
    size_t n = strlen(letters);

    if (option_letters[option] != '\0') {
        letters[n++] = option_letters[option];
        letters[n++] = option_table[option].argument != NULL ? ':' : '\0';
        letters[n] = '\0';
    }
}


/* Returns the name of the option with the letter c, or c itself. */
static int
option_of_letter(int c)
{
    for (int i = 0; i < OPT_COUNT; i++) {
        if (option_letters[i] != '\0' && option_letters[i] == c) {
            return i;
        }
    }

    return c;
}


static bool
has_own_options(const command_t *commands, const char *name)
{
    const command_t *c = find_command(commands, name);

    return c != NULL && c->max_operands == OPERANDS_OWN;
}


/* Options may be anywhere in argv; given[] marks those that occur. */
static bool
read_options(int argc, char **argv, options_t *o, bool given[OPT_COUNT])
{
    struct option list[OPT_COUNT + 1] = { { 0 } };
    char letters[2 * OPT_COUNT + 2] = ":", subject[64];
    int i;

    for (i = 0; i < OPT_COUNT; i++) {
        list[i].name = option_table[i].name;
        list[i].has_arg =
            option_table[i].argument != NULL ? required_argument : no_argument;
        list[i].val = i;
        add_letter(letters, i);
    }

    opterr = 0;

    while ((i = getopt_long(argc, argv, letters, list, NULL)) != -1) {
        i = option_of_letter(i);

        if (i == ':') {
            return complain(o, "missing value", argv[optind - 1]);
        }

        if (i == '?') {
            return unknown_option(o, argv[optind - 1]);
        }

        given[i] = true;

        if (!set_option(o, i, optarg)) {
            snprintf(subject, sizeof(subject), "--%s %.40s",
                     option_table[i].name, optarg);
            return complain(o, "invalid value", subject);
        }
    }

    return true;
}


static bool
check(const options_t *o, const bool given[OPT_COUNT])
{
    const command_t *c = o->command;
    int i;

    for (i = 0; i < OPT_COUNT; i++) {
        if (given[i] && !option_fits(&option_table[i], c)) {
            return complain(o, "not an option of this command",
                            option_table[i].name);
        }
    }

    if (o->n_operands < c->min_operands) {
        return complain(o, "missing operand", c->operands);
    }

    if (c->max_operands >= 0 && o->n_operands > c->max_operands) {
        return complain(o, "unexpected operand", o->operands[c->max_operands]);
    }

    return c->store_is_optional || options_need_store(o);
}


bool
options_need_store(const options_t *o)
{
    if (o->store == NULL || o->store[0] == '\0') {
        return complain(o,
                        "no store given; use --store PATH or set "
                        "SYMBOLICATE_STORE",
                        NULL);
    }

    return true;
}


bool
options_parse(int argc, char **argv, const command_t *commands, options_t *o)
{
    static char help[] = "--help", *own_help[] = { help, NULL };
    bool given[OPT_COUNT] = { false };

    set_defaults(o);
    o->argv = argv;

    if (argc > 1 && has_own_options(commands, argv[1])) {
        o->command = find_command(commands, argv[1]);
        o->operands = argv + 2;
        o->n_operands = argc - 2;
        return true;
    }

    /* messages about options contain the command, but options may precede it */
    o->command = argc > 1 ? find_command(commands, argv[1]) : NULL;

    if (!read_options(argc, argv, o, given)) {
        return false;
    }

    if (optind < argc) {
        if (strcmp(argv[optind], "help") == 0) {
            o->wants_help = true;
            optind++;
        }
    }

    if (optind < argc) {
        o->command = find_command(commands, argv[optind]);

        if (o->command == NULL) {
            return unknown_command(o, commands, argv[optind]);
        }

        o->operands = argv + optind + 1;
        o->n_operands = argc - optind - 1;
    }

    if (o->wants_help && o->command != NULL
        && o->command->max_operands == OPERANDS_OWN)
    {
        /* the command has its own options, and prints its own help */
        o->wants_help = false;
        o->operands = own_help;
        o->n_operands = 1;
        return true;
    }

    if (o->wants_help || o->wants_version) {
        return true;
    }

    if (o->command == NULL) {
        return complain(o, "a command is missing", NULL);
    }

    return check(o, given);
}


bool
options_socket(const options_t *options,
               char path[sizeof(((struct sockaddr_un *) 0)->sun_path)])
{
    size_t size = sizeof(((struct sockaddr_un *) 0)->sun_path);
    int n = options->socket != NULL
                ? snprintf(path, size, "%s", options->socket)
                : snprintf(path, size, "%s/loader.sock", options->store);

    return n > 0 && (size_t) n < size;
}
