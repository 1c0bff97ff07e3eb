/*
 * member.h - additional members of a JSON object.
 */
#ifndef SYM_EXPLAIN_MEMBER_H
#define SYM_EXPLAIN_MEMBER_H

#include "json/out.h"

/* Writes: , "key": */
void sym_member_key(sym_out_t *out, const char *key);

void sym_member_text(sym_out_t *out, const char *key, sym_str_t text);
void sym_member_number(sym_out_t *out, const char *key, uint64_t value);
void sym_member_bool(sym_out_t *out, const char *key, bool value);

/* Seconds since 1970, as a date; 0 (never): null. */
void sym_member_time(sym_out_t *out, const char *key, int64_t time_s);

#endif
