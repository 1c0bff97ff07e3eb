/*
 * Finds the records of paths that concern an object.
 */
#include "base/digits.h"
#include "store/tables.h"

static void
add_text(sym_path_match_t *m, const uint8_t *bytes, size_t len)
{
    char *digits = m->digits[m->n];

    m->texts[m->n] =
        sym_str(digits, sym_digits_write_lower(bytes, len, digits));
    m->n++;
}


/* A build id is written in byte order, a debug id like a GUID.  Adds the other
 * one of these forms. */
static void
add_swapped(sym_path_match_t *m, const uint8_t bytes[SYM_UUID_BYTES])
{
    sym_debug_id_t swapped;

    sym_debug_id_of_build_id(bytes, SYM_UUID_BYTES, false, &swapped);
    add_text(m, swapped.signature, SYM_UUID_BYTES);
}


void
sym_path_match_init(sym_path_match_t *m, const sym_object_ref_t *ref)
{
    const sym_debug_id_t *id = &ref->debug_id;

    m->ref = ref;
    m->n = 0;
    if (id->form == SYM_DEBUG_ID_UUID) {
        add_text(m, id->signature, SYM_UUID_BYTES);
        add_swapped(m, id->signature);
    } else if (id->form == SYM_DEBUG_ID_PDB20) {
        add_text(m, id->signature, 4);
    }

    if (ref->code_id.len >= 2 * SYM_UUID_BYTES) {
        sym_store_id_t code = sym_store_id_code(&ref->code_id);

        /* a path may contain only this part of the code id, in place of a debug
         * id */
        add_text(m, code.bytes, SYM_UUID_BYTES);
        add_swapped(m, code.bytes);
    } else if (ref->code_id.len != 0) {
        m->texts[m->n++] = sym_str(ref->code_id.text, ref->code_id.len);
    }

    if (ref->has_file_id) {
        add_text(m, ref->file_id, sizeof(ref->file_id));
    }
}


/* Returns the path in lower case, without separators inside ids. */
static sym_str_t
squeeze(sym_str_t path, char out[PATH_TEXT_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < path.len && n < PATH_TEXT_MAX; i++) {
        if (path.data[i] != '/' && path.data[i] != '-') {
            out[n++] = sym_lower(path.data[i]);
        }
    }

    return sym_str(out, n);
}


bool
sym_path_matches(const sym_path_match_t *m, sym_str_t path,
                 const sym_path_record_t *record)
{
    char buf[PATH_TEXT_MAX];
    sym_str_t text = squeeze(path, buf);

    for (unsigned i = 0; i < m->n; i++) {
        if (memmem(text.data, text.len, m->texts[i].data, m->texts[i].len)
            != NULL) {
            return true;
        }
    }

    /* a module does not own its companions: others may need them */
    return !sym_path_is_companion(record)
           && sym_store_ids_share(m->ref, record->ids, record->n_ids);
}
