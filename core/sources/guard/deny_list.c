#include "sources/guard/deny_list.h"

#include <string.h>

#define RING (SYM_DENY_BUCKETS + 1)
#define KEY_VERSION "ngx_symbolicate denied host 1"
#define KEY_TEXT_MAX                                                           \
    (sizeof(KEY_VERSION) + SYM_SHA256_LEN + 8 + SYM_URL_HOST_MAX)


bool
sym_deny_key(const sym_sha256_t *realm, const sym_url_t *url, sym_sha256_t *key)
{
    char text[KEY_TEXT_MAX];
    char *p = text;

    if (url->host.len > SYM_URL_HOST_MAX) {
        return false;
    }

    memcpy(p, KEY_VERSION, sizeof(KEY_VERSION));
    p += sizeof(KEY_VERSION);
    memcpy(p, realm->bytes, SYM_SHA256_LEN);
    p += SYM_SHA256_LEN;
    *p++ = url->is_https ? 's' : 'p';
    *p++ = (char) (uint8_t) (url->port >> 8);
    *p++ = (char) (uint8_t) (url->port & 0xff);
    memcpy(p, url->host.data, url->host.len);
    p += url->host.len;

    return sym_sha256(sym_str(text, (size_t) (p - text)), key);
}


static bool
is_of(const sym_deny_entry_t *e, const sym_sha256_t *key)
{
    return e->host_len != 0
           && memcmp(e->key.bytes, key->bytes, SYM_SHA256_LEN) == 0;
}


bool
sym_deny_is_blocked(const sym_deny_list_t *list, const sym_sha256_t *key,
                    uint64_t now, sym_deny_cause_t *cause)
{
    for (uint32_t i = 0; i < SYM_DENY_HOSTS; i++) {
        const sym_deny_entry_t *e = &list->entries[i];

        if (is_of(e, key)) {
            size_t len = e->cause_len < SYM_DENY_CAUSE_MAX ? e->cause_len
                                                           : SYM_DENY_CAUSE_MAX;

            *cause = (sym_deny_cause_t){ sym_str(e->cause, len), e->cause_ms };
            return e->blocked_until > now;
        }
    }

    return false;
}


/* Returns the entry of the key, or one that it may take: the unblocked entry
 * with the oldest last failure.  NULL: all are blocked. */
static sym_deny_entry_t *
take_entry(sym_deny_list_t *list, const sym_sha256_t *key, sym_str_t host,
           uint64_t now)
{
    sym_deny_entry_t *oldest = NULL;
    size_t len = host.len < SYM_DENY_HOST_MAX ? host.len : SYM_DENY_HOST_MAX;

    for (uint32_t i = 0; i < SYM_DENY_HOSTS; i++) {
        sym_deny_entry_t *e = &list->entries[i];

        if (is_of(e, key)) {
            return e;
        }

        if (e->blocked_until <= now
            && (oldest == NULL
                || (oldest->host_len != 0
                    && (e->host_len == 0 || e->bucket < oldest->bucket))))
        {
            oldest = e;
        }
    }

    if (oldest == NULL || len == 0) {
        return NULL;
    }

    *oldest = (sym_deny_entry_t){ .key = *key, .host_len = (uint16_t) len };
    memcpy(oldest->host, host.data, len);
    return oldest;
}


/* Clears the buckets since the last failure. */
static void
turn_to(sym_deny_entry_t *e, uint64_t bucket)
{
    uint64_t from = e->bucket + 1;

    if (bucket < e->bucket || bucket - e->bucket >= RING) {
        memset(e->failures, 0, sizeof(e->failures));
        e->bucket = bucket;
        return;
    }

    for (; from <= bucket; from++) {
        e->failures[from % RING] = 0;
    }
    e->bucket = bucket;
}


bool
sym_deny_fail(sym_deny_list_t *list, const sym_deny_rules_t *rules,
              const sym_sha256_t *key, sym_str_t host,
              const sym_deny_cause_t *cause, uint64_t now)
{
    uint64_t width = rules->window_ms / SYM_DENY_BUCKETS;
    uint64_t n = 0;
    sym_deny_entry_t *e;

    if (rules->failures == 0) {
        return false;
    }

    e = take_entry(list, key, host, now);
    if (e == NULL || e->blocked_until > now) {
        return false;
    }

    if (e->blocked_until != 0) {
        /* the host was blocked since, so earlier failures do not count */
        e->blocked_until = 0;
        memset(e->failures, 0, sizeof(e->failures));
    }

    turn_to(e, now / (width != 0 ? width : 1));
    e->failures[e->bucket % RING]++;
    for (uint32_t i = 0; i < RING; i++) {
        n += e->failures[i];
    }

    if (n < rules->failures) {
        return false;
    }

    e->blocked_until = now + rules->block_ms;
    e->cause_ms = cause->ms;
    e->cause_len =
        (uint16_t) (cause->outcome.len < SYM_DENY_CAUSE_MAX ? cause->outcome.len
                                                            : 0);
    memcpy(e->cause, cause->outcome.data, e->cause_len);
    return true;
}


uint32_t
sym_deny_count(const sym_deny_list_t *list, uint64_t now)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < SYM_DENY_HOSTS; i++) {
        n += list->entries[i].blocked_until > now;
    }

    return n;
}


void
sym_deny_write(const sym_deny_list_t *list, uint64_t now, sym_out_t *out)
{
    uint32_t n = 0;

    sym_out_raw(out, SYM_STR("["));
    for (uint32_t i = 0; i < SYM_DENY_HOSTS && n < SYM_DENY_SHOWN; i++) {
        const sym_deny_entry_t *e = &list->entries[i];

        if (e->blocked_until <= now || e->host_len > SYM_DENY_HOST_MAX
            || e->cause_len > SYM_DENY_CAUSE_MAX)
        {
            continue;
        }

        sym_out_raw(out, n++ == 0 ? SYM_STR("{\"host\": ")
                                  : SYM_STR(", {\"host\": "));
        sym_out_string(out, sym_str(e->host, e->host_len));
        sym_out_raw(out, SYM_STR(", \"seconds\": "));
        sym_out_dec(out, (e->blocked_until - now + 999) / 1000);
        sym_out_raw(out, SYM_STR(", \"outcome\": "));
        sym_out_string(out, sym_str(e->cause, e->cause_len));
        sym_out_raw(out, SYM_STR("}"));
    }
    sym_out_raw(out, SYM_STR("]"));
}
