/*
 * Memory runs out while a PDB is read: each allocation in turn fails.
 */
#include "formats/pdb/read.h"
#include "oom.h"
#include "pdb_file_kit.h"
#include "tap.h"

/* Two modules, one of which names a function by the other's list; lines that
 * are out of order, and streams whose pages are scattered. */
static sym_buffer_t
make_file(void)
{
    static const uint32_t lines[] = { 8, 2, 0, 1, 0x20, 3 };
    static const uint32_t omap[] = { 0x5000, 0x1000, 0x5010, 0x3000 };
    pdb_kit_t k;
    size_t at;

    kit_begin(&k);
    k.has_omap = true;
    for (size_t i = 0; i < 4; i++) {
        kit_put(&k.streams[KIT_OMAP], omap[i], 4);
    }

    for (unsigned i = 0; i < 2; i++) {
        kit_module_begin(&k);
        kit_proc(&k, 0x1110, 0, 0x40, "f");
        kit_site(&k, 0x114d, 0x80000000, "\x0c\x04\x04", 3);
        kit_end(&k, 0x114e);
        kit_end(&k, 0x0006);
        kit_thunk(&k, 0x80, 4, "t");
        kit_end(&k, 0x0006);
        for (unsigned j = 0; j < 2; j++) {
            at = kit_lines(&k, 0x40 - j * 0x40, 0x40);
            kit_block(&k, KIT_FILE_A, lines, 3);
            kit_subsection_end(&k, at);
        }
        KIT_WORDS(&k, 0xf6, 0, 0x80000000, KIT_FILE_B, 50);
        KIT_WORDS(&k, 0xf7, KIT_LIB, 1, 5);
        KIT_WORDS(&k, 0xf8, 5, 0x1001);
        kit_files(&k);
        kit_module_end(&k, i == 0 ? "a.obj" : "lib");
    }
    kit_public(&k, 1, 0x40, "p");
    return kit_file(&k, 512, true);
}


static sym_status_t
read_file(const sym_buffer_t *file, uint64_t *functions, sym_error_t *err)
{
    sym_writer_t *w = sym_writer_create(err);
    sym_pdb_stats_t stats = { 0 };
    sym_pdb_t pdb = { 0 };

    if (w != NULL
        && sym_pdb_open(&pdb, sym_str((const char *) file->data, file->len),
                        NULL, err)
               == SYM_OK)
    {
        (void) sym_pdb_read(&pdb, w, NULL, &stats, err);
    }

    allocations_left = (unsigned long) -1;
    sym_pdb_close(&pdb);
    sym_writer_free(w);
    *functions = stats.functions;
    return err->status;
}


int
main(void)
{
    sym_buffer_t file = make_file();
    sym_status_t rc = SYM_NOMEM;
    uint64_t functions;
    unsigned long n;

    for (n = 0; rc != SYM_OK && n < 300; n++) {
        sym_error_t err = { 0 };

        allocations_left = n;
        rc = read_file(&file, &functions, &err);
        if (rc != SYM_OK) {
            is_status(rc, SYM_NOMEM, &err, "out of memory");
        }
    }

    ok(rc == SYM_OK && functions == 2, "with enough memory it is read");
    ok(n > 30, "many allocations were made to fail");
    sym_buffer_free(&file);
    return done_testing();
}
