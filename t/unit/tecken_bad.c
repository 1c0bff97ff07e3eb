/*
 * Requests that must be refused: t/bad/tecken/CASE/input with exactly the error
 * in .../error, through both readers, at once and in the smallest slices.  v5,
 * or v4 where the name of the case says so.
 */
#include "bad_cases.h"
#include "tecken_kit.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    unsigned version = strncmp(name, "v4_", 3) == 0 ? 4 : 5;
    const kit_options_t ways[] = {
        { .version = version },
        { .version = version, .budget = 1 },
        { .version = version, .general = true },
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        kit_result_t r = kit_run(in, &ways[i]);

        if (!ok(r.status == SYM_MALFORMED
                    && sym_str_eq(sym_str(r.text, r.len), want),
                "%s, way %zu", name, i))
        {
            printf("#   got %s '%.200s', want '%.*s'\n",
                   sym_status_name(r.status), r.text == NULL ? "" : r.text,
                   (int) want.len, want.data);
        }
        free(r.text);
    }
}


int
main(void)
{
    bad_cases("t/bad/tecken", 30, test_case);
    return done_testing();
}
