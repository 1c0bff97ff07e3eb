/*
 * libarchive.h - libarchive, loaded at run time when a file needs it.
 *
 * It loads libxml2, ICU and eight other libraries, which would be more than
 * half of a short command's cost (measured: 1.6 of 2.9 ms of CPU time); only
 * converters need it.
 */
#ifndef SYMLOADER_UNPACK_LIBARCHIVE_H
#define SYMLOADER_UNPACK_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>

/* libarchive's functions, as declared in its headers. */
typedef struct {
    __typeof__(archive_entry_filetype) *archive_entry_filetype;
    __typeof__(archive_entry_is_encrypted) *archive_entry_is_encrypted;
    __typeof__(archive_entry_pathname) *archive_entry_pathname;
    __typeof__(archive_errno) *archive_errno;
    __typeof__(archive_error_string) *archive_error_string;
    __typeof__(archive_filter_bytes) *archive_filter_bytes;
    __typeof__(archive_format_name) *archive_format_name;
    __typeof__(archive_read_data) *archive_read_data;
    __typeof__(archive_read_free) *archive_read_free;
    __typeof__(archive_read_new) *archive_read_new;
    __typeof__(archive_read_next_header) *archive_read_next_header;
    __typeof__(archive_read_open) *archive_read_open;
    __typeof__(archive_read_support_format_cab)
        *archive_read_support_format_cab;
    __typeof__(archive_read_support_format_tar)
        *archive_read_support_format_tar;
    __typeof__(archive_read_support_format_zip_streamable)
        *archive_read_support_format_zip_streamable;
    __typeof__(archive_set_error) *archive_set_error;
} libarchive_t;

/* False: not installed, or a function is missing. */
bool libarchive_load(libarchive_t *lib);

#endif
