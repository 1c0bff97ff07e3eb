/*
 * Indexes of symstores: entries as Symbolicator reads them, texts in parts, and limits.
 */
#include "sources/index.h"
#include "tap.h"

static sym_source_index_t index_;

static bool
has(const char *path)
{
    return sym_source_index_has(&index_, sym_cstr(path));
}


static void
feed(const char *text, size_t step)
{
    for (size_t at = 0, len = strlen(text); at < len; at += step) {
        (void) sym_source_index_feed(
            &index_, sym_str(text + at, at + step < len ? step : len - at));
    }
    (void) sym_source_index_end(&index_);
}


static void
test_last(const char *text, bool want, unsigned number)
{
    unsigned n = 77;

    ok(sym_source_index_last(sym_cstr(text), &n) == want
           && n == (want ? number : 77),
       "last number '%s'", text);
}


int
main(void)
{
    static const char text[] =
        "\"difx64.dll\\4549B50183000\",\"D:\\\\DllServers\\\\difx64.dll\"\r\n"
        "no entry\n\"none\"\n\n"
        "\"a.pdb\\0C1033F78632492E91C6C314B72E19201\",\"x\"";
    char line[64];
    sym_status_t rc = SYM_OK;

    for (size_t step = 1; step < sizeof(text); step += 7) {
        sym_source_index_begin(&index_, 1 << 20);
        ok(!has("difx64.dll/4549B50183000/difx64.dll"),
           "nothing is in an empty one");
        feed(text, step);
        is_u64(index_.n, 2, "entries");
        ok(has("difx64.dll/4549B50183000/difx64.dll"), "in parts of %zu", step);
        ok(has("a.pdb/0C1033F78632492E91C6C314B72E19201/a.pdb"),
           "... the last line too");
        ok(!has("a.pdb/0C1033F78632492E91C6C314B72E19202/a.pdb"),
           "... another id");
        ok(!has("difx64.dll/4549B50183000/difx64.dl_"), "... another name");
        ok(!has("difx64.dll/4549b50183000/difx64.dll"), "... another case");
        ok(!has("difx64.dll") && !has("") && !has("/") && !has("a/b"),
           "... no path");
        sym_source_index_free(&index_);
    }

    sym_source_index_begin(&index_, 16384);
    for (unsigned i = 0; i < 5000 && rc == SYM_OK; i++) {
        (void) snprintf(line, sizeof(line), "\"f%u.dll\\%u\",\n", i, i);
        rc = sym_source_index_feed(&index_, sym_cstr(line));
    }
    ok(rc == SYM_LIMIT && index_.n == 1024, "more than its table may hold");
    ok(has("f1023.dll/1023/f1023.dll") && !has("f1024.dll/1024/f1024.dll"),
       "... the others are there");
    sym_source_index_free(&index_);

    test_last("0000000021\r\n", true, 21);
    test_last("10000", true, 10000);
    test_last("10001", false, 0);
    test_last("", false, 0);
    test_last("-1", false, 0);
    test_last("12x", false, 0);
    test_last("0000000000000000001", false, 0);
    return done_testing();
}
