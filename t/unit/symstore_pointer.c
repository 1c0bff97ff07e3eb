/*
 * Contents of pointer files in a Windows symbol server's tree, and which names
 * belong to a folder.
 */
#include "sources/paths/symstore_pointer.h"
#include "tap.h"

static void
test_pointer(const char *what, sym_str_t text, sym_pointer_t want,
             const char *path)
{
    char out[64] = "untouched";
    sym_pointer_t is = sym_symstore_pointer(text, out, sizeof(out));

    is_u64(is, want, what);
    if (path != NULL) {
        is_str(sym_cstr(out), path, "... the path");
    }
}


static void
test_pointers(void)
{
    char longest[5 + 64];

    test_pointer("a path", SYM_STR("PATH:..\\..\\xul.pdb"), SYM_POINTER_PATH,
                 "../../xul.pdb");
    test_pointer("with the characters that Windows adds",
                 SYM_STR("path: /srv/a b.pdb \r\nMSG: x\r\n"), SYM_POINTER_PATH,
                 "/srv/a b.pdb");
    test_pointer("on another machine", SYM_STR("PATH:\\\\host\\share\\x.pdb"),
                 SYM_POINTER_ELSEWHERE, "//host/share/x.pdb");
    test_pointer("of a drive", SYM_STR("PATH:d:\\x.pdb"), SYM_POINTER_ELSEWHERE,
                 "d:/x.pdb");
    test_pointer("a message", SYM_STR("MSG: not stored"), SYM_POINTER_MESSAGE,
                 "untouched");

    test_pointer("nothing", SYM_STR(""), SYM_POINTER_INVALID, "untouched");
    test_pointer("a line end", SYM_STR("\r\n"), SYM_POINTER_INVALID, NULL);
    test_pointer("no path", SYM_STR("PATH: \r\nx.pdb"), SYM_POINTER_INVALID,
                 "untouched");
    test_pointer("a word cut", SYM_STR("PATH"), SYM_POINTER_INVALID, NULL);
    test_pointer("another word", SYM_STR("FILE:x.pdb"), SYM_POINTER_INVALID,
                 NULL);
    test_pointer("a NUL", SYM_STR("PATH:x.pdb\0y"), SYM_POINTER_INVALID, NULL);

    memset(longest, 'x', sizeof(longest));
    memcpy(longest, "PATH:x", sizeof("PATH:x"));
    longest[6] = 'x';
    test_pointer("a path longer than its buffer",
                 sym_str(longest, sizeof(longest)), SYM_POINTER_INVALID,
                 "untouched");
    test_pointer("... one byte less", sym_str(longest, sizeof(longest) - 1),
                 SYM_POINTER_PATH, NULL);
}


static void
test_names(void)
{
    ok(sym_symstore_is_named(SYM_STR("xul.pd_"), SYM_STR("xul.pdb"))
           && sym_symstore_is_named(SYM_STR("XUL.PD_"), SYM_STR("xul.pdb"))
           && sym_symstore_is_named(SYM_STR("xul.PDB"), SYM_STR("xul.pdb")),
       "named like the folder");
    ok(!sym_symstore_is_named(SYM_STR("xul.pdc"), SYM_STR("xul.pdb"))
           && !sym_symstore_is_named(SYM_STR("xul.p_"), SYM_STR("xul.pdb"))
           && !sym_symstore_is_named(SYM_STR("xpl.pd_"), SYM_STR("xul.pdb"))
           && !sym_symstore_is_named(SYM_STR("_"), SYM_STR("a"))
           && !sym_symstore_is_named(SYM_STR(""), SYM_STR("")),
       "not named so");
}


int
main(void)
{
    test_pointers();
    test_names();
    return done_testing();
}
