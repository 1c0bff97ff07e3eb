/*
 * sns.h - requests of Amazon SNS to confirm a subscription.
 *
 * Source: "Confirm the subscription" (Amazon SNS Developer Guide).  An operator
 * confirms it: the server never opens a URL from a notification.
 */
#ifndef SYM_SOURCES_EVENTS_SNS_H
#define SYM_SOURCES_EVENTS_SNS_H

#include "base/arena.h"
#include "base/str.h"

#define SYM_SNS_URL_MAX 1024

/*
 * Gets the URL that confirms the subscription from the text.  It is https and
 * printable ASCII, safe for a log, and copied to the arena.  False: the text
 * contains no such URL.
 */
bool sym_sns_subscribe_url(sym_arena_t *arena, sym_str_t text, sym_str_t *url);

#endif
