#include "demangle/sink.h"

#include <string.h>

void
sym_sink_put(const char *text, size_t len, void *opaque)
{
    sym_sink_t *sink = opaque;

    if (sink->is_full) {
        return;
    }

    if (len > sink->size - sink->len) {
        sink->is_full = true;
        sink->spoil(sink->ctx);
        return;
    }

    if (len != 0) {
        memcpy(sink->out + sink->len, text, len);
        sink->len += len;
    }
}
