/*
 * Streams of types and ids of any bytes: two bytes are the length of the types,
 * the rest are the ids.  The ids are also the types' hash stream, with which
 * the same records must be found.  Every record is looked up as a function, as
 * a symbol's id and as an inlined function; names must stay within their limit
 * and keep the symbol's own name.
 */
#include "check.h"
#include "formats/pdb/types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INDEXES_MAX 64

/* A block of its own: a sanitizer sees every byte past it. */
static sym_str_t
copy(const uint8_t *data, size_t len)
{
    char *bytes = malloc(len + 1);

    check(bytes != NULL);
    memcpy(bytes, data, len);
    return sym_str(realloc(bytes, len != 0 ? len : 1), len);
}


static void
ask_function(sym_pdb_scratch_t *s, uint32_t index, bool is_id)
{
    const sym_str_t name = SYM_STR("ns::f");
    sym_str_t got;

    check(sym_pdb_types_function_name(s, name, index, is_id, &got) == SYM_OK);
    check(got.len <= SYM_PDB_NAME_MAX && sym_str_starts(got, name));
}


static void
ask(const sym_pdb_types_t *types)
{
    sym_pdb_scratch_t *s = sym_pdb_scratch_create(types);
    sym_str_t got;

    check(s != NULL);
    for (uint32_t i = 0; i < types->types.n && i < INDEXES_MAX; i++) {
        ask_function(s, types->types.first + i, false);
        ask_function(s, types->types.first + i, false);
    }

    for (uint32_t i = 0; i < types->ids.n && i < INDEXES_MAX; i++) {
        ask_function(s, types->ids.first + i, true);
        if (sym_pdb_types_inlinee_name(s, types->ids.first + i, &got) == SYM_OK)
        {
            check(got.len != 0 && got.len <= SYM_PDB_NAME_MAX);
        }
    }

    sym_pdb_scratch_free(s);
}


/* The types with their hash stream, and without. */
static void
compare_hashed(sym_str_t tpi, sym_str_t hashes)
{
    const sym_pdb_type_stream_t none = { .records = SYM_STR("") };
    sym_error_t err = { 0 }, hashed_err = { 0 };
    sym_pdb_types_t types, hashed;
    const sym_status_t rc = sym_pdb_types_open(
        &types, &(sym_pdb_type_stream_t){ .records = tpi }, &none, NULL, &err);

    check(sym_pdb_types_open(&hashed, &(sym_pdb_type_stream_t){ tpi, hashes },
                             &none, NULL, &hashed_err)
          == rc);
    check(hashed_err.offset == err.offset && hashed_err.what == err.what);
    if (rc == SYM_OK) {
        check(hashed.types.n == types.types.n);
        check(types.types.n == 0
              || memcmp(hashed.types.offsets, types.types.offsets,
                        types.types.n * sizeof(uint32_t))
                     == 0);
        ask(&hashed);
    }

    sym_pdb_types_close(&hashed);
    sym_pdb_types_close(&types);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_error_t err = { 0 };
    sym_pdb_types_t types;
    sym_str_t tpi, ipi;
    size_t n;

    if (size < 2) {
        return 0;
    }

    n = (size_t) data[0] | (size_t) data[1] << 8;
    data += 2;
    size -= 2;
    n = n < size ? n : size;
    tpi = copy(data, n);
    ipi = copy(data + n, size - n);

    if (sym_pdb_types_open(&types, &(sym_pdb_type_stream_t){ .records = tpi },
                           &(sym_pdb_type_stream_t){ .records = ipi }, NULL,
                           &err)
        == SYM_OK)
    {
        ask(&types);
    } else {
        check(err.what != NULL && err.section != NULL);
    }

    sym_pdb_types_close(&types);
    compare_hashed(tpi, ipi);
    free((char *) (uintptr_t) tpi.data);
    free((char *) (uintptr_t) ipi.data);
    return 0;
}
