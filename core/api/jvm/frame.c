#include "api/jvm/jvm.h"

#include "api/frames.h"

#include "base/steps.h"

/* In steps (base/steps.h): maximum work on one frame (about 10 ms), cost of a
 * result, and cost of a search for a class. */
#define FRAME_STEPS (UINT64_C(1) << 20)
#define RESULT_STEPS 64
#define CLASS_STEPS 16

/* Number of steps that take as long as a frame of an answer. */
#define STEPS_OF_FRAME 64

/* --- lookups --- */

sym_str_t
jvm_map_class(const jvm_t *j, sym_str_t name, uint32_t *budget)
{
    sym_jvm_class_t class;

    sym_budget_charge(budget, 1 + j->n_mappings * CLASS_STEPS / STEPS_OF_FRAME);

    for (uint32_t i = 0; i < j->n_mappings; i++) {
        if (sym_jvm_find_class(&j->mappings[i].jvm, name, &class) == SYM_OK) {
            return class.original;
        }
    }

    return sym_str(NULL, 0);
}


/* Reads the signature by the first mapping; any of them would do. */
static bool
read_signature(jvm_t *j, const jvm_frame_t *frame, sym_jvm_signature_t *s)
{
    return frame->signature.data != NULL && j->n_mappings != 0
           && sym_jvm_signature(&j->mappings[0].jvm, j->base.arena,
                                frame->signature, s)
                  == SYM_OK;
}


static jvm_result_t *
add_result(jvm_t *j, uint32_t number)
{
    jvm_result_t *result =
        sym_list_add(j->base.arena, &j->results, sizeof(*result));

    if (result != NULL) {
        result->frame = number;
    }

    return result;
}


/* Adds all frames of an answer. */
static sym_status_t
add_frames(jvm_t *j, sym_jvm_answer_t *a, uint32_t number, uint64_t *steps)
{
    sym_jvm_frame_t frame;
    sym_status_t rc;

    while ((rc = sym_jvm_next_frame(a, &frame)) == SYM_OK) {
        jvm_result_t *result = add_result(j, number);

        if (result == NULL) {
            return SYM_NOMEM;
        }

        result->mapped = frame;
        result->is_mapped = true;

        if (!sym_steps_take(steps, RESULT_STEPS)) {
            break;
        }
    }

    return SYM_OK;
}


/* Leaves out frames that the compiler generated, if the request has a line. */
static void
drop_synthesized(jvm_t *j, uint32_t from)
{
    jvm_result_t *results = j->results.items;
    uint32_t kept = from;

    for (uint32_t i = from; i < j->results.n; i++) {
        if (!results[i].mapped.is_synthesized) {
            results[kept++] = results[i];
        }
    }

    j->results.n = kept;
}


/* SYM_NOT_FOUND: no mapping has the class. */
static sym_status_t
map_by_any(jvm_t *j, const jvm_frame_t *frame, uint32_t number,
           sym_jvm_question_t *q, uint64_t *steps)
{
    uint32_t from = j->results.n;

    for (uint32_t i = 0; i < j->n_mappings; i++) {
        jvm_mapping_t *m = &j->mappings[i];
        sym_jvm_answer_t a;
        sym_jvm_found_t found;
        sym_status_t rc;

        if (!sym_steps_take(steps, CLASS_STEPS)) {
            break;
        }

        rc = sym_jvm_ask(&m->jvm, q, &m->carried, steps, &a, &found);

        if (rc != SYM_OK || found == SYM_JVM_UNKNOWN) {
            continue;
        }

        if (found == SYM_JVM_OUTLINE) {
            return SYM_OK;
        }

        j->can_rewrite = false;
        rc = add_frames(j, &a, number, steps);

        if (rc == SYM_OK && frame->lineno.is_set) {
            drop_synthesized(j, from);
        }

        return rc;
    }

    return SYM_NOT_FOUND;
}


sym_status_t
jvm_map_frame(jvm_t *j, uint32_t frame, uint32_t number, uint32_t *budget)
{
    const jvm_frame_t *f = jvm_frame(&j->request, frame);
    sym_jvm_signature_t signature;
    bool has_signature = read_signature(j, f, &signature);
    uint64_t most = j->steps < FRAME_STEPS ? j->steps : FRAME_STEPS,
             left = most;
    sym_jvm_question_t q = {
        .class_name = f->module,
        .method = f->function,
        .line = (uint32_t) f->lineno.value,
        .parameters =
            has_signature && !f->lineno.is_set ? &signature.parameters : NULL,
        .thrown = j->can_rewrite ? &j->thrown : NULL,
    };
    sym_status_t rc = map_by_any(j, f, number, &q, &left);

    j->steps -= most - left;
    sym_budget_charge(budget, 1 + (uint32_t) ((most - left) / STEPS_OF_FRAME));

    if (rc == SYM_NOT_FOUND) {
        j->can_rewrite = false;
        rc = add_result(j, number) != NULL ? SYM_OK : SYM_NOMEM;
    }

    return rc;
}


/* --- writing --- */

static void
write_text(sym_out_t *out, const char *key, sym_str_t text)
{
    sym_out_raw(out, sym_cstr(key));
    sym_out_string(out, text);
}


static void
write_file(const sym_jvm_frame_t *m, const char *key, sym_out_t *out)
{
    sym_out_raw(out, sym_cstr(key));
    sym_out_raw(out, SYM_STR("\""));
    sym_out_escaped(out, m->file);
    sym_out_escaped(out, m->extension);
    sym_out_raw(out, SYM_STR("\""));
}


static void
write_number(sym_out_t *out, const char *key, uint64_t number)
{
    sym_out_raw(out, sym_cstr(key));
    sym_out_dec(out, number);
}


static bool
is_in_app(const jvm_t *j, const jvm_result_t *result)
{
    return result->is_mapped && j->request.release_package.data != NULL
           && sym_str_starts(result->mapped.class_name,
                             j->request.release_package);
}


static void
write_in_app(const jvm_t *j, const jvm_frame_t *f, const jvm_result_t *result,
             sym_out_t *out)
{
    if (f->in_app == SYM_FIELD_TRUE
        || (f->in_app == SYM_FIELD_ABSENT && is_in_app(j, result)))
    {
        sym_out_raw(out, SYM_STR(", \"in_app\": true"));
    } else if (f->in_app == SYM_FIELD_FALSE) {
        sym_out_raw(out, SYM_STR(", \"in_app\": false"));
    }
}


static void
write_signature(jvm_t *j, const jvm_frame_t *f, sym_out_t *out)
{
    sym_jvm_signature_t s;

    if (read_signature(j, f, &s)) {
        write_text(out, ", \"signature\": ", s.readable);
    } else {
        sym_frame_json(out, ", \"signature\": ", f->signature_json);
    }
}


/* Returns the file of a mapped frame as a path: a view, or in `room`. */
static sym_str_t
path_of(const jvm_frame_t *f, const jvm_result_t *result, char *room,
        size_t size)
{
    const sym_jvm_frame_t *m = &result->mapped;

    if (!result->is_mapped) {
        return f->abs_path;
    }

    if (m->file.len + m->extension.len > size) {
        return sym_str("", 0);
    }

    if (m->file.len != 0) {
        memcpy(room, m->file.data, m->file.len);
    }

    if (m->extension.len != 0) {
        memcpy(room + m->file.len, m->extension.data, m->extension.len);
    }

    return sym_str(room, m->file.len + m->extension.len);
}


void
jvm_write_frame(jvm_t *j, const jvm_result_t *result, sym_out_t *out,
                uint32_t *budget)
{
    const jvm_stack_t *stack =
        &((jvm_stack_t *) j->request.stacks.items)[j->next];
    const jvm_frame_t *f = jvm_frame(&j->request, stack->first + result->frame);
    const sym_jvm_frame_t *m = &result->mapped;
    bool has_line = result->is_mapped ? m->has_line : f->lineno.is_set;
    uint64_t line = result->is_mapped ? m->line : f->lineno.value;
    sym_str_t module = result->is_mapped ? m->class_name : f->module;
    char room[1024];

    sym_budget_charge(budget, 1);
    write_text(out,
               "{\"function\": ", result->is_mapped ? m->method : f->function);
    write_text(out, ", \"module\": ", module);

    if (result->is_mapped) {
        write_file(m, ", \"filename\": ", out);
        write_file(m, ", \"abs_path\": ", out);
    } else {
        sym_frame_json(out, ", \"filename\": ", f->filename_json);
        sym_frame_json(out, ", \"abs_path\": ", f->abs_path_json);
    }

    if (has_line) {
        write_number(out, ", \"lineno\": ", line);
    }

    if (!jvm_write_context(j, module, path_of(f, result, room, sizeof(room)),
                           has_line ? line : 0, out, budget))
    {
        sym_frame_strings(out, ", \"pre_context\": ", f->pre_context_json);
        sym_frame_json(out, ", \"context_line\": ", f->context_line_json);
        sym_frame_strings(out, ", \"post_context\": ", f->post_context_json);
    }

    sym_frame_json(out, ", \"platform\": ", f->platform_json);
    write_in_app(j, f, result, out);
    write_number(out, ", \"index\": ", f->index.value);
    write_signature(j, f, out);

    if (result->is_mapped ? m->is_synthesized
                          : f->is_synthesized == SYM_FIELD_TRUE) {
        sym_out_raw(out, SYM_STR(", \"method_synthesized\": true"));
    }

    sym_out_raw(out, SYM_STR("}"));
}
