#include "formats/minidump/minidump.h"

#include "base/digits.h"
#include "object/object_id.h"

#define MODULE_BYTES 108
#define UNLOADED_ENTRY_BYTES 24

/* Signatures of CodeView records: "RSDS", "NB10", Breakpad's "LEpB". */
#define CV_PDB70 0x53445352u
#define CV_PDB20 0x3031424eu
#define CV_ELF 0x4270454cu

#define VERSION_INFO_SIGNATURE 0xfeef04bdu
#define VERSION_INFO_VERSION 0x00010000u

static sym_str_t
lower_hex(minidump_t *d, const uint8_t *bytes, size_t n)
{
    char text[2 * SYM_BUILD_ID_MAX];

    if (n > SYM_BUILD_ID_MAX) {
        return SYM_STR("");
    }

    return sym_arena_copy(
        &d->arena, sym_str(text, sym_digits_write_lower(bytes, n, text)));
}


static sym_str_t
debug_id_text(minidump_t *d, const sym_debug_id_t *id)
{
    char text[SYM_ID_TEXT_MAX];

    return sym_arena_copy(&d->arena,
                          sym_str(text, sym_debug_id_write_breakpad(id, text)));
}


/* A text up to its NUL; data NULL: the text is not UTF-8. */
static sym_str_t
narrow_text(sym_cursor_t *c)
{
    sym_str_t text = sym_str((const char *) c->pos, sym_left(c));
    const char *nul = memchr(text.data, '\0', text.len);

    text.len = nul != NULL ? (size_t) (nul - text.data) : text.len;
    text.len = text.len < SYM_CRASH_TEXT_MAX ? text.len : SYM_CRASH_TEXT_MAX;
    return sym_utf8_valid(text) ? text : SYM_STR("");
}


static bool
is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }

    return true;
}


/* A GUID in written order: its first three numbers are stored in the byte order
 * of the file. */
static void
read_guid(sym_cursor_t *c, uint8_t signature[SYM_UUID_BYTES])
{
    uint32_t first = sym_u32(c);
    uint16_t second = sym_u16(c), third = sym_u16(c);

    signature[0] = (uint8_t) (first >> 24);
    signature[1] = (uint8_t) (first >> 16);
    signature[2] = (uint8_t) (first >> 8);
    signature[3] = (uint8_t) first;
    signature[4] = (uint8_t) (second >> 8);
    signature[5] = (uint8_t) second;
    signature[6] = (uint8_t) (third >> 8);
    signature[7] = (uint8_t) third;

    for (unsigned i = 8; i < SYM_UUID_BYTES; i++) {
        signature[i] = sym_u8(c);
    }
}


/* The code id of a PE file. */
static sym_str_t
pe_code_id(minidump_t *d, uint32_t time_stamp, uint64_t size)
{
    return minidump_format(d, "%08x%llx", time_stamp,
                           (unsigned long long) size);
}


static void
read_pdb70(minidump_t *d, sym_cursor_t *c, uint32_t time_stamp,
           sym_crash_module_t *m)
{
    sym_debug_id_t id = { .form = SYM_DEBUG_ID_UUID };
    bool is_apple = d->crash.os == SYM_OS_MACOS || d->crash.os == SYM_OS_IOS;

    read_guid(c, id.signature);
    id.age = sym_u32(c);

    if (!sym_ok(c)) {
        return;
    }

    if (!is_zero(id.signature, SYM_UUID_BYTES)) {
        m->debug_id = debug_id_text(d, &id);
    }

    m->code_id = is_apple ? lower_hex(d, id.signature, SYM_UUID_BYTES)
                          : pe_code_id(d, time_stamp, m->size);
    m->debug_file = narrow_text(c);
}


static void
read_pdb20(minidump_t *d, sym_cursor_t *c, uint32_t time_stamp,
           sym_crash_module_t *m)
{
    sym_debug_id_t id = { .form = SYM_DEBUG_ID_PDB20 };
    uint32_t signature;

    (void) sym_u32(c); /* offset */
    signature = sym_u32(c);
    id.age = sym_u32(c);

    for (unsigned i = 0; i < 4; i++) {
        id.signature[i] = (uint8_t) (signature >> (24 - 8 * i));
    }

    if (sym_ok(c)) {
        m->debug_id = debug_id_text(d, &id);
        m->code_id = pe_code_id(d, time_stamp, m->size);
        m->debug_file = narrow_text(c);
    }
}


static void
read_build_id(minidump_t *d, sym_cursor_t *c, sym_crash_module_t *m)
{
    sym_debug_id_t id;
    size_t n = sym_left(c);

    m->debug_file = m->code_file;
    if (is_zero(c->pos, n)) {
        return; /* a mapped file without code, such as a font */
    }

    sym_debug_id_of_build_id(c->pos, n, d->is_big_endian, &id);
    m->debug_id = debug_id_text(d, &id);
    m->code_id = lower_hex(d, c->pos, n);
}


static void
read_codeview(minidump_t *d, minidump_place_t place, uint32_t time_stamp,
              sym_crash_module_t *m)
{
    sym_error_t unused;
    sym_cursor_t c = minidump_cursor(d, minidump_bytes(d, place), &unused);

    if (place.size == 0) {
        if (d->crash.os == SYM_OS_WINDOWS) {
            m->code_id = pe_code_id(d, time_stamp, m->size);
        }
        return;
    }

    switch (sym_u32(&c)) {
    case CV_PDB70:
        read_pdb70(d, &c, time_stamp, m);
        break;
    case CV_PDB20:
        read_pdb20(d, &c, time_stamp, m);
        break;
    case CV_ELF:
        read_build_id(d, &c, m);
        break;
    default:
        break;
    }
}


/* VS_FIXEDFILEINFO.  For ELF, Breakpad and Crashpad store a number in each
 * word. */
static sym_str_t
read_version(minidump_t *d, sym_cursor_t *c)
{
    uint32_t words[13];

    for (unsigned i = 0; i < 13; i++) {
        words[i] = sym_u32(c);
    }

    if (words[0] != VERSION_INFO_SIGNATURE || words[1] != VERSION_INFO_VERSION)
    {
        return SYM_STR("");
    }

    if (d->crash.os == SYM_OS_WINDOWS || d->crash.os == SYM_OS_MACOS
        || d->crash.os == SYM_OS_IOS)
    {
        return minidump_format(d, "%u.%u.%u.%u", words[2] >> 16,
                               words[2] & 0xffff, words[3] >> 16,
                               words[3] & 0xffff);
    }

    return minidump_format(d, "%u.%u.%u.%u", words[2], words[3], words[4],
                           words[5]);
}


/* False: the module's name cannot be read, so the list cannot be read. */
static bool
read_module(minidump_t *d, sym_cursor_t *c, sym_crash_module_t *m)
{
    uint32_t time_stamp;
    minidump_place_t codeview;

    m->addr = sym_u64(c);
    m->size = sym_u32(c);
    (void) sym_u32(c); /* checksum */
    time_stamp = sym_u32(c);
    m->code_file = minidump_text(d, sym_u32(c));
    m->version = read_version(d, c);
    codeview = minidump_place(c);
    (void) sym_take(c, 24); /* MiscRecord, reserved */

    if (m->size == 0 || m->size > UINT64_MAX - m->addr) {
        m->size = 0; /* omits the module */
        return true;
    }

    if (m->code_file.data == NULL
        || (codeview.size != 0 && minidump_bytes(d, codeview).len < 4))
    {
        return false;
    }

    read_codeview(d, codeview, time_stamp, m);
    return true;
}


static void
read_unloaded(minidump_t *d, uint32_t most)
{
    sym_error_t unused;
    sym_cursor_t c = minidump_cursor(d, d->streams[MINIDUMP_UNLOADED], &unused);
    uint32_t head_bytes = sym_u32(&c), entry_bytes = sym_u32(&c);
    uint32_t n = sym_u32(&c);

    if (head_bytes < 12 || entry_bytes < UNLOADED_ENTRY_BYTES) {
        return;
    }

    (void) sym_take(&c, head_bytes - 12);

    for (uint32_t i = 0; i < n && sym_left(&c) >= entry_bytes; i++) {
        sym_cursor_t entry = sym_take(&c, entry_bytes);
        sym_crash_module_t *m = &d->crash.modules[d->crash.n_modules];
        uint32_t time_stamp;

        if (d->crash.n_modules == most) {
            return;
        }

        m->is_unloaded = true;
        m->addr = sym_u64(&entry);
        m->size = sym_u32(&entry);
        (void) sym_u32(&entry); /* checksum */
        time_stamp = sym_u32(&entry);
        m->code_file = minidump_text(d, sym_u32(&entry));
        m->code_id = pe_code_id(d, time_stamp, m->size);

        if (m->code_file.data != NULL && m->size <= UINT64_MAX - m->addr) {
            d->crash.n_modules++;
        }
    }
}


sym_status_t
minidump_read_modules(minidump_t *d, sym_error_t *err)
{
    sym_error_t unused;
    sym_cursor_t c;
    uint32_t n = minidump_list(d, MINIDUMP_MODULES, MODULE_BYTES, &c, &unused);
    size_t most =
        n + d->streams[MINIDUMP_UNLOADED].len / UNLOADED_ENTRY_BYTES + 1;

    if (n > SYM_CRASH_MODULES_MAX) {
        return sym_fail(err, SYM_LIMIT, "more than 65536 modules");
    }

    most = most < SYM_CRASH_MODULES_MAX ? most : SYM_CRASH_MODULES_MAX;
    d->crash.modules =
        sym_arena_calloc(&d->arena, most, sizeof(*d->crash.modules));
    if (d->crash.modules == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    for (uint32_t i = 0; i < n; i++) {
        sym_crash_module_t *m = &d->crash.modules[d->crash.n_modules];

        *m = (sym_crash_module_t){ .addr = 0 };
        if (!read_module(d, &c, m)) {
            d->crash.n_modules = 0;
            break;
        }
        d->crash.n_modules += m->size != 0;
    }

    read_unloaded(d, (uint32_t) most);
    return d->arena.is_over
               ? sym_fail(err, SYM_LIMIT, "names of modules are too long")
               : SYM_OK;
}
