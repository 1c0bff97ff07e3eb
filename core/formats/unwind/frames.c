#include "formats/unwind/frames.h"

#include <stdlib.h>

#include "formats/unwind/run.h"

#define SECTION "call frame information"

#define WORK_PER_BYTE 16
#define WORK_MIN ((uint64_t) 1 << 20)

/* Limit on the bytes of expressions, added to the section's own size. */
#define PROGRAMS_MIN ((size_t) 1 << 20)

/* LSB 5.0 Core, 10.5.1 */
#define PE_PCREL 0x10
#define PE_TEXTREL 0x20
#define PE_DATAREL 0x30
#define PE_INDIRECT 0x80


/* --- numbers and addresses --- */

static uint64_t
read_plain(sym_cursor_t *c, unsigned bytes)
{
    return bytes == 8 ? sym_u64(c) : bytes == 2 ? sym_u16(c) : sym_u32(c);
}


uint64_t
sym_frames_number(sym_cursor_t *c, uint8_t format, unsigned address_bytes)
{
    switch (format) {
    case 0x00:
        return read_plain(c, address_bytes);
    case 0x01:
        return sym_uleb(c);
    case 0x02:
        return sym_u16(c);
    case 0x03:
        return sym_u32(c);
    case 0x04:
    case 0x0c:
        return sym_u64(c);
    case 0x09:
        return (uint64_t) sym_sleb(c);
    case 0x0a:
        return (uint64_t) (int16_t) sym_u16(c);
    case 0x0b:
        return (uint64_t) (int32_t) sym_u32(c);
    default:
        sym_cursor_fail(c, SYM_UNSUPPORTED, "an unknown encoding of addresses");
        return 0;
    }
}


uint64_t
sym_frames_address(const sym_frames_t *f, const sym_cie_t *cie, sym_cursor_t *c)
{
    const uint64_t at = f->in->address + (uint64_t) (c->pos - c->start);
    uint64_t value =
        sym_frames_number(c, cie->encoding & 0x0f, cie->address_bytes);

    switch (cie->encoding & 0x70) {
    case 0:
        break;
    case PE_PCREL:
        value += at;
        break;
    case PE_TEXTREL:
        value += f->in->text;
        break;
    case PE_DATAREL:
        value += f->in->data;
        break;
    default:
        sym_cursor_fail(c, SYM_UNSUPPORTED, "an unknown base of addresses");
    }

    if ((cie->encoding & PE_INDIRECT) != 0) {
        sym_cursor_fail(c, SYM_UNSUPPORTED, "addresses are in another section");
    }

    return cie->address_bytes == 4 ? (uint32_t) value : value;
}


/* --- entries --- */

static sym_cursor_t
section_cursor(const sym_frames_t *f, uint64_t offset, sym_error_t *err)
{
    sym_cursor_t c =
        sym_cursor(f->in->bytes.data, f->in->bytes.len, SECTION, err);

    c.is_big_endian = f->in->is_big_endian;
    (void) sym_bytes(&c, offset);
    return c;
}


typedef struct {
    uint64_t offset; /* offset of the entry's length field */
    uint64_t id_at;  /* offset of the field after the length */
    uint64_t id;
    bool is_cie;
    sym_cursor_t c; /* cursor at the bytes after the id */
} entry_t;

/* Reads the next entry.  False: there are no more. */
static bool
next_entry(const sym_frames_t *f, sym_cursor_t *c, entry_t *e)
{
    uint64_t len;
    unsigned bytes = 4;

    e->offset = (uint64_t) (c->pos - c->start);
    len = sym_u32(c);

    if (len == UINT32_MAX) {
        len = sym_u64(c);
        bytes = 8;
    }

    /* an entry of length 0 ends .eh_frame */
    if (!sym_ok(c) || len == 0) {
        return false;
    }

    e->c = sym_take(c, len);
    e->id_at = (uint64_t) (e->c.pos - e->c.start);
    e->id = f->in->is_eh || bytes == 4 ? sym_u32(&e->c) : sym_u64(&e->c);
    e->is_cie = e->id
                == (f->in->is_eh ? 0
                    : bytes == 4 ? UINT32_MAX
                                 : UINT64_MAX);
    return sym_ok(c);
}


static void
read_augmentation(const sym_frames_t *f, sym_cursor_t *c, sym_str_t letters,
                  sym_cie_t *cie)
{
    sym_cursor_t data;

    cie->has_augmentation = letters.len != 0 && letters.data[0] == 'z';
    if (!cie->has_augmentation) {
        if (letters.len != 0) {
            sym_cursor_fail(c, SYM_UNSUPPORTED, "an unknown augmentation");
        }
        return;
    }

    data = sym_take(c, sym_uleb(c));

    for (size_t i = 1; i < letters.len && sym_ok(c); i++) {
        sym_cie_t personality = *cie;

        switch (letters.data[i]) {
        case 'L':
            (void) sym_u8(&data);
            break;
        case 'P':
            /* the pointer is not followed */
            personality.encoding = sym_u8(&data) & 0x0f;
            (void) sym_frames_address(f, &personality, &data);
            break;
        case 'R':
            cie->encoding = sym_u8(&data);
            break;
        case 'S':
            cie->is_signal = true;
            break;
        case 'B':
        case 'G':
            break;
        default:
            return; /* other data are skipped by their length */
        }
    }
}


static sym_str_t
read_text(sym_cursor_t *c)
{
    const void *end = memchr(c->pos, '\0', sym_left(c));
    sym_str_t s;

    if (end == NULL) {
        sym_cursor_fail(c, SYM_TRUNCATED, "a text without an end");
        return SYM_STR("");
    }

    s = sym_bytes(c, (uint64_t) ((const uint8_t *) end - c->pos));
    (void) sym_u8(c);
    return s;
}


static bool
read_cie(sym_frames_t *f, entry_t *e, sym_cie_t *cie)
{
    sym_cursor_t *c = &e->c;
    const uint8_t version = sym_u8(c);
    const sym_str_t letters = read_text(c);
    sym_frame_run_t *r;

    *cie = (sym_cie_t){ .offset = e->offset,
                        .address_bytes = f->in->is_64bit ? 8 : 4 };

    if (version == 4) {
        cie->address_bytes = sym_u8(c);
        (void) sym_u8(c); /* size of segment selectors */
    }

    if (version == 0 || version == 2 || version > 4
        || (cie->address_bytes != 4 && cie->address_bytes != 8))
    {
        sym_cursor_fail(c, SYM_UNSUPPORTED, "an unknown version of a CIE");
    }

    if (sym_str_eq(letters, SYM_STR("eh"))) {
        (void) read_plain(c, cie->address_bytes);
    }

    cie->code_align = sym_uleb(c);
    cie->data_align = sym_sleb(c);
    cie->ra = version == 1 ? sym_u8(c) : sym_uleb(c);
    read_augmentation(
        f, c, sym_str_eq(letters, SYM_STR("eh")) ? SYM_STR("") : letters, cie);

    r = sym_ok(c) ? calloc(1, sizeof(*r)) : NULL;
    if (r == NULL) {
        return false;
    }

    r->f = f;
    r->cie = cie;
    r->is_initial = true;
    r->rules.is_signal = cie->is_signal;
    sym_frame_run(r, c);
    cie->initial = r->rules;
    free(r);
    return sym_ok(c);
}


static const sym_cie_t *
find_cie(sym_frames_t *f, uint64_t offset, sym_error_t *err)
{
    sym_cursor_t c;
    entry_t e;
    sym_cie_t *cie;

    for (unsigned i = 0; i < SYM_CIES_KEPT; i++) {
        if (f->cies[i].offset == offset) {
            return &f->cies[i];
        }
    }

    c = section_cursor(f, offset, err);
    cie = &f->cies[f->next_cie];
    cie->offset = UINT64_MAX;

    if (!next_entry(f, &c, &e) || !e.is_cie || !read_cie(f, &e, cie)) {
        (void) sym_fail(err, SYM_MALFORMED, "an FDE without a CIE");
        cie->offset = UINT64_MAX;
        return NULL;
    }

    f->next_cie = (f->next_cie + 1) % SYM_CIES_KEPT;
    return cie;
}


static void
read_fde(sym_frames_t *f, entry_t *e, sym_frame_run_t *r, sym_error_t *err)
{
    const uint64_t offset = f->in->is_eh ? e->id_at - e->id : e->id;
    const sym_cie_t *cie =
        f->in->is_eh && e->id > e->id_at ? NULL : find_cie(f, offset, err);
    sym_cursor_t *c = &e->c;
    uint64_t start, size;

    if (cie == NULL) {
        (void) sym_fail(err, SYM_MALFORMED, "an FDE without a CIE");
        return;
    }

    start = sym_frames_address(f, cie, c);
    size = sym_frames_number(c, cie->encoding & 0x0f, cie->address_bytes);

    if (cie->has_augmentation) {
        (void) sym_bytes(c, sym_uleb(c));
    }

    /* linkers leave the entries of functions that they drop */
    if (!sym_ok(c) || size == 0 || size > UINT64_MAX - start
        || (!f->in->is_eh && start == 0))
    {
        return;
    }

    r->f = f;
    r->cie = cie;
    r->rules = cie->initial;
    r->n_states = 0;
    r->location = start;
    r->end = start + size;
    r->is_initial = false;
    sym_frame_run(r, c);

    if (sym_ok(c)) {
        sym_frame_pass_row(r, c, r->end);
    }
}


static void
read_entries(sym_frames_t *f, sym_frame_run_t *r, sym_frames_stats_t *stats)
{
    sym_error_t table = { 0 };
    sym_cursor_t c = section_cursor(f, 0, &table);
    entry_t e;

    while (sym_left(&c) > 0 && f->err->status == SYM_OK) {
        sym_error_t err = { 0 };

        if (!next_entry(f, &c, &e)) {
            /* a terminator in the middle comes from an object file that was
             * linked */
            if (!sym_ok(&c)) {
                break;
            }
            continue;
        }

        if (!e.is_cie) {
            stats->functions++;
            e.c.err = &err;
            read_fde(f, &e, r, &err);
        }

        if (err.status != SYM_OK && stats->broken++ == 0) {
            stats->first_broken = err;
        }
    }

    if (table.status != SYM_OK && stats->broken++ == 0) {
        stats->first_broken = table;
    }
}


sym_status_t
sym_frames_read(const sym_frames_input_t *in, sym_cfi_writer_t *w,
                sym_frames_stats_t *stats, sym_error_t *err)
{
    sym_frames_t *f = calloc(1, sizeof(*f));
    sym_frame_run_t *r = calloc(1, sizeof(*r));

    if (f == NULL || r == NULL) {
        free(f);
        free(r);
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    f->in = in;
    f->arch = sym_unwind_arch(in->arch);
    f->w = w;
    f->work_left = WORK_MIN + WORK_PER_BYTE * in->bytes.len;
    f->err = err;
    sym_arena_init(&f->programs, PROGRAMS_MIN + 4 * in->bytes.len);

    for (unsigned i = 0; i < SYM_CIES_KEPT; i++) {
        f->cies[i].offset = UINT64_MAX;
    }

    if (in->arch != SYM_UNWIND_UNKNOWN) {
        read_entries(f, r, stats);
    }

    sym_arena_drop(&f->programs);
    sym_buffer_free(&f->code);
    free(f);
    free(r);
    return err->status;
}
