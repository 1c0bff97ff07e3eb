#include "formats/sourcemap/map.h"

#include <stdlib.h>

#include "base/buffer.h"

typedef struct {
    sym_map_json_t json;
    sym_map_t *map;
    unsigned depth;
} reader_t;

static void read_map(reader_t *r);


static bool
is_key(const sym_raw_string_t *key, const char *name)
{
    return sym_str_eq(key->text, sym_cstr(name));
}


/* --- members --- */

/* A number, or null. */
static void
read_version(reader_t *r)
{
    if (!sym_map_null(&r->json)) {
        (void) sym_map_number(&r->json);
    }
}


/* An id that cannot be read is ignored. */
static void
read_id(reader_t *r)
{
    sym_raw_string_t text = sym_map_string(&r->json);
    char id[SYM_ID_MAX];
    size_t len = text.text.data != NULL ? sym_uuid_canonical(text.text, id) : 0;

    if (len != 0 && r->depth == 1) {
        memcpy(r->map->id, id, len);
        r->map->id_len = len;
    }
}


/* The JSON of a list; null counts as "". */
static sym_str_t
read_list(reader_t *r)
{
    const char *start;
    size_t n = 0;

    if (sym_map_null(&r->json)) {
        return SYM_STR("");
    }

    start = r->json.pos;
    if (!sym_map_take(&r->json, '[')) {
        (void) sym_map_fail(&r->json, SYM_MALFORMED, "not a list");
    }

    while (sym_map_next(&r->json, ']', &n, NULL)) {
        sym_map_skip(&r->json);
    }

    return sym_str(start, (size_t) (r->json.pos - start));
}


static sym_str_t
read_mappings(reader_t *r)
{
    sym_raw_string_t text = sym_map_string(&r->json);
    sym_str_t mappings = text.text.data != NULL
                             ? sym_raw_decode(&r->map->arena, &text)
                             : SYM_STR("");

    if (mappings.data == NULL) {
        (void) sym_map_fail(&r->json, SYM_NOMEM, NULL);
        return SYM_STR("");
    }

    return mappings;
}


/* --- sections --- */

/* Adds the position of the section to the parts of its map. */
static void
move_parts(reader_t *r, size_t first, uint32_t line, uint32_t column)
{
    for (size_t i = first; i < r->map->n_parts; i++) {
        sym_map_part_t *part = &r->map->parts[i];

        if ((part->line == 0 && part->column > UINT32_MAX - column)
            || part->line > UINT32_MAX - line)
        {
            (void) sym_map_fail(&r->json, SYM_LIMIT,
                                "a section begins after line or column 2^32");
            return;
        }

        part->column += part->line == 0 ? column : 0;
        part->line += line;
    }
}


static void
read_offset(reader_t *r, uint32_t *line, uint32_t *column, size_t *n_numbers)
{
    sym_raw_string_t key;
    size_t n = 0;

    if (!sym_map_take(&r->json, '{')) {
        (void) sym_map_fail(&r->json, SYM_MALFORMED, "an offset is no object");
        return;
    }

    while (sym_map_next(&r->json, '}', &n, &key)) {
        bool is_line = is_key(&key, "line");

        if (is_line || is_key(&key, "column")) {
            *(is_line ? line : column) = sym_map_number(&r->json);
            (*n_numbers)++;
        } else {
            sym_map_skip(&r->json);
        }
    }
}


static void
read_section(reader_t *r)
{
    size_t n = 0, n_numbers = 0, first = r->map->n_parts;
    uint32_t line = 0, column = 0;
    bool has_map = false;
    sym_raw_string_t key;

    if (!sym_map_take(&r->json, '{')) {
        (void) sym_map_fail(&r->json, SYM_MALFORMED, "a section is no object");
        return;
    }

    while (sym_map_next(&r->json, '}', &n, &key)) {
        if (is_key(&key, "offset")) {
            read_offset(r, &line, &column, &n_numbers);
        } else if (is_key(&key, "map") && !sym_map_null(&r->json)) {
            has_map = true;
            read_map(r);
        } else {
            sym_map_skip(&r->json);
        }
    }

    if (r->json.err->status == SYM_OK && (!has_map || n_numbers < 2)) {
        (void) sym_map_fail(&r->json, SYM_MALFORMED,
                            has_map ? "a section has no offset"
                                    : "a section has no map");
    }

    move_parts(r, first, line, column);
}


static void
read_sections(reader_t *r)
{
    size_t n = 0;

    if (!sym_map_take(&r->json, '[')) {
        (void) sym_map_fail(&r->json, SYM_MALFORMED, "sections is no list");
        return;
    }

    r->map->is_indexed = true;
    while (sym_map_next(&r->json, ']', &n, NULL)) {
        read_section(r);
    }
}


/* --- maps --- */

static void
read_member(reader_t *r, sym_map_part_t *part, const sym_raw_string_t *key,
            bool *is_indexed)
{
    if (is_key(key, "mappings")) {
        part->mappings = read_mappings(r);
    } else if (is_key(key, "sources")) {
        sym_map_strings(&r->json, false, &part->sources);
    } else if (is_key(key, "sourcesContent")) {
        sym_map_strings(&r->json, false, &part->contents);
    } else if (is_key(key, "names")) {
        sym_map_strings(&r->json, true, &part->names);
    } else if (is_key(key, "sourceRoot")) {
        part->root = sym_map_string(&r->json);
    } else if (is_key(key, "version")) {
        read_version(r);
    } else if (is_key(key, "debugId")
               || (is_key(key, "debug_id") && r->map->id_len == 0))
    {
        read_id(r);
    } else if (is_key(key, "ignoreList")) {
        part->ignored = read_list(r);
    } else if (is_key(key, "x_facebook_sources")) {
        part->functions = read_list(r);
    } else if (is_key(key, "sections") && !sym_map_null(&r->json)) {
        *is_indexed = true;
        read_sections(r);
    } else {
        sym_map_skip(&r->json);
    }
}


static void
free_part(sym_map_part_t *part)
{
    free(part->sources.items);
    free(part->contents.items);
    free(part->names.items);
}


static void
add_part(reader_t *r, sym_map_part_t *part)
{
    sym_map_t *map = r->map;

    if (!SYM_ARRAY_ROOM(map->parts, map->n_parts + 1, map->parts_size)) {
        (void) sym_map_fail(&r->json, SYM_NOMEM, NULL);
        free_part(part);
        return;
    }

    part->order = map->n_parts;
    map->parts[map->n_parts++] = *part;
}


/* Reads an object, and adds it as a part.  An indexed map adds its sections'
   parts. */
static void
read_map(reader_t *r)
{
    sym_map_part_t part = { .mappings = SYM_STR(""),
                            .functions = SYM_STR(""),
                            .ignored = SYM_STR("") };
    sym_raw_string_t key;
    bool is_indexed = false;
    size_t n = 0;

    if (++r->depth > SYM_MAP_DEPTH_MAX) {
        (void) sym_map_fail(&r->json, SYM_LIMIT,
                            "indexed maps are nested too deep");
        return;
    }

    if (!sym_map_take(&r->json, '{')) {
        (void) sym_map_fail(&r->json, SYM_MALFORMED,
                            "the map is not an object");
        return;
    }

    while (sym_map_next(&r->json, '}', &n, &key)) {
        read_member(r, &part, &key, &is_indexed);
    }

    r->depth--;
    if (is_indexed || r->json.err->status != SYM_OK) {
        free_part(&part);
    } else {
        add_part(r, &part);
    }
}


static int
compare_parts(const void *a, const void *b)
{
    const sym_map_part_t *x = a, *y = b;

    if (x->line != y->line) {
        return x->line < y->line ? -1 : 1;
    }

    if (x->column != y->column) {
        return x->column < y->column ? -1 : 1;
    }

    return x->order < y->order ? -1 : 1;
}


/* Numbers the sources and names of all parts in order. */
static sym_status_t
order_parts(sym_map_t *map, sym_error_t *err)
{
    if (map->n_parts > 1) {
        qsort(map->parts, map->n_parts, sizeof(*map->parts), compare_parts);
    }

    for (size_t i = 0; i < map->n_parts; i++) {
        sym_map_part_t *part = &map->parts[i];

        if (part->sources.n > UINT32_MAX / 2 - map->n_sources
            || part->names.n > UINT32_MAX / 2 - map->n_names)
        {
            return sym_fail(err, SYM_LIMIT, "too many sources or names");
        }

        part->first_source = map->n_sources;
        part->first_name = map->n_names;
        map->n_sources += (uint32_t) part->sources.n;
        map->n_names += (uint32_t) part->names.n;
    }

    return SYM_OK;
}


/* Skips a first line that is not JSON.  Such a line keeps browsers from running
   a map as a script. */
static sym_str_t
skip_guard(sym_str_t text)
{
    static const char guards[] = { ')', ']', '}', '\'' };
    const char *end;

    if (text.len == 0 || memchr(guards, text.data[0], sizeof(guards)) == NULL) {
        return text;
    }

    end = memchr(text.data, '\n', text.len);
    return end != NULL ? sym_str(end, (size_t) (text.data + text.len - end))
                       : sym_str(text.data + text.len, 0);
}


sym_status_t
sym_map_read(sym_map_t *map, sym_str_t text, sym_error_t *err)
{
    sym_str_t json = skip_guard(text);
    reader_t r = { .json = { text.data, json.data, json.data + json.len, err },
                   .map = map };

    *map = (sym_map_t){ .parts = NULL };
    read_map(&r);

    if (err->status == SYM_OK
        && sym_raw_space(r.json.pos, r.json.end) != r.json.end)
    {
        return sym_map_fail(&r.json, SYM_MALFORMED,
                            "something follows the map's JSON");
    }

    return err->status == SYM_OK ? order_parts(map, err) : err->status;
}


void
sym_map_free(sym_map_t *map)
{
    for (size_t i = 0; i < map->n_parts; i++) {
        free_part(&map->parts[i]);
    }

    free(map->parts);
    sym_arena_drop(&map->arena);
}


/* --- sources --- */

/* Names to which sourceRoot is not added. */
static bool
is_absolute(sym_str_t name)
{
    return sym_str_starts(name, SYM_STR("/"))
           || sym_str_starts(name, SYM_STR("http:"))
           || sym_str_starts(name, SYM_STR("https:"));
}


sym_status_t
sym_map_source_name(sym_map_part_t *part, uint32_t i, sym_arena_t *arena,
                    sym_str_t *name, sym_error_t *err)
{
    sym_str_t source = SYM_STR(""), root = SYM_STR("");
    char *to;

    if (part->sources.items[i].text.data != NULL) {
        source = sym_raw_decode(arena, &part->sources.items[i]);
    }

    if (part->root.text.data != NULL) {
        root = sym_raw_decode(arena, &part->root);
    }

    if (source.data == NULL || root.data == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    if (root.len == 0 || is_absolute(source)) {
        *name = source;
        return SYM_OK;
    }

    root.len -= root.data[root.len - 1] == '/';
    to = sym_arena_alloc(arena, root.len + 1 + source.len);
    if (to == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    *name = sym_str(to, root.len + 1 + source.len);
    (void) sym_str_append(&to, root);
    *to++ = '/';
    (void) sym_str_append(&to, source);
    return SYM_OK;
}
