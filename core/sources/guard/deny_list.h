/*
 * deny_list.h - temporarily blocks hosts that keep failing.
 *
 * Symbolicator's rule: a number of failed downloads within a window blocks a
 * host for a time.  Failures are counted for each pair of origin and realm.
 * The client that defines a source also chooses the paths, so it must not be
 * able to block a host for other clients.
 *
 * The table is in memory that several processes share: no pointers, a fixed
 * size, valid when zeroed.  The caller holds one lock around each call; a
 * process that dies in a call at worst leaves a wrong count.  Times are
 * milliseconds of a clock that all processes share.
 */
#ifndef SYM_SOURCES_GUARD_DENY_LIST_H
#define SYM_SOURCES_GUARD_DENY_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "json/out.h"
#include "base/sha256.h"
#include "sources/guard/url.h"

#define SYM_DENY_HOSTS 256u /* hosts with recent failures, or blocked */
#define SYM_DENY_BUCKETS                                                       \
    12u                        /* buckets of a window, without the current
                                  one */
#define SYM_DENY_HOST_MAX 272u /* maximum length of a host and its port */
#define SYM_DENY_CAUSE_MAX 16u

typedef struct {
    uint32_t failures; /* number of failures that block a host; 0: never */
    uint64_t window_ms, block_ms;
} sym_deny_rules_t;

/* The failure that blocked a host: its outcome, as in outcomes.h. */
typedef struct {
    sym_str_t outcome;
    uint64_t ms;
} sym_deny_cause_t;

typedef struct {
    sym_sha256_t key;
    uint64_t blocked_until; /* 0: not blocked */
    uint64_t cause_ms;
    uint64_t bucket;                         /* number of the newest bucket */
    uint32_t failures[SYM_DENY_BUCKETS + 1]; /* indexed by bucket number modulo
                                                their count */
    uint16_t host_len, cause_len;            /* host_len 0: the entry is free */
    char host[SYM_DENY_HOST_MAX];
    char cause[SYM_DENY_CAUSE_MAX];
} sym_deny_entry_t;

typedef struct {
    sym_deny_entry_t entries[SYM_DENY_HOSTS];
} sym_deny_list_t;

/* Makes the key.  False: no digest could be made. */
bool sym_deny_key(const sym_sha256_t *realm, const sym_url_t *url,
                  sym_sha256_t *key);

/* Whether the host is blocked; *cause is then set, and points into the
 * table. */
bool sym_deny_is_blocked(const sym_deny_list_t *list, const sym_sha256_t *key,
                         uint64_t now, sym_deny_cause_t *cause);

/* Counts a failure. host: for display.  Returns true if this failure blocks the
 * host. */
bool sym_deny_fail(sym_deny_list_t *list, const sym_deny_rules_t *rules,
                   const sym_sha256_t *key, sym_str_t host,
                   const sym_deny_cause_t *cause, uint64_t now);

/* Number of blocked hosts. */
uint32_t sym_deny_count(const sym_deny_list_t *list, uint64_t now);

/* Writes the blocked hosts as a JSON array, at most SYM_DENY_SHOWN. */
#define SYM_DENY_SHOWN 32u
#define SYM_DENY_TEXT_MAX (SYM_DENY_SHOWN * (6 * SYM_DENY_HOST_MAX + 128))

void sym_deny_write(const sym_deny_list_t *list, uint64_t now, sym_out_t *out);

#endif
