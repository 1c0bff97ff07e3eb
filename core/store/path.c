#include "store/path.h"

#include "base/sha256.h"
#include "store/bytes.h"
#include "store/tables.h"

#include <libdeflate.h>

#define PATH_VERSION 1
#define PATH_CRC 50

/* These bytes separate the parts of a key; paths do not contain them. */
#define MARK_CUT 1
#define MARK_CHECKSUM 2
#define CONTROL_MAX 0x1f

#define DIGEST_DIGITS ((size_t) 32)
#define CHECKSUM_DIGITS ((size_t) 16)
#define CUT_LEN (PATH_TEXT_MAX - 1 - DIGEST_DIGITS)

#define NODE_HEADER 8

const char *
sym_path_outcome_name(sym_path_outcome_t outcome)
{
    static const char *const names[] = {
        [SYM_PATH_READ] = "read",
        [SYM_PATH_ABSENT] = "absent",
        [SYM_PATH_FAILED] = "failed",
        [SYM_PATH_MALFORMED] = "malformed",
    };

    return names[outcome];
}


/* Reads eight bytes at a time, because each lookup of a place calls it. */
static bool
has_control(sym_str_t path)
{
    const uint64_t ones = UINT64_MAX / 0xff;
    uint64_t found = 0, word;
    size_t i = 0;

    for (; path.len - i >= sizeof(word); i += sizeof(word)) {
        memcpy(&word, path.data + i, sizeof(word));
        found |= (word - ones * (CONTROL_MAX + 1)) & ~word & ones * 0x80;
    }

    for (; i < path.len; i++) {
        found |= (uint8_t) path.data[i] <= CONTROL_MAX;
    }

    return found != 0;
}


/* Returns the first digits of the text's SHA-256; false if libcrypto fails. */
static bool
put_digest(sym_str_t text, size_t digits, char *out)
{
    char hex[SYM_SHA256_HEX_LEN];
    sym_sha256_t digest;

    if (!sym_sha256(text, &digest)) {
        return false;
    }

    sym_sha256_hex(&digest, hex);
    memcpy(out, hex, digits);
    return true;
}


size_t
sym_path_record_key(const sym_path_key_t *key, char out[PATH_KEY_MAX])
{
    bool is_cut = key->path.len > PATH_TEXT_MAX;
    char *p = out;

    if (key->scope.len > SYM_SCOPE_MAX || key->path.len == 0
        || has_control(key->path))
    {
        return 0;
    }

    (void) sym_str_append(&p, key->scope);
    *p++ = '\0';
    (void) sym_str_append(&p, is_cut ? sym_str(key->path.data, CUT_LEN)
                                     : key->path);

    if (is_cut) {
        *p++ = MARK_CUT;
        if (!put_digest(key->path, DIGEST_DIGITS, p)) {
            return 0;
        }
        p += DIGEST_DIGITS;
    }

    if (key->checksum.len != 0) {
        *p++ = MARK_CHECKSUM;
        if (!put_digest(key->checksum, CHECKSUM_DIGITS, p)) {
            return 0;
        }
        p += CHECKSUM_DIGITS;
    }

    return (size_t) (p - out);
}


bool
sym_path_record_key_read(const MDB_val *key, sym_path_shown_t *shown)
{
    sym_str_t all = sym_str(key->mv_data, key->mv_size);
    const char *nul = memchr(all.data, '\0', all.len), *mark;

    *shown = (sym_path_shown_t){ 0 };
    if (all.len > PATH_KEY_MAX || nul == NULL || nul - all.data > SYM_SCOPE_MAX)
    {
        return false;
    }

    shown->scope = sym_str(all.data, (size_t) (nul - all.data));
    shown->path = sym_str(nul + 1, all.len - shown->scope.len - 1);

    mark = memchr(shown->path.data, MARK_CHECKSUM, shown->path.len);
    if (mark != NULL) {
        shown->checksum =
            sym_str(mark + 1, (size_t) (all.data + all.len - mark) - 1);
        shown->path.len = (size_t) (mark - shown->path.data);
        if (shown->checksum.len != CHECKSUM_DIGITS) {
            return false;
        }
    }

    mark = memchr(shown->path.data, MARK_CUT, shown->path.len);
    if (mark != NULL) {
        shown->is_cut = true;
        if (shown->path.len != PATH_TEXT_MAX
            || mark != shown->path.data + CUT_LEN) {
            return false;
        }
        shown->path.len = CUT_LEN;
    }

    return shown->path.len != 0 && shown->path.len <= PATH_TEXT_MAX
           && !has_control(shown->path);
}


/* Computed over the record without the checksum itself. */
static uint32_t
path_crc(const MDB_val *key, const uint8_t *p, size_t len)
{
    uint32_t crc = sym_crc(key->mv_data, key->mv_size, p, PATH_CRC);

    return libdeflate_crc32(crc, p + PATH_FIXED, len - PATH_FIXED);
}


static sym_str_t
cut(sym_str_t text, size_t max)
{
    return sym_str(text.data, text.len < max ? text.len : max);
}


size_t
sym_path_record_write(const MDB_val *key, const sym_path_record_t *r,
                      uint8_t out[PATH_BYTES_MAX])
{
    sym_str_t word = cut(r->word, SYM_PATH_WORD_MAX);
    sym_str_t reason = cut(r->reason, SYM_REASON_MAX);
    sym_str_t url = cut(r->url, SYM_PATH_URL_MAX);
    unsigned n = r->n_ids < SYM_PATH_IDS_MAX ? r->n_ids : SYM_PATH_IDS_MAX;
    uint8_t *p = out;

    p = sym_bytes_put(p, PATH_VERSION, 1);
    p = sym_bytes_put(p, r->outcome, 1);
    p = sym_bytes_put(p, r->status, 2);
    p = sym_bytes_put(p, r->expires_at, 4);
    p = sym_bytes_put(p, (uint64_t) r->stored_at, 8);
    p = sym_bytes_put(p, r->reader, 4);
    p = sym_bytes_put(p, r->tried, 4);
    p = sym_bytes_put(p, r->given, 4);
    p = sym_bytes_put(p, r->ms, 4);
    p = sym_bytes_put(p, r->bytes, 8);
    p = sym_bytes_put(p, r->features, 2);
    p = sym_bytes_put(p, r->artifacts, 2);
    p = sym_bytes_put(p, n, 1);
    p = sym_bytes_put(p, word.len, 1);
    p = sym_bytes_put(p, reason.len, 2);
    (void) sym_bytes_put(p, url.len, 2);

    p = sym_bytes_put_text(out + PATH_FIXED, word);
    p = sym_bytes_put_text(p, reason);
    p = sym_bytes_put_text(p, url);
    for (unsigned i = 0; i < n; i++) {
        *p++ = r->ids[i].form;
        memcpy(p, r->ids[i].bytes, SYM_STORE_ID_BYTES);
        p += SYM_STORE_ID_BYTES;
    }

    sym_crc_put(out + PATH_CRC, path_crc(key, out, (size_t) (p - out)));
    return (size_t) (p - out);
}


/* Reads the texts and ids after the numbers. */
static sym_status_t
read_rest(const MDB_val *val, const uint8_t *p, sym_path_record_t *r)
{
    size_t n = (size_t) sym_bytes_take(&p, 1);
    size_t word = (size_t) sym_bytes_take(&p, 1);
    size_t reason = (size_t) sym_bytes_take(&p, 2);
    size_t url = (size_t) sym_bytes_take(&p, 2);

    if (n > SYM_PATH_IDS_MAX || word > SYM_PATH_WORD_MAX
        || reason > SYM_REASON_MAX || url > SYM_PATH_URL_MAX
        || val->mv_size
               != PATH_FIXED + word + reason + url + n * SYM_STORE_ID_LEN)
    {
        return SYM_DAMAGED;
    }

    p = (const uint8_t *) val->mv_data + PATH_FIXED;
    r->word = sym_bytes_take_text(&p, word);
    r->reason = sym_bytes_take_text(&p, reason);
    r->url = sym_bytes_take_text(&p, url);
    r->n_ids = (unsigned) n;
    for (size_t i = 0; i < n; i++) {
        r->ids[i].form = *p++;
        memcpy(r->ids[i].bytes, p, SYM_STORE_ID_BYTES);
        p += SYM_STORE_ID_BYTES;
    }

    return SYM_OK;
}


sym_status_t
sym_path_record_read(const MDB_val *val, sym_path_record_t *r)
{
    const uint8_t *p = val->mv_data;

    /* clears all fields except ids: only n_ids of them are used */
    memset(r, 0, offsetof(sym_path_record_t, ids));
    if (val->mv_size < PATH_FIXED) {
        return SYM_DAMAGED;
    }

    if (*p++ != PATH_VERSION) {
        return SYM_NOT_FOUND;
    }

    r->outcome = (sym_path_outcome_t) sym_bytes_take(&p, 1);
    r->status = (uint16_t) sym_bytes_take(&p, 2);
    r->expires_at = (uint32_t) sym_bytes_take(&p, 4);
    r->stored_at = (int64_t) sym_bytes_take(&p, 8);
    r->reader = (uint32_t) sym_bytes_take(&p, 4);
    r->tried = (uint32_t) sym_bytes_take(&p, 4);
    r->given = (uint32_t) sym_bytes_take(&p, 4);
    r->ms = (uint32_t) sym_bytes_take(&p, 4);
    r->bytes = sym_bytes_take(&p, 8);
    r->features = (uint16_t) sym_bytes_take(&p, 2);
    r->artifacts = (uint16_t) sym_bytes_take(&p, 2);

    if (r->outcome < SYM_PATH_READ || r->outcome > SYM_PATH_MALFORMED
        || r->stored_at < 0 || r->stored_at > TIME_MAX)
    {
        return SYM_DAMAGED;
    }

    return read_rest(val, p, r);
}


sym_status_t
sym_path_record_check(const MDB_val *key, const MDB_val *val,
                      sym_path_record_t *r)
{
    const uint8_t *p = val->mv_data;
    sym_status_t status = sym_path_record_read(val, r);
    sym_path_shown_t shown;

    if (status == SYM_DAMAGED || !sym_path_record_key_read(key, &shown)) {
        return SYM_DAMAGED;
    }

    return status == SYM_OK
                   && sym_crc_get(p + PATH_CRC)
                          != path_crc(key, p, val->mv_size)
               ? SYM_DAMAGED
               : status;
}


uint64_t
sym_path_record_bytes(const MDB_val *key, const MDB_val *val,
                      const sym_path_record_t *r)
{
    uint64_t node = NODE_HEADER + key->mv_size;
    uint64_t pages = sym_value_pages(val->mv_size);

    /* leaves are assumed half full; a long value has its own pages */
    return r->artifacts != 0 ? 0
           : pages > 1       ? pages * STORE_PAGE + 2 * node
                             : 2 * (node + val->mv_size);
}
