/*
 * format.h - the artifact `jvm`: original names and lines of renamed JVM
 * classes.
 *
 * docs/formats/jvm.md describes it byte by byte; the names here are its names.
 * Numbers are little endian on every host.
 */
#ifndef SYM_ARTIFACTS_JVM_FORMAT_H
#define SYM_ARTIFACTS_JVM_FORMAT_H

#include <stdint.h>

#include "artifacts/extents.h"
#include "base/little.h"
#include "base/str.h"

/* Increases with every change that an older reader would misread. */
#define SYM_JVM_VERSION 1

#define SYM_JVM_MAGIC 0x4a4d5953u /* "SYMJ" */

/* The header, at the beginning of extent 0. */
#define SYM_JVM_HEADER_BYTES 64

/* Records of tables (artifacts/extents.h). */
#define SYM_JVM_CLASS_BYTES 20
#define SYM_JVM_METHOD_BYTES 8
#define SYM_JVM_OWNER_BYTES 8
#define SYM_JVM_ORIGINAL_BYTES 12

/* A method's members: the size of a piece, and the method's list of pieces. */
#define SYM_JVM_PIECE_MEMBERS 256
#define SYM_JVM_PIECE_BYTES 12

/* Limits that reader and writer share. */
#define SYM_JVM_TEXT_MAX 65500
#define SYM_JVM_CLASSES_MAX (UINT32_C(1) << 24)
#define SYM_JVM_METHODS_MAX (UINT32_C(1) << 26)
#define SYM_JVM_ORIGINALS_MAX (UINT32_C(1) << 26)

/* Flags of a method. */
#define SYM_JVM_HAS_LINES 1  /* a member contains a range of lines */
#define SYM_JVM_IS_OUTLINE 2 /* the first member is an outline */
#define SYM_JVM_HAS_RULES 4  /* a member contains rules that remove frames */

/* The form byte of a member. */
#define SYM_JVM_FOREIGN                                                        \
    1 /* owner of the original, if it is not the method's class */
#define SYM_JVM_RANGE_SHIFT 1
/* same as the previous member's; the first member has none */
#define SYM_JVM_RANGE_SAME 0
#define SYM_JVM_RANGE_NEW 1
#define SYM_JVM_RANGE_NONE 2
#define SYM_JVM_LINES_SHIFT 3
#define SYM_JVM_LINES_NONE 0
#define SYM_JVM_LINES_FIRST 1 /* one line */
#define SYM_JVM_LINES_BOTH 2
#define SYM_JVM_LINES_RANGE 3 /* same as the range */
#define SYM_JVM_BY_PARAMETERS 0x20
#define SYM_JVM_HAS_NOTES 0x40 /* positions of an outline, and rules */
#define SYM_JVM_FORM_MAX 0x7f

/* Flags of an original, in the two high bits of its owner. */
#define SYM_JVM_OWNER_MASK ((UINT32_C(1) << 30) - 1)
#define SYM_JVM_SYNTHESIZED (UINT32_C(1) << 30)

/* Qualities. */
#define SYM_JVM_NAMES 0 /* no lines */
#define SYM_JVM_LINES 1

/* FNV-1a, then mixed so that all bits have an effect.  Classes are sorted by
 * hash, then by name, so names chosen to collide cost no more than others. */
static inline uint32_t
sym_jvm_hash(sym_str_t name)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < name.len; i++) {
        h = (h ^ (uint8_t) name.data[i]) * 16777619u;
    }

    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}


#endif
