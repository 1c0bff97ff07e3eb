/*
 * convert.c - PDBs as a row of the formats.
 */
#include <inttypes.h>

#include "formats/pdb/frames.h"
#include "formats/pdb/read.h"
#include "formats/pdb/srcsrv.h"
#include "formats/symcache.h"

static sym_status_t
read_all(const sym_format_file_t *f, const sym_pdb_t *pdb, sym_writer_t *w,
         sym_error_t *err)
{
    sym_pdb_stats_t stats;
    char text[256];

    /* like Sentry's reader, shows the last of the functions that the linker
     * folded */
    sym_writer_keep_twins(w);
    if (sym_pdb_read(pdb, w, f->services, &stats, err) != SYM_OK) {
        return err->status;
    }

    if (stats.functions == 0 && stats.publics == 0) {
        if (stats.first_broken.status != SYM_OK) {
            return (*err = stats.first_broken).status;
        }

        return sym_fail(err, SYM_UNSUPPORTED, "the PDB names no functions");
    }

    if (stats.broken != 0) {
        f->services->note(
            f->services->ctx,
            "%" PRIu64 " of %" PRIu64 " modules are broken: %s", stats.broken,
            stats.modules,
            sym_error_text(&stats.first_broken, text, sizeof(text)));
    }

    if (pdb->has_type_servers) {
        f->services->note(f->services->ctx,
                          "types of its modules are in other PDBs: "
                          "functions are shown without arguments");
    }

    return SYM_OK;
}


/* Only x86 has frame data.  *w is NULL if no rules are needed. */
static sym_status_t
read_rules(const sym_format_file_t *f, const sym_pdb_t *pdb,
           sym_cfi_writer_t **w, sym_error_t *err)
{
    uint64_t broken = 0;
    sym_status_t rc;

    if (!sym_format_wants(f, SYM_KIND_CFI)
        || !sym_str_eq(sym_cstr(sym_pdb_arch(pdb)), SYM_STR("x86")))
    {
        return SYM_OK;
    }

    *w = sym_cfi_writer_create(SYM_UNWIND_X86, SYM_CFI_FLAG_WINDOWS,
                               f->data.len, err);
    rc = *w == NULL ? err->status : sym_pdb_frames(pdb, *w, &broken, err);

    if (rc == SYM_OK && broken != 0) {
        f->services->note(f->services->ctx,
                          "%" PRIu64 " records of frame data are broken",
                          broken);
    }

    return rc;
}


static sym_status_t
put(const sym_format_file_t *f, const sym_pdb_t *pdb, sym_writer_t *w,
    sym_cfi_writer_t *cfi, sym_error_t *err)
{
    char id[SYM_ID_TEXT_MAX];
    const sym_str_t arch = sym_cstr(sym_pdb_arch(pdb));
    const sym_module_info_t info = {
        .debug_id = { id, sym_debug_id_write_breakpad(&pdb->id, id) },
        .arch = arch,
        .os = SYM_STR("windows"),
        .source_bytes = f->data.len,
        /* public symbols have the linker's names; only x86 has frame data */
        .flags =
            SYM_FLAG_LINKER_NAMES
            | sym_feature_flags(true, true, sym_str_eq(arch, SYM_STR("x86"))),
        .source_server = sym_pdb_version_control(pdb->streams[SYM_PDB_SRCSRV]),
    };

    return sym_format_put_symcache(f, w, cfi, &info, pdb->has_type_servers,
                                   err);
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    sym_writer_t *w = sym_format_writer(f, err);
    sym_status_t rc = w == NULL ? err->status : SYM_OK;
    sym_cfi_writer_t *cfi = NULL;
    sym_pdb_t pdb = { 0 };

    (void) which; /* the file has one object */
    rc =
        rc != SYM_OK ? rc : sym_pdb_open(&pdb, f->data, f->services->pool, err);
    rc = rc != SYM_OK ? rc : read_rules(f, &pdb, &cfi, err);
    if (rc == SYM_OK && sym_format_wants(f, SYM_KIND_SYMCACHE)) {
        rc = read_all(f, &pdb, w, err);
    }

    sym_format_release(f->services, f->data); /* the writer has copied the
                                                 data */
    rc = rc != SYM_OK ? rc : put(f, &pdb, w, cfi, err);

    sym_pdb_close(&pdb);
    sym_cfi_writer_free(cfi);
    sym_writer_free(w);
    return rc;
}


const sym_format_t sym_format_pdb = {
    .title = "PDB",
    .probe = sym_msf_is,
    .is_wanted = sym_msf_is,
    .is_nameless = true,
    .convert = convert,
};
