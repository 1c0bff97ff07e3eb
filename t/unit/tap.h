/*
 * tap.h - the few lines that our C unit tests need to print TAP.
 *
 *     ok(1 + 1 == 2, "sums %d", 2);
 *     is_u64(got, want, "name");      shows both when they differ
 *     is_str(view, "text", "name");
 *     return done_testing();
 */
#ifndef SYM_UNIT_TAP_H
#define SYM_UNIT_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

static unsigned tap_count, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static bool
ok(bool passed, const char *name, ...)
{
    va_list args;

    tap_count++;
    tap_failed += passed ? 0 : 1;
    printf("%sok %u - ", passed ? "" : "not ", tap_count);
    va_start(args, name);
    vprintf(name, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    return passed;
}


__attribute__((unused)) static bool
is_u64(uint64_t got, uint64_t want, const char *name)
{
    if (!ok(got == want, "%s", name)) {
        printf("#   got 0x%" PRIx64 ", want 0x%" PRIx64 "\n", got, want);
        return false;
    }
    return true;
}


__attribute__((unused)) static bool
is_str(sym_str_t got, const char *want, const char *name)
{
    if (!ok(sym_str_eq(got, sym_cstr(want)), "%s", name)) {
        printf("#   got '%.*s', want '%s'\n", (int) got.len, got.data, want);
        return false;
    }
    return true;
}


/* Compares the status; shows the error's text if it differs. */
__attribute__((unused)) static bool
is_status(sym_status_t got, sym_status_t want, const sym_error_t *err,
          const char *name)
{
    if (!ok(got == want, "%s", name)) {
        char text[256];

        printf("#   got %s, want %s; %s\n", sym_status_name(got),
               sym_status_name(want),
               err != NULL ? sym_error_text(err, text, sizeof(text)) : "");
        return false;
    }
    return true;
}


__attribute__((unused)) static int
done_testing(void)
{
    printf("1..%u\n", tap_count);
    return tap_failed == 0 ? 0 : 1;
}

#endif
