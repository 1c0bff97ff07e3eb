/*
 * metadata.h - debuginfod's /metadata, as a request whose body is the query.
 */
#ifndef SYM_API_FILES_METADATA_H
#define SYM_API_FILES_METADATA_H

#include "api/request.h"

extern const sym_request_ops_t sym_files_metadata_ops;

#endif
