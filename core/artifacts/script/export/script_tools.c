/*
 * script_tools.c - kind `script` in commands: start and name of each function.
 */
#include "artifacts/export/tools.h"
#include "artifacts/script/read/script.h"

static sym_status_t
put_name(const sym_script_t *s, uint32_t number, bool is_json, sym_out_t *out)
{
    sym_script_scope_t scope;
    sym_script_part_t part;
    sym_status_t rc = sym_script_scope(s, number, &scope);

    for (uint32_t i = 0; rc == SYM_OK && i < scope.n_parts; i++) {
        rc = sym_script_part(&scope, &part);
        if (rc == SYM_OK) {
            (is_json ? sym_out_escaped : sym_out_visible)(out, part.text);
        }
    }

    if (rc == SYM_OK && scope.n_parts == 0) {
        sym_out_raw(out, SYM_STR("<anonymous>"));
    }

    return rc;
}


static sym_status_t
put_bound(const sym_script_t *s, uint32_t number, bool is_json, sym_out_t *out)
{
    sym_script_position_t at;
    uint32_t scope;
    sym_status_t rc = sym_script_bound(s, number, &at, &scope);
    bool first = true;

    if (rc != SYM_OK) {
        return rc;
    }

    if (is_json) {
        sym_out_raw(out, SYM_STR("{"));
        sym_out_key_dec(out, "line", (uint64_t) at.line + 1, &first);
        sym_out_key_dec(out, "column", (uint64_t) at.column + 1, &first);
        if (scope != SYM_SCRIPT_NONE) {
            sym_out_key(out, "function", &first);
            sym_out_raw(out, SYM_STR("\""));
        }
    } else {
        sym_out_dec(out, (uint64_t) at.line + 1);
        sym_out_raw(out, SYM_STR(":"));
        sym_out_dec(out, (uint64_t) at.column + 1);
        sym_out_raw(out, SYM_STR(" "));
    }

    if (scope != SYM_SCRIPT_NONE) {
        rc = put_name(s, scope, is_json, out);
    } else if (!is_json) {
        sym_out_raw(out, SYM_STR("-"));
    }

    sym_out_raw(out, !is_json                   ? SYM_STR("\n")
                     : scope != SYM_SCRIPT_NONE ? SYM_STR("\"}\n")
                                                : SYM_STR("}\n"));
    return rc;
}


static const char *const formats[] = { "text", "json", NULL };

static sym_status_t
dump(const sym_extent_source_t *extents, const sym_dump_t *how, unsigned format,
     sym_out_t *out, sym_error_t *err)
{
    sym_script_t s;
    sym_status_t rc = sym_script_open(&s, extents->get, extents->ctx, err);

    (void) how;

    if (rc != SYM_OK) {
        return rc;
    }

    for (uint32_t i = 0; rc == SYM_OK && i < s.n_bounds && !out->failed; i++) {
        rc = put_bound(&s, i, format == 1, out);
    }

    return rc == SYM_OK ? rc : sym_fail(err, rc, "the script is damaged");
}


const sym_kind_tools_t sym_script_tools = {
    .kind = SYM_KIND_SCRIPT,
    .formats = formats,
    .dump = dump,
};
