#include "artifacts/jvm/export/trace.h"

#include "artifacts/jvm/export/trace_line.h"

/* Limit of work for one line (base/steps.h): some 50 ms. */
#define LINE_STEPS (UINT64_C(5) << 20)

static sym_status_t
answer(sym_trace_t *t, const sym_trace_frame_t *f,
       const sym_jvm_signature_t *signature, sym_jvm_found_t *found,
       sym_out_t *out)
{
    sym_str_t thrown = sym_str(t->thrown, t->thrown_len);
    const sym_jvm_question_t q = {
        .class_name = f->class_name,
        .method = f->method,
        .line = signature != NULL ? 0 : sym_trace_number(f->source),
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
            sym_trace_write_frame(
                f, signature != NULL ? signature->readable : sym_str(NULL, 0),
                &frame, out);
        }
    }

    return rc == SYM_NOT_FOUND || rc == SYM_LIMIT ? SYM_OK : rc;
}


/* Writes the original of a frame.  False: the line is not changed. */
static bool
trace_frame(sym_trace_t *t, const sym_trace_frame_t *f, sym_out_t *out,
            sym_status_t *rc)
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


static void
keep_thrown(sym_trace_t *t, sym_str_t class)
{
    t->has_thrown = class.len != 0 && class.len <= sizeof(t->thrown);
    t->thrown_len = t->has_thrown ? class.len : 0;
    memcpy(t->thrown, class.data, t->thrown_len);
}


/* Writes the line with the original name of its class.  False: the class has
 * none. */
static bool
replace_class(const sym_trace_t *t, sym_str_t line, sym_str_t *class,
              sym_out_t *out, sym_status_t *rc)
{
    size_t start = (size_t) (class->data - line.data);
    sym_jvm_class_t found;

    *rc = class->len != 0 ? sym_jvm_find_class(t->jvm, *class, &found)
                          : SYM_NOT_FOUND;

    if (*rc != SYM_OK) {
        *rc = *rc == SYM_NOT_FOUND ? SYM_OK : *rc;
        return false;
    }

    sym_out_raw(out, sym_str(line.data, start));
    sym_out_visible(out, found.original);
    start += class->len;
    sym_out_raw(out, sym_str(line.data + start, line.len - start));
    sym_out_raw(out, SYM_STR("\n"));
    *class = found.original;
    return true;
}


sym_status_t
sym_trace_line(sym_trace_t *t, sym_str_t line, sym_out_t *out)
{
    sym_status_t rc = SYM_OK;
    sym_str_t class = sym_trace_lock(line);
    sym_trace_frame_t f;
    bool is_written;

    if (class.len != 0) {
        is_written = replace_class(t, line, &class, out, &rc);
    } else if (sym_trace_read_frame(line, &f)) {
        is_written = trace_frame(t, &f, out, &rc);
        t->has_thrown = t->has_thrown && is_written;
    } else {
        class = sym_trace_exception(line);
        is_written = replace_class(t, line, &class, out, &rc);
        keep_thrown(t, class);
    }

    if (!is_written) {
        sym_out_raw(out, line);
        sym_out_raw(out, SYM_STR("\n"));
    }

    return rc == SYM_NOT_FOUND || rc == SYM_LIMIT ? SYM_OK : rc;
}
