/*
 * origins.h - the origins to which a request's headers for source files may be
 * sent.
 *
 * The list `scraping.allowed_origins` of Sentry's requests, by Symbolicator's
 * rules.  A pattern is `*`, a complete URL, or [SCHEME://]HOST[:PORT], where
 * HOST may be `*`, or `*.HOST` for a host and its subdomains.  A slash at the
 * end is ignored; as in Symbolicator a pattern with a longer path matches only
 * as the complete URL.  Hosts are compared as written, case-insensitively: an
 * international name matches only in its ASCII form.
 */
#ifndef SYM_SOURCES_GUARD_ORIGINS_H
#define SYM_SOURCES_GUARD_ORIGINS_H

#include "sources/guard/url.h"

/* text: the complete URL, in its normal form. */
bool sym_origins_have(const sym_str_t *patterns, uint32_t n,
                      const sym_url_t *url, sym_str_t text);

#endif
