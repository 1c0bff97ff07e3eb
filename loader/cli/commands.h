/*
 * commands.h - the functions that main.c calls, one for each command, and
 * helpers that commands share.  The functions return the exit code.
 */
#ifndef SYMLOADER_CLI_COMMANDS_H
#define SYMLOADER_CLI_COMMANDS_H

#include "object/module_key.h"
#include "cli/daemon_client.h"
#include "common/module.h"
#include "common/options.h"
#include "common/store_messages.h"
#include "cli/output.h"
#include "store/write.h"
#include "symbolicate/resolver.h"

int load_run(const options_t *options);
int lookup_run(const options_t *options);
int lookup_text_run(const options_t *options); /* for kinds without frames */
int dump_run(const options_t *options);
int export_run(const options_t *options);
int atos_run(const options_t *options);
int retrace_run(const options_t *options);
int symbolicate_run(const options_t *options);
int walk_run(const options_t *options);
int profile_run(const options_t *options);
int push_run(const options_t *options);
int mirror_run(const options_t *options);
int fileid_run(const options_t *options);
int ls_run(const options_t *options);
int show_run(const options_t *options);
int rm_run(const options_t *options);
int verify_run(const options_t *options);
int missing_run(const options_t *options);
int stat_run(const options_t *options);
int evict_run(const options_t *options);
int init_run(const options_t *options);

/* A NAME/ID operand, split.  If it is only an ID, the name is empty. */
typedef struct {
    sym_module_key_t key; /* points into the operand and the ids */
    char id[SYM_ID_MAX];
    sym_code_id_t code_id;
} module_operand_t;

#define MODULE_OPERAND                                                         \
    "NAME/ID, like xul.pdb/44E4EC8C2F41492B9369D6B9A059577C2, or the ID "      \
    "alone, or ~/PATH of a script or source map"

/* source: a name, or NULL for all sources.  False: not such an operand;
 * _parse() reports it to stderr. */
bool module_operand_is(const char *operand, const char *source,
                       module_operand_t *m);
bool module_operand_parse(const char *operand, const char *source,
                          module_operand_t *m);

/*
 * Opens the store for writing.  NULL: the error was printed to stderr, and
 * *code is the exit code.  If a daemon uses the store and d is not NULL, it
 * returns NULL without a message, and *d is connected (otherwise d->fd is -1).
 */
sym_store_t *store_open_write(const options_t *options, bool create,
                              daemon_t *d, int *code);

/*
 * Runs a command with an open store and an output.  run() is called inside the
 * guard, which turns faults in damaged pages into an error.
 */
typedef struct session_s {
    const options_t *options;
    sym_store_t *store;
    output_t *out;
    int (*run)(struct session_s *s);
    void *ctx; /* for the command itself */
    int code;
} session_t;

int session_read(const options_t *options, int (*run)(session_t *s), void *ctx);

/* Finds a module's artifact of one kind in a new snapshot, and marks it as
 * used; the caller ends the snapshot.  Returns EXIT_FINE, or the exit code
 * after printing the error. */
int session_module(session_t *s, const char *operand,
                   const sym_module_key_t *key, sym_kind_t kind, module_t *m);

/* Same for a symcache; the resolver opens it as its module 0. */
int session_attach(session_t *s, const char *operand,
                   const sym_module_key_t *key, module_t *m,
                   sym_resolver_t *resolver);

/* If a daemon uses the store, by_daemon (may be NULL) is called instead. */
int session_write(const options_t *options, int (*run)(session_t *s),
                  int (*by_daemon)(const options_t *options, daemon_t *d));

/* Returns a command's cache of demangled names. */
#define NAMES_BYTES ((size_t) 4 << 20)

#endif
