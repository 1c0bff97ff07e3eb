/*
 * Any bytes as the file of missing modules, with a corrected checksum.  Entries
 * that are read must be written again, and then read the same; every page can
 * be made from them.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ledger/page.h"
#include "ledger/write/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CRC_AT 12

static void
make_pages(const sym_ledger_t *ledger)
{
    static char text[65536];
    sym_out_t out = sym_out_fixed(text, sizeof(text));

    for (uint32_t i = 0; i < sym_ledger_count(ledger); i++) {
        sym_ledger_entry_t e = *sym_ledger_entry(ledger, i);

        out = sym_out_fixed(text, sizeof(text));
        sym_ledger_write_entry(&e, &out);
        sym_ledger_write_arrival(&e, &out);
        sym_ledger_csv_row(&e, &out);
        sym_ledger_metrics(&e, 1, 1, 0, sym_ledger_totals(ledger), &out);
        check(!out.failed);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(size + 1);
    sym_ledger_t *ledger = sym_ledger_create(SYM_LEDGER_BYTES_MAX);
    sym_ledger_t *again = sym_ledger_create(SYM_LEDGER_BYTES_MAX);
    sym_buffer_t written = { 0 };
    sym_error_t err = { 0 };

    check(file != NULL && ledger != NULL && again != NULL);
    if (size != 0) {
        memcpy(file, data, size);
    }

    if (size >= SYM_LEDGER_HEAD) {
        uint32_t crc = sym_ledger_crc(file, size);

        for (unsigned i = 0; i < 4; i++) {
            file[CRC_AT + i] = (uint8_t) (crc >> (8 * i));
        }
    }

    /* entries before the damage are kept */
    (void) sym_ledger_restore(ledger, file, size, &err);
    make_pages(ledger);

    err = (sym_error_t){ 0 };
    check(sym_ledger_write(ledger, 1, &written));
    check(sym_ledger_restore(again, written.data, written.len, &err) == SYM_OK);
    check(sym_ledger_count(again) == sym_ledger_count(ledger));

    sym_buffer_free(&written);
    sym_ledger_free(again);
    sym_ledger_free(ledger);
    free(file);
    return 0;
}
