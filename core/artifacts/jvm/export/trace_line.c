#include "artifacts/jvm/export/trace_line.h"

static sym_str_t
from(sym_str_t s, size_t at)
{
    return sym_str(s.data + at, s.len - at);
}


/* Position of the byte; s.len: the text does not contain it. */
static size_t
find(sym_str_t s, char c)
{
    const char *p = s.len != 0 ? memchr(s.data, c, s.len) : NULL;

    return p != NULL ? (size_t) (p - s.data) : s.len;
}


/* Position after the last such byte; 0: not found. */
static size_t
find_last(sym_str_t s, char c)
{
    size_t at = s.len;

    while (at > 0 && s.data[at - 1] != c) {
        at--;
    }

    return at;
}


static size_t
blanks(sym_str_t s)
{
    size_t n = 0;

    while (n < s.len && (s.data[n] == ' ' || s.data[n] == '\t')) {
        n++;
    }

    return n;
}


/* --- frames --- */

/* Position after "at ", which must begin a word. */
static bool
find_at(sym_str_t line, size_t *at)
{
    for (size_t i = 0; i + 3 < line.len; i++) {
        if ((i == 0 || line.data[i - 1] == ' ' || line.data[i - 1] == '\t')
            && sym_str_starts(from(line, i), SYM_STR("at ")))
        {
            *at = i + 3;
            return true;
        }
    }

    return false;
}


bool
sym_trace_read_frame(sym_str_t line, sym_trace_frame_t *f)
{
    sym_str_t rest, element;
    size_t at, open, dot, slash;

    if (!find_at(line, &at)) {
        return false;
    }

    at += blanks(from(line, at));
    rest = from(line, at);
    open = find(rest, '(');
    element = sym_str(rest.data, open);
    slash = find_last(element, '/'); /* "java.base/java.lang.Thread.run" */
    element = from(element, slash);
    dot = find_last(element, '.');
    rest = from(rest, open);

    if (rest.len == 0 || dot == 0 || find(rest, ')') == rest.len) {
        return false;
    }

    f->before = sym_str(line.data, at + slash);
    f->class_name = sym_str(element.data, dot - 1);
    f->method = from(element, dot);
    f->source = sym_str(rest.data + 1, find(rest, ')') - 1);
    f->after = from(rest, f->source.len + 2);
    f->signature = sym_str(rest.data, 0);

    /* a descriptor contains more text after the parameters */
    if (f->after.len != 0 && f->after.data[0] != ' ') {
        f->signature = sym_str(rest.data, find(rest, ' '));
        f->after = from(rest, f->signature.len);
    }

    return true;
}


uint32_t
sym_trace_number(sym_str_t source)
{
    size_t colon = find_last(source, ':');
    uint64_t line = 0;

    for (size_t i = colon; colon != 0 && i < source.len; i++) {
        if (source.data[i] < '0' || source.data[i] > '9' || line > UINT32_MAX) {
            return 0;
        }
        line = 10 * line + (uint64_t) (source.data[i] - '0');
    }

    return line <= UINT32_MAX ? (uint32_t) line : 0;
}


void
sym_trace_write_frame(const sym_trace_frame_t *f, sym_str_t signature,
                      const sym_jvm_frame_t *frame, sym_out_t *out)
{
    sym_out_raw(out, f->before);
    sym_out_visible(out, frame->class_name);
    sym_out_raw(out, SYM_STR("."));
    sym_out_visible(out, frame->method);

    if (signature.data != NULL) {
        sym_out_visible(out, signature);
    } else {
        sym_out_raw(out, SYM_STR("("));
        sym_out_visible(out, frame->file);
        sym_out_visible(out, frame->extension);

        if (frame->has_line && frame->line != 0) {
            sym_out_raw(out, SYM_STR(":"));
            sym_out_dec(out, frame->line);
        }

        sym_out_raw(out, SYM_STR(")"));
    }

    sym_out_raw(out, f->after);
    sym_out_raw(out, SYM_STR("\n"));
}


/* --- exceptions --- */

/* Skips the prefix of a log: "E/Tag( 1): ", or a date of logcat up to ": ". */
static size_t
log_prefix(sym_str_t line)
{
    bool is_brief = line.len > 2 && line.data[1] == '/'
                    && find(SYM_STR("VDIWEF"), line.data[0]) < 6;
    bool is_dated = line.len > 6 && line.data[2] == '-' && line.data[5] == ' ';

    for (size_t i = 0; (is_brief || is_dated) && i + 1 < line.len; i++) {
        if (line.data[i] == ':' && line.data[i + 1] == ' ') {
            return i + 2;
        }
    }

    return 0;
}


/* Start of the class name, if the line is about an exception. */
static size_t
class_start(sym_str_t line)
{
    static const char *const begins[] = {
        "Caused by: ", "Suppressed: ", "Wrapped by: ", "[CIRCULAR REFERENCE: ",
        "[CIRCULAR REFERENCE:"
    };
    size_t at = log_prefix(line);

    at += blanks(from(line, at));

    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        if (sym_str_starts(from(line, at), sym_cstr(begins[i]))) {
            return at + strlen(begins[i]);
        }
    }

    if (sym_str_starts(from(line, at), SYM_STR("Exception in thread \""))) {
        size_t quote = at + 21;

        quote += find(from(line, quote), '"') + 1;
        return quote < line.len ? quote + blanks(from(line, quote)) : at;
    }

    return at;
}


/* The class name "a.b" before ": text", a bracket or the end of the line. */
static sym_str_t
class_at(sym_str_t rest)
{
    size_t n = 0;

    while (n < rest.len && (uint8_t) rest.data[n] > ' '
           && find(SYM_STR(":()[],\"'"), rest.data[n]) == 8)
    {
        n++;
    }

    return n == rest.len || rest.data[n] == ':' || rest.data[n] == ']'
                   || rest.data[n] == ')'
               ? sym_str(rest.data, n)
               : sym_str(rest.data, 0);
}


sym_str_t
sym_trace_exception(sym_str_t line)
{
    return class_at(from(line, class_start(line)));
}


sym_str_t
sym_trace_lock(sym_str_t line)
{
    size_t at = blanks(line);

    if (!sym_str_starts(from(line, at), SYM_STR("- "))) {
        return sym_str(line.data, 0);
    }

    at += find(from(line, at), '(');
    return sym_str_starts(from(line, at), SYM_STR("(a "))
               ? class_at(from(line, at + 3))
               : sym_str(line.data, 0);
}
