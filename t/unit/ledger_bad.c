/*
 * Damaged files of missing modules: t/bad/ledger/CASE/input must be refused
 * with exactly the text in .../error, by the commands that show the ledger and
 * by the loader, which keeps the records before the damage.  Checksums are
 * right, except in the case "checksum", so that the reader gets as far as the
 * fault.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bad_cases.h"
#include "ledger/write/table.h"

static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    sym_ledger_t *ledger = sym_ledger_create(SYM_LEDGER_BYTES_MAX);
    sym_ledger_reader_t reader;
    sym_ledger_entry_t entry;
    sym_error_t err = { 0 }, kept = { 0 };
    uint32_t n = 0;
    char text[256];

    if (sym_ledger_open(in.data, in.len, &reader, &err) == SYM_OK) {
        while (sym_ledger_next(&reader, &entry, &err) == SYM_OK) {
            n++;
        }
    }

    (void) sym_error_text(&err, text, sizeof(text));
    ok(sym_str_eq(want, sym_cstr(text)), "%s: %s", name, text);

    (void) sym_ledger_restore(ledger, in.data, in.len, &kept);
    (void) sym_error_text(&kept, text, sizeof(text));
    ok(sym_str_eq(want, sym_cstr(text)), "... by the loader");
    is_u64(sym_ledger_count(ledger), n, "... which keeps the sound records");
    sym_ledger_free(ledger);
}


static void
refuses(const char *store, const char *what)
{
    sym_error_t err = { 0 };
    uint8_t *data;
    size_t len;
    char text[256];

    ok(sym_ledger_load(store, &data, &len, &err) == SYM_DAMAGED && data == NULL
           && len == 0,
       "%s", what);
    is_str(sym_cstr(sym_error_text(&err, text, sizeof(text))),
           "damaged: no loader wrote this ledger", "... says so");
}


/* Paths that are not ledger files at all. */
static void
test_files(void)
{
    char store[] = "/tmp/ledger_bad.XXXXXX", path[64];

    if (!ok(mkdtemp(store) != NULL, "a folder")) {
        return;
    }

    (void) snprintf(path, sizeof(path), "%s/" SYM_LEDGER_FILE, store);
    ok(mkdir(path, 0700) == 0, "a folder instead of the file");
    refuses(store, "a folder");
    (void) rmdir(path);

    ok(mkfifo(path, 0600) == 0, "a pipe without a writer");
    refuses(store, "a pipe");
    (void) unlink(path);

    fclose(fopen(path, "w"));
    ok(truncate(path, (off_t) (SYM_LEDGER_HEAD + SYM_LEDGER_BYTES_MAX + 1))
           == 0,
       "a byte more than any ledger has");
    refuses(store, "a file that is too long");
    (void) unlink(path);
    (void) rmdir(store);
}


int
main(void)
{
    bad_cases("t/bad/ledger", 30, test_case);
    test_files();
    return done_testing();
}
