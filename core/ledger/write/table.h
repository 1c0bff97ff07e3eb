/*
 * table.h - the ledger of missing modules, as its one writer keeps it.
 *
 * Clients choose what they ask for, so one that invents modules must neither fill
 * the ledger nor cost much:
 *
 * - Places and bytes are bounded.
 * - A module that was asked for once is new.  New ones have a quarter of the
 *   places; the one that was asked for the longest ago makes room.
 * - Modules that find no free place are admitted at a bounded rate, so that each
 *   stays for some time.
 * - A module that is asked for again SYM_LEDGER_AGAIN_S after its first request
 *   is known.  Known ones have the other places.  There the one with the fewest
 *   requests makes room, and only for one that has more; requests count half for
 *   each week since the last.
 *
 * So invented modules drive each other out, and a real one comes to stay as soon
 * as two of its requests find it here.
 *
 * Texts of entries live until the next call that is not const.
 */
#ifndef SYM_LEDGER_WRITE_TABLE_H
#define SYM_LEDGER_WRITE_TABLE_H

#include "base/buffer.h"
#include "ledger/ledger.h"

typedef struct sym_ledger_s sym_ledger_t;

#define SYM_LEDGER_NEW_MAX (SYM_LEDGER_ENTRIES_MAX / 4)
#define SYM_LEDGER_KNOWN_MAX (SYM_LEDGER_ENTRIES_MAX - SYM_LEDGER_NEW_MAX)
#define SYM_LEDGER_AGAIN_S 10

/* New modules a second, once the places for them are taken. */
#define SYM_LEDGER_RATE 32

/* One that has come is shown for so long. */
#define SYM_LEDGER_CAME_S 86400

/* bytes: of the file, at most SYM_LEDGER_BYTES_MAX.  NULL: no memory. */
sym_ledger_t *sym_ledger_create(size_t bytes);
void sym_ledger_free(sym_ledger_t *ledger);

/* Takes over what was read; records that are too many are dropped. */
sym_status_t sym_ledger_restore(sym_ledger_t *ledger, const void *data,
                                size_t len, sym_error_t *err);

/*
 * Adds the requests, frames, state and reason of a note to the module's entry,
 * which is made if need be, and is missing then.  SYM_LIMIT: it found no place;
 * SYM_NOMEM; SYM_MALFORMED: no module can be called so.
 */
sym_status_t sym_ledger_note(sym_ledger_t *ledger,
                             const sym_ledger_entry_t *note, int64_t now_s,
                             const sym_ledger_entry_t **entry);

/* By number, 0 to sym_ledger_count() - 1; a number changes when a module goes. */
uint32_t sym_ledger_count(const sym_ledger_t *ledger);
const sym_ledger_entry_t *sym_ledger_entry(const sym_ledger_t *ledger,
                                           uint32_t n);
uint32_t sym_ledger_number(const sym_ledger_t *ledger,
                           const sym_ledger_entry_t *entry);

/* A source has it now.  SYM_NOMEM: nothing has changed. */
sym_status_t sym_ledger_come(sym_ledger_t *ledger, uint32_t n, sym_str_t from,
                             int64_t now_s, sym_ledger_told_t told);
void sym_ledger_tell(sym_ledger_t *ledger, uint32_t n, sym_ledger_told_t told);
void sym_ledger_tell_failed(sym_ledger_t *ledger);

/* Drops those that came long ago; the number of those that went. */
uint32_t sym_ledger_sweep(sym_ledger_t *ledger, int64_t now_s);

const sym_ledger_totals_t *sym_ledger_totals(const sym_ledger_t *ledger);

/* True since the last sym_ledger_write() if anything changed. */
bool sym_ledger_is_changed(const sym_ledger_t *ledger);

/* The file; false: no memory. */
bool sym_ledger_write(sym_ledger_t *ledger, int64_t now_s, sym_buffer_t *out);

#endif
