/*
 * fake_writer.h - a symcache writer that only records its calls, so that tests
 * of format readers can state the expected calls as text:
 *
 *     func 1000+20 main
 *       line 1000+4 12 a.c
 *       inline 0 1000+4 foo at 3 a.c
 *     public 2000 bar
 *     public 2010+8 with_a_size
 *     flat 1000+20 main
 *       call 1 in 0 foo at 3 a.c
 *       1000 12 a.c
 *       1004 7 b.h in 1
 *       atos 1004+2 6 b.h
 *
 * Strings that were reserved and never defined print as "".  Include it in one
 * file of a test program: it defines the functions of symcache/writer.h.
 */
#ifndef SYM_UNIT_FAKE_WRITER_H
#define SYM_UNIT_FAKE_WRITER_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "artifacts/symcache/write/shard.h"

typedef struct {
    bool is_public, is_flat;
    sym_function_t f; /* its arrays are copies */
    sym_flat_function_t flat;
} fake_record_t;

struct sym_writer_s {
    sym_error_t *err;
    char **strings; /* NULL: reserved */
    size_t n_strings;
    fake_record_t *records;
    size_t n_records;
};

sym_writer_t *
sym_writer_create(sym_error_t *err)
{
    sym_writer_t *w = calloc(1, sizeof(*w));

    w->err = err;
    return w;
}


void
sym_writer_free(sym_writer_t *w)
{
    if (w == NULL) {
        return;
    }

    for (size_t i = 0; i < w->n_strings; i++) {
        free(w->strings[i]);
    }

    for (size_t i = 0; i < w->n_records; i++) {
        free((void *) (uintptr_t) w->records[i].f.lines);
        free((void *) (uintptr_t) w->records[i].f.inlines);
        free((void *) (uintptr_t) w->records[i].flat.nodes);
        free((void *) (uintptr_t) w->records[i].flat.segments);
        free((void *) (uintptr_t) w->records[i].flat.statements);
    }

    free(w->strings);
    free(w->records);
    free(w);
}


sym_status_t
sym_writer_define(sym_writer_t *w, uint32_t id, sym_str_t text)
{
    free(w->strings[id]);
    w->strings[id] = calloc(1, text.len + 1);
    if (text.len != 0) {
        memcpy(w->strings[id], text.data, text.len);
    }

    return SYM_OK;
}


sym_status_t
sym_writer_reserve(sym_writer_t *w, uint32_t *id)
{
    w->strings = realloc(w->strings, (w->n_strings + 1) * sizeof(*w->strings));
    w->strings[w->n_strings] = NULL;
    *id = (uint32_t) w->n_strings++;
    return SYM_OK;
}


sym_status_t
sym_writer_string(sym_writer_t *w, sym_str_t text, uint32_t *id)
{
    (void) sym_writer_reserve(w, id);
    return sym_writer_define(w, *id, text);
}


uint32_t
sym_writer_expect(const sym_writer_t *w, sym_str_t text)
{
    return (uint32_t) (w->n_strings + text.len);
}


/* Only called with a text that was passed to sym_writer_expect(). */
sym_status_t
sym_writer_expected(sym_writer_t *w, sym_str_t text, uint32_t hash,
                    uint32_t *id)
{
    (void) hash;
    return sym_writer_string(w, text, id);
}


static void *
fake_copy(const void *items, size_t n, size_t size)
{
    void *copy = calloc(n + 1, size);

    if (n != 0) {
        memcpy(copy, items, n * size);
    }

    return copy;
}


static void
fake_record(sym_writer_t *w, bool is_public, sym_function_t f)
{
    f.lines = fake_copy(f.lines, f.n_lines, sizeof(*f.lines));
    f.inlines = fake_copy(f.inlines, f.n_inlines, sizeof(*f.inlines));
    w->records = realloc(w->records, (w->n_records + 1) * sizeof(*w->records));
    w->records[w->n_records++] =
        (fake_record_t){ .is_public = is_public, .f = f };
}


sym_status_t
sym_writer_function(sym_writer_t *w, const sym_function_t *f)
{
    fake_record(w, false, *f);
    return SYM_OK;
}


static const sym_statement_t *
fake_statements(const sym_packed_function_t *f, const uint32_t *ids)
{
    sym_statement_t *copy =
        fake_copy(f->statements, f->n_statements, sizeof(*f->statements));

    for (uint32_t i = 0; i < f->n_statements; i++) {
        copy[i].file = sym_packed_function_id(ids, copy[i].file);
    }

    return copy;
}


static void
fake_flat(sym_writer_t *w, const sym_packed_function_t *f,
          const sym_packed_names_t *names)
{
    const uint32_t *ids = names->ids;
    sym_arena_t arena;
    sym_packed_functions_t draft;
    sym_packed_function_t named = *f;
    fake_record_t r = { .is_flat = true };

    named.name = f->name == SYM_NO_STRING ? f->name : ids[f->name];
    sym_arena_init(&arena, 0);
    if (!sym_packed_function_unpack(&arena, &named, names, false, &draft)) {
        abort();
    }

    r.flat = (sym_flat_function_t){
        .addr = f->addr,
        .size = f->size,
        .lang = f->lang,
        .nodes = fake_copy(draft.nodes, draft.n_nodes, sizeof(*draft.nodes)),
        .n_nodes = draft.n_nodes,
        .segments = fake_copy(draft.segments, draft.n_segments,
                              sizeof(*draft.segments)),
        .n_segments = draft.n_segments,
        .statements = fake_statements(f, ids),
        .n_statements = f->n_statements,
    };
    sym_arena_drop(&arena);
    w->records = realloc(w->records, (w->n_records + 1) * sizeof(*w->records));
    w->records[w->n_records++] = r;
}


sym_status_t
sym_writer_join(sym_writer_t *w, sym_shard_t *part)
{
    uint32_t *ids = calloc(part->n_texts + 1, sizeof(*ids));
    uint32_t *files = calloc(part->files.n + 1, sizeof(*files));
    const sym_packed_names_t names = { ids, files };

    for (size_t i = 0; i < part->n_texts; i++) {
        (void) sym_writer_string(w, part->texts[i].text, &ids[i]);
    }

    files[0] = SYM_NO_STRING;
    for (size_t i = 0; i < part->files.n; i++) {
        files[i + 1] = ids[part->files.ids[i]];
    }

    for (size_t i = 0; i < part->n_functions; i++) {
        fake_flat(w, &part->functions[i], &names);
    }

    free(files);
    free(ids);
    sym_shard_free(part);
    return SYM_OK;
}


sym_status_t
sym_writer_public(sym_writer_t *w, uint32_t addr, uint32_t name)
{
    fake_record(w, true, (sym_function_t){ .addr = addr, .name = name });
    return SYM_OK;
}


sym_status_t
sym_writer_symbol(sym_writer_t *w, uint32_t addr, uint64_t size, uint32_t name)
{
    fake_record(w, true,
                (sym_function_t){
                    .addr = addr, .size = (uint32_t) size, .name = name });
    return SYM_OK;
}


sym_status_t
sym_writer_open_symbol(sym_writer_t *w, uint32_t addr, uint64_t size,
                       uint32_t name)
{
    return sym_writer_symbol(w, addr, size, name);
}


sym_status_t
sym_writer_late_public(sym_writer_t *w, uint32_t addr, sym_str_t name)
{
    uint32_t id = SYM_NO_STRING;

    (void) sym_writer_string(w, name, &id);
    return sym_writer_public(w, addr, id);
}


static const char *
fake_text(const sym_writer_t *w, uint32_t id)
{
    if (id == SYM_NO_STRING) {
        return "-";
    }

    return w->strings[id] != NULL ? w->strings[id] : "\"\"";
}


static void
fake_print_function(const sym_writer_t *w, const sym_function_t *f, FILE *out)
{
    fprintf(out, "func %" PRIx32 "+%" PRIx32 " %s\n", f->addr, f->size,
            fake_text(w, f->name));

    for (size_t i = 0; i < f->n_lines; i++) {
        const sym_line_t *l = &f->lines[i];

        fprintf(out, "  line %" PRIx32 "+%" PRIx32 " %" PRIu32 " %s\n", l->addr,
                l->size, l->line, fake_text(w, l->file));
    }

    for (size_t i = 0; i < f->n_inlines; i++) {
        const sym_inline_t *in = &f->inlines[i];

        fprintf(out,
                "  inline %" PRIu32 " %" PRIx32 "+%" PRIx32 " %s at %" PRIu32
                " %s\n",
                in->depth, in->addr, in->size, fake_text(w, in->name),
                in->call_line, fake_text(w, in->call_file));
    }
}


static void
fake_print_flat(const sym_writer_t *w, const sym_flat_function_t *f, FILE *out)
{
    fprintf(out, "flat %" PRIx32 "+%" PRIx32 " %s\n", f->addr, f->size,
            fake_text(w, f->nodes[0].name));

    for (size_t i = 1; i < f->n_nodes; i++) {
        const sym_flat_node_t *n = &f->nodes[i];

        fprintf(out, "  call %zu in %" PRIu32 " %s at %" PRIu32 " %s\n", i,
                n->parent, fake_text(w, n->name), n->call_line,
                fake_text(w, n->call_file));
    }

    for (size_t i = 0; i < f->n_segments; i++) {
        const sym_segment_t *s = &f->segments[i];

        fprintf(out, "  %" PRIx32 " %" PRIu32 " %s", s->addr, s->line,
                fake_text(w, s->file));
        fprintf(out, s->node != 0 ? " in %" PRIu32 "\n" : "\n", s->node);
    }

    for (size_t i = 0; i < f->n_statements; i++) {
        const sym_statement_t *s = &f->statements[i];

        fprintf(out, "  atos %" PRIx32 "+%" PRIx32 " %" PRIu32 " %s\n", s->addr,
                s->size, s->line, fake_text(w, s->file));
    }
}


/* All recorded calls; free() it. */
__attribute__((unused)) static char *
fake_writer_text(const sym_writer_t *w)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    for (size_t i = 0; i < w->n_records; i++) {
        const sym_function_t *f = &w->records[i].f;

        if (w->records[i].is_public) {
            fprintf(out, "public %" PRIx32, f->addr);
            if (f->size != 0) {
                fprintf(out, "+%" PRIx32, f->size);
            }
            fprintf(out, " %s\n", fake_text(w, f->name));
        } else if (w->records[i].is_flat) {
            fake_print_flat(w, &w->records[i].flat, out);
        } else {
            fake_print_function(w, f, out);
        }
    }

    (void) fclose(out);
    return text;
}

#endif
