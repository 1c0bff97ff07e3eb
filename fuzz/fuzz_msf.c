/*
 * An MSF file of any bytes: every stream that is read must be in the file or in
 * its copy, and all of them together must not be larger than the file.
 */
#include "check.h"
#include "formats/pdb/msf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sym_str_t file = sym_str((const char *) data, size);
    sym_buffer_t copy = { 0 };
    sym_error_t err = { 0 };
    volatile uint8_t sum = 0;
    uint64_t all = 0;
    sym_msf_t msf;

    if (sym_msf_open(&msf, file, &err) != SYM_OK) {
        check(err.what != NULL);
    }

    for (uint32_t i = 0; i < msf.n_streams + 1; i++) {
        sym_error_t bad = { 0 };
        sym_str_t bytes;

        if (sym_msf_read(&msf, i, &copy, &bytes, &bad) == SYM_OK) {
            check(bytes.len == sym_msf_size(&msf, i));
            for (size_t at = 0; at < bytes.len; at++) {
                sum = (uint8_t) (sum + (uint8_t) bytes.data[at]);
            }
        }
        all += sym_msf_size(&msf, i);
    }

    check(err.status != SYM_OK || all < size + msf.page_size);
    sym_buffer_free(&copy);
    sym_msf_close(&msf);
    return 0;
}
