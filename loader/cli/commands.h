/*
 * commands.h - the functions that main.c calls, one for each command, which
 * return the exit code; and helpers that commands share.
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
int lookup_text_run(const options_t *options); /* of kinds without frames */
int dump_run(const options_t *options);
int atos_run(const options_t *options);
int retrace_run(const options_t *options);
int symbolicate_run(const options_t *options);
int walk_run(const options_t *options);
int profile_run(const options_t *options);
int fileid_run(const options_t *options);
int ls_run(const options_t *options);
int show_run(const options_t *options);
int rm_run(const options_t *options);
int verify_run(const options_t *options);
int missing_run(const options_t *options);
int stat_run(const options_t *options);
int evict_run(const options_t *options);
int init_run(const options_t *options);

/* A NAME/ID operand, split; for an ID alone the name is empty. */
typedef struct {
    sym_module_key_t key; /* into the operand, and into the ids */
    char id[SYM_ID_MAX];
    sym_code_id_t code_id;
} module_operand_t;

#define MODULE_OPERAND                                                         \
    "NAME/ID, like xul.pdb/44E4EC8C2F41492B9369D6B9A059577C2, or the ID "      \
    "alone, or ~/PATH of a script or source map"

/* In the named source, or (NULL) in all.  False: not such an operand; _parse()
 * reports it on stderr. */
bool module_operand_is(const char *operand, const char *source,
                       module_operand_t *m);
bool module_operand_parse(const char *operand, const char *source,
                          module_operand_t *m);

/*
 * Opens the store for writing; NULL: the error is on stderr, *code is the exit
 * code.  If a daemon has the store and d is not NULL, it returns NULL without a
 * message, and *d is connected (else d->fd is -1).
 */
sym_store_t *store_open_write(const options_t *options, bool create,
                              daemon_t *d, int *code);

/*
 * A command's work on the store: run() gets it open, and an output, inside the
 * guard that turns faults in damaged pages into an error.
 */
typedef struct session_s {
    const options_t *options;
    sym_store_t *store;
    output_t *out;
    int (*run)(struct session_s *s);
    void *ctx; /* the command's own */
    int code;
} session_t;

int session_read(const options_t *options, int (*run)(session_t *s), void *ctx);

/* A module's artifact of one kind in a new snapshot, marked as used; the caller
 * ends the snapshot.  EXIT_FINE, or the exit code, with the error on stderr. */
int session_module(session_t *s, const char *operand,
                   const sym_module_key_t *key, sym_kind_t kind, module_t *m);

/* Same for a symcache, which the resolver opens as its module 0. */
int session_attach(session_t *s, const char *operand,
                   const sym_module_key_t *key, module_t *m,
                   sym_resolver_t *resolver);

/* by_daemon (may be NULL) is called instead if a daemon has the store. */
int session_write(const options_t *options, int (*run)(session_t *s),
                  int (*by_daemon)(const options_t *options, daemon_t *d));

/* A command's cache of demangled names. */
#define NAMES_BYTES ((size_t) 4 << 20)

#endif
