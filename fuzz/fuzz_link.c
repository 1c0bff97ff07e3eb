/*
 * Any bytes as a packet of the loader's protocol.  A message that is read must
 * be written again with the same bytes, except for zeros in fields that may be
 * omitted and the part after the version in HELLO.  Errors must have a reason.
 */
#include <string.h>

#include "check.h"
#include "protocol/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t out[SYM_RPC_MAX], again[SYM_RPC_MAX];
    sym_rpc_message_t m, same;
    sym_error_t err = { 0 };
    size_t len;

    if (sym_rpc_read(data, size, &m, &err) != SYM_OK) {
        check(err.what != NULL);
        return 0;
    }

    len = sym_rpc_write(&m, out);
    check(len <= size && memcmp(out, data, len) == 0);
    for (size_t i = len; i < size && m.type != SYM_RPC_HELLO; i++) {
        check(data[i] == 0);
    }

    check(sym_rpc_read(out, len, &same, &err) == SYM_OK);
    check(sym_rpc_write(&same, again) == len && memcmp(again, out, len) == 0);
    return 0;
}
