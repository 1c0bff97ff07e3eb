#include "converter/members_state.h"

#include "formats/map.h"

sym_status_t
members_send_map(sym_str_t file, sym_error_t *err)
{
    sym_companion_kind_t kind;
    sym_status_t rc = sym_map_check(file, &kind, err);
    converter_member_t m = { .length = file.len };

    if (rc != SYM_OK) {
        return rc == SYM_UNSUPPORTED ? SYM_OK : rc;
    }

    m.map = kind;
    return members_send_head(SYM_STR(""), SYM_STR(""), &m, err);
}
