/*
 * list.h - the formats of the files that are converted, one row each.
 *
 * FORMAT(name): the format's folder is core/formats/<name>, and one of its
 * files defines `const sym_format_t sym_format_<name>` (format.h).  Tables,
 * statistics and messages are made from these rows, in this order.  Rows of
 * reports (format.h) are last.
 */
#ifndef SYM_FORMATS_LIST_H
#define SYM_FORMATS_LIST_H

#define SYM_FORMATS(FORMAT)                                                    \
    FORMAT(breakpad)                                                           \
    FORMAT(elf)                                                                \
    FORMAT(macho)                                                              \
    FORMAT(pe)                                                                 \
    FORMAT(pdb)                                                                \
    FORMAT(sourcebundle)                                                       \
    FORMAT(ppdb)                                                               \
    FORMAT(wasm)                                                               \
    FORMAT(proguard)                                                           \
    FORMAT(sourcemap)                                                          \
    FORMAT(script)                                                             \
    FORMAT(symbfile)                                                           \
    FORMAT(artifact)                                                           \
    FORMAT(minidump)                                                           \
    FORMAT(upload)

#define SYM_CONVERSION_FORMAT(format) SYM_CONVERSION_##format,

/* Format of a converted file. */
typedef enum {
    SYM_CONVERSION_UNKNOWN, /* the converter died before it reported a format */
    SYM_FORMATS(SYM_CONVERSION_FORMAT)
        SYM_CONVERSION_FORMATS /* number of formats */
} sym_conversion_format_t;

#endif
