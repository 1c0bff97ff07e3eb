/*
 * Memory runs out at the 1st, 2nd, .. nth allocation of reading a file: each
 * time the reader says so and frees everything (the leak check of the sanitizer
 * run sees that).
 */
#include <stdlib.h>

#include "formats/breakpad/breakpad.h"
#include "oom.h"
#include "tap.h"


#define ADD(...) n += (size_t) snprintf(in + n, size - n, __VA_ARGS__)

/* Small and large numbers, many records in a function, names before and after
 * their use. */
static size_t
make_input(char *in, size_t size)
{
    size_t n = 0;

    ADD("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a.out\n"
        "INFO CODE_ID 1234 a.exe\n");

    for (unsigned i = 0; i < 400; i++) {
        ADD("FILE %u /src/%u.c\n", i, i);
        ADD("FILE %u far.c\n", i * 70001 + 900000);
    }

    for (unsigned i = 0; i < 200; i++) {
        ADD("INLINE_ORIGIN %u name_%u\n", i * 3000001, i);
    }

    for (unsigned k = 0; k < 3; k++) {
        ADD("FUNC %x 2000 0 function_%u\n", k << 16, k);
        for (unsigned i = 0; i < 600; i++) {
            ADD("INLINE 0 %u 5 %u %x 4\n%x 4 %u %u\n", i, i * 1000,
                (k << 16) + 4 * i, (k << 16) + 4 * i, i, i);
        }
    }

    ADD("PUBLIC 90000 0 last\n");
    return n;
}


static sym_status_t
read_input(const char *in, size_t len, sym_error_t *err)
{
    sym_writer_t *w = sym_writer_create(err);
    sym_breakpad_t *b = w != NULL ? sym_breakpad_create(w, err) : NULL;

    for (size_t at = 0; b != NULL && at < len; at += 1000) {
        size_t piece = len - at < 1000 ? len - at : 1000;

        if (sym_breakpad_feed(b, in + at, piece) != SYM_OK) {
            break;
        }
    }

    if (b != NULL) {
        (void) sym_breakpad_end(b);
    }

    sym_breakpad_free(b);
    sym_writer_free(w);
    return err->status;
}


int
main(void)
{
    static char in[200000];
    size_t len = make_input(in, sizeof(in));
    unsigned long n = 0, wrong = 0;
    sym_status_t rc;

    ok(len < sizeof(in) - 1, "the input fits");

    do {
        sym_error_t err = { 0 };

        allocations_left = n++;
        rc = read_input(in, len, &err);
        allocations_left = (unsigned long) -1;
        wrong += rc != SYM_OK && rc != SYM_NOMEM;
    } while (rc != SYM_OK && n < 100000);

    is_status(rc, SYM_OK, NULL, "with enough memory it succeeds");
    is_u64(wrong, 0, "before: out of memory");
    ok(n > 60, "%lu allocations were made to fail", n - 1);
    return done_testing();
}
