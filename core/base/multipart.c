#include "base/multipart.h"

#include <strings.h>

#define CRLF SYM_STR("\r\n")
#define DASHES SYM_STR("--")

static sym_str_t
from(sym_str_t s, size_t at)
{
    return sym_str(s.data + at, s.len - at);
}


/* Position of `needle`; s.len: not found. */
static size_t
position(sym_str_t s, sym_str_t needle)
{
    const char *found = memmem(s.data, s.len, needle.data, needle.len);

    return found != NULL ? (size_t) (found - s.data) : s.len;
}


static sym_str_t
trim(sym_str_t s)
{
    while (s.len != 0 && (s.data[0] == ' ' || s.data[0] == '\t')) {
        s = from(s, 1);
    }

    while (s.len != 0
           && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t')) {
        s.len--;
    }

    return s;
}


/* Removes the next parameter of a header from *rest: its name, and its value
 * without quotes (RFC 2045, section 5.1).  False: there are no more. */
static bool
next_parameter(sym_str_t *rest, sym_str_t *name, sym_str_t *value)
{
    size_t start = position(*rest, SYM_STR(";")), equals, end;

    if (start == rest->len) {
        return false;
    }

    *rest = from(*rest, start + 1);
    equals = position(*rest, SYM_STR("="));
    end = position(*rest, SYM_STR(";"));
    if (equals >= end) {
        *name = trim(sym_str(rest->data, end));
        *value = SYM_STR("");
        return true;
    }

    *name = trim(sym_str(rest->data, equals));
    *rest = trim(from(*rest, equals + 1));
    if (rest->len == 0 || rest->data[0] != '"') {
        *value = trim(sym_str(rest->data, position(*rest, SYM_STR(";"))));
        return true;
    }

    *rest = from(*rest, 1);
    for (end = 0; end < rest->len && rest->data[end] != '"'; end++) {
        end += rest->data[end] == '\\' && end + 1 < rest->len;
    }
    *value = sym_str(rest->data, end);
    *rest = from(*rest, end);
    return true;
}


/* Returns the value of a parameter; data NULL: the header does not contain
 * it. */
static sym_str_t
parameter(sym_str_t header, const char *wanted)
{
    sym_str_t name, value;

    while (next_parameter(&header, &name, &value)) {
        if (name.len == strlen(wanted)
            && strncasecmp(name.data, wanted, name.len) == 0) {
            return value;
        }
    }

    return sym_str(NULL, 0);
}


/* Reads the rest of a delimiter's line, and moves *rest to the next line.
 * SYM_NOT_FOUND: two dashes, which end the last part. */
static sym_status_t
end_delimiter(sym_multipart_t *m)
{
    size_t end = position(m->rest, CRLF);

    if (sym_str_starts(m->rest, DASHES)) {
        m->rest.len = 0;
        return SYM_NOT_FOUND;
    }

    if (trim(sym_str(m->rest.data, end)).len != 0 || end == m->rest.len) {
        m->what = "a boundary of the multipart body is not followed by a part";
        return SYM_MALFORMED;
    }

    m->rest = from(m->rest, end + CRLF.len);
    return SYM_OK;
}


sym_str_t
sym_multipart_boundary(sym_str_t content_type)
{
    return parameter(content_type, "boundary");
}


bool
sym_multipart_begin(sym_multipart_t *m, sym_str_t boundary, sym_str_t body)
{
    sym_str_t first;
    char *to = m->delimiter;
    size_t at;

    *m = (sym_multipart_t){ .what = NULL };
    if (boundary.data == NULL || boundary.len == 0
        || boundary.len > SYM_BOUNDARY_MAX)
    {
        m->what = "the Content-Type has no boundary";
        return false;
    }

    (void) sym_str_append(&to, CRLF);
    (void) sym_str_append(&to, DASHES);
    (void) sym_str_append(&to, boundary);
    m->delimiter_len = (size_t) (to - m->delimiter);

    /* the first delimiter may be at the beginning of the body, without a line
     * end before it */
    first = sym_str(m->delimiter + CRLF.len, m->delimiter_len - CRLF.len);
    at = sym_str_starts(body, first)
             ? first.len
             : position(body, sym_str(m->delimiter, m->delimiter_len))
                   + m->delimiter_len;

    if (at > body.len) {
        m->what = "the multipart body does not have the boundary";
        return false;
    }

    m->rest = from(body, at);
    return true;
}


/* Reads the part's headers. */
static bool
read_headers(sym_multipart_t *m, sym_multipart_part_t *part)
{
    static const char disposition[] = "Content-Disposition:";

    part->name = part->filename = sym_str(NULL, 0);
    for (;;) {
        size_t end = position(part->body, CRLF);
        sym_str_t line = sym_str(part->body.data, end);

        if (end == part->body.len) {
            m->what = "the headers of a part of the multipart body do not end";
            return false;
        }

        part->body = from(part->body, end + CRLF.len);
        if (end == 0) {
            break;
        }

        if (line.len > sizeof(disposition) - 1
            && strncasecmp(line.data, disposition, sizeof(disposition) - 1)
                   == 0)
        {
            part->name = parameter(line, "name");
            part->filename = parameter(line, "filename");
        }
    }

    if (part->name.data == NULL) {
        m->what = "a part of the multipart body has no name";
        return false;
    }

    return true;
}


sym_status_t
sym_multipart_next(sym_multipart_t *m, sym_multipart_part_t *part)
{
    sym_status_t rc = end_delimiter(m);
    size_t end;

    if (rc != SYM_OK) {
        return rc;
    }

    end = position(m->rest, sym_str(m->delimiter, m->delimiter_len));
    if (end == m->rest.len) {
        m->what = "the multipart body does not end with its boundary";
        return SYM_MALFORMED;
    }

    part->body = sym_str(m->rest.data, end);
    m->rest = from(m->rest, end + m->delimiter_len);
    return read_headers(m, part) ? SYM_OK : SYM_MALFORMED;
}
