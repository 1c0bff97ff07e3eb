/*
 * cfi_writer.h - builds an artifact of kind `cfi`, range by range.
 *
 * Ranges of addresses are added in any order.  If several cover an address, the
 * one that begins last wins, then the shortest, then the first.  Records of x86
 * nest in this way, and the first of several tables takes precedence.  Equal
 * rules are kept once.
 *
 * Every call returns SYM_OK or the status that it also put in *err; after a
 * failure only sym_cfi_writer_free() may be called.
 */
#ifndef SYM_ARTIFACTS_CFI_WRITE_CFI_WRITER_H
#define SYM_ARTIFACTS_CFI_WRITE_CFI_WRITER_H

#include "artifacts/cfi/rules.h"
#include "artifacts/symcache/write/writer.h"

typedef struct sym_cfi_writer_s sym_cfi_writer_t;

/* input_bytes: size of the input, which limits the number of ranges.  NULL: out
 * of memory. */
sym_cfi_writer_t *sym_cfi_writer_create(sym_unwind_arch_t arch, uint32_t flags,
                                        uint64_t input_bytes, sym_error_t *err);
void sym_cfi_writer_free(sym_cfi_writer_t *w);

/* Keeps rules; *number is their number, from 1.  SYM_LIMIT: there are too many,
 * or they are too long. */
sym_status_t sym_cfi_writer_rules(sym_cfi_writer_t *w,
                                  const sym_cfi_rules_t *rules,
                                  uint32_t *number);

/* Adds the rules of the addresses from start up to, but not including, end.  A
 * range that is empty or ends above 4 GiB is dropped.  A fallback applies only
 * to addresses without another range. */
sym_status_t sym_cfi_writer_range(sym_cfi_writer_t *w, uint64_t start,
                                  uint64_t end, uint32_t number);
sym_status_t sym_cfi_writer_fallback(sym_cfi_writer_t *w, uint64_t start,
                                     uint64_t end, uint32_t number);

/* Number of ranges so far. */
size_t sym_cfi_writer_ranges(const sym_cfi_writer_t *w);

/* debug_file: the name in the file, or "".  Sets bytes, extents and quality of
 * *stats. */
sym_status_t sym_cfi_finish(sym_cfi_writer_t *w, sym_str_t debug_file,
                            sym_extent_put_pt put, void *ctx,
                            sym_writer_stats_t *stats);

#endif
