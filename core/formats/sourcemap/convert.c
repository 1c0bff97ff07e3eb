/*
 * convert.c - source maps as a row of the formats (docs/formats/sourcemap.md).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "artifacts/sourcemap/write/sourcemap_writer.h"
#include "base/hash.h"
#include "base/sort.h"
#include "formats/sourcemap/mappings.h"
#include "formats/sourcemap/sourcemap.h"

/* Name of a source's text: `#` and the number of the source. */
#define NUMBERED_MAX 16

#define UUID_DIGITS 32

/* A map begins with one of these members, perhaps after a guard. */
static const char *const members[] = {
    "version",        "file",     "sources",    "sourceRoot",
    "sourcesContent", "names",    "mappings",   "sections",
    "debugId",        "debug_id", "ignoreList", "x_facebook_sources",
};


static bool
probe(const uint8_t *data, size_t len)
{
    const char *p = (const char *) data, *end = p + len;
    sym_raw_string_t key;

    if (len > 1 && p[0] == ')' && p[1] == ']') {
        return true;
    }

    p = sym_raw_space(p, end);
    if (p == end || *p != '{') {
        return false;
    }

    p = sym_raw_space(p + 1, end);
    if (sym_raw_string(p, end, &key) == NULL) {
        return false;
    }

    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        if (sym_str_eq(key.text, sym_cstr(members[i]))) {
            return true;
        }
    }

    return false;
}


/* --- tokens --- */

/* Reads all tokens before the first extent is put, so that a damaged map puts
 * none. */
static sym_status_t
check_tokens(sym_sourcemap_file_t *file, sym_error_t *err)
{
    uint64_t last = 0, n = 0;

    file->is_sorted = true;

    for (size_t i = 0; i < file->map.n_parts; i++) {
        sym_sourcemap_token_t token;
        sym_mappings_t m;
        sym_status_t rc;

        sym_mappings_begin(&m, &file->map.parts[i]);
        while ((rc = sym_mappings_next(&m, &token, err)) == SYM_OK) {
            uint64_t position = (uint64_t) token.line << 32 | token.column;

            file->is_sorted = file->is_sorted && position >= last;
            last = position;
            n++;
        }

        if (rc != SYM_NOT_FOUND) {
            return rc;
        }
    }

    if (n > SYM_SOURCEMAP_TOKENS_MAX) {
        return sym_fail(err, SYM_LIMIT, "too many mappings");
    }

    file->n_tokens = (uint32_t) n;
    return SYM_OK;
}


typedef sym_status_t (*take_token_pt)(void *ctx,
                                      const sym_sourcemap_token_t *token);

static sym_status_t
each_token(const sym_sourcemap_file_t *file, take_token_pt take, void *ctx,
           sym_error_t *err)
{
    sym_sourcemap_token_t token;
    sym_mappings_t m;
    sym_status_t rc = SYM_OK;

    for (size_t i = 0; i < file->map.n_parts && rc == SYM_OK; i++) {
        sym_mappings_begin(&m, &file->map.parts[i]);

        while (rc == SYM_OK
               && (rc = sym_mappings_next(&m, &token, err)) == SYM_OK) {
            if (file->has_functions && token.source != SYM_SOURCEMAP_NONE) {
                uint32_t name =
                    sym_functions_find(&file->functions, token.source,
                                       token.source_line, token.source_column);

                token.scope = name != SYM_SOURCEMAP_NONE
                                  ? file->map.n_names + name
                                  : name;
            }

            rc = take(ctx, &token);
        }

        rc = rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    return rc;
}


static sym_status_t
write_token(void *ctx, const sym_sourcemap_token_t *token)
{
    return sym_sourcemap_add_token(ctx, token);
}


typedef struct {
    sym_sourcemap_token_t *tokens;
    sym_sort_item_t *order;
    uint32_t n;
} gathered_t;

static sym_status_t
gather_token(void *ctx, const sym_sourcemap_token_t *token)
{
    gathered_t *g = ctx;

    g->order[g->n] =
        (sym_sort_item_t){ .key = (uint64_t) token->line << 32 | token->column,
                           .at = g->n };
    g->tokens[g->n++] = *token;
    return SYM_OK;
}


static sym_status_t
write_sorted(const sym_sourcemap_file_t *file, sym_sourcemap_writer_t *w,
             sym_error_t *err)
{
    gathered_t g = { 0 };
    sym_status_t rc;

    g.tokens = malloc((size_t) file->n_tokens * sizeof(*g.tokens));
    g.order = malloc((size_t) file->n_tokens * sizeof(*g.order));
    rc = g.tokens == NULL || g.order == NULL
             ? sym_fail(err, SYM_NOMEM, NULL)
             : each_token(file, gather_token, &g, err);

    if (rc == SYM_OK && !sym_sort(g.order, g.n)) {
        rc = sym_fail(err, SYM_NOMEM, NULL);
    }

    for (uint32_t i = 0; rc == SYM_OK && i < g.n; i++) {
        rc = sym_sourcemap_add_token(w, &g.tokens[g.order[i].at]);
    }

    free(g.tokens);
    free(g.order);
    return rc;
}


/* --- names --- */

static sym_status_t
add_names(sym_sourcemap_writer_t *w, const sym_map_strings_t *names,
          sym_error_t *err)
{
    sym_arena_t arena;
    sym_status_t rc = SYM_OK;

    sym_arena_init(&arena, 0);
    for (size_t i = 0; i < names->n && rc == SYM_OK; i++) {
        sym_str_t name = SYM_STR("");

        if (names->items[i].text.data != NULL) {
            name = sym_raw_decode(&arena, &names->items[i]);
        }

        rc = name.data == NULL ? sym_fail(err, SYM_NOMEM, NULL)
                               : sym_sourcemap_add_name(w, name);
        if (names->items[i].has_escapes) {
            sym_arena_reset(&arena);
        }
    }

    sym_arena_drop(&arena);
    return rc;
}


static sym_status_t
add_all_names(const sym_sourcemap_file_t *file, sym_sourcemap_writer_t *w,
              sym_error_t *err)
{
    sym_status_t rc = SYM_OK;

    for (uint32_t i = 0; i < file->map.n_sources && rc == SYM_OK; i++) {
        rc = sym_sourcemap_add_source(w, file->sources[i], file->flags[i]);
    }

    for (size_t i = 0; i < file->map.n_parts && rc == SYM_OK; i++) {
        rc = add_names(w, &file->map.parts[i].names, err);
    }

    return rc == SYM_OK && file->has_functions
               ? add_names(w, &file->functions.names, err)
               : rc;
}


sym_status_t
sym_sourcemap_file_finish(void *writer, const sym_module_info_t *info,
                          sym_extent_put_pt put, void *ctx,
                          sym_writer_stats_t *stats, sym_error_t *err)
{
    const sym_sourcemap_file_t *file = writer;
    sym_sourcemap_writer_t *w = sym_sourcemap_writer_create(put, ctx, err);
    sym_debug_id_t id;
    bool has_id = !file->is_id_derived
                  && sym_debug_id_read_breakpad(
                      sym_str(file->map.id, file->map.id_len), &id);

    (void) info; /* the store's record contains it */

    if (w != NULL && add_all_names(file, w, err) == SYM_OK
        && (file->is_sorted ? each_token(file, write_token, w, err)
                            : write_sorted(file, w, err))
               == SYM_OK)
    {
        (void) sym_sourcemap_finish(w, file->has_functions, has_id ? &id : NULL,
                                    stats);
    }

    sym_sourcemap_writer_free(w);
    return err->status;
}


/* --- sources --- */

/* The text of a source; data NULL: not found. */
static const sym_raw_string_t *
content_of(const sym_map_part_t *part, size_t i)
{
    return i < part->contents.n && part->contents.items[i].text.data != NULL
               ? &part->contents.items[i]
               : NULL;
}


static void
mark_ignored(sym_sourcemap_file_t *file, const sym_map_part_t *part,
             sym_error_t *err)
{
    sym_map_json_t j = { part->ignored.data, part->ignored.data,
                         part->ignored.data + part->ignored.len, err };
    size_t n = 0;

    if (part->ignored.len == 0) {
        return;
    }

    if (!sym_map_take(&j, '[')) {
        (void) sym_map_fail(&j, SYM_MALFORMED, "ignoreList is no list");
    }

    while (sym_map_next(&j, ']', &n, NULL)) {
        uint32_t source = sym_map_number(&j);

        if (err->status == SYM_OK && source < part->sources.n) {
            file->flags[part->first_source + source] |= SYM_SOURCEMAP_IGNORED;
        }
    }
}


static sym_status_t
name_sources(sym_sourcemap_file_t *file, sym_error_t *err)
{
    for (size_t i = 0; i < file->map.n_parts; i++) {
        sym_map_part_t *part = &file->map.parts[i];

        for (uint32_t k = 0; k < part->sources.n; k++) {
            sym_str_t *name = &file->sources[part->first_source + k];
            uint8_t *flags = &file->flags[part->first_source + k];

            if (sym_map_source_name(part, k, &file->map.arena, name, err)
                != SYM_OK) {
                return err->status;
            }

            if (content_of(part, k) != NULL) {
                file->has_texts = true;
                *flags |= SYM_SOURCEMAP_TEXT;
            }

            if (name->len == 0 || name->len > SYM_SOURCES_PATH_MAX) {
                *flags |= SYM_SOURCEMAP_NUMBERED;
            }
        }

        mark_ignored(file, part, err);
    }

    return err->status;
}


/* Finds sources with equal names, whose texts are stored by number.  Hashes are
 * compared in place of names. */
static sym_status_t
number_twins(sym_sourcemap_file_t *file, sym_error_t *err)
{
    uint32_t n = file->map.n_sources;
    sym_hash_key_t key = sym_hash_key();
    sym_sort_item_t *items = malloc(((size_t) n + 1) * sizeof(*items));

    if (items == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    for (uint32_t i = 0; i < n; i++) {
        items[i] = (sym_sort_item_t){ sym_hash(&key, file->sources[i]), i };
    }

    if (!sym_sort(items, n)) {
        (void) sym_fail(err, SYM_NOMEM, NULL);
    }

    for (uint32_t i = 1; i < n && err->status == SYM_OK; i++) {
        if (items[i].key == items[i - 1].key) {
            file->flags[items[i].at] |= SYM_SOURCEMAP_NUMBERED;
        }
    }

    free(items);
    return err->status;
}


static sym_status_t
add_text(const sym_sourcemap_file_t *file, sym_sources_writer_t *w, uint32_t i,
         const sym_raw_string_t *content, sym_arena_t *arena, sym_error_t *err)
{
    char number[NUMBERED_MAX];
    sym_str_t path = file->sources[i], text = sym_raw_decode(arena, content);

    if (text.data == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    if ((file->flags[i] & SYM_SOURCEMAP_NUMBERED) != 0) {
        (void) snprintf(number, sizeof(number), "#%u", i);
        path = sym_cstr(number);
    }

    return sym_sources_add(w, path, SYM_STR(""), text, err);
}


sym_status_t
sym_sourcemap_file_add_texts(const sym_sourcemap_file_t *file,
                             sym_sources_writer_t *w, sym_error_t *err)
{
    sym_arena_t arena;
    sym_status_t rc = SYM_OK;

    sym_arena_init(&arena, 0);

    for (size_t i = 0; i < file->map.n_parts; i++) {
        const sym_map_part_t *part = &file->map.parts[i];

        for (uint32_t k = 0; k < part->sources.n && rc == SYM_OK; k++) {
            const sym_raw_string_t *content = content_of(part, k);

            if (content != NULL) {
                rc = add_text(file, w, part->first_source + k, content, &arena,
                              err);
                sym_arena_drop(&arena);
            }
        }
    }

    return rc;
}


static sym_status_t
finish_sources(void *writer, const sym_module_info_t *info,
               sym_extent_put_pt put, void *ctx, sym_writer_stats_t *stats,
               sym_error_t *err)
{
    sym_sources_writer_t *w = sym_sources_writer_create(put, ctx, err);

    (void) info;

    if (w != NULL && sym_sourcemap_file_add_texts(writer, w, err) == SYM_OK) {
        (void) sym_sources_finish(w, stats, err);
    }

    sym_sources_writer_free(w);
    return err->status;
}


/* --- the file --- */

sym_status_t
sym_sourcemap_file_read(sym_sourcemap_file_t *file, sym_str_t text,
                        sym_error_t *err)
{
    *file = (sym_sourcemap_file_t){ .has_functions = false };

    if (sym_map_read(&file->map, text, err) != SYM_OK) {
        return err->status;
    }

    file->sources =
        calloc((size_t) file->map.n_sources + 1, sizeof(*file->sources));
    file->flags = calloc((size_t) file->map.n_sources + 1, 1);

    if (file->sources == NULL || file->flags == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    /* no reader uses the functions in sections */
    if (!file->map.is_indexed && file->map.parts[0].functions.len != 0) {
        file->has_functions = true;
        if (sym_functions_read(&file->functions, file->map.parts[0].functions,
                               err)
            != SYM_OK)
        {
            return err->status;
        }
    }

    return name_sources(file, err) != SYM_OK
                   || number_twins(file, err) != SYM_OK
               ? err->status
               : check_tokens(file, err);
}


void
sym_sourcemap_file_free(sym_sourcemap_file_t *file)
{
    sym_map_free(&file->map);
    sym_functions_free(&file->functions);
    free(file->sources);
    free(file->flags);
}


void
sym_sourcemap_file_number(sym_sourcemap_file_t *file, sym_str_t name)
{
    for (uint32_t i = 0; i < file->map.n_sources; i++) {
        if (sym_str_eq(file->sources[i], name)) {
            file->flags[i] |= SYM_SOURCEMAP_NUMBERED;
        }
    }
}


size_t
sym_sourcemap_content_id(sym_str_t text, char id[SYM_ID_MAX])
{
    static const sym_hash_key_t high = { 1, 2 }, low = { 3, 4 };
    char hex[UUID_DIGITS + 1];

    (void) snprintf(hex, sizeof(hex), "%016" PRIX64 "%016" PRIX64,
                    sym_hash(&high, text), sym_hash(&low, text));
    return sym_debug_id_canonical(sym_str(hex, UUID_DIGITS), id);
}


static sym_status_t
put_artifacts(sym_sourcemap_file_t *file, const sym_format_file_t *f,
              sym_error_t *err)
{
    const sym_map_t *map = &file->map;
    const sym_module_info_t info = {
        .debug_id = sym_str(map->id, map->id_len),
        .source_bytes = f->data.len,
    };
    const sym_format_output_t tokens = { .kind = SYM_KIND_SOURCEMAP,
                                         .has_more = file->has_texts,
                                         .info = &info,
                                         .writer = file,
                                         .finish = sym_sourcemap_file_finish };
    const sym_format_output_t sources = { .kind = SYM_KIND_SOURCES,
                                          .info = &info,
                                          .writer = file,
                                          .finish = finish_sources };
    sym_status_t rc = f->put(f->ctx, &tokens, err);

    return rc == SYM_OK && file->has_texts ? f->put(f->ctx, &sources, err) : rc;
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    sym_sourcemap_file_t file;

    (void) which; /* the file has one object */
    if (sym_sourcemap_file_read(&file, f->data, err) == SYM_OK) {
        if (file.map.id_len == 0) {
            file.map.id_len = sym_sourcemap_content_id(f->data, file.map.id);
            file.is_id_derived = true;
        }

        (void) put_artifacts(&file, f, err);
    }

    sym_sourcemap_file_free(&file);
    return err->status;
}


const sym_format_t sym_format_sourcemap = {
    .title = "source map",
    .probe = probe,
    .is_nameless = true,
    .convert = convert,
};
