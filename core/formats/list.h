/*
 * list.h - the formats of the files that are converted, one row each.
 *
 * FORMAT(name): the format's folder is core/formats/<name>, and one of its
 * files defines `const sym_format_t sym_format_<name>` (format.h).  Tables,
 * statistics and messages are made from these rows, in this order.
 */
#ifndef SYM_FORMATS_LIST_H
#define SYM_FORMATS_LIST_H

#define SYM_FORMATS(FORMAT)                                                    \
    FORMAT(breakpad)                                                           \
    FORMAT(elf)                                                                \
    FORMAT(macho)                                                              \
    FORMAT(sourcebundle)

#endif
