#include "formats/native/text.h"

#include "artifacts/symcache/format.h"

sym_str_t
sym_native_text(sym_str_t strings, uint64_t offset, uint64_t *long_bytes)
{
    size_t longest = *long_bytes < SYM_LONG_BYTES_MAX ? SYM_NAME_BYTES_MAX + 2
                                                      : SYM_PART_BYTES_MAX + 2;
    size_t most;
    sym_str_t s;

    if (offset >= strings.len) {
        return sym_str(NULL, 0);
    }

    most = strings.len - (size_t) offset;
    s.data = strings.data + offset;
    s.len = strnlen(s.data, most < longest ? most : longest);
    *long_bytes += s.len > SYM_PART_BYTES_MAX ? s.len : 0;
    return s;
}
