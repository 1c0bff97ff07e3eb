#include "formats/native/undecorate.h"

/* The length of the part before a final `mark` and a number; SIZE_MAX: the name
 * does not end so. */
static size_t
before_number(sym_str_t name, sym_str_t mark)
{
    size_t at = name.len;

    while (at > 0 && name.data[at - 1] >= '0' && name.data[at - 1] <= '9') {
        at--;
    }

    return at < name.len && at >= mark.len
                   && memcmp(name.data + at - mark.len, mark.data, mark.len)
                          == 0
               ? at - mark.len
               : SIZE_MAX;
}


/* Names of the Itanium ABI, "_ZN1a1bEv", and of Rust, "_RNvC1a1b" (RFC 2603).
 * A path of Rust begins with one of a few letters, unlike C names such as
 * _RTC_CheckEsp. */
static bool
is_mangled(sym_str_t name)
{
    static const char paths[] = { 'C', 'I', 'M', 'N', 'X', 'Y' };

    return sym_str_starts(name, SYM_STR("_Z"))
           || (name.len > 2 && sym_str_starts(name, SYM_STR("_R"))
               && memchr(paths, name.data[2], sizeof(paths)) != NULL);
}


static bool
is_cpp(sym_str_t name)
{
    return sym_str_starts(name, SYM_STR("?")) || is_mangled(name)
           || memchr(name.data, ':', name.len) != NULL
           || memchr(name.data, '(', name.len) != NULL
           || memchr(name.data, '<', name.len) != NULL;
}


sym_str_t
sym_undecorate(sym_str_t name)
{
    size_t len;

    if (name.len == 0 || is_cpp(name)) {
        return name;
    }

    len = before_number(name, SYM_STR("@@"));
    if (len != SIZE_MAX) {
        return sym_str(name.data, len); /* __vectorcall */
    }

    if (name.data[0] != '_' && name.data[0] != '@') {
        return name;
    }

    len = before_number(name, SYM_STR("@"));
    if (len != SIZE_MAX && len != 0) {
        return sym_str(name.data + 1, len - 1); /* __stdcall, __fastcall */
    }

    return name.data[0] == '_' ? sym_str(name.data + 1, name.len - 1)
                               : name; /* __cdecl */
}
