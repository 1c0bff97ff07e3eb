/*
 * reader.h - reads a mapping of ProGuard or R8, record by record.
 *
 * The format: https://www.guardsquare.com/manual/tools/retrace and R8's
 * doc/retrace.md.  Views point into the text.
 */
#ifndef SYM_FORMATS_PROGUARD_READER_H
#define SYM_FORMATS_PROGUARD_READER_H

#include <stdbool.h>

#include "base/str.h"

typedef enum {
    SYM_PROGUARD_COMMENT,  /* "# compiler: R8" */
    SYM_PROGUARD_METADATA, /* "# {...}"; `text` is the JSON */
    SYM_PROGUARD_CLASS,    /* "a.B -> c:" */
    SYM_PROGUARD_FIELD,    /* "    int a -> b" */
    SYM_PROGUARD_METHOD,   /* "    1:2:void a.B.c(int):3:4 -> d" */
    SYM_PROGUARD_INVALID   /* a line of another form */
} sym_proguard_type_t;

typedef struct {
    bool is_set;
    uint64_t value;
} sym_proguard_number_t;

typedef struct {
    sym_proguard_type_t type;
    sym_str_t text; /* of metadata */
    sym_str_t original, name;
    sym_str_t owner; /* class of a method; data NULL: the line does not name
                        it */
    sym_str_t parameters;
    sym_proguard_number_t start, end;  /* both are set, or neither */
    sym_proguard_number_t first, last; /* `last` is set only if `first` is */
} sym_proguard_record_t;

/* Removes the next record from *rest.  False: there are no more. */
bool sym_proguard_next(sym_str_t *rest, sym_proguard_record_t *record);

#endif
