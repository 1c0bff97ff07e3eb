#include "cli/lookup_print.h"

#include "base/hex.h"

string_cache_style_t
lookup_print_style(bool is_json, bool is_mangled)
{
    return (string_cache_style_t){
        .name_end = is_json ? '"' : '\n',
        .file_end = is_json ? '"' : ':',
        .is_json = is_json,
        .is_mangled = is_mangled,
    };
}


/* What is put behind texts, at most: a number and a newline. */
#define BESIDE_MAX 32

/* Most are short: copied in one go, whatever follows them.  There is room for
 * TEXT_SLACK more. */
static inline char *
put(char *p, sym_str_t text)
{
    memcpy(p, text.data, TEXT_SLACK);

    if (text.len > TEXT_SLACK) {
        memcpy(p + TEXT_SLACK, text.data + TEXT_SLACK, text.len - TEXT_SLACK);
    }

    return p + text.len;
}


/* A level that may need more than is left, or more than any window has, or says
 * little. */
static void
print_by_parts(output_t *out, sym_str_t name, sym_str_t file, uint32_t line)
{
    sym_out_raw(&out->json, name.len != 0 ? name : SYM_STR("??\n"));

    if (file.len == 0) {
        sym_out_raw(&out->json, SYM_STR("??:0\n"));
        return;
    }

    sym_out_raw(&out->json, file);
    sym_out_dec(&out->json, line);
    sym_out_raw(&out->json, SYM_STR("\n"));
}


static void
print_level(output_t *out, const batch_answer_t *a, const batch_level_t *level)
{
    const sym_str_t name = string_cache_name(a->texts, level->text);
    const sym_str_t file = string_cache_file(a->texts, level->text);
    char *p = out->json.pos;

    if (name.len == 0 || file.len == 0
        || name.len + file.len + TEXT_SLACK + BESIDE_MAX
               > (size_t) (out->json.end - p))
    {
        print_by_parts(out, name, file, level->line);
        return;
    }

    p = sym_dec_write(put(put(p, name), file), level->line);
    *p++ = '\n';
    out->json.pos = p;
}


void
lookup_print_text(output_t *out, const batch_answer_t *a)
{
    for (uint32_t i = 0; i < a->question->n_levels; i++) {
        print_level(out, a, &a->levels[i]);
    }

    sym_out_raw(&out->json, a->question->n_levels == 0 ? SYM_STR("??\n??:0\n\n")
                                                       : SYM_STR("\n"));
}


/* A text that is escaped already, and ends in its quote. */
static void
put_text(output_t *out, const char *key, sym_str_t text, bool *first)
{
    output_key(out, key, first);
    sym_out_raw(&out->json, SYM_STR("\""));
    sym_out_raw(&out->json, text.len != 0 ? text : SYM_STR("\""));
}


/* A line number means nothing without its file. */
static void
put_location(output_t *out, const batch_answer_t *a, const batch_level_t *level,
             bool *first)
{
    const sym_str_t file = string_cache_file(a->texts, level->text);

    if (file.len == 0) {
        return;
    }

    put_text(out, "file", file, first);

    if (level->line != 0) {
        output_key_dec(out, "line", level->line, first);
    }
}


static void
put_inlines(output_t *out, const batch_answer_t *a, bool *first)
{
    const batch_level_t *levels = a->levels;

    output_key(out, "inlines", first);

    for (uint32_t i = 0; i + 1 < a->question->n_levels; i++) {
        bool first_key = true;

        sym_out_raw(&out->json, i == 0 ? SYM_STR("[{") : SYM_STR(", {"));
        put_text(out, "function", string_cache_name(a->texts, levels[i].text),
                 &first_key);
        put_location(out, a, &levels[i], &first_key);
        sym_out_raw(&out->json, SYM_STR("}"));
    }

    sym_out_raw(&out->json, SYM_STR("]"));
}


static void
put_function(output_t *out, const batch_answer_t *a, bool *first)
{
    const question_t *q = a->question;
    const batch_level_t *outermost = &a->levels[q->n_levels - 1];

    put_text(out, "function", string_cache_name(a->texts, outermost->text),
             first);
    output_key(out, "function_offset", first);
    sym_out_hex_string(&out->json, q->addr - q->function_addr);

    if (q->function_size != 0) {
        output_key_dec(out, "function_size", q->function_size, first);
    }

    put_location(out, a, outermost, first);
}


void
lookup_print_json(output_t *out, const batch_answer_t *a, sym_str_t module)
{
    const question_t *q = a->question;
    bool first = true;

    if (!q->is_address) {
        sym_out_raw(&out->json, SYM_STR("{}\n"));
        return;
    }

    sym_out_raw(&out->json, SYM_STR("{"));
    output_key_string(out, "module", module, &first);
    output_key(out, "module_offset", &first);
    sym_out_hex_string(&out->json, q->addr);

    if (q->n_levels > 0) {
        put_function(out, a, &first);
    }

    if (q->n_levels > 1) {
        put_inlines(out, a, &first);
    }

    sym_out_raw(&out->json, SYM_STR("}\n"));
}
