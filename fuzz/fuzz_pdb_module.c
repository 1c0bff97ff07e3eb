/*
 * One module's stream of any bytes: u16 bytes of symbols, u16 bytes of line
 * information, then both.  Around it there are two sections, some names, OMAP
 * that moves half of the code, and ids of functions.
 */
#include "check.h"
#include "formats/pdb/read.h"

#define PAGE 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char sections[] = "\0\0\0\0\0\0\0\0\0\x10\0\0\0\x10\0\0\0\0\0\0\0"
                               "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                               "\x20\0\0\x60"
                               "\0\0\0\0\0\0\0\0\0\x10\0\0\0\x20\0\0\0\0\0\0\0"
                               "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                               "\x20\0\0\x60";
static const char omap[] = "\0\x10\0\0\0\x10\0\0\x18\x10\0\0\0\x50\0\0"
                           "\x20\x10\0\0\0\0\0\0\x30\x10\0\0\x30\x10\0\0";
static const char names[] = "\0a.c\0b.h\0lib";

/* Header, then LF_FUNC_IDs 0x1000 to 0x1002. */
static const char ids[] =
    "\x0b\xca\x31\x01\x38\0\0\0\0\x10\0\0\x03\x10\0\0\x30\0\0\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\x0e\0\x01\x16\0\0\0\0\0\0\0\0one\0"
    "\x0e\0\x01\x16\0\0\0\0\0\0\0\0two\0"
    "\x0e\0\x01\x16\0\0\0\0\0\0\0\0six\0";


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t pages[] = { 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0 };
    sym_msf_entry_t entry = { .pages = pages };
    sym_pdb_module_t module = { .name = SYM_STR("lib") };
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    sym_pdb_stats_t stats = { 0 };
    sym_pdb_t pdb = {
        .msf = { .page_size = PAGE, .streams = &entry, .n_streams = 1 },
        .names = sym_str(names, sizeof(names)),
        .modules = &module,
        .n_modules = 1,
        .addresses = { .sections = sym_str(sections, sizeof(sections) - 1) },
    };

    if (size < 4 || size > sizeof(pages) / 4 * PAGE) {
        sym_writer_free(w);
        return 0;
    }

    module.symbol_bytes = (uint32_t) (data[0] | (data[1] & 0x7f) << 8);
    module.c13_bytes = (uint32_t) (data[2] | data[3] << 8);
    if (data[1] >> 7 != 0) {
        pdb.addresses.omap = sym_str(omap, sizeof(omap) - 1);
    }

    pdb.msf.file = sym_str((const char *) data + 4, size - 4);
    entry.size = (uint32_t) size - 4;
    check(sym_pdb_types_open(
              &pdb.types, &(sym_pdb_type_stream_t){ .records = SYM_STR("") },
              &(sym_pdb_type_stream_t){ .records = { ids, sizeof(ids) - 1 } },
              NULL, &err)
          == SYM_OK);
    check(sym_pdb_read(&pdb, w, NULL, &stats, &err) == SYM_OK);
    check(stats.modules == 1 && stats.broken <= 1);

    sym_pdb_types_close(&pdb.types);
    sym_writer_free(w);
    return 0;
}
