/*
 * jvm_tools.c - kind `jvm` in commands: all lines of a mapping, and the
 * original frames for a renamed frame.
 */
#include "artifacts/export/tools.h"
#include "artifacts/jvm/read/frames.h"
#include "base/hex.h"

/* Limit of work for one lookup (base/steps.h): some 50 ms. */
#define QUESTION_STEPS (UINT64_C(5) << 20)

/* --- dump --- */

static void
put_range(sym_out_t *out, uint32_t first, uint32_t last)
{
    sym_out_printf(out, first != last ? ":%u-%u" : ":%u", first, last);
}


/* a.b:1-3 com.example.Main.run(int):10-12 */
static void
put_member_text(sym_out_t *out, const sym_jvm_class_t *class,
                const sym_jvm_method_t *method, const sym_jvm_member_t *m,
                const sym_jvm_original_t *original)
{
    bool is_foreign = (m->form & SYM_JVM_FOREIGN) != 0;

    sym_out_visible(out, class->name);
    sym_out_raw(out, SYM_STR("."));
    sym_out_visible(out, method->name);

    if (m->has_range) {
        put_range(out, m->start, m->end);
    }

    sym_out_raw(out, SYM_STR(" "));
    sym_out_visible(out, is_foreign ? original->owner : class->original);
    sym_out_raw(out, SYM_STR("."));
    sym_out_visible(out, original->name);
    sym_out_raw(out, SYM_STR("("));
    sym_out_visible(out, original->parameters);
    sym_out_raw(out, SYM_STR(")"));

    if (m->n_lines != 0) {
        put_range(out, m->first, m->n_lines == 2 ? m->last : m->first);
    }

    sym_out_raw(out, SYM_STR("\n"));
}


static void
put_key(sym_out_t *out, const char *before, sym_str_t value)
{
    sym_out_raw(out, sym_cstr(before));
    sym_out_escaped(out, value);
    sym_out_raw(out, SYM_STR("\""));
}


static void
put_member_json(sym_out_t *out, const sym_jvm_class_t *class,
                const sym_jvm_method_t *method, const sym_jvm_member_t *m,
                const sym_jvm_original_t *original)
{
    bool is_foreign = (m->form & SYM_JVM_FOREIGN) != 0;

    put_key(out, "{\"class\":\"", class->name);
    put_key(out, ",\"method\":\"", method->name);

    if (m->has_range) {
        sym_out_printf(out, ",\"lines\":[%u,%u]", m->start, m->end);
    }

    put_key(out, ",\"original_class\":\"",
            is_foreign ? original->owner : class->original);
    put_key(out, ",\"original_method\":\"", original->name);
    put_key(out, ",\"parameters\":\"", original->parameters);

    if (m->n_lines != 0) {
        sym_out_printf(out, ",\"original_lines\":[%u,%u]", m->first,
                       m->n_lines == 2 ? m->last : m->first);
    }

    if (original->file.data != NULL) {
        put_key(out, ",\"file\":\"", original->file);
    }

    sym_out_raw(out, SYM_STR("}\n"));
}


static sym_status_t
put_method(sym_out_t *out, const sym_jvm_t *j, const sym_jvm_class_t *class,
           uint32_t i, bool is_json)
{
    sym_jvm_method_t method;
    sym_jvm_cursor_t cursor;
    sym_jvm_member_t m;
    sym_status_t rc = sym_jvm_method(j, class, i, &method);

    if (rc != SYM_OK) {
        return rc;
    }

    sym_jvm_members(j, &method, 0, &cursor);

    while (rc == SYM_OK) {
        sym_jvm_original_t original;

        rc = sym_jvm_next(&cursor, &m);
        rc = rc == SYM_OK ? sym_jvm_original(j, m.original, &original) : rc;

        if (rc == SYM_OK) {
            (is_json ? put_member_json : put_member_text)(out, class, &method,
                                                          &m, &original);
        }
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static void
put_class(sym_out_t *out, const sym_jvm_class_t *class, bool is_json)
{
    if (is_json) {
        put_key(out, "{\"class\":\"", class->name);
        put_key(out, ",\"original_class\":\"", class->original);
        sym_out_raw(out, SYM_STR("}\n"));
        return;
    }

    sym_out_visible(out, class->name);
    sym_out_raw(out, SYM_STR(" "));
    sym_out_visible(out, class->original);
    sym_out_raw(out, SYM_STR("\n"));
}


static const char *const formats[] = { "text", "json", NULL };

static sym_status_t
dump(const sym_extent_source_t *extents, const sym_dump_t *how, unsigned format,
     sym_out_t *out, sym_error_t *err)
{
    sym_jvm_t j;
    sym_status_t rc = sym_jvm_open(&j, extents->get, extents->ctx, err);

    (void) how;

    if (rc != SYM_OK) {
        return rc;
    }

    for (uint32_t i = 0; rc == SYM_OK && i < j.n_classes && !out->failed; i++) {
        sym_jvm_class_t class;

        rc = sym_jvm_class(&j, i, &class);
        if (rc != SYM_OK) {
            break;
        }

        put_class(out, &class, format == 1);

        for (uint32_t k = 0; rc == SYM_OK && k < class.n_methods; k++) {
            rc = put_method(out, &j, &class, k, format == 1);
        }
    }

    return rc == SYM_OK ? rc : sym_fail(err, rc, "the members are damaged");
}


/* --- lookup --- */

/* Parses CLASS.METHOD, then :LINE, (PARAMETERS) or nothing. */
static bool
read_question(sym_str_t text, sym_jvm_question_t *q, sym_str_t *parameters)
{
    size_t end = text.len, dot;
    uint64_t line = 0;
    const char *p = text.len != 0 ? memchr(text.data, '(', text.len) : NULL;

    *q = (sym_jvm_question_t){ .line = 0 };

    if (p != NULL) {
        end = (size_t) (p - text.data);
        *parameters = sym_str(p + 1, text.len - end - 1);
        if (parameters->len == 0 || parameters->data[--parameters->len] != ')')
        {
            return false;
        }
        q->parameters = parameters;
    } else if ((p = text.len != 0 ? memrchr(text.data, ':', text.len) : NULL)
               != NULL)
    {
        end = (size_t) (p - text.data);
        if (!sym_dec_read(sym_str(p + 1, text.len - end - 1), &line)
            || line > UINT32_MAX)
        {
            return false;
        }
        q->line = (uint32_t) line;
    }

    for (dot = end; dot > 0 && text.data[dot - 1] != '.'; dot--) {
    }

    if (dot < 2 || dot == end) {
        return false;
    }

    q->class_name = sym_str(text.data, dot - 1);
    q->method = sym_str(text.data + dot, end - dot);
    return true;
}


static bool
is_question(sym_str_t text)
{
    sym_jvm_question_t q;
    sym_str_t parameters;

    return read_question(text, &q, &parameters);
}


static void
put_frame(sym_out_t *out, const sym_jvm_frame_t *frame, bool is_json)
{
    if (!is_json) {
        sym_out_visible(out, frame->class_name);
        sym_out_raw(out, SYM_STR("."));
        sym_out_visible(out, frame->method);
        sym_out_raw(out, SYM_STR("("));
        sym_out_visible(out, frame->file);
        sym_out_visible(out, frame->extension);
        sym_out_printf(out, ":%u)", frame->has_line ? frame->line : 0);
        return;
    }

    put_key(out, "{\"class\":\"", frame->class_name);
    put_key(out, ",\"method\":\"", frame->method);
    sym_out_raw(out, SYM_STR(",\"file\":\""));
    sym_out_escaped(out, frame->file);
    put_key(out, "", frame->extension);

    if (frame->has_line) {
        sym_out_printf(out, ",\"line\":%u", frame->line);
    }

    sym_out_raw(out, frame->is_synthesized ? SYM_STR(",\"synthesized\":true}")
                                           : SYM_STR("}"));
}


/* Writes the innermost frame first.  SYM_NOT_FOUND: there is no frame. */
static sym_status_t
put_frames(sym_out_t *out, const sym_jvm_t *j, const sym_jvm_question_t *q,
           bool is_json)
{
    sym_jvm_carried_t carried = { false, 0 };
    uint64_t steps = QUESTION_STEPS;
    sym_jvm_answer_t a;
    sym_jvm_found_t found;
    sym_jvm_frame_t frame;
    sym_status_t rc = sym_jvm_ask(j, q, &carried, &steps, &a, &found);
    uint64_t n = 0;

    rc = rc == SYM_OK && found != SYM_JVM_FRAMES ? SYM_NOT_FOUND : rc;

    while (rc == SYM_OK && !out->failed) {
        rc = sym_jvm_next_frame(&a, &frame);
        if (rc == SYM_OK) {
            sym_out_raw(out, n++ == 0  ? SYM_STR("")
                             : is_json ? SYM_STR(",")
                                       : SYM_STR(" "));
            put_frame(out, &frame, is_json);
        }
    }

    return (rc == SYM_NOT_FOUND || rc == SYM_LIMIT) && n != 0 ? SYM_OK : rc;
}


static sym_status_t
lookup(const sym_extent_source_t *extents, sym_str_t text, bool is_json,
       sym_out_t *out, sym_error_t *err)
{
    sym_jvm_question_t q;
    sym_str_t parameters;
    sym_status_t rc;
    sym_jvm_t j;

    if (!read_question(text, &q, &parameters)) {
        sym_out_raw(out, is_json ? SYM_STR("{}\n") : SYM_STR("??:0\n"));
        return SYM_NOT_FOUND;
    }

    rc = sym_jvm_open(&j, extents->get, extents->ctx, err);

    if (is_json) {
        put_key(out, "{\"question\":\"", text);
        sym_out_raw(out, SYM_STR(",\"frames\":["));
    }

    rc = rc == SYM_OK ? put_frames(out, &j, &q, is_json) : rc;
    sym_out_raw(out, is_json        ? SYM_STR("]}\n")
                     : rc == SYM_OK ? SYM_STR("\n")
                                    : SYM_STR("??:0\n"));

    return rc == SYM_OK || rc == SYM_NOT_FOUND
               ? rc
               : sym_fail(err, rc, "damaged: members of the method");
}


const sym_kind_tools_t sym_jvm_tools = {
    .kind = SYM_KIND_JVM,
    .formats = formats,
    .dump = dump,
    .question = "CLASS.METHOD:LINE or CLASS.METHOD(PARAMETERS)",
    .is_question = is_question,
    .lookup = lookup,
};
