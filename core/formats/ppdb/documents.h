/*
 * documents.h - paths and languages of documents.
 */
#ifndef SYM_FORMATS_PPDB_DOCUMENTS_H
#define SYM_FORMATS_PPDB_DOCUMENTS_H

#include "artifacts/ppdb/format.h"
#include "formats/ppdb/metadata.h"

/* Joins the parts of a document's path in out (Portable PDB, "Document Name
 * Blob"); *path is a view of it. */
sym_status_t sym_ppdb_document_path(const sym_ppdb_metadata_t *m, uint32_t row,
                                    char out[SYM_PPDB_PATH_MAX],
                                    sym_str_t *path, sym_error_t *err);

/* The SYM_LANG_* of a document's language GUID. */
uint8_t sym_ppdb_document_language(const sym_ppdb_metadata_t *m, uint32_t row);

/* True if the GUID heap has `guid` at this index; both are in the byte order of
 * the heap. */
bool sym_ppdb_document_is_guid(const sym_ppdb_metadata_t *m, uint32_t index,
                               const uint8_t guid[SYM_PPDB_MD_GUID_BYTES]);

#endif
