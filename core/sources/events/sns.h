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
 * The address that confirms the subscription which the text is about, in the
 * arena: https, printable ASCII, fit for a log.  False: there is none.
 */
bool sym_sns_subscribe_url(sym_arena_t *arena, sym_str_t text, sym_str_t *url);

#endif
