/*
 * fileid.h - the FileID of an executable (core/object/file_id.h).
 */
#ifndef SYMLOADER_CLI_FILEID_H
#define SYMLOADER_CLI_FILEID_H

#include "object/file_id.h"

/* Returns NULL, or why the file has no id. */
const char *fileid_read(const char *path, uint8_t id[SYM_FILE_ID_BYTES]);

#endif
