/*
 * debug.c - the debug directory: ids, the name of the PDB, an embedded PDB.
 */
#include "formats/packed/inflate.h"
#include "formats/pe/file.h"

#define ENTRY_BYTES 28 /* IMAGE_DEBUG_DIRECTORY */

/* CodeView entries (Microsoft's old cvinfo.h; LLVM, CodeView.h) */
#define RSDS SYM_STR("RSDS")
#define NB10 SYM_STR("NB10")

/* Version of a CodeView entry whose PDB is portable (dotnet/runtime,
 * PE-COFF.md). */
#define MINOR_PORTABLE 0x504d

#define EMBEDDED "embedded portable PDB"
#define EMBEDDED_MAGIC SYM_STR("MPDB")
#define EMBEDDED_HEAD 8


bool
sym_pe_debug(const sym_pe_t *pe, size_t i, sym_pe_debug_t *entry)
{
    sym_str_t all = sym_pe_directory(pe, SYM_PE_DEBUG);
    sym_error_t none = { 0 };
    sym_cursor_t c = sym_cursor(all.data, all.len, "debug directory", &none);
    uint32_t size, rva, offset;

    if (i >= all.len / ENTRY_BYTES) {
        return false;
    }

    (void) sym_bytes(&c, i * ENTRY_BYTES + 4);
    entry->time_stamp = sym_u32(&c);
    entry->major = sym_u16(&c);
    entry->minor = sym_u16(&c);
    entry->type = sym_u32(&c);
    size = sym_u32(&c);
    rva = sym_u32(&c);
    offset = sym_u32(&c);

    /* an entry has an RVA and a file offset.  In a debug file, whose sections
       have moved, objcopy leaves the offset unchanged */
    entry->bytes = rva != 0 ? sym_pe_at(pe, rva) : sym_pe_raw(pe, offset, size);
    entry->bytes = entry->bytes.len >= size ? sym_str(entry->bytes.data, size)
                                            : SYM_STR("");
    return true;
}


/* The string at the cursor, up to its NUL or the end. */
static sym_str_t
read_path(sym_cursor_t *c)
{
    sym_str_t path = sym_bytes(c, sym_left(c));

    return path.len != 0 ? sym_str(path.data, strnlen(path.data, path.len))
                         : SYM_STR("");
}


/* RSDS: a GUID, whose first three fields are little endian, then age and
 * path. */
static void
read_rsds(sym_cursor_t *c, sym_pe_codeview_t *cv)
{
    sym_str_t guid = sym_bytes(c, SYM_UUID_BYTES);

    sym_debug_id_of_build_id((const uint8_t *) guid.data, guid.len, false,
                             &cv->id);
    cv->id.age = sym_u32(c);
    cv->pdb_file = read_path(c);
}


/* NB10: an offset, which is 0, then time stamp, age and path. */
static void
read_nb10(sym_cursor_t *c, sym_pe_codeview_t *cv)
{
    uint32_t time_stamp;

    (void) sym_u32(c);
    time_stamp = sym_u32(c);
    cv->id = (sym_debug_id_t){ .form = SYM_DEBUG_ID_PDB20, .age = sym_u32(c) };
    for (size_t i = 0; i < 4; i++) {
        cv->id.signature[i] = (uint8_t) (time_stamp >> (24 - 8 * i));
    }
    cv->pdb_file = read_path(c);
}


static bool
read_codeview(const sym_pe_debug_t *entry, sym_pe_codeview_t *cv)
{
    sym_error_t none = { 0 };
    sym_cursor_t c =
        sym_cursor(entry->bytes.data, entry->bytes.len, "CodeView", &none);
    sym_str_t magic = sym_bytes(&c, 4);

    *cv = (sym_pe_codeview_t){ .time_stamp = entry->time_stamp,
                               .is_portable = entry->minor == MINOR_PORTABLE };

    if (sym_str_eq(magic, RSDS)) {
        read_rsds(&c, cv);
    } else if (sym_str_eq(magic, NB10)) {
        read_nb10(&c, cv);
    } else {
        return false;
    }

    return sym_ok(&c);
}


bool
sym_pe_codeview(const sym_pe_t *pe, sym_pe_codeview_t *cv)
{
    sym_pe_debug_t entry;

    for (size_t i = 0; sym_pe_debug(pe, i, &entry); i++) {
        if (entry.type == SYM_PE_DEBUG_CODEVIEW && read_codeview(&entry, cv)) {
            return true;
        }
    }

    return false;
}


void
sym_pe_debug_id(const sym_pe_t *pe, sym_debug_id_t *id)
{
    sym_pe_codeview_t cv;

    *id = (sym_debug_id_t){ .form = SYM_DEBUG_ID_NONE };
    if (sym_pe_codeview(pe, &cv)) {
        *id = cv.id;
        id->age = cv.is_portable ? cv.time_stamp : cv.id.age;
    }
}


size_t
sym_pe_code_id(const sym_pe_t *pe, char out[SYM_ID_TEXT_MAX])
{
    /* a debug id of PDB 2.0 is spelled like a code id, except for the case */
    sym_debug_id_t as_id = { .form = SYM_DEBUG_ID_PDB20,
                             .age = pe->info.size_of_image };
    char text[SYM_ID_TEXT_MAX];
    sym_code_id_t id;

    for (size_t i = 0; i < 4; i++) {
        as_id.signature[i] = (uint8_t) (pe->info.time_stamp >> (24 - 8 * i));
    }

    (void) sym_code_id_read_pe(
        sym_str(text, sym_debug_id_write_breakpad(&as_id, text)), &id);
    return sym_code_id_write_pe(&id, out);
}


/* --- the embedded portable PDB --- */

/* Portable PDB, "Embedded Portable Debug Directory Entry": "MPDB", u32 unpacked
 * size, raw deflate stream. */
static sym_status_t
unpack(sym_pe_t *pe, sym_str_t packed, sym_error_t *err)
{
    uint64_t at = (uint64_t) ((const uint8_t *) packed.data - pe->data);
    sym_cursor_t c = sym_cursor(packed.data, packed.len, EMBEDDED, err);
    uint32_t size;
    uint8_t *out;

    if (packed.len < EMBEDDED_HEAD || !sym_str_starts(packed, EMBEDDED_MAGIC)) {
        return sym_pe_fail(err, SYM_MALFORMED, EMBEDDED, at,
                           "does not begin with MPDB");
    }

    (void) sym_bytes(&c, EMBEDDED_MAGIC.len);
    size = sym_u32(&c);

    if (size > pe->unpacked_left) {
        return sym_pe_fail(err, SYM_LIMIT, EMBEDDED, at + 4,
                           "unpacks to more than is allowed");
    }

    if (size / SYM_INFLATE_RATIO_MAX > sym_left(&c)) {
        return sym_pe_fail(err, SYM_MALFORMED, EMBEDDED, at + 4,
                           "is too short for its length");
    }

    out = sym_arena_alloc(&pe->arena, size);
    if (out == NULL) {
        return sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
    }

    if (sym_inflate_raw(sym_bytes(&c, sym_left(&c)), out, size, err) != SYM_OK)
    {
        err->section = EMBEDDED;
        err->offset += at + EMBEDDED_HEAD;
        return err->status;
    }

    pe->unpacked_left -= size;
    pe->embedded = sym_str((const char *) out, size);
    return SYM_OK;
}


sym_status_t
sym_pe_embedded(sym_pe_t *pe, sym_str_t *pdb, sym_error_t *err)
{
    sym_pe_debug_t entry = { 0 };
    size_t i = 0;

    while (pe->embedded.data == NULL) {
        if (!sym_pe_debug(pe, i++, &entry)) {
            return SYM_NOT_FOUND;
        }

        if (entry.type == SYM_PE_DEBUG_EMBEDDED_PDB && entry.bytes.len != 0
            && unpack(pe, entry.bytes, err) != SYM_OK)
        {
            return err->status;
        }
    }

    *pdb = pe->embedded;
    return SYM_OK;
}
