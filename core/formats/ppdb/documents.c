#include "formats/ppdb/documents.h"

#include "base/language.h"

#define BAD_NAME "not the name of a document"

bool
sym_ppdb_document_is_guid(const sym_ppdb_metadata_t *m, uint32_t index,
                          const uint8_t guid[SYM_PPDB_MD_GUID_BYTES])
{
    const uint8_t *found = sym_ppdb_metadata_guid(m, index);

    return found != NULL && memcmp(found, guid, SYM_PPDB_MD_GUID_BYTES) == 0;
}


uint8_t
sym_ppdb_document_language(const sym_ppdb_metadata_t *m, uint32_t row)
{
    /* 3f5162f8-07c6-11d3-9053-00c04fa302a1,
     * 3a12d0b8-c26c-11d0-b442-00a0244a1dd2,
     * ab4f38c9-b6e6-43ba-be3b-58080b2ccce3 */
    static const struct {
        uint8_t guid[SYM_PPDB_MD_GUID_BYTES];
        uint8_t lang;
    } languages[] = {
        { { 0xf8, 0x62, 0x51, 0x3f, 0xc6, 0x07, 0xd3, 0x11, 0x90, 0x53, 0x00,
            0xc0, 0x4f, 0xa3, 0x02, 0xa1 },
          SYM_LANG_CSHARP },
        { { 0xb8, 0xd0, 0x12, 0x3a, 0x6c, 0xc2, 0xd0, 0x11, 0xb4, 0x42, 0x00,
            0xa0, 0x24, 0x4a, 0x1d, 0xd2 },
          SYM_LANG_VISUALBASIC },
        { { 0xc9, 0x38, 0x4f, 0xab, 0xe6, 0xb6, 0xba, 0x43, 0xbe, 0x3b, 0x58,
            0x08, 0x0b, 0x2c, 0xcc, 0xe3 },
          SYM_LANG_FSHARP },
    };
    uint32_t index = sym_ppdb_metadata_document(m, row).language;

    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
        if (sym_ppdb_document_is_guid(m, index, languages[i].guid)) {
            return languages[i].lang;
        }
    }

    return SYM_LANG_UNKNOWN;
}


static bool
append(char out[SYM_PPDB_PATH_MAX], sym_str_t *path, sym_str_t more)
{
    if (more.len > SYM_PPDB_PATH_MAX - path->len) {
        return false;
    }

    if (more.len != 0) {
        memcpy(out + path->len, more.data, more.len);
        path->len += more.len;
    }

    return true;
}


/* Portable PDB, "Document Name Blob": a separator character (0: none), then the
 * blob offsets of the parts (0: an empty part). */
sym_status_t
sym_ppdb_document_path(const sym_ppdb_metadata_t *m, uint32_t row,
                       char out[SYM_PPDB_PATH_MAX], sym_str_t *path,
                       sym_error_t *err)
{
    const uint32_t offset = sym_ppdb_metadata_document(m, row).name;
    const uint8_t *pos, *end;
    sym_str_t name, separator;

    *path = sym_str(out, 0);
    if (offset == 0) {
        return SYM_OK;
    }

    if (sym_ppdb_metadata_blob(m, offset, &name, err) != SYM_OK) {
        return err->status;
    }

    if (name.len == 0 || (uint8_t) name.data[0] >= 0x80) {
        err->section = SYM_PPDB_MD_BLOBS;
        err->offset = offset;
        return sym_fail(err, SYM_MALFORMED, BAD_NAME);
    }

    separator = sym_str(name.data, name.data[0] != '\0');
    pos = (const uint8_t *) name.data + 1;
    end = pos + name.len - 1;

    for (bool is_first = true; pos < end; is_first = false) {
        sym_str_t part = SYM_STR("");
        uint32_t at;

        if (!sym_ppdb_metadata_unsigned(&pos, end, &at)) {
            err->section = SYM_PPDB_MD_BLOBS;
            err->offset = offset;
            return sym_fail(err, SYM_MALFORMED, BAD_NAME);
        }

        if (at != 0 && sym_ppdb_metadata_blob(m, at, &part, err) != SYM_OK) {
            return err->status;
        }

        if ((!is_first && !append(out, path, separator))
            || !append(out, path, part)) {
            return sym_fail(err, SYM_LIMIT,
                            "the path of a document is too long");
        }
    }

    return SYM_OK;
}
