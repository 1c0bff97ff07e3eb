#include "artifacts/symcache/write/writer.h"

#include <stdlib.h>

#include "artifacts/symcache/write/emit.h"
#include "artifacts/symcache/write/shard.h"
#include "base/sort.h"

_Static_assert(sizeof(sym_header_t) == 216,
               "docs/formats/symcache.md says 216");

sym_status_t
sym_writer_no_memory(sym_writer_t *w)
{
    return sym_fail(w->err, SYM_NOMEM, "no memory for the module's symbols");
}


/* NULL when out of memory. */
static sym_joined_t *
add_part(sym_writer_t *w)
{
    sym_joined_t *parts = sym_array_grow(w->parts, &w->parts_size,
                                         w->n_parts + 1, sizeof(*parts));

    if (parts == NULL) {
        (void) sym_writer_no_memory(w);
        return NULL;
    }

    w->parts = parts;
    parts += w->n_parts++;
    parts->ids = NULL;
    parts->files = (sym_file_table_t){ 0 };
    sym_arena_init(&parts->drafts, 0);
    return parts;
}


sym_writer_t *
sym_writer_create(sym_error_t *err)
{
    sym_writer_t *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for a symcache writer");
        return NULL;
    }

    w->err = err;
    sym_strings_init(&w->strings, err);
    sym_flatten_init(&w->flatten, err);

    if (add_part(w) == NULL) {
        sym_writer_free(w);
        return NULL;
    }

    return w;
}


void
sym_writer_lend(sym_writer_t *w, const sym_thread_pool_t *pool)
{
    w->pool = pool;
}


void
sym_writer_free(sym_writer_t *w)
{
    if (w == NULL) {
        return;
    }

    sym_strings_free(&w->strings);
    sym_flatten_free(&w->flatten);
    for (size_t i = 0; i < w->n_parts; i++) {
        sym_arena_drop(&w->parts[i].drafts);
        free(w->parts[i].ids);
        sym_file_table_free(&w->parts[i].files);
    }
    free(w->parts);
    sym_moves_free(&w->moves);
    sym_buffer_free(&w->scratch);
    free(w->functions);
    free(w->publics);
    free(w->covered);
    free(w->shown);
    free(w);
}


void
sym_writer_keep_twins(sym_writer_t *w)
{
    w->keeps_twins = true;
}


sym_status_t
sym_writer_string(sym_writer_t *w, sym_str_t text, uint32_t *id)
{
    return sym_strings_add(&w->strings, text, id);
}


uint32_t
sym_writer_expect(const sym_writer_t *w, sym_str_t text)
{
    uint32_t hash = (uint32_t) sym_hash(&w->strings.key, text);

    sym_strings_expect(&w->strings, hash);
    return hash;
}


sym_status_t
sym_writer_expected(sym_writer_t *w, sym_str_t text, uint32_t hash,
                    uint32_t *id)
{
    return sym_strings_add_hashed(&w->strings, text, hash, id);
}


sym_status_t
sym_writer_reserve(sym_writer_t *w, uint32_t *id)
{
    return sym_strings_reserve(&w->strings, id);
}


sym_status_t
sym_writer_define(sym_writer_t *w, uint32_t id, sym_str_t text)
{
    return sym_strings_define(&w->strings, id, text);
}


bool
sym_writer_find(const sym_writer_t *w, sym_str_t text, uint32_t *id)
{
    return sym_strings_find(&w->strings, text, id);
}


void
sym_writer_move(sym_writer_t *w, sym_moves_t *moves)
{
    w->moves = *moves;
    *moves = (sym_moves_t){ 0 };
}


/* False: out of memory. */
static bool
room_for_functions(sym_writer_t *w, size_t n)
{
    sym_packed_function_t *functions =
        sym_array_grow(w->functions, &w->functions_size, w->n_functions + n,
                       sizeof(*functions));

    if (functions == NULL) {
        return false;
    }

    w->functions = functions;
    return true;
}


sym_status_t
sym_writer_function(sym_writer_t *w, const sym_function_t *f)
{
    const sym_flatten_t *flat = &w->flatten;
    const uint64_t *draft;

    w->counts[SYM_COUNT_FUNCTIONS]++;
    w->counts[SYM_COUNT_LINES] += f->n_lines;
    w->counts[SYM_COUNT_INLINES] += f->n_inlines;

    if (sym_flatten(&w->flatten, f) != SYM_OK) {
        return w->err->status;
    }

    draft = sym_packed_function_pack(
        &w->parts[0].drafts, &w->scratch, &w->parts[0].files, w->strings.n,
        true,
        &(sym_flat_function_t){ .addr = f->addr,
                                .nodes = flat->nodes,
                                .n_nodes = flat->n_nodes,
                                .segments = flat->segments,
                                .n_segments = flat->n_segments });
    if (draft == NULL || !room_for_functions(w, 1)) {
        return sym_writer_no_memory(w);
    }

    for (size_t i = 0; !w->has_lines && i < flat->n_segments; i++) {
        w->has_lines = flat->segments[i].line != 0;
    }
    w->has_inlines = w->has_inlines || flat->n_nodes > 1;

    w->functions[w->n_functions] = (sym_packed_function_t){
        .draft = draft,
        .addr = f->addr,
        .size = f->size,
        .name = f->name,
        .order = (uint32_t) w->n_functions,
        .n_nodes = (uint32_t) flat->n_nodes,
        .lang = f->lang,
    };
    w->n_functions++;
    return SYM_OK;
}


/* --- parts --- */

/* Distance at which the slots of a part's texts are prefetched. */
#define TEXTS_AHEAD 8

static sym_status_t
join_strings(sym_writer_t *w, const sym_shard_t *part, uint32_t *ids)
{
    for (size_t i = 0; i < part->n_texts; i++) {
        const sym_shard_text_t *t = &part->texts[i];

        if (part->n_texts - i > TEXTS_AHEAD) {
            sym_strings_expect(&w->strings, t[TEXTS_AHEAD].hash);
        }

        if (sym_strings_add_hashed(&w->strings, t->text, t->hash, &ids[i])
            != SYM_OK) {
            return w->err->status;
        }
    }

    return SYM_OK;
}


static void
join_functions(sym_writer_t *w, const sym_shard_t *part, const uint32_t *ids)
{
    for (size_t i = 0; i < part->n_functions; i++) {
        sym_packed_function_t *f = &w->functions[w->n_functions];

        *f = part->functions[i];
        f->name = f->name == SYM_NO_STRING ? f->name : ids[f->name];
        f->order = (uint32_t) w->n_functions++;
        f->part = (uint32_t) w->n_parts - 1;
        f->is_settled = true;
    }
}


sym_status_t
sym_writer_join(sym_writer_t *w, sym_shard_t *part)
{
    sym_joined_t *joined = add_part(w);

    if (joined == NULL) {
        return w->err->status;
    }

    joined->drafts = part->drafts; /* drafts do not move */
    sym_arena_init(&part->drafts, 0);
    joined->files = part->files;
    part->files = (sym_file_table_t){ 0 };
    sym_file_table_end(&joined->files);

    joined->ids = malloc((part->n_texts + 1) * sizeof(*joined->ids));
    if (joined->ids == NULL || !room_for_functions(w, part->n_functions)) {
        return sym_writer_no_memory(w);
    }

    if (join_strings(w, part, joined->ids) != SYM_OK) {
        return w->err->status;
    }

    join_functions(w, part, joined->ids);
    w->counts[SYM_COUNT_FUNCTIONS] += part->n_functions;
    w->counts[SYM_COUNT_LINES] += part->n_segments;
    w->counts[SYM_COUNT_INLINES] += part->n_inlines;
    w->has_lines = w->has_lines || part->has_lines;
    w->has_inlines = w->has_inlines || part->n_inlines != 0;
    sym_shard_free(part);
    return SYM_OK;
}


static sym_status_t
add_public(sym_writer_t *w, sym_public_t p)
{
    sym_public_t *publics = sym_array_grow(w->publics, &w->publics_size,
                                           w->n_publics + 1, sizeof(*publics));

    if (publics == NULL) {
        return sym_writer_no_memory(w);
    }

    w->counts[SYM_COUNT_PUBLICS]++;
    w->publics = publics;
    w->publics[w->n_publics++] = p;
    return SYM_OK;
}


static uint32_t
size_of_public(uint64_t size)
{
    return size <= UINT32_MAX ? (uint32_t) size : 0;
}


sym_status_t
sym_writer_public(sym_writer_t *w, uint32_t addr, uint32_t name)
{
    return add_public(w, (sym_public_t){ .addr = addr, .name = name });
}


sym_status_t
sym_writer_symbol(sym_writer_t *w, uint32_t addr, uint64_t size, uint32_t name)
{
    return add_public(w, (sym_public_t){ .addr = addr,
                                         .size = size_of_public(size),
                                         .name = name });
}


sym_status_t
sym_writer_open_symbol(sym_writer_t *w, uint32_t addr, uint64_t size,
                       uint32_t name)
{
    return add_public(w, (sym_public_t){ .addr = addr,
                                         .size = size_of_public(size),
                                         .name = name,
                                         .is_open = true });
}


static sym_status_t
find_covered(sym_writer_t *w)
{
    const size_t n = w->n_functions;
    sym_covered_t *covered = realloc(w->covered, (n + 1) * sizeof(*covered));

    if (covered == NULL) {
        return sym_writer_no_memory(w);
    }

    w->covered = covered;
    w->n_covered = 0;
    if (sym_writer_sort_functions(w) != SYM_OK) {
        return w->err->status;
    }

    for (size_t i = 0; i < n; i++) {
        const sym_packed_function_t *f = &w->functions[i];
        const uint64_t end = (uint64_t) f->addr + f->size;
        sym_covered_t *last =
            w->n_covered != 0 ? &covered[w->n_covered - 1] : NULL;

        if (last == NULL || f->addr > last->end) {
            covered[w->n_covered++] = (sym_covered_t){ f->addr, end };
        } else if (end > last->end) {
            last->end = end;
        }
    }

    w->covered_of = n;
    return SYM_OK;
}


static bool
is_covered(const sym_writer_t *w, uint32_t addr)
{
    const sym_covered_t *found = w->covered; /* the last function that begins
                                                at or before the address */

    /* without a branch, because the direction of a step is unpredictable */
    for (size_t n = w->n_covered; n > 1; n -= n / 2) {
        found += found[n / 2].begin <= addr ? n / 2 : 0;
    }

    return w->n_covered != 0 && found->begin <= addr && addr < found->end;
}


sym_status_t
sym_writer_late_public(sym_writer_t *w, uint32_t addr, sym_str_t name)
{
    uint32_t id;

    if ((w->covered == NULL || w->covered_of != w->n_functions)
        && find_covered(w) != SYM_OK)
    {
        return w->err->status;
    }

    if (is_covered(w, addr)) {
        w->counts[SYM_COUNT_PUBLICS]++;
        w->counts[SYM_COUNT_DROPPED]++;
        return SYM_OK;
    }

    return sym_writer_string(w, name, &id) == SYM_OK
               ? sym_writer_public(w, addr, id)
               : w->err->status;
}


/* --- Swift names --- */

/* Limit on the bytes of shown names in a module, because a short name may have
 * a long shown name. */
#define SHOWN_BYTES_MAX ((uint64_t) 256 << 20)

/* Limit on names with a shown name, because the table's root must fit an
 * extent. */
#define SHOWN_NAMES_MAX ((size_t) 4000000)


uint64_t
sym_writer_swift_names(const sym_writer_t *w)
{
    return w->strings.swift.n;
}


bool
sym_writer_has_swift(const sym_writer_t *w)
{
    return w->strings.swift.noted.len != 0;
}


static sym_status_t
add_shown(sym_writer_t *w, uint32_t name, sym_str_t text)
{
    sym_shown_name_t *shown = sym_array_grow(w->shown, &w->shown_size,
                                             w->n_shown + 1, sizeof(*shown));
    uint32_t id;

    if (shown == NULL) {
        return sym_writer_no_memory(w);
    }

    w->shown = shown;
    if (sym_strings_add(&w->strings, text, &id) != SYM_OK) {
        return w->err->status;
    }

    w->shown[w->n_shown++] = (sym_shown_name_t){ name, id };
    return SYM_OK;
}


static sym_status_t
show_noted(sym_writer_t *w, const sym_buffer_t *noted, sym_swift_show_pt show,
           void *ctx)
{
    const uint8_t *p = noted->data, *end = p + noted->len;
    char text[SYM_SWIFT_SHOWN_MAX];
    uint64_t bytes = 0;

    while (p < end && bytes <= SHOWN_BYTES_MAX && w->n_shown < SHOWN_NAMES_MAX)
    {
        const char *name = (const char *) p + sizeof(uint32_t);
        size_t len = show(ctx, name, text);

        if (len != 0
            && add_shown(w, sym_load32(p), sym_str(text, len)) != SYM_OK) {
            return w->err->status;
        }

        bytes += len;
        p = (const uint8_t *) name + strlen(name) + 1;
    }

    return SYM_OK;
}


sym_status_t
sym_writer_show_swift(sym_writer_t *w, sym_swift_show_pt show, void *ctx)
{
    /* a shown name may itself look like a mangled name */
    sym_buffer_t noted = w->strings.swift.noted;

    w->strings.swift.noted = (sym_buffer_t){ 0 };
    (void) show_noted(w, &noted, show, ctx);
    sym_buffer_free(&noted);
    return w->err->status;
}


static uint8_t
quality_of(const sym_writer_t *w)
{
    if (w->n_functions == 0) {
        return w->n_publics == 0 ? SYM_QUALITY_EMPTY : SYM_QUALITY_PUBLICS;
    }

    if (w->has_inlines) {
        return SYM_QUALITY_INLINES;
    }

    return w->has_lines ? SYM_QUALITY_LINES : SYM_QUALITY_FUNCTIONS;
}


static sym_status_t
add_info(sym_writer_t *w, const sym_module_info_t *info,
         uint32_t ids[SYM_INFO_REFS + 1])
{
    const sym_str_t texts[SYM_INFO_REFS] = { info->debug_id, info->debug_file,
                                             info->code_id,  info->code_file,
                                             info->arch,     info->os };

    for (size_t i = 0; i < SYM_INFO_REFS; i++) {
        if (sym_strings_add_fact(&w->strings, texts[i], &ids[i]) != SYM_OK) {
            return w->err->status;
        }
    }

    ids[SYM_INFO_REFS] = SYM_NO_STRING;
    return info->source_server.len != 0 ? sym_strings_add_fact(
               &w->strings, info->source_server, &ids[SYM_INFO_REFS])
                                        : SYM_OK;
}


static void
put64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof(v));
}


static sym_status_t
write_loads(const sym_writer_t *w, const sym_module_info_t *info,
            sym_extents_t *extents, sym_header_t *header)
{
    uint8_t *p;

    if (info->n_loads == 0) {
        return SYM_OK;
    }

    p = sym_extents_alloc(extents, SYM_LANE_MAIN,
                          info->n_loads * SYM_LOAD_BYTES, SYM_PLACE_ANY,
                          &header->loads_ref);
    if (p == NULL) {
        return w->err->status;
    }

    for (size_t i = 0; i < info->n_loads; i++, p += SYM_LOAD_BYTES) {
        put64(p, info->loads[i].offset);
        put64(p + 8, info->loads[i].bytes);
        put64(p + 16, info->loads[i].addr);
    }

    header->n_loads = (uint32_t) info->n_loads;
    return SYM_OK;
}


static void
fill_stats(const sym_header_t *h, sym_writer_stats_t *stats)
{
    *stats = (sym_writer_stats_t){
        .functions = h->counts[SYM_COUNT_FUNCTIONS],
        .publics = h->counts[SYM_COUNT_PUBLICS],
        .inlines = h->counts[SYM_COUNT_INLINES],
        .lines = h->counts[SYM_COUNT_LINES],
        .segments = h->counts[SYM_COUNT_SEGMENTS],
        .nodes = h->counts[SYM_COUNT_NODES],
        .strings = h->counts[SYM_COUNT_STRINGS],
        .string_bytes = h->counts[SYM_COUNT_STRING_BYTES],
        .bytes = h->bytes,
        .extents = h->n_extents,
        .dropped = h->counts[SYM_COUNT_DROPPED],
        .truncated = h->counts[SYM_COUNT_TRUNCATED],
        .quality = (uint8_t) h->quality,
    };
}


sym_status_t
sym_writer_finish(sym_writer_t *w, const sym_module_info_t *info,
                  sym_extent_put_pt put, void *ctx, sym_writer_stats_t *stats)
{
    sym_header_t header = { .version = SYM_SYMCACHE_VERSION,
                            .byte_order = SYM_BYTE_ORDER,
                            .header_bytes = sizeof(header) };
    sym_extents_t extents;
    uint32_t ids[SYM_INFO_REFS + 1], *refs = NULL;
    size_t n_strings;

    memcpy(header.magic, SYM_MAGIC, sizeof(header.magic));
    if (sym_extents_begin(&extents, put, ctx, sizeof(header), w->err) != SYM_OK
        || add_info(w, info, ids) != SYM_OK)
    {
        goto done;
    }

    n_strings = w->strings.n;
    if (sym_strings_write(&w->strings, &extents, &header, &refs) != SYM_OK) {
        goto done;
    }

    for (size_t i = 0; i < SYM_INFO_REFS; i++) {
        header.info[i] = refs[ids[i]];
    }
    if (ids[SYM_INFO_REFS] != SYM_NO_STRING) {
        header.source_server = refs[ids[SYM_INFO_REFS]];
    }

    w->counts[SYM_COUNT_DROPPED] += w->flatten.dropped;
    sym_flatten_free(&w->flatten);
    if (sym_emit(w, &extents, refs, n_strings, &header) != SYM_OK) {
        goto done;
    }

    header.quality = quality_of(w);
    header.flags = info->flags;
    for (size_t i = 0; i < SYM_COUNTS; i++) {
        header.counts[i] += w->counts[i];
    }
    header.counts[SYM_COUNT_SOURCE_BYTES] = info->source_bytes;
    header.image_base = info->image_base;

    if (write_loads(w, info, &extents, &header) != SYM_OK
        || sym_extents_flush(&extents) != SYM_OK)
    {
        goto done;
    }

    header.n_extents = extents.next_number;
    header.bytes = sym_extents_bytes(&extents);

    if (sym_extents_end(&extents, &header, sizeof(header)) == SYM_OK
        && stats != NULL)
    {
        fill_stats(&header, stats);
    }

done:
    sym_extents_free(&extents);
    free(refs);
    return w->err->status;
}
