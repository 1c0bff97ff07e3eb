#include "formats/packed/package_lines.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    sym_str_t name;
    size_t offset, size; /* of the value in sym_package_lines_t */
} field_t;

#define FIELD(name, member)                                                    \
    {                                                                          \
        SYM_STR(name), offsetof(sym_package_lines_t, member),                  \
            sizeof(((sym_package_lines_t *) NULL)->member)                     \
    }

#define FIELDS 4

/* In each, the names of these values; only Alpine's path needs the version. */
static const field_t fields[][FIELDS] = {
    [SYM_PACKAGE_DEBIAN] = { FIELD("Package", entry.name),
                             FIELD("Filename", entry.path),
                             FIELD("Size", entry.size),
                             FIELD("SHA256", entry.digest) },
    [SYM_PACKAGE_ARCH] = { FIELD("%NAME%", entry.name),
                           FIELD("%FILENAME%", entry.path),
                           FIELD("%CSIZE%", entry.size),
                           FIELD("%SHA256SUM%", entry.digest) },
    [SYM_PACKAGE_ALPINE] = { FIELD("P", entry.name), FIELD("V", version),
                             FIELD("S", entry.size), FIELD("C", entry.digest) },
};


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


/* Only Debian's names may have any case.  A continuation begins with a blank,
 * so it has no such name. */
static int
find_field(const sym_package_lines_t *x, sym_str_t name)
{
    const field_t *of = fields[x->entry.from];

    for (int i = 0; i < FIELDS; i++) {
        if (x->entry.from == SYM_PACKAGE_DEBIAN
                ? sym_str_eq_nocase(name, of[i].name)
                : sym_str_eq(name, of[i].name))
        {
            return i;
        }
    }

    return -1;
}


static void
keep(sym_package_lines_t *x, int field, sym_str_t value)
{
    if (field >= 0) {
        const field_t *f = &fields[x->entry.from][field];

        sym_package_keep((char *) x + f->offset, f->size, trim(value));
    }
}


static void
take_field(sym_package_lines_t *x, sym_str_t line)
{
    sym_str_t value = line, name;

    if (x->entry.from == SYM_PACKAGE_ARCH) {
        keep(x, x->pending, line);
        x->pending = x->pending < 0 ? find_field(x, trim(line)) : -1;
        return;
    }

    name = sym_str_cut(&value, ':');
    if (value.data != NULL) {
        keep(x, find_field(x, name), value);
    }
}


/* True: the line ends a package.  A line that fills the buffer is longer than any
 * that counts. */
static bool
end_line(sym_package_lines_t *x)
{
    const sym_str_t line = sym_str(x->line, x->len);

    x->len = 0;
    if (trim(line).len == 0 && line.len < sizeof(x->line)) {
        x->pending = -1;
        return x->has_fields && x->entry.from != SYM_PACKAGE_ARCH;
    }

    x->has_fields = true;
    if (line.len < sizeof(x->line)) {
        take_field(x, line);
    } else {
        x->pending = -1;
    }
    return false;
}


void
sym_package_lines_start(sym_package_lines_t *x, sym_package_from_t from)
{
    *x = (sym_package_lines_t){ .entry.from = from, .pending = -1 };
}


/* Forgets the entry that the caller had. */
static void
begin_entry(sym_package_lines_t *x)
{
    if (x->is_taken) {
        x->entry = (sym_package_entry_t){ .from = x->entry.from };
        x->version[0] = '\0';
        x->has_fields = false;
        x->is_taken = false;
    }
}


static void
end_entry(sym_package_lines_t *x)
{
    sym_package_entry_t *e = &x->entry;

    x->is_taken = true;
    if (e->from == SYM_PACKAGE_ALPINE && e->name[0] != '\0'
        && x->version[0] != '\0')
    {
        (void) snprintf(e->path, sizeof(e->path), "%s-%s.apk", e->name,
                        x->version);
    }
}


bool
sym_package_lines_next(sym_package_lines_t *x, sym_str_t *bytes)
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
            end_entry(x);
            return true;
        }
    }

    return false;
}


bool
sym_package_lines_end(sym_package_lines_t *x)
{
    begin_entry(x);
    (void) end_line(x);
    if (x->has_fields) {
        end_entry(x);
    }
    return x->has_fields;
}
