/*
 * Memory runs out at the 1st, 2nd, .. nth allocation of reading real DWARF:
 * each time the reader says so and frees everything (the leak check of the
 * sanitizer run sees that).
 */
#include "bad_cases.h"
#include "dwarf_container.h"
#include "oom.h"

static sym_status_t
read_input(sym_str_t in, sym_error_t *err)
{
    sym_writer_t *w = sym_writer_create(err);
    container_t container;
    sym_dwarf_input_t input;
    sym_dwarf_stats_t stats;

    if (w == NULL) {
        return err->status;
    }

    container_open((const uint8_t *) in.data, in.len, &input, &container);
    (void) sym_dwarf_read(&input, w, &stats, err);
    sym_writer_free(w);
    return err->status;
}


static void
sweep(const char *name)
{
    sym_str_t in = slurp("fuzz/corpus", "dwarf", name);
    unsigned long n = 0, wrong = 0;
    sym_status_t rc;

    ok(in.len != 0, "%s is there", name);

    do {
        sym_error_t err = { 0 };

        allocations_left = n++;
        rc = read_input(in, &err);
        allocations_left = (unsigned long) -1;
        wrong += rc != SYM_OK && rc != SYM_NOMEM;
    } while (rc != SYM_OK && n < 100000);

    is_status(rc, SYM_OK, NULL, "with enough memory it succeeds");
    is_u64(wrong, 0, "before: out of memory");
    ok(n > 20, "%lu allocations were made to fail", n - 1);
    free((void *) (uintptr_t) in.data);
}


int
main(void)
{
    sweep("gcc5");
    sweep("clang4");
    sweep("dwz");
    return done_testing();
}
