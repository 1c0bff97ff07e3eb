/*
 * sns.h - Amazon SNS asks whether somebody wants its messages.
 *
 * Source: "Confirm the subscription" (Amazon SNS Developer Guide).  Who confirms
 * is a person: nothing here opens an address that came with a post.
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
