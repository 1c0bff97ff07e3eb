/*
 * options.h - the command line: one table of commands, one of options.
 *
 * Both --help and the parser read the tables, so they know the same options.
 * docs/use/symloader.1 describes them in detail; a test compares them.
 */
#ifndef SYMLOADER_COMMON_OPTIONS_H
#define SYMLOADER_COMMON_OPTIONS_H

#include <stdbool.h>
#include <sys/un.h>
#include <stdint.h>

#include "artifacts/kinds.h"

#define SYMLOADER_VERSION "0.1.0"

/* The version in records of the store: a later version may be able to read
 * files that this one cannot.  Two digits for each part. */
#define SYMLOADER_VERSION_NUMBER 100u

/* Exit codes; the man page explains them. */
enum {
    EXIT_FINE = 0,
    EXIT_PARTLY = 1, /* an operand was not found, or not loaded */
    EXIT_USAGE = 2,
    EXIT_STORE = 3, /* the store is missing, damaged, or refuses */
    EXIT_BUSY = 4,  /* another process writes to the store */
    EXIT_OUTPUT = 5 /* standard output could not be written */
};

/* Maximum number of --upload-folder options. */
#define OPTIONS_FOLDERS_MAX 16

typedef struct command_s command_t;

typedef struct {
    const command_t *command;
    const char *store;
    bool wants_help, wants_version;

    bool json, force, strict, quiet, no_demangle, explain;
    const char *url_prefix; /* NULL: none */
    bool is_search;         /* a search found the operands, so some may have no
                       symbols */
    unsigned jobs, threads;
    uint64_t max_expanded, convert_memory; /* bytes */
    unsigned convert_cpu_s, convert_stall_s;

    bool has_to;
    uint64_t to;                 /* bytes */
    uint64_t quota;              /* bytes; 0: unchanged */
    const char *swift_demangler; /* path of a library, or "off"; NULL: none */
    const char *group;
    unsigned max_readers; /* 0: as it is */
    const char *source;   /* only modules of this source; NULL: of all */

    const char *socket; /* NULL: the default in the store */
    unsigned socket_mode;
    const char *socket_group; /* NULL: the store's group */
    unsigned fetch_timeout_s, convert_time_s;
    const char *upload_folders[OPTIONS_FOLDERS_MAX]; /* NAME=PATH */
    unsigned n_upload_folders;
    unsigned max_unused_s; /* 0: modules stay as long as there is room */

    sym_kind_t kind;     /* of artifact */
    unsigned kinds;      /* kinds that `load` makes: sym_format_wants() */
    const char *path;    /* path at a source; NULL: all paths */
    const char *format;  /* NULL: the command's default */
    const char *arch;    /* architecture in a fat file; NULL: this machine's, or
                            the first */
    const char *server;  /* server that symbolicates; NULL: this process does */
    const char *symbols; /* [LAYOUT:]PATH; NULL: symbols are in a store */
    const char *debug;   /* debug file of an executable; NULL: it is searched
                            for */
    uint64_t part_size;  /* bytes */
    uint64_t rate;       /* bytes of downloads in a second; 0: any number */
    const char *state;   /* file of what is done; NULL: none */
    const char *match;   /* pattern of packages' names; NULL: all */
    const char *ids;     /* file of build ids; NULL: an index of packages */
    const char *output;  /* NULL: standard output */

    int n_operands;
    char **operands;
    char **argv; /* main()'s */
} options_t;

/* Value of max_operands for a command that parses all its arguments itself. */
#define OPERANDS_OWN (-2)

struct command_s {
    const char *name;
    const char *operands; /* operands in the usage line */
    const char *summary;
    int min_operands, max_operands; /* -1: any number; OPERANDS_OWN */
    int (*run)(const options_t *options);
    bool store_is_optional; /* the command itself reports a missing store */
};

/*
 * Parses the command line into *options; false: an error was printed to
 * stderr.  May reorder argv, which must outlive *options.
 */
bool options_parse(int argc, char **argv, const command_t *commands,
                   options_t *options);

/* False: no store was named; the error was printed to stderr. */
bool options_need_store(const options_t *options);

/* Prints the help for one command, or (NULL) for all. */
void options_help(const command_t *commands, const command_t *command);

/* Returns the path of --socket, or the default in the store.  False: it is too
   long for a socket. */
bool options_socket(const options_t *options,
                    char path[sizeof(((struct sockaddr_un *) 0)->sun_path)]);

#endif
