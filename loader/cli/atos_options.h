/*
 * atos_options.h - the command line of `symloader atos`, the same as atos's.
 *
 * Its options are words with a single dash, so it is parsed separately.
 */
#ifndef SYMLOADER_CLI_ATOS_OPTIONS_H
#define SYMLOADER_CLI_ATOS_OPTIONS_H

#include "api/atos/address.h"
#include "api/atos/line.h"

typedef struct {
    const char *object; /* -o */
    const char *store;  /* --store: the object is a module in it */
    const char *arch;   /* NULL: this machine's architecture, or the only one */
    const char *file;   /* -f: file with addresses */
    const char *delimiter;
    sym_atos_base_t base;
    sym_atos_inline_t mode;
    bool full_path, json, wants_help;

    int n_addresses;
    char **addresses;
} atos_options_t;

/* False: an error was printed to stderr.  May reorder argv. */
bool atos_options_parse(int argc, char **argv, atos_options_t *o);

void atos_options_help(void);

#endif
