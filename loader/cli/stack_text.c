#include "cli/stack_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *
text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}


/* Reads a number in the form "0x12"; false: the value is something else. */
static bool
number_of(const json_t *object, const char *key, uint64_t *value)
{
    const char *text = text_of(object, key);

    *value = text != NULL ? strtoull(text, NULL, 16) : 0;
    return text != NULL;
}


static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');

    return slash != NULL ? slash + 1 : back != NULL ? back + 1 : path;
}


/* Finds the module of the frame, and the frame's offset in it; NULL:
 * unknown. */
static const json_t *
module_of(const json_t *answer, const json_t *frame, uint64_t *offset)
{
    const json_t *modules = json_object_get(answer, "modules"), *m;
    const char *mode = text_of(frame, "addr_mode"),
               *package = text_of(frame, "package");
    uint64_t base;
    size_t i;

    (void) number_of(frame, "instruction_addr", offset);

    if (mode != NULL && strncmp(mode, "rel:", 4) == 0) {
        return json_array_get(modules, strtoul(mode + 4, NULL, 10));
    }

    json_array_foreach(modules, i, m)
    {
        const char *file = text_of(m, "code_file");

        if (package != NULL && file != NULL && strcmp(package, file) == 0
            && number_of(m, "image_addr", &base) && base <= *offset)
        {
            *offset -= base;
            return m;
        }
    }

    return NULL;
}


static const char *
module_name(const json_t *m)
{
    const char *name = text_of(m, "code_file");

    name = name != NULL ? name : text_of(m, "debug_file");
    return base_name(name != NULL ? name : "?");
}


static void
put(output_t *out, const char *text)
{
    output_text(out, sym_cstr(text));
}


static void
print_function(const json_t *frame, const char *function, output_t *out)
{
    uint64_t addr, start;

    output_printf(out, "  ");
    put(out, function);

    if (number_of(frame, "instruction_addr", &addr)
        && number_of(frame, "sym_addr", &start) && start <= addr)
    {
        output_printf(out, " +0x%" PRIx64, addr - start);
    }
}


static void
print_frame(const json_t *answer, const json_t *frame, size_t n, bool is_inline,
            output_t *out)
{
    const char *function = text_of(frame, "function"),
               *file = text_of(frame, "abs_path"),
               *status = text_of(frame, "status");
    json_int_t line = json_integer_value(json_object_get(frame, "lineno"));
    const json_t *module;
    uint64_t addr, offset;

    (void) number_of(frame, "instruction_addr", &addr);
    output_printf(out, "%4zu  0x%012" PRIx64, n, addr);

    module = module_of(answer, frame, &offset);
    if (module != NULL) {
        output_printf(out, "  ");
        put(out, module_name(module));
        output_printf(out, " +0x%" PRIx64, offset);
    }

    function = function != NULL ? function : text_of(frame, "symbol");
    if (function != NULL) {
        print_function(frame, function, out);
    }

    if (is_inline) {
        output_printf(out, " (inlined)");
    } else if (status != NULL && strcmp(status, "symbolicated") != 0) {
        output_printf(out, "  (");
        put(out, status);
        output_printf(out, ")");
    }

    output_printf(out, "\n");
    file = file != NULL ? file : text_of(frame, "filename");
    if (file != NULL) {
        output_printf(out, "        at ");
        put(out, file);
        output_printf(out, line != 0 ? ":%" JSON_INTEGER_FORMAT "\n" : "\n",
                      line);
    }
}


bool
stack_text_is_inlined(const json_t *frames, size_t i)
{
    const json_t *index =
        json_object_get(json_array_get(frames, i), "original_index");
    const json_t *next =
        json_object_get(json_array_get(frames, i + 1), "original_index");

    return json_is_integer(index) && json_is_integer(next)
           && json_integer_value(index) == json_integer_value(next);
}


static void
print_stack(const json_t *answer, const json_t *stack, size_t n, output_t *out)
{
    const json_t *frames = json_object_get(stack, "frames"), *frame;
    const char *name = text_of(stack, "thread_name");
    size_t i;

    output_printf(out, "%sStack %zu", n != 0 ? "\n" : "", n);
    if (name != NULL) {
        output_printf(out, ": ");
        put(out, name);
    }
    output_printf(out, "%s\n",
                  json_is_true(json_object_get(stack, "is_requesting"))
                      ? " (crashed)"
                      : "");

    json_array_foreach(frames, i, frame)
    {
        print_frame(answer, frame, i, stack_text_is_inlined(frames, i), out);
    }
}


bool
stack_text_lacks_symbols(const json_t *module)
{
    const char *status = text_of(module, "debug_status");

    return status != NULL && strcmp(status, "found") != 0
           && strcmp(status, "unused") != 0;
}


void
stack_text_print_lacking(const json_t *modules, output_t *out)
{
    const json_t *item;
    bool is_first = true;
    size_t i;

    json_array_foreach(modules, i, item)
    {
        const char *id = text_of(item, "debug_id");

        if (stack_text_lacks_symbols(item)) {
            output_printf(out, "%s  ", is_first ? "\nNo symbols:\n" : "");
            put(out, module_name(item));
            output_printf(out, " ");
            put(out, id != NULL ? id : "-");
            output_printf(out, ": ");
            put(out, text_of(item, "debug_status"));
            output_printf(out, "\n");
            is_first = false;
        }
    }
}


void
stack_text_print(const json_t *answer, output_t *out)
{
    const json_t *item;
    size_t i;

    json_array_foreach(json_object_get(answer, "stacktraces"), i, item)
    {
        print_stack(answer, item, i, out);
    }

    stack_text_print_lacking(json_object_get(answer, "modules"), out);
}
