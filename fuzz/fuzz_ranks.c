/*
 * Any bytes as the list of what a fleet uses, with a corrected checksum.  The
 * artifacts that are read are within their limits, fade, and can be written and
 * read again.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "share/ranks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW INT64_C(1700000000)
#define CRC_AT 8

static void
check_all(const sym_ranks_t *ranks)
{
    sym_object_ref_t ref;

    check(ranks->n <= SYM_RANKS_MAX);
    for (uint32_t i = 0; i < ranks->n; i++) {
        const sym_rank_t *rank = ranks->at[i];

        check(rank->weight != 0 && rank->weight <= SYM_RANK_WEIGHT_MAX);
        check(i == 0 || rank->weight <= ranks->at[i - 1]->weight);
        check(sym_rank_ref_read(rank->ref, &ref));
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *list = malloc(size + 1);
    sym_ranks_t *ranks = sym_ranks_create(NOW);
    sym_ranks_t *again = sym_ranks_create(NOW);
    sym_buffer_t written = { 0 };
    sym_error_t err = { 0 };

    check(list != NULL && ranks != NULL && again != NULL);
    if (size != 0) {
        memcpy(list, data, size);
    }

    if (size >= SYM_RANKS_HEAD) {
        uint32_t crc = sym_ranks_crc(list, size);

        for (unsigned i = 0; i < 4; i++) {
            list[CRC_AT + i] = (uint8_t) (crc >> (8 * i));
        }
    }

    (void) sym_ranks_read(ranks, list, size, &err);
    sym_ranks_fade(ranks, NOW);
    sym_ranks_order(ranks, SYM_RANKS_MAX);
    check_all(ranks);

    err = (sym_error_t){ 0 };
    sym_ranks_write(ranks, &written);
    check(!written.failed && written.len <= SYM_RANKS_BYTES_MAX);
    check(sym_ranks_read(again, written.data, written.len, &err) == SYM_OK);
    check(again->n == ranks->n);

    sym_buffer_free(&written);
    sym_ranks_free(again);
    sym_ranks_free(ranks);
    free(list);
    return 0;
}
