/*
 * Prints the records of paths of one source, a line each: the path, the
 * outcome, the HTTP status or the word, the kinds that were tried and found,
 * the ids.
 *
 *     paths STORE SOURCE
 */
#include <inttypes.h>
#include <stdio.h>

#include "store/path.h"

static const char *const outcomes[] = { "?", "read", "absent", "failed",
                                        "malformed" };


static void
print_ids(const sym_path_record_t *r)
{
    for (unsigned i = 0; i < r->n_ids; i++) {
        (void) printf(" %c", r->ids[i].form > SYM_STORE_ID_CODE
                                 ? 'c'
                                 : (char) r->ids[i].form);
        for (unsigned k = 0; k < SYM_STORE_ID_BYTES; k++) {
            (void) printf("%02x", r->ids[i].bytes[k]);
        }
    }
}


static sym_status_t
print(void *ctx, const sym_path_shown_t *key, const sym_path_record_t *r)
{
    (void) ctx;
    (void) printf(
        "%.*s %.*s %s %u%.*s %" PRIx32 "/%" PRIx32, (int) key->path.len,
        key->path.data, key->checksum.len != 0 ? (int) key->checksum.len : 1,
        key->checksum.len != 0 ? key->checksum.data : "-", outcomes[r->outcome],
        r->status, (int) r->word.len, r->word.data, r->tried, r->given);
    print_ids(r);
    (void) putchar('\n');
    return SYM_OK;
}


int
main(int argc, char **argv)
{
    sym_store_mark_t mark = { .len = 0 };
    uint64_t records = UINT64_MAX;
    sym_error_t err = { 0 };
    sym_snapshot_t *snapshot;
    sym_store_t *store;

    if (argc != 3 || sym_store_open_read(argv[1], &store, &err) != SYM_OK) {
        return 2;
    }

    if (sym_snapshot_begin(store, &snapshot, &err) != SYM_OK) {
        return 1;
    }

    (void) sym_snapshot_paths(snapshot, sym_cstr(argv[2]), &mark, &records,
                              print, NULL, &err);
    sym_snapshot_end(snapshot);
    sym_store_close(store);
    return err.status != SYM_OK;
}
