/*
 * Any bytes as a text of a symstore's index: the result for a path must not
 * depend on the size of its parts.  The first line is also a pattern for the
 * rest as a name: the work must be bounded, and a pattern without wildcards
 * must match itself.
 */
#include <string.h>

#include "check.h"
#include "sources/paths/glob.h"
#include "sources/paths/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TABLE ((size_t) 1 << 20)

/* part: bytes fed at a time. */
static sym_status_t
feed(sym_source_index_t *index, sym_str_t text, size_t part)
{
    sym_status_t rc = SYM_OK;

    sym_source_index_begin(index, TABLE, NULL);
    for (size_t i = 0; rc == SYM_OK && i < text.len; i += part) {
        size_t taken, n = text.len - i < part ? text.len - i : part;

        rc = sym_source_index_feed(index, sym_str(text.data + i, n), &taken);
    }

    return rc == SYM_OK ? sym_source_index_end(index) : rc;
}


static void
check_index(sym_str_t text)
{
    static sym_source_index_t whole, parts;
    sym_str_t path = SYM_STR("a.pdb/1/a.pdb");
    unsigned last;

    check(feed(&whole, text, text.len + 1) == feed(&parts, text, 3));
    check(whole.n == parts.n);
    check(sym_source_index_has(&whole, path)
          == sym_source_index_has(&parts, path));
    sym_source_index_free(&whole);
    sym_source_index_free(&parts);

    check(!sym_source_index_last(text, &last) || last <= SYM_INDEX_LAST_MAX);
}


static void
check_glob(sym_str_t pattern, sym_str_t name)
{
    uint64_t steps = UINT64_MAX;
    bool is_plain = true;

    (void) sym_glob_matches(pattern, name, &steps);
    /* [!A] matches 'a' only if case counts */
    if (memchr(name.data, '\\', name.len) == NULL
        && memchr(pattern.data, '!', pattern.len) == NULL
        && sym_glob_matches_case(pattern, name, &steps))
    {
        check(sym_glob_matches(pattern, name, &steps));
    }
    for (size_t i = 0; i < pattern.len; i++) {
        is_plain &= strchr("*?[]\\", pattern.data[i]) == NULL;
    }

    if (is_plain && pattern.len > 0 && sym_glob_is_pattern(pattern)) {
        check(sym_glob_matches(pattern, pattern, &steps));
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_str_t in = sym_str((const char *) data, size);
    const char *end = size > 0 ? memchr(in.data, '\n', in.len) : NULL;

    check_index(in);
    if (end != NULL) {
        size_t len = (size_t) (end - in.data);

        check_glob(sym_str(in.data, len), sym_str(end + 1, in.len - len - 1));
    }

    return 0;
}
