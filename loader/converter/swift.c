#include "converter/swift.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "common/converter_protocol.h"
#include "converter/requests.h"

/*
 * The library's function, as in the crate symbolic-demangle.  Returns 0, or
 * writes a NUL-terminated name to `text`.  Features: 1 return types, 2
 * parameter types.
 */
#define FUNCTION "symbolic_demangle_swift"
#define PARAMETERS 2

typedef int (*demangle_pt)(const char *name, char *text, size_t size,
                           int features);

struct swift_s {
    demangle_pt demangle; /* NULL: none */
    bool is_off;
    bool is_without; /* the demangler is off for this file */
    bool is_noted;   /* a note has been sent */
    char reason[200];
};


/* Why the library cannot be used; truncated if too long. */
static void
explain(swift_t *swift, const char *path)
{
    const char *words = dlerror();

    (void) snprintf(swift->reason, sizeof(swift->reason),
                    "the demangler cannot be loaded: %s",
                    words != NULL ? words : path);
}


swift_t *
swift_load(const char *path)
{
    swift_t *swift = calloc(1, sizeof(*swift));
    void *library;

    if (swift == NULL) {
        return NULL;
    }

    swift->is_off = strcmp(path, CONVERT_SWIFT_OFF) == 0;
    if (swift->is_off) {
        return swift;
    }

    if (path[0] == '\0') {
        (void) snprintf(swift->reason, sizeof(swift->reason),
                        "there is no demangler (see --swift-demangler)");
        return swift;
    }

    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) {
        void *function = dlsym(library, FUNCTION);

        memcpy(&swift->demangle, &function, sizeof(function));
    }

    if (swift->demangle == NULL) {
        explain(swift, path);
    }

    return swift;
}


void
swift_begin(swift_t *swift, bool is_without)
{
    swift->is_without = is_without;
    swift->is_noted = false;
}


/* Has the type sym_swift_show_pt.  A name that is shown unchanged needs no
 * text. */
static size_t
show(void *ctx, const char *name, char *out)
{
    const swift_t *swift = ctx;
    size_t len;

    if (swift->demangle(name, out, SYM_SWIFT_SHOWN_MAX, PARAMETERS) == 0) {
        return 0;
    }

    len = strnlen(out, SYM_SWIFT_SHOWN_MAX);
    return len < SYM_SWIFT_SHOWN_MAX && strcmp(name, out) != 0
                   && sym_utf8_valid(sym_str(out, len))
               ? len
               : 0;
}


static void
tell(bool begins)
{
    (void) converter_send(CONVERTER_FD, CONVERTER_NAMES, begins, NULL, 0);
}


static void
note(swift_t *swift, uint64_t n)
{
    if (!swift->is_noted && n != 0) {
        swift->is_noted = true;
        request_note(NULL, "%" PRIu64 " names of Swift stay mangled: %s", n,
                     swift->is_without ? "the demangler failed on this file"
                                       : swift->reason);
    }
}


void
swift_show(swift_t *swift, sym_writer_t *writer, uint64_t *n_mangled)
{
    uint64_t n = sym_writer_swift_names(writer);

    *n_mangled = 0;
    if (swift->is_off) {
        return;
    }

    if (swift->demangle == NULL || swift->is_without) {
        *n_mangled = n;
        note(swift, n);
        return;
    }

    if (!sym_writer_has_swift(writer)) {
        return;
    }

    tell(true);
    if (sym_writer_show_swift(writer, show, swift) != SYM_OK) {
        /* no memory for the texts: the next converter runs without the
           demangler */
        _exit(1);
    }
    tell(false);
}
