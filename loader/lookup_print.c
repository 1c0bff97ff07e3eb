#include "lookup_print.h"

texts_style_t
lookup_print_style(bool is_json, bool is_mangled)
{
    return (texts_style_t){
        .name_end = is_json ? "\"" : "\n",
        .file_end = is_json ? "\"" : ":",
        .is_json = is_json,
        .is_mangled = is_mangled,
    };
}


static void
print_level(output_t *out, const batch_t *b, const batch_level_t *level)
{
    sym_out_raw(&out->json, level->name != 0 ? batch_text(b, level->name)
                                             : SYM_STR("??\n"));

    if (level->file == 0) {
        sym_out_raw(&out->json, SYM_STR("??:0\n"));
        return;
    }

    sym_out_raw(&out->json, batch_text(b, level->file));
    sym_out_dec(&out->json, level->line);
    sym_out_raw(&out->json, SYM_STR("\n"));
}


void
lookup_print_text(output_t *out, const batch_t *b, const question_t *q)
{
    const batch_level_t *levels = batch_levels(b, q);

    for (uint32_t i = 0; i < q->n_levels; i++) {
        print_level(out, b, &levels[i]);
    }

    sym_out_raw(&out->json,
                q->n_levels == 0 ? SYM_STR("??\n??:0\n\n") : SYM_STR("\n"));
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
put_location(output_t *out, const batch_t *b, const batch_level_t *level,
             bool *first)
{
    if (level->file == 0) {
        return;
    }

    put_text(out, "file", batch_text(b, level->file), first);

    if (level->line != 0) {
        output_key_dec(out, "line", level->line, first);
    }
}


static void
put_inlines(output_t *out, const batch_t *b, const question_t *q, bool *first)
{
    const batch_level_t *levels = batch_levels(b, q);

    output_key(out, "inlines", first);

    for (uint32_t i = 0; i + 1 < q->n_levels; i++) {
        bool first_key = true;

        sym_out_raw(&out->json, i == 0 ? SYM_STR("[{") : SYM_STR(", {"));
        put_text(out, "function", batch_text(b, levels[i].name), &first_key);
        put_location(out, b, &levels[i], &first_key);
        sym_out_raw(&out->json, SYM_STR("}"));
    }

    sym_out_raw(&out->json, SYM_STR("]"));
}


static void
put_function(output_t *out, const batch_t *b, const question_t *q, bool *first)
{
    const batch_level_t *outermost = batch_levels(b, q) + q->n_levels - 1;

    put_text(out, "function", batch_text(b, outermost->name), first);
    output_key(out, "function_offset", first);
    sym_out_hex_string(&out->json, q->addr - q->function_addr);

    if (q->function_size != 0) {
        output_key_dec(out, "function_size", q->function_size, first);
    }

    put_location(out, b, outermost, first);
}


void
lookup_print_json(output_t *out, const batch_t *b, const question_t *q,
                  sym_str_t module)
{
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
        put_function(out, b, q, &first);
    }

    if (q->n_levels > 1) {
        put_inlines(out, b, q, &first);
    }

    sym_out_raw(&out->json, SYM_STR("}\n"));
}
