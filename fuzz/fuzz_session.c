/*
 * Any bytes as a Content-Range, and as the text about a file of Mozilla's upload v2:
 * what is accepted is written and read again without a change.
 */
#include "check.h"
#include "uploads/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static void
check_text(sym_str_t text)
{
    sym_session_t s, again;
    char out[SYM_SESSION_TEXT];

    if (!sym_session_read(text, &s)) {
        return;
    }

    check(sym_session_read(sym_str(out, sym_session_write(&s, out)), &again));
    check(again.from == s.from && again.to == s.to && again.end == s.end
          && again.size == s.size && sym_str_eq(again.md5, s.md5)
          && sym_str_eq(again.key, s.key));
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_str_t text = sym_str((const char *) data, size);
    sym_session_t s;

    if (size != 0 && sym_session_range(text, &s)) {
        check(s.from <= s.to);
        check(s.end != SYM_SESSION_RANGE || s.from < s.to);
    }

    check_text(text);
    return 0;
}
