/*
 * table.h - the ledger of missing modules in the memory of its writer, the
 * loader.
 *
 * Clients choose the modules that they request, so a client that invents
 * modules must neither fill the ledger nor cost much:
 *
 * - The number of slots and their bytes are limited.
 * - A module that was requested once is new.  New modules have a quarter of the
 *   slots; the one with the oldest request makes room.
 * - If no slot is free, modules are admitted at a limited rate, so each stays
 *   for some time.
 * - A module that is requested again SYM_LEDGER_AGAIN_S after its first request
 *   is known.  Known modules have the other slots.  The one with the fewest
 *   requests makes room, but only for one that has more; the number of requests
 *   is halved for each week since the last request.
 *
 * So invented modules evict each other, and a real module stays once it was
 * requested twice while it had a slot.
 *
 * Texts of entries live until the next non-const call.
 */
#ifndef SYM_LEDGER_WRITE_TABLE_H
#define SYM_LEDGER_WRITE_TABLE_H

#include "base/buffer.h"
#include "ledger/ledger.h"

typedef struct sym_ledger_s sym_ledger_t;

#define SYM_LEDGER_NEW_MAX (SYM_LEDGER_ENTRIES_MAX / 4)
#define SYM_LEDGER_KNOWN_MAX (SYM_LEDGER_ENTRIES_MAX - SYM_LEDGER_NEW_MAX)
#define SYM_LEDGER_AGAIN_S 10

/* Maximum number of new modules per second, once their slots are all taken. */
#define SYM_LEDGER_RATE 32

/* An arrived module is shown for this time. */
#define SYM_LEDGER_CAME_S 86400

/* bytes: maximum size of the file, up to SYM_LEDGER_BYTES_MAX.  NULL: no
 * memory. */
sym_ledger_t *sym_ledger_create(size_t bytes);
void sym_ledger_free(sym_ledger_t *ledger);

/* Adds the records of a file; excess records are dropped. */
sym_status_t sym_ledger_restore(sym_ledger_t *ledger, const void *data,
                                size_t len, sym_error_t *err);

/*
 * Adds the requests, frames, state and reason of a note to the module's entry.
 * Creates the entry if necessary, as missing.  SYM_LIMIT: no free slot;
 * SYM_NOMEM; SYM_MALFORMED: an invalid name.
 */
sym_status_t sym_ledger_note(sym_ledger_t *ledger,
                             const sym_ledger_entry_t *note, int64_t now_s,
                             const sym_ledger_entry_t **entry);

/* Returns an entry by number, 0 to sym_ledger_count() - 1.  Numbers change when
   a module is removed. */
uint32_t sym_ledger_count(const sym_ledger_t *ledger);
const sym_ledger_entry_t *sym_ledger_entry(const sym_ledger_t *ledger,
                                           uint32_t n);
uint32_t sym_ledger_number(const sym_ledger_t *ledger,
                           const sym_ledger_entry_t *entry);

/* Records that a source has the module now.  SYM_NOMEM: nothing has changed. */
sym_status_t sym_ledger_come(sym_ledger_t *ledger, uint32_t n, sym_str_t from,
                             int64_t now_s, sym_ledger_told_t told);
void sym_ledger_tell(sym_ledger_t *ledger, uint32_t n, sym_ledger_told_t told);
void sym_ledger_tell_failed(sym_ledger_t *ledger);

/* Drops modules that arrived long ago; returns their number. */
uint32_t sym_ledger_sweep(sym_ledger_t *ledger, int64_t now_s);

const sym_ledger_totals_t *sym_ledger_totals(const sym_ledger_t *ledger);

/* Whether anything has changed since the last sym_ledger_write(). */
bool sym_ledger_is_changed(const sym_ledger_t *ledger);

/* Writes the file's content to memory; false: no memory. */
bool sym_ledger_write(sym_ledger_t *ledger, int64_t now_s, sym_buffer_t *out);

#endif
