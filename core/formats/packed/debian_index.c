#include "formats/packed/debian_index.h"

#include "base/digits.h"
#include "base/hex.h"

/* deb822(5): spaces and tabs around a value are no part of it. */
static sym_str_t
trim(sym_str_t s)
{
    while (s.len != 0 && (s.data[0] == ' ' || s.data[0] == '\t')) {
        s = sym_str(s.data + 1, s.len - 1);
    }

    while (s.len != 0
           && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'
               || s.data[s.len - 1] == '\r'))
    {
        s.len--;
    }

    return s;
}


/* A value that does not fit is not cut, because that would be another value. */
static void
keep(char *to, size_t size, sym_str_t value)
{
    to[0] = '\0';

    if (value.len < size && memchr(value.data, '\0', value.len) == NULL) {
        memcpy(to, value.data, value.len);
        to[value.len] = '\0';
    }
}


static void
take_field(sym_debian_entry_t *e, sym_str_t line)
{
    struct {
        sym_str_t name;
        char *to;
        size_t size;
    } const fields[] = {
        { SYM_STR("package"), e->name, sizeof(e->name) },
        { SYM_STR("filename"), e->path, sizeof(e->path) },
        { SYM_STR("size"), e->size, sizeof(e->size) },
        { SYM_STR("sha256"), e->sha256, sizeof(e->sha256) },
    };
    sym_str_t value = line, name = sym_str_cut(&value, ':');

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        /* a continuation begins with a blank, so it has no such name */
        if (value.data != NULL && sym_str_eq_nocase(name, fields[i].name)) {
            keep(fields[i].to, fields[i].size, trim(value));
        }
    }
}


/* True: the line ends a paragraph.  A line that fills the buffer is longer than
 * any that counts. */
static bool
end_line(sym_debian_index_t *x)
{
    const sym_str_t line = sym_str(x->line, x->len);

    x->len = 0;
    if (trim(line).len == 0 && line.len < sizeof(x->line)) {
        return x->has_fields;
    }

    x->has_fields = true;
    if (line.len < sizeof(x->line)) {
        take_field(&x->entry, line);
    }
    return false;
}


/* Forgets the entry that the caller had. */
static void
begin_entry(sym_debian_index_t *x)
{
    if (x->is_taken) {
        x->entry = (sym_debian_entry_t){ .name = "" };
        x->has_fields = false;
        x->is_taken = false;
    }
}


bool
sym_debian_index_next(sym_debian_index_t *x, sym_str_t *bytes)
{
    begin_entry(x);

    while (bytes->len != 0) {
        const char *end = memchr(bytes->data, '\n', bytes->len);
        const size_t len =
            end != NULL ? (size_t) (end - bytes->data) : bytes->len;
        const size_t room = sizeof(x->line) - x->len;
        const size_t kept = len < room ? len : room;

        memcpy(x->line + x->len, bytes->data, kept);
        x->len += kept;
        if (end == NULL) {
            *bytes = sym_str(NULL, 0);
            break;
        }

        *bytes = sym_str(end + 1, bytes->len - len - 1);
        if (end_line(x)) {
            return x->is_taken = true;
        }
    }

    return false;
}


bool
sym_debian_index_end(sym_debian_index_t *x)
{
    begin_entry(x);
    (void) end_line(x);
    return x->is_taken = x->has_fields;
}


static bool
is_visible(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char) *text <= ' ' || *text == 0x7f) {
            return false;
        }
    }

    return true;
}


static bool
stays_below(const char *path)
{
    sym_str_t rest = sym_cstr(path);

    while (rest.data != NULL) {
        if (sym_str_eq(sym_str_cut(&rest, '/'), SYM_STR(".."))) {
            return false;
        }
    }

    return path[0] != '/';
}


const char *
sym_debian_entry_check(const sym_debian_entry_t *e,
                       sym_debian_content_t *content)
{
    if (e->name[0] == '\0' || !is_visible(e->name)) {
        return "the index has no valid Package";
    }

    if (e->path[0] == '\0' || !is_visible(e->path) || !stays_below(e->path)) {
        return "the index has no valid Filename";
    }

    if (!sym_dec_read(sym_cstr(e->size), &content->size_bytes)) {
        return "the index has no valid Size";
    }

    if (strlen(e->sha256) != SYM_SHA256_HEX_LEN
        || !sym_digits_read(e->sha256, SYM_SHA256_LEN, content->sha256.bytes))
    {
        return "the index has no valid SHA256";
    }

    return NULL;
}
