#include "artifacts/symcache/write/swift.h"

#include <string.h>

#include "artifacts/symcache/format.h"

/* Limit per module; later names stay mangled. */
#define NOTED_MAX ((size_t) 256 << 20)


static bool
begins_with(sym_str_t name, const char *letters)
{
    size_t len = strlen(letters);

    return name.len >= len && memcmp(name.data, letters, len) == 0;
}


/* "_T": prefix of Swift 3 names. */
static bool
is_old(sym_str_t name)
{
    return begins_with(name, "_T") && !begins_with(name, "_T0");
}


bool
sym_is_swift_name_inside(sym_str_t name)
{
    static const char *const letters[] = { "$s",  "_$s", "$S",
                                           "_$S", "_T",  "@__swiftmacro_",
                                           "$e",  "_$e" };

    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
        if (begins_with(name, letters[i])) {
            return true;
        }
    }

    return false;
}


bool
sym_swift_names_note(sym_swift_names_t *names, sym_str_t name, uint32_t id)
{
    names->n += !is_old(name);

    if (name.len > SYM_SWIFT_NAME_MAX || names->noted.len > NOTED_MAX
        || memchr(name.data, '\0', name.len) != NULL)
    {
        return true;
    }

    sym_buffer_put(&names->noted, &id, sizeof(id));
    sym_buffer_put(&names->noted, name.data, name.len);
    sym_buffer_put(&names->noted, "", 1);
    return !names->noted.failed;
}


void
sym_swift_names_free(sym_swift_names_t *names)
{
    sym_buffer_free(&names->noted);
    *names = (sym_swift_names_t){ 0 };
}
