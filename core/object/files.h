/*
 * files.h - the types of the files that belong to an object.
 *
 * A kind of artifact lists the types that it is made from (artifacts/kinds.h),
 * and a source has a path for each type (sources/paths/plan.h).
 */
#ifndef SYM_OBJECT_FILES_H
#define SYM_OBJECT_FILES_H

/* Best types first: files made for debugging precede executables, which are
 * mostly stripped.  Packed files are cabinets; the last letter of their path is
 * '_' ("xul.pd_"). */
typedef enum {
    SYM_SOURCE_ELF_DEBUG,
    SYM_SOURCE_WASM_DEBUG,
    SYM_SOURCE_MACH_DEBUG,
    SYM_SOURCE_BREAKPAD,
    SYM_SOURCE_PDB,
    SYM_SOURCE_PDB_PACKED,
    SYM_SOURCE_PORTABLE_PDB,
    SYM_SOURCE_PE,
    SYM_SOURCE_PE_PACKED,
    SYM_SOURCE_ELF_CODE,
    SYM_SOURCE_WASM_CODE,
    SYM_SOURCE_MACH_CODE,

    /* source bundles, found by build id, by UUID, by name and debug id */
    SYM_SOURCE_ELF_BUNDLE,
    SYM_SOURCE_MACH_BUNDLE,
    SYM_SOURCE_NAMED_BUNDLE,

    /* companions of Apple's and Unity's files; only complete objects have paths
     * for them */
    SYM_SOURCE_UUIDMAP,
    SYM_SOURCE_BCSYMBOLMAP,
    SYM_SOURCE_IL2CPP,

    SYM_SOURCE_PROGUARD, /* a mapping of Java names */

    /* JavaScript: generated scripts, their source maps, source code */
    SYM_SOURCE_SCRIPT,
    SYM_SOURCE_SOURCEMAP,
    SYM_SOURCE_CODE
} sym_source_file_t;

#define SYM_SOURCE_FILES 22
#define SYM_SOURCE_FIRST_CODE SYM_SOURCE_PE

/* Forms in which clients that read symbols themselves get a file. */
typedef enum {
    SYM_MAKE_PLAIN,   /* complete and unpacked */
    SYM_MAKE_SECTION, /* a section of an ELF file */
    SYM_MAKE_SYM,     /* symbols and unwind rules as Breakpad's text */
    SYM_MAKE_RULES,   /* only the unwind rules */
    SYM_MAKE_NAME,    /* "NAME/ID" of the debug file */
    SYM_MAKE_SOURCE,  /* a source file in a source bundle */
    SYM_MAKE_PROOF,   /* one byte, if an ELF file has debug information */
    SYM_MAKE_PADS     /* return pads as a symbfile; only commands ask for it */
} sym_make_t;

#define SYM_MAKE_LAST SYM_MAKE_PROOF

#define SYM_SECTION_NAME_MAX 255

/* Longest section name, module name or path of a source file. */
#define SYM_MAKE_TEXT_MAX 1024

/* Sets of forms, a bit each. */
#define SYM_FILE(type) (1u << SYM_SOURCE_##type)
#define SYM_FILES_PDB (SYM_FILE(PDB) | SYM_FILE(PDB_PACKED))
#define SYM_FILES_SYMBOLS (SYM_FILE(ELF_BUNDLE) - 1)
#define SYM_FILES_BUNDLES                                                      \
    (SYM_FILE(ELF_BUNDLE) | SYM_FILE(MACH_BUNDLE) | SYM_FILE(NAMED_BUNDLE))

#endif
