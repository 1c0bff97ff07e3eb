#include "cli/walk_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/sentry/dump.h"
#include "cli/stack_text.h"
#include "json/load.h"
#include "object/object_id.h"

/* Width of a line with registers. */
#define LINE_COLUMNS 80

static const struct {
    const char *trust, *text;
} found_by[] = {
    { "context", "given as instruction pointer in context" },
    { "cfi", "call frame info" },
    { "fp", "previous frame's frame pointer" },
    { "scan", "stack scanning" },
    { "prewalked", "external stack walker" },
};


static const char *
text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}


static uint64_t
number_of(const json_t *object, const char *key)
{
    const char *text = text_of(object, key);

    return text != NULL ? strtoull(text, NULL, 16) : 0;
}


static void
put(output_t *out, const char *text)
{
    output_text(out, sym_cstr(text));
}


static void
put_line(output_t *out, const char *label, sym_str_t text)
{
    if (text.len != 0) {
        output_printf(out, "%s", label);
        output_text(out, text);
        output_printf(out, "\n");
    }
}


/* --- the process --- */

static void
print_head(const sym_crash_t *crash, output_t *out)
{
    const char *os = sym_crash_os_name(crash->os);

    output_printf(out, "Operating system: ");
    put(out, os[0] != '\0' ? os : "unknown");
    output_printf(out, "\n                  ");
    output_text(out, crash->os_version);
    output_printf(out, " ");
    output_text(out, crash->os_build);
    output_printf(out, "\nCPU: ");
    output_text(out, crash->cpu);
    output_printf(out, "\n");
    put_line(out, "     ", crash->cpu_info);
    output_printf(out, "     %u CPU%s\n\n", crash->n_cpus,
                  crash->n_cpus > 1 ? "s" : "");

    if (crash->is_crash) {
        put_line(out, "Crash reason:  ", crash->reason);
        output_printf(out, "Crash address: 0x%0*" PRIx64 "\n",
                      sym_unwind_arch(crash->arch)->word_bytes * 2,
                      crash->address);
    } else {
        output_printf(out, "No crash\n");
    }
    put_line(out, "Assertion:     ", crash->assertion);

    for (uint32_t i = 0; i < crash->n_notes; i++) {
        output_text(out, crash->notes[i].key);
        output_printf(out, ": ");
        output_text(out, crash->notes[i].value);
        output_printf(out, "\n");
    }
}


static void
print_modules(const sym_crash_t *crash, bool is_unloaded, output_t *out)
{
    output_printf(out, "\n%s modules:\n", is_unloaded ? "Unloaded" : "Loaded");

    for (uint32_t i = 0; i < crash->n_modules; i++) {
        const sym_crash_module_t *m = &crash->modules[i];

        if (m->is_unloaded != is_unloaded) {
            continue;
        }

        output_printf(out, "0x%08" PRIx64 " - 0x%08" PRIx64 "  ", m->addr,
                      m->addr + (m->size != 0 ? m->size - 1 : 0));
        output_text(out, sym_object_file_name(m->code_file));
        output_printf(out, "  ");
        output_text(out, m->version.len != 0 ? m->version : SYM_STR("???"));
        output_printf(out, "%s\n", i == 0 && !is_unloaded ? "  (main)" : "");
    }
}


/* --- stacks --- */

static void
print_registers(const sym_crash_t *crash, const sym_crash_thread_t *t,
                output_t *out)
{
    int columns = 0;

    for (unsigned i = 0; i < SYM_UNWIND_REGISTERS; i++) {
        const char *name = sym_crash_register_name(crash->arch, i);
        int width = sym_unwind_arch(crash->arch)->word_bytes * 2;

        if (name == NULL || !sym_unwind_has(&t->registers, i)) {
            continue;
        }

        if (columns + 12 + width > LINE_COLUMNS) {
            output_printf(out, "\n");
            columns = 0;
        }
        output_printf(out, "%s %6s = 0x%0*" PRIx64, columns == 0 ? " " : "",
                      name, width, t->registers.value[i]);
        columns += 12 + width;
    }

    output_printf(out, columns != 0 ? "\n" : "");
}


static void
print_place(const sym_crash_t *crash, const json_t *frame, output_t *out)
{
    const char *package = text_of(frame, "package");
    const char *function = text_of(frame, "function");
    const char *file = text_of(frame, "abs_path");
    json_int_t line = json_integer_value(json_object_get(frame, "lineno"));
    uint64_t addr = number_of(frame, "instruction_addr");
    uint64_t start = number_of(frame, "sym_addr");

    if (package == NULL) {
        output_printf(out, "0x%" PRIx64, addr);
        return;
    }

    output_text(out, sym_object_file_name(sym_cstr(package)));

    if (function == NULL) {
        for (uint32_t i = 0; i < crash->n_modules; i++) {
            const sym_crash_module_t *m = &crash->modules[i];

            if (!m->is_unloaded && addr - m->addr <= m->size) {
                output_printf(out, " + 0x%" PRIx64, addr - m->addr);
                break;
            }
        }
        return;
    }

    output_printf(out, "!");
    put(out, function);

    if (file != NULL && line != 0) {
        output_printf(out, " [");
        output_text(out, sym_object_file_name(sym_cstr(file)));
        output_printf(out, " : %" JSON_INTEGER_FORMAT "]", line);
    } else if (start != 0 && start <= addr) {
        output_printf(out, " + 0x%" PRIx64, addr - start);
    }
}


static const char *
way_of(const json_t *frame)
{
    const char *trust = text_of(frame, "trust");

    for (size_t i = 0; i < sizeof(found_by) / sizeof(found_by[0]); i++) {
        if (trust != NULL && strcmp(trust, found_by[i].trust) == 0) {
            return found_by[i].text;
        }
    }

    return "unknown";
}


/* callee: address of the frame whose unwind rules found this one. */
static void
print_way(const sym_request_t *r, const json_t *frame, uint64_t callee,
          bool explains, output_t *out)
{
    const char *trust = text_of(frame, "trust");

    output_printf(out, "    Found by: %s", way_of(frame));
    if (explains && trust != NULL && strcmp(trust, "cfi") == 0) {
        output_printf(out, " of ");
        output_text(out, sentry_dump_rules(r, callee));
    }
    output_printf(out, "\n");
}


static void
print_frames(const options_t *o, const sym_crash_t *crash,
             const sym_request_t *r, const sym_crash_thread_t *t,
             const json_t *frames, output_t *out)
{
    uint64_t callee = 0;
    const json_t *frame;
    bool has_registers = t->has_context;
    size_t i;

    json_array_foreach(frames, i, frame)
    {
        bool is_inlined = stack_text_is_inlined(frames, i);

        output_printf(out, "%2zu  ", i);
        print_place(crash, frame, out);
        output_printf(out, "\n");

        if (has_registers && !is_inlined) {
            print_registers(crash, t, out);
            has_registers = false;
        }

        if (is_inlined) {
            output_printf(out, "    Found by: inlining\n");
        } else {
            print_way(r, frame, callee, o->explain, out);
            callee = number_of(frame, "instruction_addr");
        }
    }

    if (json_array_size(frames) == 0) {
        output_printf(out, "<no frames>\n");
    }
}


static void
print_stack(walk_text_t *t, const sym_request_t *r, const json_t *stack)
{
    const sym_crash_t *crash = t->crash;
    const uint32_t i = t->n_stacks++;
    const sym_crash_thread_t *thread = &crash->threads[i];

    output_printf(t->out, "\nThread %u ", i);
    output_text(t->out, thread->name);
    output_printf(t->out, "%s - tid: %u\n",
                  crash->requesting != i ? ""
                  : crash->is_crash      ? " (crashed)"
                                         : " (requested dump)",
                  thread->id);
    print_frames(t->options, crash, r, thread, json_object_get(stack, "frames"),
                 t->out);

    if (t->options->explain) {
        output_printf(t->out, "    Ended: %s\n",
                      thread->n_frames != 0
                          ? "the client sent no more frames"
                          : sym_walk_end_text(sentry_dump_end(r, i)));
    }
}


/* --- parts of the answer --- */

static const char *
skip(const char *p, const char *end, const char *what)
{
    while (p < end && *p != '\0' && strchr(what, *p) != NULL) {
        p++;
    }

    return p;
}


/* Returns the end of the value at p; NULL: the value is not complete. */
static const char *
value_end(const char *p, const char *end)
{
    bool is_string = false;
    unsigned depth = 0;

    for (; p < end; p++) {
        bool is_end = false;

        if (*p == '"') {
            is_string = !is_string;
            is_end = !is_string;
        } else if (is_string) {
            p += *p == '\\';
        } else if (*p == '{' || *p == '[') {
            depth++;
        } else if (depth == 0 && (*p == ',' || *p == '}' || *p == ']')) {
            return p;
        } else if (*p == '}' || *p == ']') {
            depth--;
            is_end = true;
        }

        if (is_end && depth == 0) {
            return p + 1;
        }
    }

    return NULL;
}


/* Returns the value of a member among those at p; NULL: it has not arrived
 * yet. */
static const char *
find_member(const char *p, const char *end, const char *key)
{
    const size_t len = strlen(key);

    for (;;) {
        const char *name = skip(p, end, "{], ");
        const char *name_end = value_end(name, end);
        const char *value = name_end != NULL ? skip(name_end, end, ": ") : end;

        if (value == end) {
            return NULL;
        }

        if ((size_t) (name_end - name) == len + 2
            && memcmp(name + 1, key, len) == 0) {
            return value;
        }

        p = value_end(value, end);
        if (p == NULL) {
            return NULL;
        }
    }
}


static int
print_end(walk_text_t *t, const json_t *modules)
{
    const json_t *module;
    int code = EXIT_FINE;
    size_t i;

    print_modules(t->crash, false, t->out);
    print_modules(t->crash, true, t->out);

    json_array_foreach(modules, i, module)
    {
        if (stack_text_lacks_symbols(module)) {
            code = EXIT_PARTLY;
        }
    }

    stack_text_print_lacking(modules, t->out);
    return code;
}


/* Prints a stack, or at the end the list of modules. */
static int
print_value(walk_text_t *t, const sym_request_t *r, const char *p,
            const char *end)
{
    sym_json_t json = { 0 };
    sym_error_t err = { 0 };
    int code = EXIT_FINE;

    if (sym_json_load(&json, sym_str(p, (size_t) (end - p)),
                      SYM_JSON_CONVERTER_MAX, 0, "the answer is not JSON", &err)
        != SYM_OK)
    {
        complain_about(t->options->operands[0], "%s", err.what);
        code = EXIT_STORE;
    } else if (t->place == WALK_TEXT_STACKS) {
        print_stack(t, r, json.root);
    } else {
        code = print_end(t, json.root);
    }

    sym_json_drop(&json);
    return code;
}


int
walk_text_print(walk_text_t *t, const sym_request_t *r, sym_str_t part,
                bool is_last, size_t *taken)
{
    const char *p = part.data, *end = p + part.len, *next;
    int code = EXIT_FINE;

    *taken = 0;
    if (t->place == WALK_TEXT_HEAD) {
        next = find_member(p, end, "stacktraces");
        if (next == NULL) {
            return code;
        }

        print_head(t->crash, t->out);
        t->place = WALK_TEXT_STACKS;
        p = next + 1;
    }

    while (t->place == WALK_TEXT_STACKS && code == EXIT_FINE) {
        p = skip(p, end, ", ");
        next = value_end(p, end);

        if (next == p) {
            t->place = WALK_TEXT_MODULES;
        } else if (next == NULL) {
            break;
        } else {
            code = print_value(t, r, p, next);
            p = next;
        }
    }

    *taken = (size_t) (p - part.data);
    if (!is_last || code != EXIT_FINE) {
        return code;
    }

    p = find_member(p, end, "modules");
    next = p != NULL ? value_end(p, end) : NULL;
    return next != NULL ? print_value(t, r, p, next) : EXIT_STORE;
}
