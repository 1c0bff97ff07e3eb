#include "formats/pdb/pdb.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "formats/pdb/le.h"

/* Streams of fixed numbers */
#define STREAM_INFO 1
#define STREAM_TPI 2
#define STREAM_DBI 3
#define STREAM_IPI 4

/* LLVM: PdbStream.rst, "Stream Header": version, signature, age, GUID */
#define INFO_BYTES 28
#define GUID_AT 12
#define FEATURE_FASTLINK 0x494e494du /* "MINI" */

/* LLVM: DbiStream.rst, "Stream Header" */
#define DBI_BYTES 64
#define DBI_SIGNATURE UINT32_MAX

/* LLVM: DbiStream.rst, "Module Info Substream": bytes before the two names */
#define MODULE_BYTES 64
#define MODULE_SERVER_AT 33 /* high byte of the flags */
#define MODULE_STREAM_AT 34
#define MODULE_SYMBOLS_AT 36
#define MODULE_C11_AT 40
#define MODULE_C13_AT 44

/* LLVM: DbiStream.rst, "Optional Debug Header Stream": u16 stream numbers */
#define HEADER_OMAP 4 /* OMAP from linked addresses */
#define HEADER_FPO 0
#define HEADER_FRAMES 9
#define HEADER_SECTIONS 5
#define HEADER_LINKED_SECTIONS 10 /* before OMAP */

/* LLVM: PDBStringTable: signature, version, bytes */
#define NAMES_SIGNATURE 0xeffeeffeu
#define NAMES_BYTES 12

/* The part of the header that also PDBs without a table of stream names
 * have. */
typedef struct {
    uint32_t age;
    uint32_t symbols, names, srcsrv; /* streams */
    sym_cursor_t modules, headers;
    bool has_type_servers;
} opening_t;


static sym_status_t
read_stream(sym_pdb_t *pdb, unsigned which, uint32_t stream, sym_error_t *err)
{
    return sym_msf_read(&pdb->msf, stream, &pdb->copies[which],
                        &pdb->streams[which], err);
}


/* --- the info stream: id, names of streams, features --- */

/* The text up to its NUL. */
static sym_str_t
text_at(sym_str_t texts, uint32_t offset)
{
    const char *at, *end;

    if (offset >= texts.len) {
        return SYM_STR("");
    }

    at = texts.data + offset;
    end = memchr(at, '\0', texts.len - offset);
    return end != NULL ? sym_str(at, (size_t) (end - at)) : SYM_STR("");
}


/* Skips a bit vector: the number of words, then the words. */
static void
pass_bits(sym_cursor_t *c)
{
    (void) sym_take(c, (uint64_t) sym_u32(c) * 4);
}


/* LLVM: HashTable.rst.  Entries are contiguous, so the bits that mark their
 * buckets are not needed. */
static void
read_stream_names(sym_cursor_t *c, opening_t *o)
{
    const sym_str_t texts = sym_bytes(c, sym_u32(c));
    const uint32_t n = sym_u32(c);

    (void) sym_u32(c); /* capacity */
    pass_bits(c);      /* bits of entries that are present */
    pass_bits(c);      /* bits of deleted entries */

    for (uint32_t i = 0; i < n && sym_ok(c); i++) {
        const sym_str_t name = text_at(texts, sym_u32(c));
        const uint32_t stream = sym_u32(c);

        if (sym_str_eq(name, SYM_STR("/names"))) {
            o->names = stream;
        } else if (sym_str_eq(name, SYM_STR("srcsrv"))) {
            o->srcsrv = stream;
        }
    }
}


static sym_status_t
read_info(sym_pdb_t *pdb, opening_t *o, sym_error_t *err)
{
    sym_cursor_t c;
    const uint8_t *guid;

    if (read_stream(pdb, SYM_PDB_INFO, STREAM_INFO, err) != SYM_OK) {
        return err->status;
    }

    c = sym_cursor(pdb->streams[SYM_PDB_INFO].data,
                   pdb->streams[SYM_PDB_INFO].len, "PDB stream", err);
    guid = c.start;
    if (sym_take(&c, INFO_BYTES).err->status != SYM_OK) {
        return err->status;
    }

    guid += GUID_AT;

    o->age = sym_le32(c.start + GUID_AT - 4);
    sym_debug_id_of_build_id(guid, SYM_UUID_BYTES, false, &pdb->id);
    read_stream_names(&c, o);

    while (sym_ok(&c) && sym_left(&c) >= 4) {
        if (sym_u32(&c) == FEATURE_FASTLINK) {
            return sym_fail(err, SYM_UNSUPPORTED,
                            "made by /DEBUG:FASTLINK: the symbols are in the "
                            "object files (mspdbcmf makes a full PDB)");
        }
    }

    return err->status;
}


/* --- the DBI stream --- */

static sym_status_t
read_dbi(sym_pdb_t *pdb, opening_t *o, sym_error_t *err)
{
    sym_cursor_t c;
    uint32_t sizes[6], headers;

    if (read_stream(pdb, SYM_PDB_DBI, STREAM_DBI, err) != SYM_OK) {
        return err->status;
    }

    c = sym_cursor(pdb->streams[SYM_PDB_DBI].data,
                   pdb->streams[SYM_PDB_DBI].len, "DBI stream", err);
    if (sym_left(&c) == 0) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the PDB has types only, no symbols");
    }

    if (sym_left(&c) >= DBI_BYTES && sym_u32(&c) != DBI_SIGNATURE) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the DBI stream is older than that of Visual C++ 5");
    }

    (void) sym_u32(&c); /* version */
    pdb->id.age = sym_u32(&c);
    (void) sym_u32(&c); /* global symbols; build */
    (void) sym_u32(&c); /* public symbols; version of mspdb */
    o->symbols = sym_u16(&c);
    (void) sym_u16(&c);

    for (size_t i = 0; i < 5; i++) {
        sizes[i] = sym_u32(&c); /* modules, contributions, map, files, types */
    }

    (void) sym_u32(&c); /* type server */
    headers = sym_u32(&c);
    sizes[5] = sym_u32(&c); /* edit and continue */
    (void) sym_u16(&c);     /* flags */
    pdb->machine = sym_u16(&c);
    (void) sym_u32(&c);

    o->modules = sym_take(&c, sizes[0]);
    for (size_t i = 1; i < 6; i++) {
        (void) sym_take(&c, sizes[i]);
    }

    o->headers = sym_take(&c, headers);
    o->has_type_servers = sizes[4] != 0;
    return err->status;
}


static void
align(sym_cursor_t *c)
{
    const size_t left = sym_left(c), over = (size_t) (c->pos - c->start) % 4;

    (void) sym_take(c, over == 0 || left < 4 - over ? 0 : 4 - over);
}


static sym_str_t
read_text(sym_cursor_t *c)
{
    const uint8_t *begin = c->pos, *end = memchr(begin, '\0', sym_left(c));

    if (end == NULL) {
        sym_cursor_fail(c, SYM_MALFORMED, "name without an end");
        return SYM_STR("");
    }

    c->pos = end + 1;
    return sym_str((const char *) begin, (size_t) (end - begin));
}


static sym_status_t
add_module(sym_pdb_t *pdb, const opening_t *o, const uint8_t *at,
           sym_str_t name, size_t *room, uint64_t *left, sym_error_t *err)
{
    const sym_pdb_module_t m = {
        .name = name,
        .stream = sym_le16(at + MODULE_STREAM_AT),
        .symbol_bytes = sym_le32(at + MODULE_SYMBOLS_AT),
        .c11_bytes = sym_le32(at + MODULE_C11_AT),
        .c13_bytes = sym_le32(at + MODULE_C13_AT),
        /* /PDBTYPE:SEPT (microsoft-pdb: dbi.h, iTSM); 0 means this PDB */
        .has_type_server = o->has_type_servers && at[MODULE_SERVER_AT] != 0,
    };
    const uint32_t size = sym_msf_size(&pdb->msf, m.stream);
    sym_pdb_module_t *modules;

    if (m.stream == SYM_MSF_NO_STREAM || size == 0) {
        return SYM_OK; /* the linker's own module, or a stripped one */
    }

    /* no two modules share a stream */
    if (size > *left) {
        return sym_fail(err, SYM_MALFORMED,
                        "the modules have more bytes than the file");
    }

    *left -= size;
    modules = sym_array_grow(pdb->modules, room, pdb->n_modules + 1,
                             sizeof(*modules));
    if (modules == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for a list of modules");
    }

    pdb->modules = modules;
    pdb->modules[pdb->n_modules++] = m;
    pdb->has_type_servers = pdb->has_type_servers || m.has_type_server;
    return SYM_OK;
}


static sym_status_t
list_modules(sym_pdb_t *pdb, opening_t *o, sym_error_t *err)
{
    sym_cursor_t *c = &o->modules;
    uint64_t left = pdb->msf.file.len;
    size_t room = 0;

    c->section = "DBI modules";
    while (sym_ok(c) && sym_left(c) >= MODULE_BYTES) {
        const uint8_t *at = c->pos;
        sym_str_t name;

        (void) sym_take(c, MODULE_BYTES);
        name = read_text(c);
        (void) read_text(c); /* path of the object file or library */
        align(c);

        if (sym_ok(c)
            && add_module(pdb, o, at, name, &room, &left, err) != SYM_OK) {
            return err->status;
        }
    }

    return err->status;
}


/* --- other streams --- */

static uint32_t
header_stream(const opening_t *o, size_t which)
{
    const sym_cursor_t *c = &o->headers;

    return sym_left(c) / 2 > which ? sym_le16(c->pos + 2 * which)
                                   : SYM_MSF_NO_STREAM;
}


static sym_status_t
read_addresses(sym_pdb_t *pdb, const opening_t *o, sym_error_t *err)
{
    const uint32_t linked = header_stream(o, HEADER_LINKED_SECTIONS);
    uint32_t sections = header_stream(o, HEADER_SECTIONS);

    if (linked != SYM_MSF_NO_STREAM && sym_msf_size(&pdb->msf, linked) != 0) {
        sections = linked;
    }

    if (read_stream(pdb, SYM_PDB_SECTIONS, sections, err) != SYM_OK
        || read_stream(pdb, SYM_PDB_OMAP, header_stream(o, HEADER_OMAP), err)
               != SYM_OK)
    {
        return err->status;
    }

    pdb->addresses = (sym_pdb_addresses_t){ pdb->streams[SYM_PDB_SECTIONS],
                                            pdb->streams[SYM_PDB_OMAP] };
    return pdb->addresses.sections.len != 0
               ? SYM_OK
               : sym_fail(err, SYM_UNSUPPORTED,
                          "the PDB does not say where the sections are: it "
                          "belongs to no executable");
}


static sym_status_t
read_names(sym_pdb_t *pdb, const opening_t *o, sym_error_t *err)
{
    sym_cursor_t c;

    if (read_stream(pdb, SYM_PDB_NAMES, o->names, err) != SYM_OK
        || pdb->streams[SYM_PDB_NAMES].len == 0)
    {
        return err->status;
    }

    c = sym_cursor(pdb->streams[SYM_PDB_NAMES].data,
                   pdb->streams[SYM_PDB_NAMES].len, "PDB names", err);
    if (sym_left(&c) >= NAMES_BYTES && sym_u32(&c) != NAMES_SIGNATURE) {
        sym_cursor_fail(&c, SYM_MALFORMED, "signature of the names");
    }

    (void) sym_u32(&c); /* version of the hash */
    pdb->names = sym_bytes(&c, sym_u32(&c));
    return err->status;
}


/* If the hash stream is missing, a type stream is read more slowly, and the
 * first of several definitions of a class wins. */
static sym_pdb_type_stream_t
with_hashes(sym_pdb_t *pdb, unsigned which, unsigned hashes, sym_error_t *err)
{
    const sym_str_t records = pdb->streams[which];
    sym_error_t damage = { 0 };

    if (read_stream(pdb, hashes, sym_pdb_hash_stream(records), &damage)
        == SYM_NOMEM)
    {
        *err = damage;
    }

    return (sym_pdb_type_stream_t){ records, pdb->streams[hashes] };
}


static sym_status_t
read_types(sym_pdb_t *pdb, const sym_thread_pool_t *pool, sym_error_t *err)
{
    sym_pdb_type_stream_t tpi, ipi;

    if (read_stream(pdb, SYM_PDB_TPI, STREAM_TPI, err) != SYM_OK
        || read_stream(pdb, SYM_PDB_IPI, STREAM_IPI, err) != SYM_OK)
    {
        return err->status;
    }

    tpi = with_hashes(pdb, SYM_PDB_TPI, SYM_PDB_TPI_HASHES, err);
    ipi = with_hashes(pdb, SYM_PDB_IPI, SYM_PDB_IPI_HASHES, err);
    return err->status != SYM_OK
               ? err->status
               : sym_pdb_types_open(&pdb->types, &tpi, &ipi, pool, err);
}


static sym_status_t
read_streams(sym_pdb_t *pdb, const opening_t *o, sym_error_t *err)
{
    pdb->frame_stream = header_stream(o, HEADER_FRAMES);
    pdb->fpo_stream = header_stream(o, HEADER_FPO);

    if (read_addresses(pdb, o, err) == SYM_OK
        && read_names(pdb, o, err) == SYM_OK
        && read_stream(pdb, SYM_PDB_SYMBOLS, o->symbols, err) == SYM_OK)
    {
        (void) read_stream(pdb, SYM_PDB_SRCSRV, o->srcsrv, err);
    }

    return err->status;
}


sym_status_t
sym_pdb_open(sym_pdb_t *pdb, sym_str_t file, const sym_thread_pool_t *pool,
             sym_error_t *err)
{
    opening_t o = { .names = SYM_MSF_NO_STREAM, .srcsrv = SYM_MSF_NO_STREAM };

    *pdb = (sym_pdb_t){ 0 };

    if (sym_msf_open(&pdb->msf, file, err) != SYM_OK
        || read_info(pdb, &o, err) != SYM_OK || read_dbi(pdb, &o, err) != SYM_OK
        || list_modules(pdb, &o, err) != SYM_OK
        || read_streams(pdb, &o, err) != SYM_OK)
    {
        return err->status;
    }

    return read_types(pdb, pool, err);
}


void
sym_pdb_close(sym_pdb_t *pdb)
{
    sym_pdb_types_close(&pdb->types);
    for (size_t i = 0; i < SYM_PDB_STREAMS; i++) {
        sym_buffer_free(&pdb->copies[i]);
    }
    free(pdb->modules);
    sym_msf_close(&pdb->msf);
}


sym_status_t
sym_pdb_module_read(const sym_pdb_t *pdb, const sym_pdb_module_t *m,
                    sym_buffer_t *copy, sym_str_t *symbols, sym_str_t *c13,
                    sym_error_t *err)
{
    const uint64_t at = (uint64_t) m->symbol_bytes + m->c11_bytes;
    sym_str_t all;

    if (sym_msf_read(&pdb->msf, m->stream, copy, &all, err) != SYM_OK) {
        return err->status;
    }

    if (at > all.len || m->c13_bytes > all.len - at) {
        return sym_fail(err, SYM_TRUNCATED,
                        "a module has more bytes than its stream");
    }

    *symbols = sym_str(all.data, m->symbol_bytes);
    *c13 = sym_str(all.data + at, m->c13_bytes);
    return SYM_OK;
}


sym_str_t
sym_pdb_name(const sym_pdb_t *pdb, uint32_t offset)
{
    return text_at(pdb->names, offset);
}


const char *
sym_pdb_arch(const sym_pdb_t *pdb)
{
    switch (pdb->machine) { /* PE/COFF, 3.3.1 */
    case 0x014c:
        return "x86";
    case 0x8664:
        return "x86_64";
    case 0x01c0:
    case 0x01c2:
    case 0x01c4:
        return "arm";
    case 0xaa64:
    case 0xa641: /* ARM64EC */
    case 0xa64e: /* ARM64X */
        return "arm64";
    default:
        return "";
    }
}
