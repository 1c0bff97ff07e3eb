/*
 * ids.c - the build id and the debug id of a file.
 */
#include "formats/elf/file.h"

#include "base/digits.h"
#include "object/object_id.h"

#define NOTE_BUILD_ID 3 /* NT_GNU_BUILD_ID */
#define GUID_BYTES 16
#define TEXT_BYTES 4096 /* bytes of .text that Breakpad hashes */

/* Notes are aligned by 4, or by 8 if the segment or section says so. */
static uint64_t
padding(uint64_t size, uint64_t align)
{
    return (align - size % align) % align;
}


/*
 * Reads one note: sizes of name and description, type, name, description.  The
 * owner matters, because note 3 of "Xen", which precedes the build id in
 * vmlinux, is not a build id.
 */
static sym_status_t
find_in_notes(const sym_elf_t *e, sym_str_t notes, uint64_t align,
              sym_str_t *id)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_elf_cursor(e, notes, "notes", &err);

    align = align == 8 ? 8 : 4;

    while (sym_left(&c) != 0) {
        uint32_t name_bytes = sym_u32(&c);
        uint32_t id_bytes = sym_u32(&c);
        uint32_t type = sym_u32(&c);
        sym_str_t name = sym_bytes(&c, name_bytes);
        sym_str_t text;

        (void) sym_bytes(&c, padding(12 + (uint64_t) name_bytes, align));
        text = sym_bytes(&c, id_bytes);

        if (sym_ok(&c) && type == NOTE_BUILD_ID
            && sym_str_eq(name, sym_str("GNU", 4)) && text.len != 0
            && text.len <= SYM_BUILD_ID_MAX)
        {
            *id = text;
            return SYM_OK;
        }

        /* the last note need not be padded */
        if (sym_left(&c) != 0) {
            (void) sym_bytes(&c, padding(id_bytes, align));
        }
    }

    return SYM_NOT_FOUND;
}


static sym_status_t
find_in_segments(const sym_elf_t *e, sym_str_t *id)
{
    for (size_t i = 0; i < e->n_segments; i++) {
        const sym_elf_segment_t *p = &e->segments[i];

        /* segments of a separate debug file may refer to bytes that are not in
           it */
        if (p->type == SYM_PT_NOTE && p->offset <= e->len
            && p->file_size <= e->len - p->offset
            && find_in_notes(e,
                             sym_str((const char *) e->data + p->offset,
                                     (size_t) p->file_size),
                             p->align, id)
                   == SYM_OK)
        {
            return SYM_OK;
        }
    }

    return SYM_NOT_FOUND;
}


static sym_status_t
find_in_sections(const sym_elf_t *e, sym_str_t *id)
{
    for (size_t i = 1; i < e->n_sections; i++) {
        const sym_elf_section_t *s = &e->sections[i];
        sym_error_t err = { 0 };
        sym_str_t notes;

        if (s->type == SYM_SHT_NOTE
            && sym_elf_raw(e, s, "notes", &notes, &err) == SYM_OK
            && find_in_notes(e, notes, s->align, id) == SYM_OK)
        {
            return SYM_OK;
        }
    }

    return SYM_NOT_FOUND;
}


/* Searches sections first.  They have the alignment of notes even if segments
 * were joined, and in a separate debug file they are right when segments are
 * not. */
sym_status_t
sym_elf_build_id(const sym_elf_t *e, sym_str_t *id)
{
    if (find_in_sections(e, id) == SYM_OK) {
        return SYM_OK;
    }

    return find_in_segments(e, id);
}


/* Sentry's symbolic swaps bytes by the file's byte order, Breakpad by the
 * host's.  Both agree on little-endian files. */
void
sym_elf_debug_id_of(sym_str_t build_id, bool is_big_endian,
                    char out[SYM_ELF_DEBUG_ID_LEN])
{
    char text[SYM_ID_TEXT_MAX];
    sym_debug_id_t id;

    sym_debug_id_of_build_id((const uint8_t *) build_id.data, build_id.len,
                             is_big_endian, &id);
    memcpy(out, text, sym_debug_id_write_breakpad(&id, text));
}


/* This is exactly what symbolic does.  Breakpad's own code reads beyond a .text
 * that is shorter than a page and not a multiple of 16. */
static void
hash_text(sym_str_t text, uint8_t hash[GUID_BYTES])
{
    size_t n = text.len < TEXT_BYTES ? text.len : TEXT_BYTES;

    memset(hash, 0, GUID_BYTES);
    for (size_t i = 0; i < n; i++) {
        hash[i % GUID_BYTES] ^= (uint8_t) text.data[i];
    }
}


sym_status_t
sym_elf_debug_id(sym_elf_t *e, char out[SYM_ELF_DEBUG_ID_LEN])
{
    uint8_t hash[GUID_BYTES];
    sym_error_t err = { 0 };
    sym_str_t id, text;

    if (sym_elf_build_id(e, &id) == SYM_OK) {
        sym_elf_debug_id_of(id, e->info.is_big_endian, out);
        return SYM_OK;
    }

    if (sym_elf_section(e, ".text", &text, &err) != SYM_OK) {
        return SYM_NOT_FOUND;
    }

    hash_text(text, hash);
    sym_elf_debug_id_of(sym_str((const char *) hash, sizeof(hash)),
                        e->info.is_big_endian, out);
    return SYM_OK;
}


size_t
sym_elf_code_id(sym_str_t build_id, char out[2 * SYM_BUILD_ID_MAX])
{
    size_t n =
        build_id.len < SYM_BUILD_ID_MAX ? build_id.len : SYM_BUILD_ID_MAX;

    return sym_digits_write_lower((const uint8_t *) build_id.data, n, out);
}
