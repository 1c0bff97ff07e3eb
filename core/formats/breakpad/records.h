/*
 * records.h - the grammar of a .sym file, one function a record.
 *
 * Each splits a line into the record's parts, which are views into the line.
 * If f is not ok afterwards, the record is malformed, and f contains the
 * position and the reason.  Numbers are as written; the caller checks their
 * range.  Grammar: docs/use/compat.md, "Breakpad .sym".
 */
#ifndef SYM_FORMATS_BREAKPAD_RECORDS_H
#define SYM_FORMATS_BREAKPAD_RECORDS_H

#include "formats/breakpad/fields.h"

typedef struct {
    sym_str_t os, arch;
    sym_str_t id;
    sym_str_t name; /* may be empty */
} sym_module_record_t;

typedef struct {
    sym_str_t code_id;
    sym_str_t code_file; /* may be empty */
} sym_code_id_record_t;

typedef struct {
    uint64_t number;
    sym_str_t name; /* may be empty */
} sym_file_record_t;

typedef struct {
    uint64_t number;
    bool has_file; /* the form of 2021: INLINE_ORIGIN number file name */
    uint64_t file; /* UINT64_MAX: the file has -1, "none" */
    sym_str_t name;
} sym_origin_record_t;

/* A FUNC record, or a PUBLIC record, which has no size. */
typedef struct {
    uint64_t addr, size;
    sym_str_t name; /* "<unknown>" if the name is missing */
} sym_symbol_record_t;

/* An INLINE record up to its ranges, which sym_read_inline_range() reads. */
typedef struct {
    uint64_t depth;
    uint64_t call_line;
    bool has_call_file; /* false: the form of 2021, which has no call file */
    uint64_t call_file;
    uint64_t origin;
} sym_inline_record_t;

typedef struct {
    uint64_t addr, size;
    uint64_t line; /* negative lines are stored as 0 */
    uint64_t file;
} sym_line_record_t;

sym_module_record_t sym_read_module(sym_fields_t *f);

/* False: the INFO record is of another kind. */
bool sym_read_code_id(sym_fields_t *f, sym_code_id_record_t *r);

sym_file_record_t sym_read_file(sym_fields_t *f);
sym_origin_record_t sym_read_origin(sym_fields_t *f);
sym_symbol_record_t sym_read_func(sym_fields_t *f);
sym_symbol_record_t sym_read_public(sym_fields_t *f);
sym_inline_record_t sym_read_inline(sym_fields_t *f);

/* False: there are no more ranges, or the next one is malformed. */
bool sym_read_inline_range(sym_fields_t *f, uint64_t *addr, uint64_t *size);

sym_line_record_t sym_read_line(sym_fields_t *f);

#endif
