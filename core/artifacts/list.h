/*
 * list.h - the kinds of artifacts, one row each.
 *
 * KIND(number, NAME, name): the kind's folder is core/artifacts/<name>, and its
 * constant is SYM_KIND_<NAME>.  Two of its files define rows of tables:
 *
 *     read/    const sym_kind_row_t sym_<name>_kind    (kinds.h)
 *     export/  const sym_kind_tools_t sym_<name>_tools (tools.h)
 *
 * Commands list kinds in this order.  Numbers are part of store keys and
 * messages, so none is ever reused.
 */
#ifndef SYM_ARTIFACTS_LIST_H
#define SYM_ARTIFACTS_LIST_H

/* clang-format off */
#define SYM_ARTIFACT_KINDS(KIND) \
    KIND(1, SYMCACHE, symcache)  \
    KIND(2, SOURCES, sources)    \
    KIND(3, PPDB, ppdb)          \
    KIND(4, SOURCEMAP, sourcemap) \
    KIND(5, JVM, jvm)            \
    KIND(6, SCRIPT, script)      \
    KIND(7, CFI, cfi)            \
    KIND(8, CRASH, crash)
/* clang-format on */

#endif
