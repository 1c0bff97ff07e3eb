#include "artifacts/artifact_file.h"

#include <libdeflate.h>
#include <string.h>

#include "base/cursor.h"
#include "base/little.h"
#include "object/object_ref.h"

#define MAGIC_BYTES 6

static const char magic[MAGIC_BYTES] = { 'S', 'Y', 'M', 'A', 'R', 'T' };

/* Bits of `flags`. */
#define FLAG_NAMELESS 1u
#define FLAGS FLAG_NAMELESS

/* Limit on the bytes of a text; the longest is a reason. */
#define TEXT_MAX 512
#define TEXTS 6

/* Bytes that are the same in all versions of the layout: how far the artifact
 * goes is known in each of them. */
#define FRAME_BYTES 16

/* Bytes before the texts, and after them. */
#define FIXED_BYTES 52
#define CHECKSUM_BYTES 4

static const char other_version[] =
    "an artifact of another version of symloader";


bool
sym_artifact_file_is(const uint8_t *data, size_t len)
{
    return len >= MAGIC_BYTES && memcmp(data, magic, MAGIC_BYTES) == 0;
}


static uint32_t
checksum(const void *data, size_t len)
{
    return libdeflate_crc32(0, data, len);
}


size_t
sym_artifact_file_write(const sym_artifact_file_t *file,
                        char out[SYM_ARTIFACT_HEAD_MAX])
{
    const sym_str_t texts[TEXTS] = { file->kind != NULL
                                         ? sym_cstr(file->kind->name)
                                         : SYM_STR(""),
                                     file->name,
                                     file->debug_id,
                                     file->code_id,
                                     file->digest,
                                     file->reason };
    size_t need = FIXED_BYTES + CHECKSUM_BYTES;
    uint8_t *at = (uint8_t *) out;

    for (size_t i = 0; i < TEXTS; i++) {
        need += 2 + texts[i].len;
        if (texts[i].len > TEXT_MAX || need > SYM_ARTIFACT_HEAD_MAX) {
            return 0;
        }
    }

    memcpy(at, magic, MAGIC_BYTES);
    sym_put16(at + 6, SYM_ARTIFACT_FILE_VERSION);
    sym_put64(at + 8,
              need + file->bytes
                  + (uint64_t) SYM_ARTIFACT_EXTENT_HEAD * file->extents);
    sym_put32(at + 16, file->kind_version);
    sym_put32(at + 20, file->quality);
    sym_put32(at + 24, file->is_nameless ? FLAG_NAMELESS : 0);
    sym_put32(at + 28, file->extents);
    sym_put64(at + 32, file->source_bytes);
    sym_put32(at + 40, file->features);
    sym_put32(at + 44, file->lacks);
    sym_put32(at + 48, file->reader);
    at += FIXED_BYTES;

    for (size_t i = 0; i < TEXTS; i++) {
        sym_put16(at, (uint32_t) texts[i].len);
        at += 2;
        if (texts[i].len != 0) {
            memcpy(at, texts[i].data, texts[i].len);
            at += texts[i].len;
        }
    }

    need -= CHECKSUM_BYTES;
    sym_put32(at, checksum(out, need));
    return need + CHECKSUM_BYTES;
}


void
sym_artifact_file_extent(const uint8_t *data, size_t len,
                         char out[SYM_ARTIFACT_EXTENT_HEAD])
{
    sym_put32((uint8_t *) out, (uint32_t) len);
    sym_put32((uint8_t *) out + 4, checksum(data, len));
}


static sym_str_t
take_text(sym_cursor_t *c)
{
    size_t len = sym_u16(c);

    if (len > TEXT_MAX) {
        sym_cursor_fail(c, SYM_MALFORMED, "a text is too long");
        return SYM_STR("");
    }

    return sym_bytes(c, len);
}


static void
check(sym_cursor_t *c, sym_artifact_file_t *file, sym_str_t kind)
{
    if (!sym_utf8_valid(kind) || !sym_utf8_valid(file->reason)) {
        sym_cursor_fail(c, SYM_MALFORMED, "a text is not UTF-8");
    } else if (kind.len == 0 && file->extents == 0 && sym_left(c) == 0) {
        file->unread = "it has no artifacts, only what a file lacks";
    } else if (file->extents == 0 || file->extents > SYM_EXTENTS_LIMIT) {
        sym_cursor_fail(c, SYM_MALFORMED, "no artifact has so many extents");
    } else if (file->digest.len != 0
               && file->digest.len != SYM_REF_DIGEST_BYTES) {
        sym_cursor_fail(c, SYM_MALFORMED, "no digest has this length");
    } else if (file->kind == NULL) {
        file->unread = "an unknown kind of artifact";
    } else if (!sym_kind_reads(file->kind->kind, file->kind_version)) {
        file->unread = other_version;
    }
}


/* Reads the rest of a head of this version of the layout. */
static void
take_head(sym_cursor_t *c, sym_artifact_file_t *file)
{
    sym_str_t kind;
    uint32_t quality, flags, features, sum;

    file->kind_version = sym_u32(c);
    quality = sym_u32(c);
    flags = sym_u32(c);
    file->extents = sym_u32(c);
    file->source_bytes = sym_u64(c);
    features = sym_u32(c);
    if (quality > UINT8_MAX || (flags & ~FLAGS) != 0
        || (features & ~SYM_FEATURES) != 0)
    {
        sym_cursor_fail(c, SYM_MALFORMED,
                        "a quality or flags that no artifact has");
    }

    file->quality = (uint8_t) quality;
    file->features = (uint16_t) features;
    file->is_nameless = (flags & FLAG_NAMELESS) != 0;
    file->lacks = sym_u32(c);
    file->reader = sym_u32(c);
    kind = take_text(c);
    file->kind = sym_kind_named(kind);
    file->name = take_text(c);
    file->debug_id = take_text(c);
    file->code_id = take_text(c);
    file->digest = take_text(c);
    file->reason = take_text(c);
    sum = checksum(c->start, (size_t) (c->pos - c->start));

    if (sym_u32(c) != sum && sym_ok(c)) {
        sym_cursor_fail(c, SYM_DAMAGED, "the checksum of its head is wrong");
    }

    if (sym_ok(c)) {
        check(c, file, kind);
    }
}


sym_status_t
sym_artifact_file_read(sym_str_t *data, sym_artifact_file_t *file,
                       sym_str_t *extents, sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(data->data, data->len, "artifact", err);
    uint32_t version;
    uint64_t len;

    *file = (sym_artifact_file_t){ .kind = NULL };
    if (!sym_artifact_file_is((const uint8_t *) data->data, data->len)) {
        sym_cursor_fail(&c, SYM_MALFORMED,
                        "bytes that are no artifact follow the last one");
    }

    (void) sym_bytes(&c, MAGIC_BYTES);
    version = sym_u16(&c);
    len = sym_u64(&c);
    if (sym_ok(&c) && len < FRAME_BYTES) {
        sym_cursor_fail(&c, SYM_MALFORMED, "no artifact is so short");
    }

    c = sym_cursor(data->data, data->len, "artifact", err);
    c = sym_take(&c, len);
    (void) sym_bytes(&c, FRAME_BYTES);
    if (version == SYM_ARTIFACT_FILE_VERSION) {
        take_head(&c, file);
    } else {
        file->unread = other_version;
    }

    if (!sym_ok(&c)) {
        return err->status;
    }

    *extents = sym_str((const char *) c.pos, sym_left(&c));
    *data = sym_str(data->data + len, data->len - (size_t) len);
    return SYM_OK;
}


sym_status_t
sym_artifact_file_extents(sym_str_t rest, uint64_t offset,
                          sym_extent_view_t *extents, uint32_t n,
                          sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(rest.data, rest.len, "artifact", err);

    for (uint32_t i = 0; i < n && sym_ok(&c); i++) {
        uint32_t len = sym_u32(&c), sum = sym_u32(&c);
        sym_str_t bytes;

        if (len > SYM_EXTENT_MAX) {
            sym_cursor_fail(&c, SYM_MALFORMED, "an extent is too long");
        }

        bytes = sym_bytes(&c, len);
        if (sym_ok(&c) && checksum(bytes.data, bytes.len) != sum) {
            sym_cursor_fail(&c, SYM_DAMAGED,
                            "the checksum of an extent is wrong");
        }

        extents[i] =
            (sym_extent_view_t){ (const uint8_t *) bytes.data, bytes.len };
    }

    if (sym_ok(&c) && sym_left(&c) != 0) {
        sym_cursor_fail(&c, SYM_MALFORMED, "more bytes after the last extent");
    }

    if (!sym_ok(&c)) {
        err->offset += offset;
    }

    return err->status;
}
