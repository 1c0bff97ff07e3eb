#include "uploads/counts.h"

#include <stdio.h>

#include "base/hex.h"

size_t
sym_upload_counts_write(const sym_upload_counts_t *counts,
                        char out[SYM_UPLOAD_COUNTS_TEXT])
{
    return (size_t) snprintf(
        out, SYM_UPLOAD_COUNTS_TEXT, "%llu %llu %llu %llu %llu %llu %llu",
        (unsigned long long) counts->report,
        (unsigned long long) counts->stored, (unsigned long long) counts->same,
        (unsigned long long) counts->kept, (unsigned long long) counts->refused,
        (unsigned long long) counts->failed, (unsigned long long) counts->part);
}


bool
sym_upload_counts_read(sym_str_t text, sym_upload_counts_t *counts)
{
    uint64_t *const numbers[] = { &counts->report,  &counts->stored,
                                  &counts->same,    &counts->kept,
                                  &counts->refused, &counts->failed,
                                  &counts->part };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const char *space =
            text.len != 0 ? memchr(text.data, ' ', text.len) : NULL;
        size_t len = space != NULL ? (size_t) (space - text.data) : text.len;

        if (!sym_dec_read(sym_str(text.data, len), numbers[i])) {
            return false;
        }

        len += space != NULL;
        text = sym_str(text.data + len, text.len - len);
    }

    return text.len == 0;
}
