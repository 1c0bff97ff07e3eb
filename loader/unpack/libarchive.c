#include "unpack/libarchive.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The interface declared by the headers of all 3.x versions. */
#define SONAME "libarchive.so.13"

/* ISO C has no conversion from an object's address to a function's; POSIX gives
 * both the same representation. */
_Static_assert(sizeof(void *) == sizeof(void (*)(void)), "POSIX, dlsym()");

typedef struct {
    const char *name;
    size_t at; /* offset in libarchive_t */
} call_t;

#define CALL(name)                                                             \
    {                                                                          \
#name, offsetof(libarchive_t, name)                                    \
    }

static const call_t calls[] = {
    CALL(archive_entry_filetype),
    CALL(archive_entry_is_encrypted),
    CALL(archive_entry_pathname),
    CALL(archive_errno),
    CALL(archive_error_string),
    CALL(archive_filter_bytes),
    CALL(archive_format_name),
    CALL(archive_read_data),
    CALL(archive_read_free),
    CALL(archive_read_new),
    CALL(archive_read_next_header),
    CALL(archive_read_open),
    CALL(archive_read_support_format_cab),
    CALL(archive_read_support_format_tar),
    CALL(archive_read_support_format_zip_streamable),
    CALL(archive_set_error),
};


bool
libarchive_load(libarchive_t *lib)
{
    void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        return false;
    }

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        void *address = dlsym(library, calls[i].name);

        if (address == NULL) {
            dlclose(library);
            return false;
        }

        memcpy((char *) lib + calls[i].at, &address, sizeof(address));
    }

    return true;
}
