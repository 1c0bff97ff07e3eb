/*
 * Any bytes as a packet of the loader's protocol.  What is read can be written
 * again, and gives the same bytes; what is refused says why.
 */
#include <string.h>

#include "check.h"
#include "protocol/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t out[SYM_RPC_MAX];
    sym_rpc_message_t m;
    sym_error_t err = { 0 };
    size_t len;

    if (sym_rpc_read(data, size, &m, &err) != SYM_OK) {
        check(err.what != NULL);
        return 0;
    }

    len = sym_rpc_write(&m, out);
    check(len == size && memcmp(out, data, len) == 0);
    return 0;
}
