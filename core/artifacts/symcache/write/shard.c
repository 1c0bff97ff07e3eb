#include "artifacts/symcache/write/shard.h"

#include <stdlib.h>

#define SLOTS_MIN 256

void
sym_shard_init(sym_shard_t *part)
{
    *part = (sym_shard_t){ .key = sym_hash_key() };
    sym_arena_init(&part->copies, 0);
    sym_arena_init(&part->drafts, 0);
}


void
sym_shard_free(sym_shard_t *part)
{
    free(part->texts);
    free(part->slots);
    sym_arena_drop(&part->copies);
    sym_arena_drop(&part->drafts);
    sym_file_table_free(&part->files);
    sym_buffer_free(&part->scratch);
    free(part->functions);
    sym_shard_init(part);
}


/* --- names --- */

/* The slot of text in the table, or a free slot for it. */
static size_t
probe(const sym_shard_t *part, sym_str_t text, uint32_t hash)
{
    size_t at = hash & (part->n_slots - 1);

    for (; part->slots[at] != 0; at = (at + 1) & (part->n_slots - 1)) {
        const sym_shard_text_t *t = &part->texts[part->slots[at] - 1];

        if (t->hash == hash && sym_str_eq(t->text, text)) {
            break;
        }
    }

    return at;
}


static bool
grow_slots(sym_shard_t *part)
{
    size_t n = part->n_slots == 0 ? SLOTS_MIN : part->n_slots * 2;
    uint32_t *slots = calloc(n, sizeof(*slots));

    if (slots == NULL) {
        return false;
    }

    for (size_t id = 0; id < part->n_texts; id++) {
        size_t at = part->texts[id].hash & (n - 1);

        while (slots[at] != 0) {
            at = (at + 1) & (n - 1);
        }
        slots[at] = (uint32_t) id + 1;
    }

    free(part->slots);
    part->slots = slots;
    part->n_slots = n;
    return true;
}


sym_status_t
sym_shard_string(sym_shard_t *part, sym_str_t text, bool is_lasting,
                 uint32_t *id)
{
    uint32_t hash = (uint32_t) sym_hash(&part->key, text);
    sym_shard_text_t *texts;
    size_t at;

    if (part->n_texts >= part->n_slots / 2 && !grow_slots(part)) {
        return SYM_NOMEM;
    }

    at = probe(part, text, hash);
    if (part->slots[at] != 0) {
        *id = part->slots[at] - 1;
        return SYM_OK;
    }

    texts = sym_array_grow(part->texts, &part->texts_size, part->n_texts + 1,
                           sizeof(*texts));
    if (texts == NULL) {
        return SYM_NOMEM;
    }
    part->texts = texts;

    if (!is_lasting) {
        text = sym_arena_copy(&part->copies, text);
        if (text.data == NULL) {
            return SYM_NOMEM;
        }
    }

    *id = (uint32_t) part->n_texts;
    part->texts[part->n_texts++] = (sym_shard_text_t){ text, hash };
    part->slots[at] = *id + 1;
    return SYM_OK;
}


/* --- functions --- */

static bool
has_lines(const sym_flat_function_t *f)
{
    for (size_t i = 0; i < f->n_segments; i++) {
        if (f->segments[i].line != 0) {
            return true;
        }
    }

    return false;
}


/* Adds the files of n nodes and segments to the table.  NULL when out of
 * memory. */
static const sym_statement_t *
copy_statements(sym_shard_t *part, const sym_flat_function_t *f)
{
    size_t bytes = f->n_statements * sizeof(*f->statements);
    sym_statement_t *copy = sym_arena_alloc(&part->drafts, bytes);

    for (size_t i = 0; i < f->n_statements; i++) {
        (void) sym_file_table_number(&part->files, f->statements[i].file,
                                     part->n_texts);
    }

    return copy != NULL && !part->files.failed
               ? memcpy(copy, f->statements, bytes)
               : NULL;
}


sym_status_t
sym_shard_function(sym_shard_t *part, const sym_flat_function_t *f)
{
    const sym_statement_t *statements = NULL;
    sym_packed_function_t *functions =
        sym_array_grow(part->functions, &part->functions_size,
                       part->n_functions + 1, sizeof(*functions));
    const uint64_t *draft;

    if (functions == NULL) {
        return SYM_NOMEM;
    }
    part->functions = functions;

    draft = sym_packed_function_pack(&part->drafts, &part->scratch,
                                     &part->files, part->n_texts, false, f);
    if (draft == NULL) {
        return SYM_NOMEM;
    }

    if (f->n_statements != 0) {
        statements = copy_statements(part, f);
        if (statements == NULL) {
            return SYM_NOMEM;
        }
    }

    part->functions[part->n_functions] = (sym_packed_function_t){
        .draft = draft,
        .statements = statements,
        .n_statements = (uint32_t) f->n_statements,
        .addr = f->addr,
        .size = f->size,
        .name = f->nodes[0].name,
        .order = (uint32_t) part->n_functions,
        .n_nodes = (uint32_t) f->n_nodes,
        .lang = f->lang,
        .is_generated = f->is_generated,
    };
    part->n_functions++;
    part->n_segments += f->n_segments;
    part->n_inlines += f->n_nodes - 1;
    part->has_lines = part->has_lines || has_lines(f);
    return SYM_OK;
}
