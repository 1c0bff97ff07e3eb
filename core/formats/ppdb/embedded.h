/*
 * embedded.h - embedded source files and source links of a portable PDB
 * (Portable PDB, "Embedded Source", "Source Link").
 */
#ifndef SYM_FORMATS_PPDB_EMBEDDED_H
#define SYM_FORMATS_PPDB_EMBEDDED_H

#include "artifacts/sources/write/writer.h"
#include "formats/format.h"
#include "formats/ppdb/documents.h"
#include "json/load.h"

typedef struct {
    const sym_ppdb_metadata_t *m;
    const sym_format_services_t *services;
    bool has_texts;
    json_t *links; /* pattern -> URL, part of the tree; NULL: none */
    sym_json_t json;
} sym_ppdb_embedded_t;

/* Finds the sources and links.  The caller must drop *e even after a
 * failure. */
sym_status_t sym_ppdb_embedded_open(sym_ppdb_embedded_t *e,
                                    const sym_ppdb_metadata_t *m,
                                    const sym_format_services_t *services,
                                    sym_error_t *err);
void sym_ppdb_embedded_drop(sym_ppdb_embedded_t *e);

bool sym_ppdb_embedded_has_any(const sym_ppdb_embedded_t *e);

/* Passes the sources and links to the writer. */
sym_status_t sym_ppdb_embedded_write(const sym_ppdb_embedded_t *e,
                                     sym_sources_writer_t *w, sym_error_t *err);

#endif
