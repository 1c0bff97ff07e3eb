/*
 * origins.h - to which places a request's headers for source files may go.
 *
 * The list `scraping.allowed_origins` of Sentry's requests, by Symbolicator's
 * rules.  A pattern is `*`, a whole URL, or [SCHEME://]HOST[:PORT], where HOST may
 * be `*`, or `*.HOST` for a host and all below it.  A slash at the end says
 * nothing; as in Symbolicator no pattern with a longer path matches, unless it is
 * the whole URL.  Hosts are compared as they are written, in any case: an
 * international name matches only in its ASCII form.
 */
#ifndef SYM_SOURCES_GUARD_ORIGINS_H
#define SYM_SOURCES_GUARD_ORIGINS_H

#include "sources/guard/url.h"

/* text: the URL as a whole, in its normal form. */
bool sym_origins_have(const sym_str_t *patterns, uint32_t n,
                      const sym_url_t *url, sym_str_t text);

#endif
