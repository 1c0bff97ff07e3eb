/*
 * A PDB of any bytes, converted to a symcache.
 */
#include "check.h"
#include "formats/pdb/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sym_status_t
drop_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
            sym_error_t *err)
{
    (void) ctx;
    (void) number;
    (void) err;
    check(data != NULL && len <= SYM_EXTENT_MAX);
    return SYM_OK;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    sym_pdb_stats_t stats = { 0 };
    sym_pdb_t pdb = { 0 };

    sym_writer_keep_twins(w);
    if (sym_pdb_open(&pdb, sym_str((const char *) data, size), NULL, &err)
            == SYM_OK
        && sym_pdb_read(&pdb, w, NULL, &stats, &err) == SYM_OK)
    {
        check(sym_writer_finish(w, &(sym_module_info_t){ 0 }, drop_extent, NULL,
                                NULL)
              == SYM_OK);
        check(stats.broken <= stats.modules);
        check(stats.broken == 0 || stats.first_broken.what != NULL);
    }

    check(err.status != SYM_NOMEM);
    check((err.status == SYM_OK) == (err.what == NULL));
    sym_pdb_close(&pdb);
    sym_writer_free(w);
    return 0;
}
