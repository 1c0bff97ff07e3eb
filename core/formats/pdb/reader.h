/*
 * reader.h - the state that the files of the module reader share: the current
 * procedure, and buffers that are reused for the next one.  Private to these
 * files.
 *
 * module.c walks the symbols and collects procedures; inlines.c computes the
 * code ranges of inlined calls; emit.c turns a procedure into segments.
 */
#ifndef SYM_FORMATS_PDB_READER_H
#define SYM_FORMATS_PDB_READER_H

#include "formats/pdb/annotations.h"
#include "formats/pdb/lines.h"
#include "formats/pdb/module.h"

#define SYM_PDB_NONE UINT32_MAX

/* A run of a procedure's code: its main part, or a cold one (S_SEPCODE). */
typedef struct {
    uint32_t linked, end;
    const sym_pdb_table_t *table; /* lines of the chunk, or NULL */
} sym_pdb_chunk_t;

/* A call that was inlined. */
typedef struct {
    uint32_t parent; /* an earlier site, or SYM_PDB_NONE */
    uint32_t depth;  /* 1: inlined directly into the procedure */
    uint32_t id;
    sym_str_t annotations;
    uint32_t first, n; /* ranges, by address; at most one for two bytes of
                          annotations */
    uint32_t last;     /* the range in which the last call was found */
    uint32_t file;     /* file that declares the function */
} sym_pdb_site_t;

/* An inlined function, as declared in its module. */
typedef struct {
    uint32_t id, module;
    uint32_t name; /* a string of the shard */
    sym_pdb_inlinee_t declared;
} sym_pdb_callee_t;

/* A range of an inlined call's code that has one line. */
typedef struct {
    uint32_t linked, end;
    uint32_t depth;
    uint32_t node;
    uint32_t file; /* a string of the shard, or SYM_NO_STRING */
    uint32_t line;
} sym_pdb_inline_t;

struct sym_pdb_reader_s {
    const sym_pdb_t *pdb;
    sym_pdb_exports_t *exports;
    sym_shard_t *shard;
    sym_pdb_thunks_t *thunks;
    sym_pdb_scratch_t *scratch; /* scratch memory for names */
    sym_buffer_t stream;        /* copy of a module's stream */
    sym_pdb_stats_t *stats;
    uint64_t budget; /* bytes of output that remain for the module */
    sym_pdb_lines_t lines;
    uint8_t lang;
    bool has_types; /* this PDB contains the types */

    /* the module's files: string number in the shard + 1; 0: not read yet */
    uint32_t *files;
    size_t files_size;

    /* cache of inlined functions' names: id, and string number + 1 */
    struct {
        uint32_t id, name;
    } * names;

    sym_pdb_callee_t *callees; /* cache; entries of other modules are ignored */
    uint32_t module;           /* number of the current module, from 1 */

    /* the current procedure */
    bool is_open;
    uint32_t section, offset, type;
    bool has_id; /* `type` is an id */
    sym_str_t name;
    sym_pdb_chunk_t *chunks;
    size_t n_chunks, chunks_size;
    sym_pdb_site_t *sites;
    size_t n_sites, sites_size;

    uint32_t *scopes; /* stack of open scopes; a value is the enclosing site */
    size_t n_scopes, scopes_size;

    sym_pdb_range_t *ranges; /* ranges of one call */
    size_t ranges_size;

    /* its output */
    sym_pdb_inline_t *inlines;
    size_t n_inlines, inlines_size;
    sym_sort_item_t *order; /* order of `inlines` by address; room for twice
                               as many */
    size_t order_size;
    sym_flat_node_t *nodes;
    size_t n_nodes, nodes_size;
    sym_segment_t *segments;
    size_t n_segments, segments_size;

    /* output of one stretch that was moved (OMAP) */
    sym_flat_node_t *part_nodes;
    size_t part_nodes_size;
    sym_segment_t *part_segments;
    size_t part_segments_size;
    uint32_t *renumbered;
    size_t renumbered_size;
};

/* Takes n bytes of output from the budget; SYM_LIMIT: it is spent. */
static inline sym_status_t
sym_pdb_spend(sym_pdb_reader_t *r, uint64_t n)
{
    if (n > r->budget) {
        r->budget = 0;
        return SYM_LIMIT;
    }

    r->budget -= n;
    return SYM_OK;
}


/* Each entry of a list of files has at least four bytes. */
#define SYM_PDB_FILE_ALIGN 4

/* Reads a file's name at its first use. */
sym_status_t sym_pdb_reader_new_file(sym_pdb_reader_t *r, uint32_t file,
                                     uint32_t *id);

/* Gets the name of a file.  SYM_OK; SYM_NOT_FOUND: the module has no such file,
 * and *id is SYM_NO_STRING; SYM_NOMEM. */
static inline sym_status_t
sym_pdb_reader_file(sym_pdb_reader_t *r, uint32_t file, uint32_t *id)
{
    const uint32_t known =
        file % SYM_PDB_FILE_ALIGN == 0 && file < r->lines.files.len
            ? r->files[file / SYM_PDB_FILE_ALIGN]
            : 0;

    *id = known - 1; /* 0 becomes SYM_NO_STRING */
    return known != 0 ? SYM_OK : sym_pdb_reader_new_file(r, file, id);
}


/* Resolves the index of a type or id, which may refer to another module
 * (cross.h).  SYM_OK, SYM_NOMEM, or SYM_NOT_FOUND: there is no such record. */
static inline sym_status_t
sym_pdb_reader_index(sym_pdb_reader_t *r, uint32_t index, uint32_t *found)
{
    *found = index;
    return sym_pdb_is_cross(index) ? sym_pdb_exports_find(
               r->exports, r->lines.imports, index, found)
                                   : SYM_OK;
}


/* Empties the cache of inlined functions' names. */
void sym_pdb_forget_names(sym_pdb_reader_t *r);

/* Fills nodes and inlines (sorted by address) from the sites.  The caller has
 * filled nodes[0].  SYM_OK, SYM_LIMIT or SYM_NOMEM. */
sym_status_t sym_pdb_read_inlines(sym_pdb_reader_t *r);

/* Passes the procedure to the shard.  SYM_OK, SYM_LIMIT or SYM_NOMEM. */
sym_status_t sym_pdb_emit(sym_pdb_reader_t *r);

#endif
