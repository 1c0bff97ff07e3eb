#include "formats/elf/mini.h"

#include <stdlib.h>

#include "formats/elf/file.h"
#include "formats/elf/unpack.h"

#define GNU_DEBUGDATA ".gnu_debugdata"

sym_status_t
sym_elf_mini(sym_elf_t *e, sym_elf_t **mini, sym_error_t *err)
{
    sym_elf_options_t options = { .is_part = true };
    sym_str_t packed;
    size_t size;
    sym_status_t rc;

    *mini = e->mini;
    if (e->mini != NULL) {
        return SYM_OK;
    }

    rc = sym_elf_section(e, GNU_DEBUGDATA, &packed, err);
    if (rc != SYM_OK) {
        return rc;
    }

    sym_elf_close_mini(e); /* closes the result of an earlier, failed call */
    if (sym_elf_unpack_xz(packed, e->unpacked_left, &e->mini_data, &size,
                          GNU_DEBUGDATA, err)
        != SYM_OK)
    {
        return err->status;
    }

    /* the inner file gets the rest of the budget, for its own sections */
    e->unpacked_left -= size;
    options.unpacked_max = e->unpacked_left;
    e->mini = sym_elf_open(e->mini_data, size, &options, err);
    *mini = e->mini;
    return err->status;
}


void
sym_elf_close_mini(sym_elf_t *e)
{
    sym_elf_close(e->mini);
    free(e->mini_data);
    e->mini = NULL;
    e->mini_data = NULL;
}
