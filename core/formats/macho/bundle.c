#include "formats/macho/bundle.h"

#include <string.h>


static sym_str_t
without_slashes(sym_str_t path)
{
    while (path.len > 1 && path.data[path.len - 1] == '/') {
        path.len--;
    }

    return path;
}


bool
sym_dsym_is_bundle(sym_str_t path)
{
    const sym_str_t end = SYM_STR(".dSYM");
    sym_str_t s = without_slashes(path);

    return s.len > end.len
           && memcmp(s.data + s.len - end.len, end.data, end.len) == 0
           && s.data[s.len - end.len - 1] != '/';
}


size_t
sym_dsym_folder(sym_str_t path, char *out, size_t size)
{
    const sym_str_t inner = SYM_STR("/" SYM_DSYM_FOLDER);
    sym_str_t s = without_slashes(path);

    if (!sym_dsym_is_bundle(path) || size <= inner.len
        || s.len >= size - inner.len) {
        return 0;
    }

    memcpy(out, s.data, s.len);
    memcpy(out + s.len, inner.data, inner.len);
    out[s.len + inner.len] = '\0';
    return s.len + inner.len;
}


bool
sym_dsym_takes(sym_str_t name)
{
    return name.len != 0 && name.data[0] != '.';
}


/* macOS's tar adds "._FILE" for each file with attributes. */
static bool
is_apple_double(sym_str_t path)
{
    const char *slash = memrchr(path.data, '/', path.len);
    sym_str_t name = path;

    if (slash != NULL) {
        name.data = slash + 1;
        name.len = (size_t) (path.data + path.len - name.data);
    }

    return sym_str_starts(name, SYM_STR("._"));
}


sym_dsym_member_t
sym_dsym_member(sym_str_t path)
{
    const sym_str_t end = SYM_STR(".dSYM/"),
                    inner = SYM_STR(SYM_DSYM_FOLDER "/");
    const char *bundle = memmem(path.data, path.len, end.data, end.len);
    sym_str_t rest;

    if (sym_str_starts(path, SYM_STR("__MACOSX/")) || is_apple_double(path)) {
        return SYM_DSYM_BESIDES;
    }

    if (bundle == NULL) {
        return SYM_DSYM_NONE;
    }

    rest.data = bundle + end.len;
    rest.len = (size_t) (path.data + path.len - rest.data);

    if (!sym_str_starts(rest, inner)) {
        return SYM_DSYM_BESIDES;
    }

    rest = sym_str(rest.data + inner.len, rest.len - inner.len);
    return sym_dsym_takes(rest) && memchr(rest.data, '/', rest.len) == NULL
               ? SYM_DSYM_FILE
               : SYM_DSYM_BESIDES;
}
