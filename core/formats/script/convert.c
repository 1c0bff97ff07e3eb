/*
 * convert.c - generated scripts as a row of the formats
 * (docs/formats/sourcemap.md).
 *
 * A script is converted to its functions and its text.  A map inside it (a
 * `data:` URL) is converted to the same artifacts as a map in a file.
 */
#include <stdlib.h>

#include "artifacts/script/write/script_writer.h"
#include "base/buffer.h"
#include "formats/script/comments.h"
#include "formats/script/positions.h"
#include "formats/script/scopes.h"
#include "formats/sourcemap/sourcemap.h"

typedef struct {
    sym_str_t text;
    sym_js_scopes_t scopes;
    sym_positions_t positions;
    bool is_unparsed;
    sym_str_t reference; /* data NULL: the script contains no map */
    char id[SYM_ID_MAX];
    size_t id_len;
    bool has_id;

    bool has_map; /* inside */
    char *map_text;
    sym_sourcemap_file_t map;
} script_t;


/* --- detection of scripts --- */

static const char *const beginnings[] = {
    "!function",
    "(function",
    "(()",
    "(async",
    "!(",
    "\"use strict\"",
    "'use strict'",
    "var ",
    "let ",
    "const ",
    "function ",
    "function(",
    "import ",
    "import{",
    "import\"",
    "export ",
    "export{",
    "class ",
    "async ",
    "define(",
    "require(",
    "window",
    "self",
    "globalThis",
    "Object.",
    "module.",
    "exports.",
    "__d(",
    "System.",
    "webpackJsonp",
    "try{",
    "if(",
    "/*",
    "//",
    ";(",
    ";!",
    "#!/usr/bin/env node",
    "#!/usr/bin/node",
    "(self",
    "(this",
    "(window",
    "\"undefined\"!=",
    "\"object\"==",
    "this.",
    "throw ",
    "$(",
    "jQuery(",
};


static bool
probe(const uint8_t *data, size_t len)
{
    const char *p = (const char *) data, *end = p + len;
    sym_str_t text;

    if (len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
        p += 3;
    }

    p = sym_raw_space(p, end);
    text = sym_str(p, (size_t) (end - p));

    for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
        if (sym_str_starts(text, sym_cstr(beginnings[i]))) {
            return true;
        }
    }

    return false;
}


/* --- the artifact `script` --- */

/* A function that is open at the current position. */
typedef struct {
    uint32_t end, number;
} open_t;

typedef struct {
    script_t *script;
    sym_script_writer_t *w;
    open_t *open;
    size_t n, size;
    sym_script_part_t *parts;
    size_t parts_size;
    sym_error_t *err;
} bounds_t;


static sym_script_position_t
position_of(const script_t *s, uint32_t offset)
{
    sym_script_position_t at = { 0, 0 };

    (void) sym_positions_find(&s->positions, offset, &at.line, &at.column);
    return at;
}


/* Drops bounds at the end of the script, because no code follows them. */
static sym_status_t
add_bound(bounds_t *b, uint32_t offset, uint32_t function)
{
    return offset < b->script->text.len ? sym_script_add_bound(
               b->w, position_of(b->script, offset), function)
                                        : SYM_OK;
}


/* Closes functions that end before the offset. */
static sym_status_t
close_until(bounds_t *b, uint32_t offset)
{
    sym_status_t rc = SYM_OK;

    while (rc == SYM_OK && b->n != 0 && b->open[b->n - 1].end <= offset) {
        uint32_t end = b->open[--b->n].end;

        rc = add_bound(b, end,
                       b->n != 0 ? b->open[b->n - 1].number : SYM_SCRIPT_NONE);
    }

    return rc;
}


static sym_status_t
add_function(bounds_t *b, const sym_js_scope_t *scope)
{
    const script_t *s = b->script;
    sym_script_given_t given = { .n_parts = scope->n };

    if (!SYM_ARRAY_ROOM(b->parts, (size_t) scope->n + 1, b->parts_size)) {
        return sym_fail(b->err, SYM_NOMEM, NULL);
    }

    for (uint32_t i = 0; i < scope->n; i++) {
        const sym_js_scope_part_t *part = &s->scopes.parts[scope->first + i];

        b->parts[i] =
            (sym_script_part_t){ .text = part->text,
                                 .is_identifier = part->is_identifier };
        if (part->is_identifier) {
            b->parts[i].at = position_of(s, part->offset);
        }
    }

    given.parts = b->parts;
    if (scope->end > scope->start) {
        given.last = position_of(s, scope->end - 1);
    }

    if (scope->end < s->text.len) {
        given.has_end = true;
        given.end = position_of(s, scope->end);
    }

    return sym_script_add_function(b->w, &given);
}


static sym_status_t
add_functions(bounds_t *b)
{
    const sym_js_scopes_t *scopes = &b->script->scopes;
    sym_status_t rc = SYM_OK;

    for (size_t i = 0; i < scopes->n && rc == SYM_OK; i++) {
        const sym_js_scope_t *scope = &scopes->scopes[i];

        rc = close_until(b, scope->start);
        rc = rc == SYM_OK ? add_function(b, scope) : rc;
        rc = rc == SYM_OK ? add_bound(b, scope->start, (uint32_t) i) : rc;

        if (rc == SYM_OK && !SYM_ARRAY_ROOM(b->open, b->n + 1, b->size)) {
            rc = sym_fail(b->err, SYM_NOMEM, NULL);
        }

        if (rc == SYM_OK) {
            b->open[b->n++] = (open_t){ scope->end, (uint32_t) i };
        }
    }

    return rc == SYM_OK ? close_until(b, UINT32_MAX) : rc;
}


static sym_status_t
finish_script(void *writer, const sym_module_info_t *info,
              sym_extent_put_pt put, void *ctx, sym_writer_stats_t *stats,
              sym_error_t *err)
{
    script_t *s = writer;
    bounds_t b = { .script = s, .err = err };
    uint32_t flags = (s->is_unparsed ? SYM_SCRIPT_UNPARSED : 0u)
                     | (s->has_map ? SYM_SCRIPT_HAS_MAP : 0u);
    sym_debug_id_t id;
    bool has_id =
        s->has_id && sym_debug_id_read_breakpad(sym_str(s->id, s->id_len), &id);

    (void) info;
    b.w = sym_script_writer_create(put, ctx, err);

    if (b.w != NULL && add_functions(&b) == SYM_OK) {
        (void) sym_script_finish(b.w,
                                 s->has_map ? sym_str(NULL, 0) : s->reference,
                                 has_id ? &id : NULL, flags, stats);
    }

    sym_script_writer_free(b.w);
    free(b.open);
    free(b.parts);
    return err->status;
}


/* --- text of the script and of the map inside --- */

static sym_status_t
finish_sources(void *writer, const sym_module_info_t *info,
               sym_extent_put_pt put, void *ctx, sym_writer_stats_t *stats,
               sym_error_t *err)
{
    script_t *s = writer;
    sym_sources_writer_t *w = sym_sources_writer_create(put, ctx, err);

    (void) info;

    if (w != NULL
        && sym_sources_add(w, SYM_STR(SYM_SOURCES_TEXT_NAME), SYM_STR(""),
                           s->text, err)
               == SYM_OK
        && (!s->has_map
            || sym_sourcemap_file_add_texts(&s->map, w, err) == SYM_OK))
    {
        (void) sym_sources_finish(w, stats, err);
    }

    sym_sources_writer_free(w);
    return err->status;
}


/* --- the file --- */

/* A map that cannot be read is kept as a reference. */
static sym_status_t
read_map(script_t *s, sym_error_t *err)
{
    sym_error_t bad = { 0 };
    size_t len = 0;

    if (!sym_script_is_data_url(s->reference)) {
        return SYM_OK;
    }

    s->map_text = malloc(s->reference.len + 1);
    if (s->map_text == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    if (!sym_script_data_url(s->reference, s->map_text, &len)) {
        s->reference = sym_str(NULL, 0);
        return SYM_OK;
    }

    s->has_map =
        sym_sourcemap_file_read(&s->map, sym_str(s->map_text, len), &bad)
        == SYM_OK;
    if (!s->has_map) {
        sym_sourcemap_file_free(&s->map);
        s->reference = SYM_STR("data:");
        return bad.status == SYM_NOMEM ? sym_fail(err, SYM_NOMEM, NULL)
                                       : SYM_OK;
    }

    sym_sourcemap_file_number(&s->map, SYM_STR(SYM_SOURCES_TEXT_NAME));
    return SYM_OK;
}


/* The text and the map are stored even if the functions cannot be read. */
static sym_status_t
read_functions(script_t *s, const sym_format_services_t *services,
               sym_error_t *err)
{
    sym_error_t bad = { 0 };

    if (sym_js_scopes_read(&s->scopes, s->text, &bad) == SYM_OK) {
        return sym_positions_read(&s->positions, s->text)
                   ? SYM_OK
                   : sym_fail(err, SYM_NOMEM, NULL);
    }

    sym_js_scopes_free(&s->scopes);
    s->scopes = (sym_js_scopes_t){ .scopes = NULL };
    s->is_unparsed = true;

    if (bad.status == SYM_NOMEM) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    services->note(services->ctx,
                   "its functions cannot be read: %s (byte %llu)", bad.what,
                   (unsigned long long) bad.offset);
    return SYM_OK;
}


static sym_status_t
put_artifacts(script_t *s, const sym_format_file_t *f, sym_error_t *err)
{
    const sym_module_info_t info = {
        .debug_id = sym_str(s->id, s->id_len),
        .source_bytes = f->data.len,
    };
    const sym_format_output_t outputs[] = {
        { .kind = SYM_KIND_SCRIPT,
          .has_more = true,
          .info = &info,
          .writer = s,
          .finish = finish_script },
        { .kind = SYM_KIND_SOURCES,
          .has_more = s->has_map,
          .info = &info,
          .writer = s,
          .finish = finish_sources },
        { .kind = SYM_KIND_SOURCEMAP,
          .info = &info,
          .writer = &s->map,
          .finish = sym_sourcemap_file_finish },
    };
    sym_status_t rc = SYM_OK;

    for (size_t i = 0; rc == SYM_OK && i < (s->has_map ? 3u : 2u); i++) {
        rc = f->put(f->ctx, &outputs[i], err);
    }

    return rc;
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    script_t s = { .text = f->data };

    (void) which; /* the file has one object */

    if (!sym_utf8_valid(f->data)) {
        return sym_fail(err, SYM_MALFORMED, "the script is not UTF-8");
    }

    s.reference = f->reference.len != 0 && sym_utf8_valid(f->reference)
                      ? f->reference
                      : sym_script_map_reference(f->data);
    s.id_len = sym_script_debug_id(f->data, s.id);
    s.has_id = s.id_len != 0;
    if (!s.has_id) {
        s.id_len = sym_sourcemap_content_id(f->data, s.id);
    }

    if (read_functions(&s, f->services, err) == SYM_OK
        && read_map(&s, err) == SYM_OK)
    {
        (void) put_artifacts(&s, f, err);
    }

    sym_js_scopes_free(&s.scopes);
    sym_positions_free(&s.positions);
    if (s.has_map) {
        sym_sourcemap_file_free(&s.map);
    }
    free(s.map_text);
    return err->status;
}


const sym_format_t sym_format_script = {
    .title = "JavaScript",
    .probe = probe,
    .is_nameless = true,
    .convert = convert,
};
