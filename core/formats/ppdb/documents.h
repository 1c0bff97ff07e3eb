/*
 * documents.h - paths and languages of documents.
 */
#ifndef SYM_FORMATS_PPDB_DOCUMENTS_H
#define SYM_FORMATS_PPDB_DOCUMENTS_H

#include "artifacts/ppdb/format.h"
#include "formats/ppdb/metadata.h"

/* Writes the path of a document, parts and the separator between them, to out. */
sym_status_t sym_document_path(const sym_metadata_t *m, uint32_t row,
                               char out[SYM_PPDB_PATH_MAX], sym_str_t *path,
                               sym_error_t *err);

/* SYM_LANG_* */
uint8_t sym_document_language(const sym_metadata_t *m, uint32_t row);

/* True if the GUID with this index is that one, in the order of the heap. */
bool sym_document_is_guid(const sym_metadata_t *m, uint32_t index,
                          const uint8_t guid[SYM_MD_GUID_BYTES]);

#endif
