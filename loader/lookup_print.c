#include "lookup_print.h"

static void
print_level(output_t *out, texts_t *texts, module_t *m,
            const sym_answer_t *answer, uint32_t i)
{
    const sym_level_t *level = &answer->levels[i];
    sym_str_t name = texts_name(texts, m, answer, i), file;

    sym_out_raw(&out->json, name.len != 0 ? name : SYM_STR("??"));
    sym_out_raw(&out->json, SYM_STR("\n"));

    file = texts_file(texts, m, level);

    if (file.len == 0) {
        sym_out_raw(&out->json, SYM_STR("??:0\n"));
        return;
    }

    sym_out_raw(&out->json, file);
    sym_out_raw(&out->json, SYM_STR(":"));
    sym_out_dec(&out->json, level->line);
    sym_out_raw(&out->json, SYM_STR("\n"));
}


void
lookup_print_text(output_t *out, texts_t *texts, module_t *m,
                  const sym_answer_t *answer)
{
    uint32_t i;

    for (i = 0; i < answer->n_levels; i++) {
        print_level(out, texts, m, answer, i);
    }

    sym_out_raw(&out->json, answer->n_levels == 0 ? SYM_STR("??\n??:0\n\n")
                                                  : SYM_STR("\n"));
}


/* A text that is escaped already. */
static void
put_text(output_t *out, const char *key, sym_str_t text, bool *first)
{
    output_key(out, key, first);
    sym_out_raw(&out->json, SYM_STR("\""));
    sym_out_raw(&out->json, text);
    sym_out_raw(&out->json, SYM_STR("\""));
}


/* A line number means nothing without its file. */
static void
put_location(output_t *out, texts_t *texts, module_t *m,
             const sym_level_t *level, bool *first)
{
    sym_str_t file = texts_file(texts, m, level);

    if (file.len == 0) {
        return;
    }

    put_text(out, "file", file, first);

    if (level->line != 0) {
        output_key_dec(out, "line", level->line, first);
    }
}


static void
put_inlines(output_t *out, texts_t *texts, module_t *m,
            const sym_answer_t *answer, bool *first)
{
    uint32_t i;

    output_key(out, "inlines", first);

    for (i = 0; i + 1 < answer->n_levels; i++) {
        bool first_key = true;

        sym_out_raw(&out->json, i == 0 ? SYM_STR("[{") : SYM_STR(", {"));
        put_text(out, "function", texts_name(texts, m, answer, i), &first_key);
        put_location(out, texts, m, &answer->levels[i], &first_key);
        sym_out_raw(&out->json, SYM_STR("}"));
    }

    sym_out_raw(&out->json, SYM_STR("]"));
}


static void
put_function(output_t *out, texts_t *texts, module_t *m, uint64_t addr,
             const sym_answer_t *answer, bool *first)
{
    uint32_t outermost = answer->n_levels - 1;

    put_text(out, "function", texts_name(texts, m, answer, outermost), first);
    output_key(out, "function_offset", first);
    sym_out_hex_string(&out->json, addr - answer->function_addr);

    if (answer->function_size != 0) {
        output_key_dec(out, "function_size", answer->function_size, first);
    }

    put_location(out, texts, m, &answer->levels[outermost], first);
}


void
lookup_print_json(output_t *out, texts_t *texts, module_t *m, uint64_t addr,
                  const sym_answer_t *answer)
{
    bool first = true;

    sym_out_raw(&out->json, SYM_STR("{"));
    output_key_string(out, "module", m->key.name, &first);
    output_key(out, "module_offset", &first);
    sym_out_hex_string(&out->json, addr);

    if (answer->n_levels > 0) {
        put_function(out, texts, m, addr, answer, &first);
    }

    if (answer->n_levels > 1) {
        put_inlines(out, texts, m, answer, &first);
    }

    sym_out_raw(&out->json, SYM_STR("}\n"));
}
