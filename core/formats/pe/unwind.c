#include "formats/pe/unwind.h"

#include "formats/pe/file.h"

#define WORK_PER_BYTE 16


sym_status_t
sym_pe_unwind(sym_pe_t *pe, sym_cfi_writer_t *w, uint64_t *broken,
              sym_error_t *err)
{
    sym_pe_unwind_t u = { .pe = pe,
                          .w = w,
                          .work_left = WORK_PER_BYTE * pe->len };
    sym_pe_functions_t functions;
    sym_status_t rc = sym_pe_functions(pe, &functions, err);

    for (size_t i = 0; rc == SYM_OK && i < functions.n; i++) {
        const sym_pe_function_t *f = &functions.items[i];
        bool is_read = false;

        switch (pe->info.machine) {
        case SYM_PE_AMD64:
            is_read = sym_pe_unwind_x64(&u, f);
            break;
        case SYM_PE_ARM64:
            is_read = sym_pe_unwind_arm64(&u, f);
            break;
        default: /* ARM tables are not read */
            return rc;
        }

        u.broken += !is_read;
        rc = err->status; /* the writer may have failed */
    }

    *broken = u.broken;
    return rc;
}
