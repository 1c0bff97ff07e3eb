#include "api/profiler/profiler.h"

#include "api/registry.h"
#include "base/hex.h"
#include "json/load.h"

/* A request contains one module and one file. */
#define MEMORY_MAX ((size_t) 1 << 20)

#define NO_OBJECTS                                                             \
    "Disassembling needs the machine code of the library, and this server "    \
    "keeps symbols, not programs"


void
profiler_write_error(const char *error, sym_out_t *out)
{
    sym_out_raw(out, SYM_STR("{\"error\":"));
    sym_out_string(out, sym_cstr(error));
    sym_out_raw(out, SYM_STR("}"));
}


/* --- the request --- */

static sym_status_t
read_text(profiler_t *p, const json_t *root, const char *key, sym_str_t *text)
{
    const json_t *value = json_object_get(root, key);

    if (!json_is_string(value)) {
        return sym_request_refuse(
            &p->base, SYM_MALFORMED,
            value == NULL ? "missing field `%s`" : "%s must be a string", key);
    }

    *text = sym_arena_copy(p->base.arena, sym_str(json_string_value(value),
                                                  json_string_length(value)));
    return text->data != NULL ? SYM_OK : SYM_NOMEM;
}


/* Parses "0x1f4", up to 32 bits. */
static sym_status_t
read_number(profiler_t *p, const json_t *root, const char *key,
            uint32_t *number)
{
    sym_str_t text;
    uint64_t value;
    sym_status_t rc = read_text(p, root, key, &text);

    if (rc != SYM_OK) {
        return rc;
    }

    if (!sym_str_starts(text, SYM_STR("0x"))
        || !sym_hex_read(sym_str(text.data + 2, text.len - 2), &value)
        || value > UINT32_MAX)
    {
        return sym_request_refuse(
            &p->base, SYM_MALFORMED,
            "%s must be a number of 32 bits like \"0x1f4\"", key);
    }

    *number = (uint32_t) value;
    return SYM_OK;
}


static sym_status_t
read_source(profiler_t *p, const json_t *root)
{
    sym_str_t name, id;
    sym_status_t rc = read_text(p, root, "debugName", &name);

    rc = rc != SYM_OK ? rc : read_text(p, root, "debugId", &id);
    rc = rc != SYM_OK ? rc : read_number(p, root, "moduleOffset", &p->offset);
    rc = rc != SYM_OK ? rc : read_text(p, root, "file", &p->file);
    if (rc != SYM_OK) {
        return rc;
    }

    sym_object_ref_named(&p->ref, name, id);
    p->need = (sym_need_t){
        .ref = &p->ref,
        .kind = SYM_KIND_SYMCACHE,
        .found = SYM_NEED_MISSING,
    };
    p->base.needs = &p->need;
    p->base.stats.modules = 1;
    p->base.stats.frames = 1;
    return SYM_OK;
}


/* All keys that identify the module are optional. */
static sym_status_t
read_asm(profiler_t *p, const json_t *root)
{
    const json_t *all = json_object_get(root, "continueUntilFunctionEnd");
    uint32_t size;
    sym_status_t rc = read_number(p, root, "startAddress", &p->offset);

    rc = rc != SYM_OK ? rc : read_number(p, root, "size", &size);

    return rc == SYM_OK && all != NULL && !json_is_boolean(all)
               ? sym_request_refuse(
                   &p->base, SYM_MALFORMED,
                   "continueUntilFunctionEnd must be true or false")
               : rc;
}


static sym_status_t
parse(sym_request_t *r, sym_status_t (*read)(profiler_t *p, const json_t *root))
{
    sym_error_t err = { 0 };
    sym_json_t json;
    sym_status_t rc =
        sym_json_load(&json, r->body, MEMORY_MAX, JSON_REJECT_DUPLICATES,
                      "the request is not JSON", &err);

    if (rc == SYM_OK) {
        rc = json_is_object(json.root)
                 ? read((profiler_t *) r, json.root)
                 : sym_request_refuse(r, SYM_MALFORMED,
                                      "the request must be an object");
    } else if (rc == SYM_MALFORMED) {
        rc = sym_request_refuse(r, rc, "%s", err.what);
    } else if (rc == SYM_LIMIT) {
        rc = sym_request_refuse(r, rc,
                                "please limit the request to one file's path");
    }

    sym_json_drop(&json);
    return rc;
}


static sym_status_t
parse_source(sym_request_t *r, uint32_t budget)
{
    (void) budget;
    return parse(r, read_source);
}


static sym_status_t
parse_asm(sym_request_t *r, uint32_t budget)
{
    (void) budget;
    return parse(r, read_asm);
}


/* --- the API --- */

static sym_status_t
refuse_asm(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    (void) budget;
    profiler_write_error(NO_OBJECTS, out);
    r->step = NULL;
    return SYM_OK;
}


static const sym_request_ops_t source_ops = {
    .size = sizeof(profiler_t),
    .parse = parse_source,
    .begin = profiler_source,
    .resume = profiler_source_resume,
};

static const sym_request_ops_t asm_ops = {
    .size = sizeof(profiler_t),
    .parse = parse_asm,
    .begin = refuse_asm,
};

#define ROUTE(what)                                                            \
    {                                                                          \
        .suffix = "/" #what "/v1", .version = #what,                           \
        .methods = SYM_METHOD_POST, .ops = &what##_ops                         \
    }

const sym_api_t sym_profiler_api = {
    .name = "profiler",
    .routes = { ROUTE(source), ROUTE(asm) },
    .answers = { "application/json" },
    .tells_failures = true,
};
