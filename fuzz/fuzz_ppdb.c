/*
 * Two readers of .NET lines.  Input that begins with "BSJB" is a portable PDB
 * and converted; any other is cut into extents (u16 length, then the bytes),
 * opened as an artifact of kind `ppdb`, and all of it is read.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "artifacts/ppdb/read/ppdb.h"
#include "artifacts/sources/read/sources.h"
#include "check.h"
#include "convert.h"
#include "extents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_all(input_t *in)
{
    sym_extent_view_t views[EXTENTS_MAX] = { { 0 } };
    sym_error_t err = { 0 };
    sym_ppdb_t p;

    if (sym_ppdb_open(&p, get, in, &err) != SYM_OK) {
        return;
    }

    if (p.in.n <= EXTENTS_MAX) {
        sym_ppdb_remember(&p, views);
    }

    if (sym_ppdb_check(&p, &err) == SYM_OK) {
        check(p.n_points != 0 || p.n_bodies == 0);
    }

    for (uint32_t method = 0; method < 64; method++) {
        for (uint32_t offset = 0; offset < 5000; offset += 1 + offset / 4) {
            sym_ppdb_document_t document;
            sym_ppdb_point_t point;

            if (sym_ppdb_lookup(&p, method, offset, &point) == SYM_OK) {
                check(point.offset <= offset);
                (void) sym_ppdb_document(&p, point.document, &document);
            }
        }
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input_t in;

    if (sym_format_find(data, size) == SYM_CONVERSION_ppdb) {
        convert(SYM_CONVERSION_ppdb, data, size);
        return 0;
    }

    in = cut(data, size);
    read_all(&in);
    return 0;
}
