#include "object/variant.h"

#include "base/sha256.h"

#define MARK '~'

/* No source is sent longer ones. */
#define CHECKSUM_MAX 256

/* The type, and five texts with two bytes of length before each. */
#define N_TEXTS 5
#define PARTS_MAX                                                              \
    (1 + 2 * N_TEXTS + SYM_ID_TEXT_MAX + SYM_CODE_ID_MAX + 2 * SYM_NAME_MAX    \
     + CHECKSUM_MAX)

/* A text that is too long is not sent to a source, nor part of a path. */
static char *
put(char *p, sym_str_t text, size_t max)
{
    size_t len = text.len <= max ? text.len : 0;

    *p++ = (char) (len & 0xff);
    *p++ = (char) (len >> 8);
    if (len != 0) {
        memcpy(p, text.data, len);
    }

    return p + len;
}


/* All that decides which paths a source is asked for, and what it is sent. */
static sym_str_t
parts_of(const sym_object_id_t *object, char out[PARTS_MAX])
{
    char id[SYM_ID_TEXT_MAX], *p = out;
    size_t len = sym_debug_id_write_breakpad(&object->debug_id, id);

    *p++ = (char) object->type;
    p = put(p, sym_str(id, len), sizeof(id));
    p = put(p, sym_str(object->code_id.text, object->code_id.len),
            SYM_CODE_ID_MAX);
    p = put(p, sym_object_file_name(object->debug_file), SYM_NAME_MAX);
    p = put(p, sym_object_file_name(object->code_file), SYM_NAME_MAX);
    p = put(p, object->debug_checksum, CHECKSUM_MAX);
    return sym_str(out, (size_t) (p - out));
}


size_t
sym_variant_of(const sym_object_id_t *object, char out[SYM_VARIANT_LEN])
{
    char parts[PARTS_MAX], digits[SYM_SHA256_HEX_LEN];
    sym_sha256_t digest;

    if (!sym_sha256(parts_of(object, parts), &digest)) {
        return 0;
    }

    sym_sha256_hex(&digest, digits);
    out[0] = MARK;
    memcpy(out + 1, digits, SYM_VARIANT_LEN - 1);
    return SYM_VARIANT_LEN;
}


uint64_t
sym_variant_tag(const sym_object_id_t *object)
{
    const sym_hash_key_t key = sym_hash_key();
    char parts[PARTS_MAX];

    return sym_hash(&key, parts_of(object, parts)) | 1;
}


bool
sym_variant_is_in(sym_str_t id)
{
    return id.len != 0 && id.data[0] == MARK;
}


bool
sym_variant_ok(sym_str_t text)
{
    if (text.len != SYM_VARIANT_LEN || text.data[0] != MARK) {
        return false;
    }

    for (size_t i = 1; i < text.len; i++) {
        char c = text.data[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
    }

    return true;
}
