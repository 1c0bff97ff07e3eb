#include "formats/packed/flow.h"

#ifdef SYM_HAVE_ISAL

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

/* Each step costs a copy of the window, 32 KiB. */
#define STEP_BYTES ((size_t) 1 << 20)

static uint32_t
part(size_t left, size_t most)
{
    return (uint32_t) (left < most ? left : most);
}


bool
sym_inflate_flow(sym_str_t in, uint8_t *out, size_t len, sym_gauge_t *there)
{
    struct inflate_state *s = malloc(sizeof(*s));
    size_t taken = 0, done = 0, shown = 0;
    bool is_whole = false, goes_on = s != NULL;

    if (goes_on) {
        isal_inflate_init(s);
        s->crc_flag = ISAL_ZLIB;
    }

    while (goes_on) {
        uint32_t given = part(in.len - taken, UINT32_MAX);
        uint32_t room = part(len - done, STEP_BYTES);
        int rc;

        s->next_in = (uint8_t *) (uintptr_t) in.data + taken;
        s->avail_in = given;
        s->next_out = out + done;
        s->avail_out = room;
        rc = isal_inflate(s);

        given -= s->avail_in;
        room -= s->avail_out;
        taken += given;
        done += room;
        is_whole = rc == ISAL_DECOMP_OK && s->block_state == ISAL_BLOCK_FINISH
                   && done == len;
        goes_on = rc == ISAL_DECOMP_OK && s->block_state != ISAL_BLOCK_FINISH
                  && (given != 0 || room != 0);

        /* the last bytes are released when the checksum is verified */
        if (is_whole || (goes_on && done < len)) {
            sym_gauge_add(there, done - shown);
            shown = done;
        }
    }

    free(s);
    return is_whole;
}

#else

bool
sym_inflate_flow(sym_str_t in, uint8_t *out, size_t len, sym_gauge_t *there)
{
    sym_error_t ignored = { 0 };

    if (sym_inflate(in, out, len, &ignored) != SYM_OK) {
        return false;
    }

    sym_gauge_add(there, len);
    return true;
}

#endif
