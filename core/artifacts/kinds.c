#include "artifacts/kinds.h"

#define DECLARE(number, NAME, name)                                            \
    extern const sym_kind_row_t sym_##name##_kind;
#define ROW(number, NAME, name) &sym_##name##_kind,

SYM_ARTIFACT_KINDS(DECLARE)

const sym_kind_row_t *const sym_kinds[SYM_KINDS] = { SYM_ARTIFACT_KINDS(ROW) };


const sym_kind_row_t *
sym_kind_find(unsigned kind)
{
    for (size_t i = 0; i < SYM_KINDS; i++) {
        if (sym_kinds[i]->kind == kind) {
            return sym_kinds[i];
        }
    }

    return NULL;
}


const sym_kind_row_t *
sym_kind_named(sym_str_t name)
{
    for (size_t i = 0; i < SYM_KINDS; i++) {
        if (sym_str_eq(name, sym_cstr(sym_kinds[i]->name))) {
            return sym_kinds[i];
        }
    }

    return NULL;
}


const char *
sym_kind_name(unsigned kind)
{
    const sym_kind_row_t *row = sym_kind_find(kind);

    return row != NULL ? row->name : "unknown";
}


unsigned
sym_kind_files(unsigned kind, sym_object_type_t type)
{
    const sym_kind_row_t *row = sym_kind_find(kind);

    return row != NULL ? row->files[type] : 0;
}


bool
sym_kind_wants_code(unsigned kind)
{
    return kind == SYM_KIND_CFI;
}


bool
sym_kind_reads(unsigned kind, uint32_t version)
{
    const sym_kind_row_t *row = sym_kind_find(kind);

    return row != NULL && version >= row->oldest && version <= row->version;
}


uint32_t
sym_kinds_reader(void)
{
    uint32_t sum = 0;

    /* each new version and each new kind increases the sum */
    for (size_t i = 0; i < SYM_KINDS; i++) {
        sum += sym_kinds[i]->version;
    }

    return sum;
}


sym_status_t
sym_kind_verify(const sym_kind_row_t *kind, const sym_extent_source_t *extents,
                sym_error_t *err)
{
    uint32_t n = 0;

    if (kind->verify(extents, &n, err) == SYM_OK && n != extents->n) {
        return sym_fail(err, SYM_DAMAGED,
                        "the artifact has another number of extents");
    }

    return err->status;
}
