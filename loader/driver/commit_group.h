/*
 * commit_group.h - modules that share a commit.
 *
 * A commit costs as much as the conversion of a small file.  So a module whose
 * owner can wait is put into the store's batch, and stays here until a commit
 * writes it to disk: with others, or, if it is large, as soon as its converter
 * has another file.  It is reported only then.
 */
#ifndef SYMLOADER_DRIVER_COMMIT_GROUP_H
#define SYMLOADER_DRIVER_COMMIT_GROUP_H

#include <stdbool.h>

#include "common/converter_protocol.h"
#include "store/write.h"

/* Maximum number of entries, because each keeps its file open. */
#define COMMIT_GROUP_MAX 64

/* Larger modules get a commit of their own. */
#define COMMIT_GROUP_BYTES ((uint64_t) 256 << 10)

typedef struct commit_entry_s commit_entry_t;

struct commit_entry_s {
    commit_entry_t *next;
    void *conversion;
    sym_ingest_t *ingest; /* put, but not finished */
    sym_kind_t kind;
    bool is_nameless;
    bool has_more; /* more artifacts of the file follow */
    converter_done_t done;
    sym_module_key_t key; /* its strings point into text, except those only of
                             requests */
    char text[SYM_SCOPE_MAX + SYM_NAME_MAX + SYM_ID_MAX];
};

typedef struct {
    commit_entry_t *first, *last; /* in the order in which they ended */
    unsigned n;
    int64_t since_ms; /* start of the wait of the first one */
} commit_group_t;

/* Adds a copy of *entry.  False: out of memory. */
bool commit_group_add(commit_group_t *group, const commit_entry_t *entry);

/* Removes the first entry and returns it; NULL: the group is empty. */
commit_entry_t *commit_group_take(commit_group_t *group);

/* Whether the group may contain an artifact of that kind for the module; names
 * are not compared. */
bool commit_group_has(const commit_group_t *group, const sym_module_key_t *key,
                      sym_kind_t kind);

/* Whether it contains a large module: then nothing more may be added. */
bool commit_group_has_large(const commit_group_t *group);

/* Returns the time until the first entry has waited for wait_ms.  0: it has, or
 * the group is full, or contains a large module. */
int commit_group_left_ms(const commit_group_t *group, int wait_ms);

#endif
