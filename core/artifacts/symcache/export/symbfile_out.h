/*
 * symbfile_out.h - parts of a symbfile's writer that ranges and return pads
 * share: batches of records with their string table, and addresses.  A batch
 * begins with an absolute address, so a file can be cut between batches.
 *
 * Memory holds one function, and one batch of some 45 MB.  Failures to allocate
 * are noticed at the end of a batch.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_EXPORT_SYMBFILE_OUT_H
#define SYM_ARTIFACTS_SYMCACHE_EXPORT_SYMBFILE_OUT_H

#include "artifacts/symcache/export/forms.h"
#include "base/protobuf.h"

/* A power of two, more than twice the strings of a batch. */
#define SYM_SYMBFILE_SLOTS 262144

#define SYM_SYMBFILE_COLUMNS 3

/* A slot that maps a string of the batch to its number.  Names of functions
 * have separate slots, because their language decides how they are
 * demangled. */
typedef struct {
    uint32_t ref;
    uint8_t lang;
    bool is_name;
    bool is_used;
    uint32_t number;
} sym_symbfile_slot_t;

typedef struct {
    sym_form_t *form;
    sym_error_t *err;

    bool has_addr;
    uint64_t addr; /* address in the previous record */
    sym_buffer_t strings, records;
    sym_buffer_t record, table,
        columns[SYM_SYMBFILE_COLUMNS]; /* the writer's */
    uint32_t n_strings;
    sym_symbfile_slot_t slots[SYM_SYMBFILE_SLOTS];
} sym_symbfile_out_t;

typedef sym_status_t (*sym_symbfile_put_pt)(void *ctx,
                                            const sym_walk_function_t *f);

/* Writes the magic and the header.  NULL: out of memory. */
sym_symbfile_out_t *sym_symbfile_out_create(sym_form_t *form, sym_error_t *err);
void sym_symbfile_out_free(sym_symbfile_out_t *o);

/* Calls put() for each function, then ends the last batch.  If the output has
 * failed, it ends early and returns SYM_OK. */
sym_status_t sym_symbfile_out_functions(sym_symbfile_out_t *o,
                                        sym_symbfile_put_pt put, void *ctx);

/* Ends the batch if it is full.  Call it before the first string of a
 * record. */
sym_status_t sym_symbfile_out_room(sym_symbfile_out_t *o);
sym_status_t sym_symbfile_out_end(sym_symbfile_out_t *o);

/* Numbers of strings in the table of the batch. */
uint32_t sym_symbfile_out_name(sym_symbfile_out_t *o,
                               const sym_walk_function_t *f, uint32_t node);
uint32_t sym_symbfile_out_file(sym_symbfile_out_t *o, uint32_t file);

/* Begins o->record with its address, as a difference or absolute; both are
 * numbers of fields. */
void sym_symbfile_out_begin(sym_symbfile_out_t *o, uint32_t addr,
                            uint32_t delta, uint32_t absolute);

/* Adds packed numbers to a message, and empties the column. */
void sym_symbfile_out_column(sym_buffer_t *to, uint32_t number,
                             sym_buffer_t *column);

/* Adds o->record to the batch. */
void sym_symbfile_out_record(sym_symbfile_out_t *o, uint32_t type);

#endif
