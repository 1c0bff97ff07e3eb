/*
 * requests.h - what the converter has to ask of its loader, and to tell it, beside
 * what it makes.
 *
 * May be called in all threads that read one file.
 */
#ifndef SYMLOADER_CONVERTER_REQUESTS_H
#define SYMLOADER_CONVERTER_REQUESTS_H

#include "base/error.h"
#include "base/str.h"
#include "common/converter_protocol.h"

/* A file, whole. */
typedef struct {
    uint8_t *data; /* the caller's to free() */
    size_t len;
    bool is_by_id; /* see converter_given_t */
} ask_file_t;

/* Puts a name, a folder and a build id into a want; false: too long. */
bool ask_for(converter_companion_t *want, converter_companion_kind_t kind,
             sym_str_t name, sym_str_t dir, sym_str_t id);

/* SYM_NOT_FOUND: there is no such file, or it cannot be read. */
sym_status_t ask_file(const converter_companion_t *want, ask_file_t *file);

/* Something that people should know about the file. */
__attribute__((format(printf, 1, 2))) void ask_note(const char *format, ...);

#endif
