/*
 * embedded.h - texts of sources in a portable PDB, and links to them.
 */
#ifndef SYM_FORMATS_PPDB_EMBEDDED_H
#define SYM_FORMATS_PPDB_EMBEDDED_H

#include "artifacts/sources/write/writer.h"
#include "formats/format.h"
#include "formats/ppdb/documents.h"
#include "json/load.h"

typedef struct {
    const sym_metadata_t *m;
    const sym_format_means_t *means;
    bool has_texts;
    json_t *links; /* pattern -> URL, borrowed from the tree; NULL: none */
    sym_json_t json;
} sym_embedded_t;

/* What there is.  To be dropped whatever it gives. */
sym_status_t sym_embedded_open(sym_embedded_t *e, const sym_metadata_t *m,
                               const sym_format_means_t *means,
                               sym_error_t *err);
void sym_embedded_drop(sym_embedded_t *e);

bool sym_embedded_has_any(const sym_embedded_t *e);

/* Gives all of it to the writer. */
sym_status_t sym_embedded_write(const sym_embedded_t *e,
                                sym_sources_writer_t *w, sym_error_t *err);

#endif
