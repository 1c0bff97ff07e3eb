#include "formats/native/rules.h"

#include <inttypes.h>

sym_status_t
sym_native_rules_begin(sym_native_t *n, sym_unwind_arch_t *arch, uint32_t flags,
                       sym_error_t *err)
{
    *arch = sym_unwind_arch_named(sym_cstr(n->arch));

    if (!n->wants_rules || *arch == SYM_UNWIND_UNKNOWN) {
        return SYM_NOT_FOUND;
    }

    n->cfi = sym_cfi_writer_create(*arch, flags, n->len, err);
    return err->status;
}


sym_status_t
sym_native_frames(sym_native_t *n, const sym_frames_input_t *in,
                  sym_error_t *err)
{
    sym_frames_stats_t stats = { 0 };
    char text[256];
    sym_status_t rc = sym_frames_read(in, n->cfi, &stats, err);

    if (rc == SYM_OK && stats.broken != 0) {
        n->services->note(
            n->services->ctx,
            "unwind rules of %" PRIu64 " of %" PRIu64
            " functions are broken: %s",
            stats.broken, stats.functions,
            sym_error_text(&stats.first_broken, text, sizeof(text)));
    }

    return rc;
}
