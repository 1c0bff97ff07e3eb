/*
 * filt - demangles the names on standard input, for t/demangle.t.
 *
 *     build/t/filt [return] [tight] [name] <NAMES
 */
#include <stdio.h>
#include <string.h>

#include "demangle/demangle.h"
#include "artifacts/symcache/format.h"
#include "base/language.h"


static unsigned
style_of(int argc, char **argv)
{
    unsigned style = SYM_DEMANGLE_PARAMS;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "return") == 0) {
            style |= SYM_DEMANGLE_RETURN;
        } else if (strcmp(argv[i], "tight") == 0) {
            style |= SYM_DEMANGLE_TIGHT;
        } else if (strcmp(argv[i], "name") == 0) {
            style &= ~SYM_DEMANGLE_PARAMS;
        }
    }

    return style;
}


int
main(int argc, char **argv)
{
    char line[65536], out[SYM_DEMANGLED_MAX];
    unsigned style = style_of(argc, argv);

    while (fgets(line, sizeof(line), stdin) != NULL) {
        sym_str_t name = sym_str(line, strcspn(line, "\n"));
        size_t len =
            sym_demangle(name, SYM_LANG_UNKNOWN, style, out, sizeof(out));

        if (len == 0) {
            printf("%.*s\n", (int) name.len, name.data);
        } else {
            printf("%.*s\n", (int) len, out);
        }
    }

    return 0;
}
