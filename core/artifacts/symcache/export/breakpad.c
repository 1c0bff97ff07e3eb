#include "artifacts/symcache/export/breakpad.h"

#include <stdlib.h>

#include "base/hex.h"
#include "base/path.h"
#include "base/buffer.h"
#include "artifacts/symcache/export/forms.h"
#include "artifacts/symcache/read/calls.h"
#include "base/language.h"

/* Limit on the ranges in one INLINE record.  A call with more ranges gets more
 * records. */
#define RANGES_PER_RECORD 1024

/* Longest record without its name. */
#define RECORD_BYTES 128

/* INLINE_ORIGIN numbers, by the name's ref in the symcache. */
typedef struct {
    uint32_t ref; /* SYM_NO_REF: the slot is free */
    uint32_t number;
} origin_t;

typedef struct {
    sym_symcache_t *sc;
    const sym_dump_t *how;
    sym_out_t *out;
    sym_error_t *err;

    sym_walk_t *walk;
    sym_calls_t calls;

    origin_t *origins;       /* hash table */
    size_t n_origins, table; /* a power of two */
    bool has_nameless;       /* inlined calls without a name have an origin:
                                the next number */

    uint32_t *hidden; /* starts of functions inside other functions, sorted */
    size_t n_hidden, hidden_size;

    char name[SYM_STRING_MAX + SYM_STRING_SLACK];
} export_t;


/* --- numbers --- */

static void
put_hex(sym_out_t *out, uint64_t value)
{
    if (sym_out_room(out, RECORD_BYTES)) {
        out->pos = sym_hex_write(out->pos, value);
    }
}


static void
put_space(sym_out_t *out)
{
    sym_out_raw(out, SYM_STR(" "));
}


static void
put_end(sym_out_t *out)
{
    sym_out_raw(out, SYM_STR("\n"));
}


/* A FILE number.  For no file it is a number without a FILE record. */
static uint32_t
file_number(const export_t *e, uint32_t file)
{
    return file == 0 ? e->sc->n_files : file - 1;
}


/* --- names --- */

static sym_str_t
string(export_t *e, sym_string_ref_t ref)
{
    bool is_plain;

    return sym_str(e->name,
                   sym_symcache_string(e->sc, ref, e->name, &is_plain));
}


static sym_str_t
symbol_name(export_t *e, sym_string_ref_t ref, uint8_t lang)
{
    return sym_dump_name(e->how, e->sc, string(e, ref), lang);
}


/*
 * In an origin that begins with a number and a space, the space becomes '_'.
 * Otherwise it would be read in the form of 2021, with a file before the name.
 */
static sym_str_t
take_leading_number(export_t *e, sym_str_t name)
{
    size_t i = name.len > 0 && name.data[0] == '-' ? 1 : 0, digits = i;

    while (i < name.len && name.data[i] >= '0' && name.data[i] <= '9') {
        i++;
    }

    if (i > digits && i < name.len && name.data[i] == ' ') {
        sym_out_raw(e->out, sym_str(name.data, i));
        sym_out_raw(e->out, SYM_STR("_"));
        return sym_str(name.data + i + 1, name.len - i - 1);
    }

    return name;
}


/* --- the head of the file --- */

static sym_str_t
info(export_t *e, sym_info_t which)
{
    return sym_str(e->name, sym_symcache_info(e->sc, which, e->name));
}


/* Converts to upper case, as dump_syms does for any input. */
static void
upper_case(char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (p[i] >= 'a' && p[i] <= 'z') {
            p[i] = (char) (p[i] - 'a' + 'A');
        }
    }
}


static void
put_head(export_t *e)
{
    const sym_module_key_t *key = e->how->key;
    sym_out_t *out = e->out;
    sym_str_t text;

    sym_out_raw(out, SYM_STR("MODULE "));
    sym_breakpad_put_word(out, info(e, SYM_INFO_OS));
    put_space(out);
    sym_breakpad_put_word(out, info(e, SYM_INFO_ARCH));
    put_space(out);
    sym_out_raw(out, key->id);
    put_space(out);
    sym_breakpad_put_text(out, key->name);
    put_end(out);

    text = info(e, SYM_INFO_CODE_ID);

    if (text.len == 0) {
        return;
    }

    upper_case(e->name, text.len);
    sym_out_raw(out, SYM_STR("INFO CODE_ID "));
    sym_breakpad_put_word(out, text);
    text = info(e, SYM_INFO_CODE_FILE);

    if (text.len != 0) {
        put_space(out);
        sym_breakpad_put_text(out, text);
    }

    put_end(out);
}


static void
put_files(export_t *e)
{
    char spelt[SYM_PATH_SPELT_MAX + 2];

    for (uint32_t i = 0; i < e->sc->n_files && !e->out->failed; i++) {
        sym_out_raw(e->out, SYM_STR("FILE "));
        sym_out_dec(e->out, i);
        put_space(e->out);
        sym_breakpad_put_text(
            e->out,
            sym_spell_path(string(e, sym_symcache_file(e->sc, i + 1)), spelt));
        put_end(e->out);
    }
}


/* --- origins --- */

static origin_t *
origin_slot(const export_t *e, sym_string_ref_t ref)
{
    size_t at = (size_t) (ref * (uint64_t) 0x9e3779b97f4a7c15u >> 32);

    for (;; at++) {
        origin_t *o = &e->origins[at & (e->table - 1)];

        if (o->ref == ref || o->ref == SYM_NO_REF) {
            return o;
        }
    }
}


static sym_status_t
grow_origins(export_t *e)
{
    origin_t *old = e->origins;
    size_t n = e->table;

    e->table = n == 0 ? 1024 : 2 * n;
    e->origins = calloc(e->table, sizeof(*e->origins));

    if (e->origins == NULL) {
        free(old);
        return sym_fail(e->err, SYM_NOMEM, "no memory for inlined names");
    }

    for (size_t i = 0; i < n; i++) {
        if (old[i].ref != SYM_NO_REF) {
            *origin_slot(e, old[i].ref) = old[i];
        }
    }

    free(old);
    return SYM_OK;
}


static uint32_t
origin_number(const export_t *e, sym_string_ref_t ref)
{
    return ref == SYM_NO_REF ? (uint32_t) e->n_origins
                             : origin_slot(e, ref)->number;
}


static void
put_origin(export_t *e, uint32_t number, sym_string_ref_t ref)
{
    sym_str_t name = symbol_name(e, ref, SYM_LANG_UNKNOWN);

    sym_out_raw(e->out, SYM_STR("INLINE_ORIGIN "));
    sym_out_dec(e->out, number);
    put_space(e->out);
    sym_breakpad_put_text(e->out, take_leading_number(e, name));
    put_end(e->out);
}


static sym_status_t
meet_origin(export_t *e, sym_string_ref_t ref)
{
    origin_t *o;

    if (ref == SYM_NO_REF) {
        e->has_nameless = true;
        return SYM_OK;
    }

    if (2 * e->n_origins >= e->table && grow_origins(e) != SYM_OK) {
        return e->err->status;
    }

    o = origin_slot(e, ref);

    if (o->ref == SYM_NO_REF) {
        *o = (origin_t){ ref, (uint32_t) e->n_origins++ };
        put_origin(e, o->number, ref);
    }

    return SYM_OK;
}


/*
 * A FUNC begins a record.  If a function is merged with the record before it, a
 * FUNC inside that record would take the addresses after its start.
 */
static sym_status_t
note_hidden_start(export_t *e, const sym_walk_function_t *f)
{
    uint32_t *hidden;

    if (f->segments[0].addr == f->addr) {
        return SYM_OK;
    }

    hidden = sym_array_grow(e->hidden, &e->hidden_size, e->n_hidden + 1,
                            sizeof(*hidden));
    if (hidden == NULL) {
        return sym_fail(e->err, SYM_NOMEM, "no memory for functions");
    }

    e->hidden = hidden;
    hidden[e->n_hidden++] = f->addr;
    return SYM_OK;
}


static int
compare_addresses(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}


/* The first hidden start between addr and end; or end. */
static uint64_t
next_hidden(const export_t *e, uint64_t addr, uint64_t end)
{
    size_t low = 0, high = e->n_hidden;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (e->hidden[middle] <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low < e->n_hidden && e->hidden[low] < end ? e->hidden[low] : end;
}


/* Facts about all functions, which are needed before the first one is
 * written. */
static sym_status_t
prepare_function(export_t *e, const sym_walk_function_t *f)
{
    if (note_hidden_start(e, f) != SYM_OK) {
        return e->err->status;
    }

    for (size_t i = 1; i < f->n_nodes; i++) {
        if (meet_origin(e, f->nodes[i].name) != SYM_OK) {
            return e->err->status;
        }
    }

    return SYM_OK;
}


/* --- functions --- */

static void
put_range(sym_out_t *out, const sym_call_range_t *r)
{
    put_space(out);
    put_hex(out, r->addr);
    put_space(out);
    put_hex(out, r->end - r->addr);
}


static void
put_inline(export_t *e, const sym_walk_node_t *n, uint32_t node)
{
    sym_out_t *out = e->out;
    const sym_call_range_t *r = sym_calls_range(&e->calls, node, NULL);

    while (r != NULL) {
        sym_out_raw(out, SYM_STR("INLINE "));
        sym_out_dec(out, n->depth - 1);
        put_space(out);
        sym_out_dec(out, n->call_line);
        put_space(out);
        sym_out_dec(out, file_number(e, n->call_file));
        put_space(out);
        sym_out_dec(out, origin_number(e, n->name));

        for (int i = 0; r != NULL && i < RANGES_PER_RECORD; i++) {
            put_range(out, r);
            r = sym_calls_range(&e->calls, node, r);
        }

        put_end(out);
    }
}


/* Written without the general functions, because line records are most of the
 * file. */
static void
put_line(export_t *e, const sym_walk_segment_t *s, uint64_t addr, uint64_t end)
{
    char *p;

    if (!sym_out_room(e->out, RECORD_BYTES)) {
        return;
    }

    p = sym_hex_write(e->out->pos, addr);
    *p++ = ' ';
    p = sym_hex_write(p, end - addr);
    *p++ = ' ';
    p = sym_dec_write(p, s->line);
    *p++ = ' ';
    p = sym_dec_write(p, file_number(e, s->file));
    *p++ = '\n';
    e->out->pos = p;
}


/* Whether a segment has only the function's name, as before the first line
 * record. */
static bool
says_nothing(const sym_walk_function_t *f, size_t i)
{
    return i == 0 && f->segments[0].addr == f->addr && f->segments[0].node == 0
           && f->segments[0].file == 0;
}


static void
put_lines(export_t *e, const sym_walk_function_t *f)
{
    for (size_t i = 0; i < f->n_segments; i++) {
        const sym_walk_segment_t *s = &f->segments[i];
        uint64_t addr = s->addr, next;

        for (; addr < s->end && !e->out->failed; addr = next) {
            next = next_hidden(e, addr, s->end);

            if (addr != s->addr || !says_nothing(f, i)) {
                put_line(e, s, addr, next);
            }
        }
    }
}


/*
 * Readers extend a PUBLIC, which has no size, to the next record.  If a symbol
 * ends before that, or its first bytes belong to another function, it is
 * written as a FUNC without lines.
 */
static bool
is_public_record(const sym_walk_function_t *f, uint64_t end)
{
    return f->is_public && f->segments[0].addr == f->addr && end == f->next;
}


static sym_status_t
put_function(export_t *e, const sym_walk_function_t *f)
{
    sym_out_t *out = e->out;
    uint64_t end = f->segments[f->n_segments - 1].end;
    bool is_public = is_public_record(f, end);
    uint32_t node = 0;

    sym_out_raw(out, is_public ? SYM_STR("PUBLIC ") : SYM_STR("FUNC "));
    put_hex(out, f->addr);

    if (!is_public) {
        put_space(out);
        put_hex(out, f->size != 0 ? f->size : end - f->addr);
    }

    sym_out_raw(out, SYM_STR(" 0 ")); /* size of parameters */
    sym_breakpad_put_text(out, symbol_name(e, f->nodes[0].name, f->lang));
    put_end(out);

    if (is_public) {
        return SYM_OK;
    }

    if (sym_calls_fill(&e->calls, f, e->err) != SYM_OK) {
        return e->err->status;
    }

    while ((node = sym_calls_next(&e->calls, node)) != 0) {
        put_inline(e, &f->nodes[node], node);
    }

    put_lines(e, f);
    return SYM_OK;
}


/* Calls put() for each function, in order. */
static sym_status_t
each_function(export_t *e,
              sym_status_t (*put)(export_t *e, const sym_walk_function_t *f))
{
    sym_walk_function_t f;
    sym_status_t rc = SYM_OK;

    sym_walk_rewind(e->walk);

    while (rc == SYM_OK && !e->out->failed) {
        rc = sym_walk_next(e->walk, &f, e->err);
        rc = rc != SYM_OK ? rc : put(e, &f);
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t export(export_t *e)
{
    uint64_t damaged = e->sc->damaged;

    e->walk = sym_walk_create(e->sc, e->err);

    if (e->walk == NULL) {
        return e->err->status;
    }

    put_head(e);
    put_files(e);

    if (each_function(e, prepare_function) != SYM_OK) {
        return e->err->status;
    }

    if (e->n_hidden != 0) {
        qsort(e->hidden, e->n_hidden, sizeof(*e->hidden), compare_addresses);
    }

    if (e->has_nameless) {
        put_origin(e, origin_number(e, SYM_NO_REF), SYM_NO_REF);
    }

    if (each_function(e, put_function) != SYM_OK) {
        return e->err->status;
    }

    /* a name that could not be read is "", and is counted */
    return e->sc->damaged == damaged
               ? SYM_OK
               : sym_fail(e->err, SYM_DAMAGED,
                          "the symcache's names are damaged");
}


sym_status_t
sym_breakpad_export(sym_symcache_t *sc, const sym_dump_t *how, sym_out_t *out,
                    sym_error_t *err)
{
    export_t *e = calloc(1, sizeof(*e));
    sym_status_t rc;

    if (e == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory to export a symcache");
    }

    e->sc = sc;
    e->how = how;
    e->out = out;
    e->err = err;
    rc = export(e);

    sym_walk_free(e->walk);
    sym_calls_free(&e->calls);
    free(e->hidden);
    free(e->origins);
    free(e);
    return rc;
}
