/*
 * sns.h - requests of Amazon SNS to confirm a subscription.
 *
 * Source: "Confirm the subscription" (Amazon SNS Developer Guide).  An operator
 * confirms it: no code here opens an address that came with a post.
 */
#ifndef SYM_SOURCES_EVENTS_SNS_H
#define SYM_SOURCES_EVENTS_SNS_H

#include "base/arena.h"
#include "base/str.h"

#define SYM_SNS_URL_MAX 1024

/*
 * The URL that confirms the subscription in the text, copied to the arena: https,
 * printable ASCII, fit for a log.  False: the text has no such URL.
 */
bool sym_sns_subscribe_url(sym_arena_t *arena, sym_str_t text, sym_str_t *url);

#endif
