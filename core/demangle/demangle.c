#include "demangle/demangle.h"

#include <stdbool.h>

#include "demangle/languages.h"
#include "base/language.h"

/* "$" and 32 hexadecimal digits: Apple's linker adds them to a local name that
 * occurs more than once. */
#define SUFFIX_LEN 33

#define UNDERSCORES_MAX 4


static bool
is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')
           || (c >= 'A' && c <= 'F');
}


static sym_str_t
without_suffix(sym_str_t name)
{
    if (name.len <= SUFFIX_LEN || name.data[name.len - SUFFIX_LEN] != '$') {
        return name;
    }

    for (size_t i = name.len - SUFFIX_LEN + 1; i < name.len; i++) {
        if (!is_hex_digit(name.data[i])) {
            return name;
        }
    }

    name.len -= SUFFIX_LEN;
    return name;
}


/* Removes underscores from "__Z", "___Z", ... except the ABI's. */
static sym_str_t
with_one_underscore(sym_str_t name, size_t *n_underscores)
{
    size_t n = 0;

    while (n < name.len && n <= UNDERSCORES_MAX && name.data[n] == '_') {
        n++;
    }

    if (n == 0 || n > UNDERSCORES_MAX || n == name.len
        || (name.data[n] != 'Z' && name.data[n] != 'R' && name.data[n] != 'D'))
    {
        return sym_str(name.data, 0);
    }

    *n_underscores = n;
    return sym_str(name.data + n - 1, name.len - (n - 1));
}


static bool
may_be_mangled(uint8_t lang)
{
    return lang == SYM_LANG_UNKNOWN || lang == SYM_LANG_CPP
           || lang == SYM_LANG_OBJCPP || lang == SYM_LANG_RUST
           || lang == SYM_LANG_D;
}


typedef uint8_t bytes_t __attribute__((vector_size(16)));

static inline bytes_t
load_bytes(const char *p)
{
    bytes_t bytes;

    memcpy(&bytes, p, sizeof(bytes));
    return bytes;
}


/* Position of the next "> >" from `at` on, or len.  It checks 16 bytes at a
 * time, because every shown name is searched (memmem() took three times as
 * long). */
static size_t
find_gap(const char *text, size_t at, size_t len)
{
    for (; len - at >= sizeof(bytes_t) + 2; at += sizeof(bytes_t)) {
        bytes_t gaps = (bytes_t) (load_bytes(text + at) == '>')
                       & (bytes_t) (load_bytes(text + at + 1) == ' ')
                       & (bytes_t) (load_bytes(text + at + 2) == '>');
        uint64_t halves[2];

        memcpy(halves, &gaps, sizeof(halves));
        if ((halves[0] | halves[1]) != 0) {
            break;
        }
    }

    for (; len - at >= 3; at++) {
        if (memcmp(text + at, "> >", 3) == 0) {
            return at;
        }
    }

    return len;
}


/* Turns "A<B<int> >" into "A<B<int>>". */
static size_t
tighten(char *text, size_t len)
{
    size_t from = 0, to = 0;

    while (from < len) {
        size_t gap = find_gap(text, from, len);
        size_t end = gap < len ? gap + 1 : len;

        if (to != from) {
            memmove(text + to, text + from, end - from);
        }

        to += end - from;
        from = gap < len ? end + 1 : len;
    }

    return to;
}


/* Clang's name of the function for a block: "___Z..." on Linux, with one more
 * underscore on Apple's systems. */
static bool
is_block(const char *name, size_t n_underscores)
{
    return n_underscores >= 3 && strstr(name, "_block_invoke") != NULL;
}


/* A C++ name as LLVM spells it; if LLVM fails, as libiberty spells it. */
static size_t
demangle_cpp(char *name, size_t n_underscores, unsigned style, char *out,
             size_t size)
{
    size_t len = 0;
    bool is_costly = false;

    if (style == SYM_DEMANGLE_FULL) {
        char *whole = is_block(name, n_underscores) ? name - 2 : name;

        len = sym_demangle_llvm(whole, strlen(whole), true, out, size,
                                &is_costly);
    }

    if (len == 0 && !is_costly) {
        len = sym_demangle_cpp(name, style, out, size);
        if (style & SYM_DEMANGLE_TIGHT) {
            len = tighten(out, len);
        }
    }

    return len;
}


/* "??@", 32 hexadecimal digits, "@": a hash in place of a name that was too
 * long, so there is nothing to show. */
static bool
is_msvc_hash(sym_str_t name)
{
    if (name.len != 36 || memcmp(name.data, "??@", 3) != 0
        || name.data[35] != '@') {
        return false;
    }

    for (size_t i = 3; i < 35; i++) {
        if (!is_hex_digit(name.data[i])) {
            return false;
        }
    }

    return true;
}


static size_t
demangle_msvc(sym_str_t name, uint8_t lang, unsigned style, char *out,
              size_t size)
{
    size_t len = 0;

    if (lang != SYM_LANG_RUST && lang != SYM_LANG_D && !is_msvc_hash(name)
        && memchr(name.data, '\0', name.len) == NULL)
    {
        len = sym_demangle_msvc(name.data, name.len,
                                (style & SYM_DEMANGLE_PARAMS) != 0, out, size);
    }

    return sym_utf8_valid(sym_str(out, len)) ? len : 0;
}


size_t
sym_demangle(sym_str_t name, uint8_t lang, unsigned style, char *out,
             size_t size)
{
    char copy[SYM_MANGLED_MAX + 3], *mangled = copy + 2;
    size_t n_underscores, len = 0;
    sym_str_t s;

    if (!may_be_mangled(lang) || name.len > SYM_MANGLED_MAX) {
        return 0;
    }

    size = size < SYM_DEMANGLED_MAX ? size : SYM_DEMANGLED_MAX;
    if (name.len != 0 && name.data[0] == '?') {
        return demangle_msvc(name, lang, style, out, size);
    }

    s = with_one_underscore(without_suffix(name), &n_underscores);
    if (s.len == 0 || memchr(s.data, '\0', s.len) != NULL) {
        return 0;
    }

    copy[0] = copy[1] = '_';
    memcpy(mangled, s.data, s.len);
    mangled[s.len] = '\0';

    if (mangled[1] == 'D') {
        if (lang == SYM_LANG_UNKNOWN || lang == SYM_LANG_D) {
            len = sym_demangle_d(mangled, s.len, out, size);
        }
    } else if (lang == SYM_LANG_UNKNOWN || lang == SYM_LANG_RUST) {
        /* a C++ name may end like Rust's legacy names, so the language
           decides */
        len = sym_demangle_rust(mangled, out, size);
    }

    if (len == 0 && mangled[1] == 'Z') {
        len = demangle_cpp(mangled, n_underscores, style, out, size);
    }

    /* an identifier may contain any bytes */
    return sym_utf8_valid(sym_str(out, len)) ? len : 0;
}
