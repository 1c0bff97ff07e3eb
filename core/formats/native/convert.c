#include "formats/native/native.h"
#include "formats/symcache.h"

sym_status_t
sym_native_convert(const sym_format_file_t *f,
                   sym_status_t (*read)(sym_native_t *n, size_t which,
                                        sym_error_t *err),
                   size_t which, sym_error_t *err)
{
    sym_native_t n = { .data = (const uint8_t *) f->data.data,
                       .len = f->data.len,
                       .services = f->services,
                       .wants_symbols = sym_format_wants(f, SYM_KIND_SYMCACHE),
                       .wants_rules = sym_format_wants(f, SYM_KIND_CFI),
                       .debug_file = SYM_STR(""),
                       .arch = "",
                       .os = "",
                       .writer = sym_format_writer(f, err) };
    sym_status_t rc = n.writer == NULL ? err->status : read(&n, which, err);
    const bool has_symbols = rc == SYM_OK;
    bool is_part;

    /* a stripped file may still have unwind rules */
    if (rc == SYM_UNSUPPORTED && n.cfi != NULL
        && sym_cfi_writer_ranges(n.cfi) != 0) {
        *err = (sym_error_t){ 0 };
        n.is_bare = false;
        rc = SYM_OK;
    }

    is_part = rc == SYM_UNSUPPORTED && n.is_bare && f->services->takes_parts;
    if (is_part) {
        *err = (sym_error_t){ 0 };
    }

    if (rc == SYM_OK || is_part) {
        const sym_module_info_t info = {
            .debug_id = { n.debug_id, n.debug_id_len },
            .debug_file = n.debug_file,
            .debug_path = n.debug_path,
            .code_id = { n.code_id, n.code_id_len },
            .arch = sym_cstr(n.arch),
            .os = sym_cstr(n.os),
            .source_bytes = n.len,
            .flags = SYM_FLAG_LINKER_NAMES | n.features,
            .image_base = n.image_base,
            .loads = n.loads,
            .n_loads = n.n_loads,
        };

        rc = is_part
                 ? sym_format_put_ids(f, &info, err)
                 : sym_format_put_symcache(f, has_symbols ? n.writer : NULL,
                                           n.cfi, &info, n.is_incomplete, err);
    }

    sym_cfi_writer_free(n.cfi);
    sym_writer_free(n.writer);
    return rc;
}
