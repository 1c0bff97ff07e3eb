#include "cli/lookup_print.h"

#include "base/hex.h"
#include "symbolicate/cache/texts.h"

/* --- text --- */

/* Maximum number of bytes in addition to texts: a number, two newlines and a
 * colon. */
#define BESIDE_MAX 32

/* Most texts are short: copied in one step, including bytes after them. */
static inline char *
put(char *p, sym_str_t text)
{
    memcpy(p, text.data, SYM_TEXT_SLACK);

    if (text.len > SYM_TEXT_SLACK) {
        memcpy(p + SYM_TEXT_SLACK, text.data + SYM_TEXT_SLACK,
               text.len - SYM_TEXT_SLACK);
    }

    return p + text.len;
}


/* Prints a level that may exceed the buffer, or that lacks information. */
static void
print_by_parts(output_t *out, sym_resolver_t *r, const sym_answer_t *answer,
               uint32_t i)
{
    size_t start = output_length(out);

    sym_resolver_write_name(r, 0, answer, i, &out->json);
    sym_out_raw(&out->json,
                output_length(out) != start ? SYM_STR("\n") : SYM_STR("??\n"));
    start = output_length(out);
    sym_resolver_write_file(r, 0, answer, i, &out->json);

    if (output_length(out) == start) {
        sym_out_raw(&out->json, SYM_STR("??:0\n"));
        return;
    }

    sym_out_raw(&out->json, SYM_STR(":"));
    sym_out_dec(&out->json, answer->levels[i].line);
    sym_out_raw(&out->json, SYM_STR("\n"));
}


static void
print_level(output_t *out, sym_resolver_t *r, const sym_answer_t *answer,
            uint32_t i)
{
    sym_frame_t frame;
    char *p = out->json.pos;

    if (!sym_resolver_frame(r, answer, i, &frame)
        || frame.function.len + frame.file.len + SYM_TEXT_SLACK + BESIDE_MAX
               > (size_t) (out->json.end - p))
    {
        print_by_parts(out, r, answer, i);
        return;
    }

    p = put(p, frame.function);
    *p++ = '\n';
    p = put(p, frame.file);
    *p++ = ':';
    p = sym_dec_write(p, frame.line);
    *p++ = '\n';
    out->json.pos = p;
}


void
lookup_print_text(output_t *out, sym_resolver_t *r, const sym_answer_t *answer)
{
    for (uint32_t i = 0; i < answer->n_levels; i++) {
        print_level(out, r, answer, i);
    }

    sym_out_raw(&out->json, answer->n_levels == 0 ? SYM_STR("??\n??:0\n\n")
                                                  : SYM_STR("\n"));
}


/* --- JSON --- */

static void
put_function(output_t *out, sym_resolver_t *r, const sym_answer_t *answer,
             uint32_t i, bool *first)
{
    output_key(out, "function", first);
    sym_out_raw(&out->json, SYM_STR("\""));
    sym_resolver_write_name(r, 0, answer, i, &out->json);
    sym_out_raw(&out->json, SYM_STR("\""));
}


/* Writes the file of a level; false: it has none. */
static bool
put_file(output_t *out, sym_resolver_t *r, const sym_answer_t *answer,
         uint32_t i, bool *first)
{
    const size_t before = output_length(out);
    size_t start;

    output_key(out, "file", first);
    sym_out_raw(&out->json, SYM_STR("\""));
    start = output_length(out);
    sym_resolver_write_file(r, 0, answer, i, &out->json);

    if (output_length(out) == start) {
        output_cut(out, before);
        return false;
    }

    sym_out_raw(&out->json, SYM_STR("\""));
    return true;
}


/* A line number has no meaning without a file. */
static void
put_location(output_t *out, sym_resolver_t *r, const sym_answer_t *answer,
             uint32_t i, bool *first)
{
    uint32_t line = sym_resolver_line(r, answer, i);

    if (put_file(out, r, answer, i, first) && line != 0) {
        output_key_dec(out, "line", line, first);
    }
}


static void
put_inlines(output_t *out, sym_resolver_t *r, const sym_answer_t *answer,
            bool *first)
{
    output_key(out, "inlines", first);

    for (uint32_t i = 0; i + 1 < answer->n_levels; i++) {
        bool first_key = true;

        sym_out_raw(&out->json, i == 0 ? SYM_STR("[{") : SYM_STR(", {"));
        put_function(out, r, answer, i, &first_key);
        put_location(out, r, answer, i, &first_key);
        sym_out_raw(&out->json, SYM_STR("}"));
    }

    sym_out_raw(&out->json, SYM_STR("]"));
}


static void
put_symbol(output_t *out, sym_resolver_t *r, const sym_answer_t *answer,
           uint64_t addr, bool *first)
{
    uint32_t outermost = answer->n_levels - 1;

    put_function(out, r, answer, outermost, first);
    output_key(out, "function_offset", first);
    sym_out_hex_string(&out->json, addr - answer->function_addr);

    if (answer->function_size != 0) {
        output_key_dec(out, "function_size", answer->function_size, first);
    }

    put_location(out, r, answer, outermost, first);
}


void
lookup_print_json(output_t *out, sym_resolver_t *r, const sym_answer_t *answer,
                  sym_str_t module, uint64_t addr)
{
    bool first = true;

    sym_out_raw(&out->json, SYM_STR("{"));
    output_key_string(out, "module", module, &first);
    output_key(out, "module_offset", &first);
    sym_out_hex_string(&out->json, addr);

    if (answer->n_levels > 0) {
        put_symbol(out, r, answer, addr, &first);
    }

    if (answer->n_levels > 1) {
        put_inlines(out, r, answer, &first);
    }

    sym_out_raw(&out->json, SYM_STR("}\n"));
}
