/*
 * table.h - the ledger of missing modules in its writer's memory.
 *
 * Clients choose the modules that they request, so one that invents modules
 * must neither fill the ledger nor cost much:
 *
 * - Slots and bytes are bounded.
 * - A module that was asked for once is new.  New ones have a quarter of the
 *   places; the one that was asked for the longest ago makes room.
 * - Modules that find no free place are admitted at a bounded rate, so that each
 *   stays for some time.
 * - A module that is asked for again SYM_LEDGER_AGAIN_S after its first request
 *   is known.  Known ones have the other places.  There the one with the fewest
 *   requests makes room, and only for one that has more; requests count half for
 *   each week since the last.
 *
 * So invented modules evict each other, and a real one stays as soon as two of
 * its requests find it here.
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

/* New modules per second, once the slots for them are taken. */
#define SYM_LEDGER_RATE 32

/* How long an arrived module is shown. */
#define SYM_LEDGER_CAME_S 86400

/* bytes: of the file, at most SYM_LEDGER_BYTES_MAX.  NULL: no memory. */
sym_ledger_t *sym_ledger_create(size_t bytes);
void sym_ledger_free(sym_ledger_t *ledger);

/* Takes the records that were read; excess records are dropped. */
sym_status_t sym_ledger_restore(sym_ledger_t *ledger, const void *data,
                                size_t len, sym_error_t *err);

/*
 * Adds the requests, frames, state and reason of a note to the module's entry,
 * which is created if necessary, as missing.  SYM_LIMIT: no slot for it;
 * SYM_NOMEM; SYM_MALFORMED: an invalid name.
 */
sym_status_t sym_ledger_note(sym_ledger_t *ledger,
                             const sym_ledger_entry_t *note, int64_t now_s,
                             const sym_ledger_entry_t **entry);

/* By number, 0 to sym_ledger_count() - 1; numbers change when a module is
   removed. */
uint32_t sym_ledger_count(const sym_ledger_t *ledger);
const sym_ledger_entry_t *sym_ledger_entry(const sym_ledger_t *ledger,
                                           uint32_t n);
uint32_t sym_ledger_number(const sym_ledger_t *ledger,
                           const sym_ledger_entry_t *entry);

/* Records that a source has it now.  SYM_NOMEM: nothing has changed. */
sym_status_t sym_ledger_come(sym_ledger_t *ledger, uint32_t n, sym_str_t from,
                             int64_t now_s, sym_ledger_told_t told);
void sym_ledger_tell(sym_ledger_t *ledger, uint32_t n, sym_ledger_told_t told);
void sym_ledger_tell_failed(sym_ledger_t *ledger);

/* Drops those that arrived long ago; returns their number. */
uint32_t sym_ledger_sweep(sym_ledger_t *ledger, int64_t now_s);

const sym_ledger_totals_t *sym_ledger_totals(const sym_ledger_t *ledger);

/* True since the last sym_ledger_write() if anything changed. */
bool sym_ledger_is_changed(const sym_ledger_t *ledger);

/* The file; false: no memory. */
bool sym_ledger_write(sym_ledger_t *ledger, int64_t now_s, sym_buffer_t *out);

#endif
