/*
 * Requests that must be refused: t/bad/tecken/CASE/input with exactly the
 * sentence in .../error, through both readers, at once and in the smallest
 * slices.  v5, or v4 where the name of the case says so.
 */
#include <dirent.h>

#include "slurp.h"
#include "tap.h"
#include "tecken_kit.h"

#define CASES "t/bad/tecken"

static void
test_case(const char *folder)
{
    sym_str_t in = slurp(CASES, folder, "input"),
              want = slurp(CASES, folder, "error");
    unsigned version = strncmp(folder, "v4_", 3) == 0 ? 4 : 5;
    const kit_options_t ways[] = {
        { .version = version },
        { .version = version, .budget = 1 },
        { .version = version, .general = true },
    };

    if (!ok(in.data != NULL && want.data != NULL, "%s: input and error",
            folder)) {
        return;
    }

    while (want.len > 0 && want.data[want.len - 1] == '\n') {
        want.len--;
    }

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        kit_result_t r = kit_run(in, &ways[i]);

        if (!ok(r.status == SYM_MALFORMED
                    && sym_str_eq(sym_str(r.text, r.len), want),
                "%s, way %zu", folder, i))
        {
            printf("#   got %s '%.200s', want '%.*s'\n",
                   sym_status_name(r.status), r.text == NULL ? "" : r.text,
                   (int) want.len, want.data);
        }
        free(r.text);
    }

    free((void *) (uintptr_t) in.data);
    free((void *) (uintptr_t) want.data);
}


static int
visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}


int
main(void)
{
    struct dirent **entries = NULL;
    int n = scandir(CASES, &entries, visible, alphasort);

    ok(n >= 30, "there are cases in " CASES);

    for (int i = 0; i < n; i++) {
        test_case(entries[i]->d_name);
        free(entries[i]);
    }

    free(entries);
    return done_testing();
}
