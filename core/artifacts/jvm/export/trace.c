#include "artifacts/jvm/export/trace.h"

/* Limit of work for one line (base/steps.h): some 50 ms. */
#define LINE_STEPS (UINT64_C(5) << 20)

/* "BEFORE at PREFIX CLASS.METHOD(SOURCE)AFTER" */
typedef struct {
    sym_str_t before; /* text up to the class */
    sym_str_t class_name, method;
    sym_str_t source;    /* text in the parentheses */
    sym_str_t signature; /* "(I)V"; empty: the frame has a source */
    sym_str_t after;
} frame_t;

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


/* Position after the last such byte; 0: there is none. */
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


static bool
read_frame(sym_str_t line, frame_t *f)
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


/* The line in "SourceFile:12"; 0: none. */
static uint32_t
line_of(sym_str_t source)
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


static void
write_frame(const frame_t *f, const sym_jvm_signature_t *signature,
            const sym_jvm_frame_t *frame, sym_out_t *out)
{
    sym_out_raw(out, f->before);
    sym_out_visible(out, frame->class_name);
    sym_out_raw(out, SYM_STR("."));
    sym_out_visible(out, frame->method);

    if (signature != NULL) {
        sym_out_visible(out, signature->readable);
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


static sym_status_t
answer(sym_trace_t *t, const frame_t *f, const sym_jvm_signature_t *signature,
       sym_jvm_found_t *found, sym_out_t *out)
{
    sym_str_t thrown = sym_str(t->thrown, t->thrown_len);
    const sym_jvm_question_t q = {
        .class_name = f->class_name,
        .method = f->method,
        .line = signature != NULL ? 0 : line_of(f->source),
        .parameters = signature != NULL ? &signature->parameters : NULL,
        .thrown = t->has_thrown ? &thrown : NULL,
    };
    uint64_t steps = LINE_STEPS;
    sym_jvm_answer_t a;
    sym_jvm_frame_t frame;
    sym_status_t rc = sym_jvm_ask(t->jvm, &q, &t->carried, &steps, &a, found);

    t->has_thrown = t->has_thrown && *found == SYM_JVM_OUTLINE;

    while (rc == SYM_OK && *found == SYM_JVM_FRAMES) {
        rc = sym_jvm_next_frame(&a, &frame);
        if (rc == SYM_OK) {
            write_frame(f, signature, &frame, out);
        }
    }

    return rc == SYM_NOT_FOUND || rc == SYM_LIMIT ? SYM_OK : rc;
}


/* Writes the original of a frame.  False: the line is not changed. */
static bool
trace_frame(sym_trace_t *t, const frame_t *f, sym_out_t *out, sym_status_t *rc)
{
    sym_jvm_found_t found = SYM_JVM_UNKNOWN;
    sym_jvm_signature_t signature;
    sym_arena_t arena;

    sym_arena_init(&arena, 0);

    if (f->signature.len == 0) {
        *rc = answer(t, f, NULL, &found, out);
    } else {
        *rc = sym_jvm_signature(t->jvm, &arena, f->signature, &signature);
        *rc = *rc == SYM_OK ? answer(t, f, &signature, &found, out) : *rc;
    }

    sym_arena_drop(&arena);
    return found != SYM_JVM_UNKNOWN;
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
class_at(sym_str_t line, size_t start)
{
    sym_str_t rest = from(line, start);
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


static void
keep_thrown(sym_trace_t *t, sym_str_t class)
{
    t->has_thrown = class.len != 0 && class.len <= sizeof(t->thrown);
    t->thrown_len = t->has_thrown ? class.len : 0;
    memcpy(t->thrown, class.data, t->thrown_len);
}


/* Writes the line with the original name of the class at `start`.  False: the
 * class has none. */
static bool
replace_class(const sym_trace_t *t, sym_str_t line, size_t start,
              sym_str_t *class, sym_out_t *out, sym_status_t *rc)
{
    sym_jvm_class_t found;

    *class = class_at(line, start);
    *rc = class->len != 0 ? sym_jvm_find_class(t->jvm, *class, &found)
                          : SYM_NOT_FOUND;

    if (*rc != SYM_OK) {
        *rc = *rc == SYM_NOT_FOUND ? SYM_OK : *rc;
        return false;
    }

    sym_out_raw(out, sym_str(line.data, start));
    sym_out_visible(out, found.original);
    sym_out_raw(out, from(line, start + class->len));
    sym_out_raw(out, SYM_STR("\n"));
    *class = found.original;
    return true;
}


/* Start of the class in "- locked <0x1> (a a.b)"; 0: the line has another
 * form. */
static size_t
lock_start(sym_str_t line)
{
    size_t at = blanks(line);

    if (!sym_str_starts(from(line, at), SYM_STR("- "))) {
        return 0;
    }

    at += find(from(line, at), '(');
    return sym_str_starts(from(line, at), SYM_STR("(a ")) ? at + 3 : 0;
}


sym_status_t
sym_trace_line(sym_trace_t *t, sym_str_t line, sym_out_t *out)
{
    sym_status_t rc = SYM_OK;
    size_t lock = lock_start(line);
    sym_str_t class;
    frame_t f;
    bool is_written;

    if (lock != 0) {
        is_written = replace_class(t, line, lock, &class, out, &rc);
    } else if (read_frame(line, &f)) {
        is_written = trace_frame(t, &f, out, &rc);
        t->has_thrown = t->has_thrown && is_written;
    } else {
        is_written =
            replace_class(t, line, class_start(line), &class, out, &rc);
        keep_thrown(t, class);
    }

    if (!is_written) {
        sym_out_raw(out, line);
        sym_out_raw(out, SYM_STR("\n"));
    }

    return rc == SYM_NOT_FOUND || rc == SYM_LIMIT ? SYM_OK : rc;
}
