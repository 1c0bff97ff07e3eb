/*
 * dump_ppdb.c - `symloader dump --kind=ppdb`: the lines of all methods.
 */
#include <inttypes.h>

#include "artifacts/ppdb/read/ppdb.h"
#include "base/language.h"
#include "cli/dump.h"

/* A token of the table of methods (ECMA-335, II.22.26). */
#define TOKEN_METHOD 0x06000000u


static void
put_text(output_t *out, uint32_t method, const sym_ppdb_point_t *point,
         const sym_ppdb_document_t *d)
{
    output_printf(out, "0x%" PRIx32 "+0x%" PRIx32 " ", TOKEN_METHOD | method,
                  point->offset);
    output_text(out, d->folder);
    output_text(out, d->name);
    output_printf(out, ":%" PRIu32 "\n", point->line);
}


static void
put_json(output_t *out, uint32_t method, const sym_ppdb_point_t *point,
         const sym_ppdb_document_t *d)
{
    output_printf(out,
                  "{\"method\":\"0x%" PRIx32 "\",\"il_offset\":\"0x%" PRIx32
                  "\",\"file\":\"",
                  TOKEN_METHOD | method, point->offset);
    sym_out_escaped(&out->json, d->folder);
    sym_out_escaped(&out->json, d->name);
    output_printf(out, "\",\"line\":%" PRIu32 ",\"lang\":\"%s\"}\n",
                  point->line, sym_language_name(d->lang));
}


static sym_status_t
put_method(output_t *out, const sym_ppdb_t *p, uint32_t method,
           dump_format_t format)
{
    sym_ppdb_piece_t piece;
    sym_status_t rc = SYM_OK;

    for (uint32_t number = 0; rc == SYM_OK; number++) {
        rc = sym_ppdb_piece(p, method, number, &piece);

        for (uint32_t i = 0; rc == SYM_OK && i < piece.n; i++) {
            sym_ppdb_point_t point = sym_ppdb_point(&piece, i);
            sym_ppdb_document_t document;

            rc = sym_ppdb_document(p, point.document, &document);

            if (rc == SYM_OK) {
                (format == DUMP_JSON ? put_json : put_text)(out, method, &point,
                                                            &document);
            }
        }
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


sym_status_t
dump_ppdb(const sym_extent_source_t *extents, const options_t *options,
          output_t *out, sym_error_t *err)
{
    sym_ppdb_t p;
    sym_status_t rc = sym_ppdb_open(&p, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    for (uint32_t method = 1;
         rc == SYM_OK && method <= p.n_methods && !out->json.failed; method++)
    {
        rc = put_method(out, &p, method, options->format);
    }

    return rc == SYM_OK ? rc : sym_fail(err, rc, "the lines are damaged");
}
