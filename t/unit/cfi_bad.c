/*
 * Call frame information that no compiler should write: t/bad/cfi/CASE/input is
 * an .eh_frame of x86-64 whose function must be omitted for the reason in
 * .../error.
 */
#include "bad_cases.h"
#include "formats/unwind/frames.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    const sym_frames_input_t frames = {
        .bytes = in, .arch = SYM_UNWIND_X86_64, .is_eh = true, .is_64bit = true
    };
    sym_frames_stats_t stats = { 0 };
    sym_error_t err = { 0 };
    sym_cfi_writer_t *w =
        sym_cfi_writer_create(SYM_UNWIND_X86_64, 0, in.len, &err);
    char text[256];

    (void) sym_frames_read(&frames, w, &stats, &err);
    is_str(want,
           sym_error_text(err.status != SYM_OK ? &err : &stats.first_broken,
                          text, sizeof(text)),
           name);
    sym_cfi_writer_free(w);
}


int
main(void)
{
    bad_cases("t/bad/cfi", 16, test_case);
    return done_testing();
}
