#include "formats/pdb/module.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "base/language.h"
#include "base/path.h"
#include "formats/native/undecorate.h"
#include "formats/pdb/le.h"
#include "formats/pdb/reader.h"

/* The symbols begin with this signature (LLVM: ModiStream.rst; C13, since
 * Visual C++ 7). */
#define SIGNATURE_C13 4

/* SYM_ENUM_e (cvinfo.h).  The name in an _ST record begins with its length. */
enum {
    S_END = 0x0006,
    S_THUNK32_ST = 0x0206,
    S_BLOCK32_ST = 0x0207,
    S_WITH32_ST = 0x0208,
    S_LPROC32_ST = 0x100a,
    S_GPROC32_ST = 0x100b,
    S_THUNK32 = 0x1102,
    S_BLOCK32 = 0x1103,
    S_WITH32 = 0x1104,
    S_LPROC32 = 0x110f,
    S_GPROC32 = 0x1110,
    S_COMPILE2 = 0x1116,
    S_GMANPROC = 0x112a,
    S_LMANPROC = 0x112b,
    S_SEPCODE = 0x1132,
    S_COMPILE3 = 0x113c,
    S_LOCAL = 0x113e, /* first record kind of variables;
                         S_DEFRANGE_REGISTER_REL is the last */
    S_DEFRANGE_REGISTER_REL = 0x1145,
    S_LPROC32_ID = 0x1146,
    S_GPROC32_ID = 0x1147,
    S_INLINESITE = 0x114d,
    S_INLINESITE_END = 0x114e,
    S_PROC_ID_END = 0x114f,
    S_LPROC32_DPC = 0x1155,
    S_LPROC32_DPC_ID = 0x1156,
    S_INLINESITE2 = 0x115d
};

/* Offsets of fields after the record's kind (cvinfo.h: PROCSYM32, THUNKSYM32,
 * SEPCODESYM, INLINESITESYM). */
#define PROC_SIZE 12
#define PROC_TYPE 24
#define PROC_OFFSET 28
#define PROC_SECTION 32
#define PROC_NAME 35

#define THUNK_OFFSET 12
#define THUNK_SECTION 16
#define THUNK_SIZE 18
#define THUNK_NAME 21

#define SEPCODE_SIZE 8
#define SEPCODE_OFFSET 16
#define SEPCODE_PARENT_OFFSET 20
#define SEPCODE_SECTION 24
#define SEPCODE_PARENT_SECTION 26
#define SEPCODE_BYTES 28

#define SITE_ID 8
#define SITE_ANNOTATIONS 12
#define SITE2_ANNOTATIONS 16 /* follows the invocation count */

/* Limit on the main and cold parts of a procedure; compilers make one or
 * two. */
#define CHUNKS_MAX 64

/* Budget of a module's output, at the prices of emit.c and including names: a
 * multiple of the module's bytes, and a minimum. */
#define MADE_MAX 32
#define MADE_MIN ((uint64_t) 1 << 20)

typedef struct {
    uint16_t kind;
    const uint8_t *data; /* the record's fields, after its kind */
    size_t len;
} record_t;


sym_pdb_reader_t *
sym_pdb_reader_create(const sym_pdb_t *pdb, sym_pdb_exports_t *exports)
{
    sym_pdb_reader_t *r = calloc(1, sizeof(*r));

    if (r == NULL) {
        return NULL;
    }

    r->pdb = pdb;
    r->exports = exports;
    r->scratch = sym_pdb_scratch_create(&pdb->types);
    if (r->scratch == NULL) {
        free(r);
        return NULL;
    }

    return r;
}


void
sym_pdb_reader_free(sym_pdb_reader_t *r)
{
    if (r == NULL) {
        return;
    }

    sym_pdb_scratch_free(r->scratch);
    sym_buffer_free(&r->stream);
    sym_pdb_lines_free(&r->lines);
    free(r->files);
    free(r->names);
    free(r->callees);
    free(r->chunks);
    free(r->sites);
    free(r->scopes);
    free(r->ranges);
    free(r->inlines);
    free(r->order);
    free(r->nodes);
    free(r->segments);
    free(r->part_nodes);
    free(r->part_segments);
    free(r->renumbered);
    free(r);
}


void
sym_pdb_reader_fill(sym_pdb_reader_t *r, sym_shard_t *shard,
                    sym_pdb_thunks_t *thunks)
{
    r->shard = shard;
    r->thunks = thunks;
    sym_pdb_forget_names(r); /* cached names are strings of the last shard */
    /* names must not depend on threads, but a reader's pieces do */
    sym_pdb_scratch_forget(r->scratch);
}


sym_status_t
sym_pdb_reader_new_file(sym_pdb_reader_t *r, uint32_t file, uint32_t *id)
{
    char path[SYM_PATH_SPELT_MAX + 1];
    bool is_same = true;
    uint32_t at;
    sym_str_t name, shown;
    sym_status_t rc;

    *id = SYM_NO_STRING;
    if (file % SYM_PDB_FILE_ALIGN != 0
        || !sym_pdb_lines_file(&r->lines, file, &at)) {
        return SYM_NOT_FOUND;
    }

    name = sym_pdb_name(r->pdb, at);
    if (name.len == 0) {
        return SYM_NOT_FOUND;
    }

    if (name.len <= SYM_PATH_SPELT_MAX) {
        shown = sym_str(path, sym_clean_path(name, path));
        is_same = sym_str_eq(shown, name);
    }

    rc = sym_shard_string(r->shard, is_same ? name : shown, is_same, id);
    r->files[file / SYM_PDB_FILE_ALIGN] = rc == SYM_OK ? *id + 1 : 0;
    return rc;
}


/* --- records --- */

static sym_str_t
name_in(const record_t *rec, size_t at, bool is_pascal)
{
    const char *name = (const char *) rec->data + at;
    size_t left = rec->len > at ? rec->len - at : 0;
    const char *end;

    if (left == 0) {
        return SYM_STR("");
    }

    if (is_pascal) {
        size_t len = rec->data[at];

        return sym_str(name + 1, len < left ? len : left - 1);
    }

    end = memchr(name, '\0', left);
    return sym_str(name, end != NULL ? (size_t) (end - name) : left);
}


/* CV_CFL_LANG (cvinfo.h) */
static uint8_t
language_of(uint8_t cfl)
{
    switch (cfl) {
    case 0x00:
        return SYM_LANG_C;
    case 0x01:
        return SYM_LANG_CPP;
    case 0x11:
        return SYM_LANG_OBJC;
    case 0x12:
        return SYM_LANG_OBJCPP;
    case 0x13:
    case 'S':
        return SYM_LANG_SWIFT;
    case 0x15:
        return SYM_LANG_RUST;
    case 0x16:
        return SYM_LANG_GO;
    case 'D':
        return SYM_LANG_D;
    default:
        return SYM_LANG_UNKNOWN;
    }
}


/* --- the current procedure --- */

/* False: out of memory. */
static bool
add_chunk(sym_pdb_reader_t *r, uint32_t section, uint32_t offset, uint32_t size)
{
    sym_pdb_chunk_t c = { 0 };

    if (r->n_chunks == CHUNKS_MAX) {
        return true;
    }

    if (!SYM_ARRAY_ROOM(r->chunks, r->n_chunks + 1, r->chunks_size)) {
        return false;
    }

    /* an invalid chunk becomes empty, so that later chunks keep their
     * numbers */
    if (sym_pdb_linked(&r->pdb->addresses, section, offset, &c.linked)) {
        c.end = size < UINT32_MAX - c.linked ? c.linked + size : UINT32_MAX;
        c.table = sym_pdb_lines_find(&r->lines, c.linked);
    } else {
        c.linked = 0;
    }

    r->chunks[r->n_chunks++] = c;
    return true;
}


static sym_status_t
end_procedure(sym_pdb_reader_t *r)
{
    const bool is_open = r->is_open;

    r->is_open = false;
    return is_open ? sym_pdb_emit(r) : SYM_OK;
}


static sym_status_t
begin_procedure(sym_pdb_reader_t *r, const record_t *rec, bool is_pascal)
{
    sym_status_t rc = end_procedure(r);

    if (rc != SYM_OK || rec->len < PROC_NAME) {
        return rc;
    }

    r->n_chunks = r->n_sites = r->n_scopes = 0;
    r->offset = sym_le32(rec->data + PROC_OFFSET);
    r->section = sym_le16(rec->data + PROC_SECTION);
    r->type = sym_le32(rec->data + PROC_TYPE);
    r->has_id = rec->kind == S_LPROC32_ID || rec->kind == S_GPROC32_ID
                || rec->kind == S_LPROC32_DPC_ID;
    r->name = name_in(rec, PROC_NAME, is_pascal);

    if (!add_chunk(r, r->section, r->offset, sym_le32(rec->data + PROC_SIZE))) {
        return SYM_NOMEM;
    }

    r->is_open = r->chunks[0].end > r->chunks[0].linked;
    return SYM_OK;
}


/* The record of cold code (S_SEPCODE) follows that of its procedure. */
static sym_status_t
add_cold_part(sym_pdb_reader_t *r, const record_t *rec)
{
    if (!r->is_open || rec->len < SEPCODE_BYTES
        || sym_le32(rec->data + SEPCODE_PARENT_OFFSET) != r->offset
        || sym_le16(rec->data + SEPCODE_PARENT_SECTION) != r->section)
    {
        return SYM_OK;
    }

    return add_chunk(r, sym_le16(rec->data + SEPCODE_SECTION),
                     sym_le32(rec->data + SEPCODE_OFFSET),
                     sym_le32(rec->data + SEPCODE_SIZE))
               ? SYM_OK
               : SYM_NOMEM;
}


static sym_status_t
add_thunk(sym_pdb_reader_t *r, const record_t *rec, bool is_pascal)
{
    sym_pdb_thunks_t *all = r->thunks;
    sym_pdb_stretch_t s;
    sym_str_t name;
    uint32_t linked, size;

    if (rec->len < THUNK_NAME) {
        return SYM_OK;
    }

    name = sym_undecorate(name_in(rec, THUNK_NAME, is_pascal));
    size = sym_le16(rec->data + THUNK_SIZE);
    if (name.len == 0 || size == 0
        || !sym_pdb_linked(&r->pdb->addresses,
                           sym_le16(rec->data + THUNK_SECTION),
                           sym_le32(rec->data + THUNK_OFFSET), &linked)
        || size > UINT32_MAX - linked
        || !sym_pdb_next_stretch(&r->pdb->addresses, &linked, linked + size,
                                 &s))
    {
        return SYM_OK;
    }

    name = sym_arena_copy(&all->names, name);
    if (name.data == NULL || !SYM_ARRAY_ROOM(all->items, all->n + 1, all->size))
    {
        return SYM_NOMEM;
    }

    all->items[all->n++] = (sym_pdb_thunk_t){ s.addr, s.size, name };
    return SYM_OK;
}


/* --- scopes --- */

static uint32_t
innermost(const sym_pdb_reader_t *r)
{
    return r->n_scopes != 0 ? r->scopes[r->n_scopes - 1] : SYM_PDB_NONE;
}


static inline sym_status_t
open_scope(sym_pdb_reader_t *r, uint32_t site)
{
    if (!SYM_ARRAY_ROOM(r->scopes, r->n_scopes + 1, r->scopes_size)) {
        return SYM_NOMEM;
    }

    r->scopes[r->n_scopes++] = site;
    return SYM_OK;
}


static void
close_scope(sym_pdb_reader_t *r)
{
    r->n_scopes -= r->n_scopes != 0;
}


static inline sym_status_t
open_site(sym_pdb_reader_t *r, const record_t *rec, size_t annotations)
{
    const uint32_t parent = innermost(r);
    sym_pdb_site_t *site;

    if (!r->is_open || rec->len < annotations) {
        return open_scope(r, parent);
    }

    if (!SYM_ARRAY_ROOM(r->sites, r->n_sites + 1, r->sites_size)) {
        return SYM_NOMEM;
    }

    site = &r->sites[r->n_sites];
    site->parent = parent;
    site->depth = parent == SYM_PDB_NONE ? 1 : r->sites[parent].depth + 1;
    site->id = sym_le32(rec->data + SITE_ID);
    site->annotations =
        sym_str((const char *) rec->data + annotations, rec->len - annotations);
    return open_scope(r, (uint32_t) r->n_sites++);
}


/* --- all records of a module --- */

static inline sym_status_t
read_record(sym_pdb_reader_t *r, const record_t *rec)
{
    sym_status_t rc = SYM_OK;

    /* most of the other records are inlined calls */
    if (rec->kind == S_INLINESITE || rec->kind == S_INLINESITE2) {
        return open_site(r, rec,
                         rec->kind == S_INLINESITE ? SITE_ANNOTATIONS
                                                   : SITE2_ANNOTATIONS);
    }

    if (rec->kind == S_INLINESITE_END) {
        close_scope(r);
        return SYM_OK;
    }

    switch (rec->kind) {
    case S_LPROC32_ST:
    case S_GPROC32_ST:
        rc = begin_procedure(r, rec, true);
        return rc != SYM_OK ? rc : open_scope(r, SYM_PDB_NONE);

    case S_LPROC32:
    case S_GPROC32:
    case S_LPROC32_ID:
    case S_GPROC32_ID:
    case S_LPROC32_DPC:
    case S_LPROC32_DPC_ID:
        rc = begin_procedure(r, rec, false);
        return rc != SYM_OK ? rc : open_scope(r, SYM_PDB_NONE);

    case S_SEPCODE:
        rc = add_cold_part(r, rec);
        return rc != SYM_OK ? rc : open_scope(r, SYM_PDB_NONE);

    case S_THUNK32_ST:
    case S_THUNK32:
        rc = add_thunk(r, rec, rec->kind == S_THUNK32_ST);
        return rc != SYM_OK ? rc : open_scope(r, SYM_PDB_NONE);

    case S_BLOCK32_ST:
    case S_WITH32_ST:
    case S_BLOCK32:
    case S_WITH32:
    case S_GMANPROC:
    case S_LMANPROC:
        return open_scope(r, innermost(r));

    case S_END:
    case S_PROC_ID_END:
        close_scope(r);
        return SYM_OK;

    case S_COMPILE2:
    case S_COMPILE3:
        r->lang = rec->len != 0 ? language_of(rec->data[0]) : r->lang;
        return SYM_OK;

    default:
        return SYM_OK;
    }
}


/* A record: u16 length, which includes the kind, then u16 kind. */
static sym_status_t
read_symbols(sym_pdb_reader_t *r, sym_str_t symbols, sym_error_t *err)
{
    const uint8_t *p = (const uint8_t *) symbols.data;
    size_t left = symbols.len, len;
    sym_status_t rc = SYM_OK;

    if (left < 4 || sym_le32(p) != SIGNATURE_C13) {
        return left == 0 ? SYM_OK
                         : sym_fail(err, SYM_UNSUPPORTED,
                                    "symbols older than Visual C++ 7");
    }

    for (p += 4, left -= 4; rc == SYM_OK && left >= 4; p += len, left -= len) {
        const uint16_t kind = sym_le16(p + 2);

        len = (size_t) 2 + sym_le16(p);
        if (len < 4 || len > left) {
            (void) sym_fail(err, SYM_MALFORMED,
                            "symbol record runs past its module");
            break;
        }

        /* most records describe variables */
        if (kind < S_LOCAL || kind > S_DEFRANGE_REGISTER_REL) {
            rc = read_record(r, &(record_t){ kind, p + 4, len - 4 });
        }
    }

    return rc != SYM_OK
               ? sym_fail(err, rc,
                          rc == SYM_LIMIT
                              ? "a module expands beyond its size limit"
                              : "no memory for a module")
               : err->status;
}


/* Reads all records.  A procedure before an error is complete, so it is
 * kept. */
static sym_status_t
read_procedures(sym_pdb_reader_t *r, sym_str_t symbols, sym_error_t *err)
{
    sym_status_t rc;

    r->is_open = false;
    r->n_scopes = 0;
    r->lang = SYM_LANG_UNKNOWN;

    if (read_symbols(r, symbols, err) == SYM_NOMEM) {
        return SYM_NOMEM;
    }

    rc = end_procedure(r);
    if (rc != SYM_OK) {
        *err = (sym_error_t){ 0 }; /* replaces an error in the file */
        return sym_fail(err, rc, "no memory for a module");
    }

    return err->status;
}


static sym_status_t
read_module(sym_pdb_reader_t *r, const sym_pdb_module_t *m, sym_error_t *err)
{
    sym_error_t bad_lines = { 0 };
    sym_str_t symbols, c13;
    size_t n_files;

    if (sym_pdb_module_read(r->pdb, m, &r->stream, &symbols, &c13, err)
        != SYM_OK) {
        return err->status;
    }

    r->module++;
    r->has_types = !m->has_type_server;
    r->budget = ((uint64_t) symbols.len + c13.len) * MADE_MAX + MADE_MIN;
    if (sym_pdb_lines_read(&r->lines, c13, &r->pdb->addresses, &bad_lines)
        == SYM_NOMEM)
    {
        return sym_fail(err, SYM_NOMEM, "no memory for lines");
    }

    n_files = r->lines.files.len / SYM_PDB_FILE_ALIGN + 1;
    if (!SYM_ARRAY_ROOM(r->files, n_files, r->files_size)) {
        return sym_fail(err, SYM_NOMEM, "no memory for a list of files");
    }

    memset(r->files, 0, n_files * sizeof(*r->files));
    (void) read_procedures(r, symbols, err);
    return sym_fail(err, bad_lines.status, bad_lines.what);
}


sym_status_t
sym_pdb_reader_module(sym_pdb_reader_t *r, const sym_pdb_module_t *m,
                      sym_pdb_stats_t *stats, sym_error_t *err)
{
    sym_error_t bad = { 0 };

    r->stats = stats;
    stats->modules++;
    if (read_module(r, m, &bad) == SYM_NOMEM) {
        return sym_fail(err, SYM_NOMEM, bad.what);
    }

    if (bad.status != SYM_OK) {
        stats->broken++;
        if (stats->first_broken.status == SYM_OK) {
            stats->first_broken = bad;
        }
    }

    return SYM_OK;
}
