#include "sources/request/reading.h"

#include "base/sha256.h"
#include "base/text.h"

/* Symbolicator never blocks the hosts of Sentry's own sources. */
#define BUILT_IN "sentry:"
#define DIGEST_VERSION "ngx_symbolicate given source 2"


static void
add_number(sym_text_t *t, uint64_t number)
{
    char bytes[8];

    for (unsigned i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char) (uint8_t) (number >> (8 * i));
    }
    sym_text_add(t, sym_str(bytes, sizeof(bytes)));
}


/* Adds the text with its length, so that different lists of texts never have
 * the same bytes. */
static void
add_text(sym_text_t *t, sym_str_t s)
{
    add_number(t, s.len);
    sym_text_add(t, s);
}


/* Failures of a host count only for sources that share its public files, or
 * that have the same scope. */
bool
source_make_realm(source_reader_t *r, const sym_request_source_realm_t *realm,
                  sym_request_source_t *s)
{
    sym_text_t t = { .arena = r->arena };
    sym_str_t all;

    s->can_be_blocked = s->type == SYM_REQUEST_SOURCE_HTTP
                        && !sym_str_starts(s->id, SYM_STR(BUILT_IN));

    add_text(&t, SYM_STR(DIGEST_VERSION));
    add_text(&t, realm->policy);
    add_text(&t, s->is_public ? SYM_STR("") : realm->scope);

    all = sym_text_end(&t);
    return (all.data != NULL && sym_sha256(all, &s->realm))
           || source_no_memory(r);
}


/*
 * Requests share records only if they could have fetched the same files: if
 * places and credentials are equal.  The id is only a label.
 */
bool
source_make_scope(source_reader_t *r, const sym_request_source_realm_t *realm,
                  sym_request_source_t *s)
{
    sym_text_t t = { .arena = r->arena };
    char *out = sym_arena_alloc(r->arena, SYM_REQUEST_SOURCE_SCOPE_LEN);
    char hex[SYM_SHA256_HEX_LEN];
    sym_str_t all;
    sym_sha256_t digest;

    add_text(&t, SYM_STR(DIGEST_VERSION));
    add_text(&t, realm->policy);
    add_number(&t, s->type);
    add_number(&t, (uint64_t) s->is_public | (uint64_t) s->has_index << 1
                       | (uint64_t) s->requires_checksum << 2
                       | (uint64_t) s->takes_any_certificate << 3
                       | (uint64_t) s->wants_role << 4
                       | (uint64_t) s->url.is_https << 5
                       | (uint64_t) s->is_links << 6);
    add_text(&t, s->is_public ? SYM_STR("") : realm->scope);
    add_number(&t, s->url.port);
    add_number(&t, s->rules.layout);
    add_number(&t, s->rules.files);
    add_number(&t, s->rules.ids);
    add_number(&t, s->rules.casing);
    add_number(&t, s->n_patterns);
    for (uint32_t i = 0; i < s->n_patterns; i++) {
        add_text(&t, s->patterns[i]);
    }
    add_number(&t, s->n_headers);
    for (uint32_t i = 0; i < s->n_headers; i++) {
        add_text(&t, s->headers[i].name);
        add_text(&t, s->headers[i].value);
    }
    for (size_t i = SOURCE_FIRST_DIGESTED; i < SOURCE_TEXTS; i++) {
        add_text(&t, *source_text(s, i));
    }

    all = sym_text_end(&t);
    if (out == NULL || all.data == NULL || !sym_sha256(all, &digest)) {
        return source_no_memory(r);
    }

    sym_wipe(t.data, t.len);

    sym_sha256_hex(&digest, hex);
    memcpy(out, SYM_REQUEST_SOURCE_PREFIX, SYM_REQUEST_SOURCE_PREFIX_LEN);
    memcpy(out + SYM_REQUEST_SOURCE_PREFIX_LEN, hex,
           SYM_REQUEST_SOURCE_SCOPE_LEN - SYM_REQUEST_SOURCE_PREFIX_LEN);

    s->scope = sym_str(out, SYM_REQUEST_SOURCE_SCOPE_LEN);
    return true;
}
