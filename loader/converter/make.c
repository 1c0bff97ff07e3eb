#include "converter/make.h"

#include <stdlib.h>
#include <string.h>

#include "artifacts/export/tools.h"
#include "artifacts/symcache/export/returnpads.h"
#include "common/converter_protocol.h"
#include "formats/elf/elf.h"
#include "formats/sourcebundle/text.h"
#include "symbolicate/cache/names.h"

#define BREAKPAD "breakpad"

/* Room for an incomplete extent, and for the maximum that a writer needs at
 * once. */
#define WINDOW_BYTES ((size_t) 3 * SYM_EXTENT_MAX)

_Static_assert(SYM_OUT_NEED_MAX <= 2 * SYM_EXTENT_MAX, "it fits the window");

#define NAMES_BYTES ((size_t) 4 << 20)

/* State of the output, which is sent as extents of an artifact. */
typedef struct {
    sym_extent_view_t *at;
    uint32_t n, size;
} extents_t;

struct making_s {
    sym_make_t make;
    sym_str_t given; /* the name */
    extents_t symbols, rules;
    bool has_module;
    sym_module_key_t key; /* its views point into the two texts */
    char name[CONVERTER_TEXT_MAX], id[SYM_ID_MAX];
    sym_names_t *names;

    /* for return pads */
    sym_callsites_t *callsites;
    sym_str_t file;
    sym_load_t loads[SYM_LOADS_MAX]; /* the code in the file */
    size_t n_loads;

    sym_error_t *err;
    sym_out_t out; /* its window is `bytes` */
    uint32_t n_sent;
    uint64_t sent;
    char bytes[WINDOW_BYTES];
};


/* --- sending --- */

static bool
send_extent(making_t *m, const char *data, size_t len)
{
    if (!converter_send(CONVERTER_FD, CONVERTER_EXTENT, m->n_sent++, data, len))
    {
        sym_fail(m->err, SYM_IO, "the loader is gone");
        return false;
    }

    m->sent += len;
    return true;
}


/* Sends complete extents, and moves the rest to the start of the window. */
static bool
more(sym_out_t *out, size_t need)
{
    making_t *m = out->ctx;
    size_t len = (size_t) (out->pos - m->bytes), at = 0;

    (void) need;

    for (; len - at >= SYM_EXTENT_MAX; at += SYM_EXTENT_MAX) {
        if (!send_extent(m, m->bytes + at, SYM_EXTENT_MAX)) {
            return false;
        }
    }

    memmove(m->bytes, m->bytes + at, len - at);
    out->pos = m->bytes + (len - at);
    return true;
}


/* Sends the module message, which precedes all bytes. */
static sym_status_t
send_module(const making_t *m, sym_error_t *err)
{
    converter_module_t module = { .kind = SYM_KIND_SYMCACHE, .is_nameless = 1 };

    module.id_len = (uint32_t) m->key.id.len;
    memcpy(module.id, m->id, m->key.id.len);
    return converter_send(CONVERTER_FD, CONVERTER_MODULE, 0, &module,
                          sizeof(module))
               ? SYM_OK
               : sym_fail(err, SYM_IO, "the loader is gone");
}


/* Sends the last bytes. */
static sym_status_t
send_end(making_t *m, sym_error_t *err)
{
    converter_done_t done = { 0 };
    size_t len;

    if (m->out.failed || !more(&m->out, 0)) {
        return err->status != SYM_OK ? err->status
                                     : sym_fail(err, SYM_NOMEM, NULL);
    }

    len = (size_t) (m->out.pos - m->bytes);
    if (len != 0 && !send_extent(m, m->bytes, len)) {
        return err->status;
    }

    if (m->n_sent == 0) {
        return sym_fail(err, SYM_UNSUPPORTED, "there is nothing in it");
    }

    done.bytes = done.source_bytes = m->sent;
    done.extents = m->n_sent;
    done.features = m->rules.n != 0 ? SYM_FEATURE_UNWIND_INFO : 0;
    return converter_send(CONVERTER_FD, CONVERTER_DONE, 0, &done, sizeof(done))
               ? SYM_OK
               : sym_fail(err, SYM_IO, "the loader is gone");
}


/* --- begin and end --- */

making_t *
making_begin(sym_make_t make, sym_str_t name, sym_error_t *err)
{
    making_t *m = calloc(1, sizeof(*m));

    if (m == NULL) {
        sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    m->make = make;
    m->given = name;
    m->err = err;
    m->out = (sym_out_t){ .pos = m->bytes,
                          .end = m->bytes + sizeof(m->bytes),
                          .more = more,
                          .ctx = m };
    return m;
}


static void
free_extents(extents_t *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        free((void *) (uintptr_t) e->at[i].data);
    }

    free(e->at);
}


void
making_free(making_t *m)
{
    if (m == NULL) {
        return;
    }

    free_extents(&m->symbols);
    free_extents(&m->rules);
    sym_names_free(m->names);
    free(m);
}


/* --- bytes of the file --- */

sym_status_t
making_copy(making_t *m, input_t *in, sym_error_t *err)
{
    const char *data;
    size_t len;
    sym_status_t rc = input_next(in, &data, &len, err);

    if (rc == SYM_OK) {
        rc = send_module(m, err); /* whether the file is an archive is known
                                     after the first piece */
    }

    while (rc == SYM_OK && len != 0 && !m->out.failed) {
        sym_out_raw(&m->out, sym_str(data, len));
        rc = input_next(in, &data, &len, err);
    }

    return rc == SYM_OK ? send_end(m, err) : rc;
}


/* Sends bytes that are all in memory. */
static sym_status_t
send_all(making_t *m, sym_str_t bytes, sym_error_t *err)
{
    if (send_module(m, err) != SYM_OK) {
        return err->status;
    }

    sym_out_raw(&m->out, bytes);
    return send_end(m, err);
}


static sym_elf_t *
open_elf(sym_str_t bytes, sym_error_t *err)
{
    const sym_elf_options_t options = { .is_part = true };

    return sym_elf_open((const uint8_t *) bytes.data, bytes.len, &options, err);
}


sym_status_t
making_section(making_t *m, sym_str_t bytes, sym_error_t *err)
{
    sym_elf_t *elf = open_elf(bytes, err);
    sym_str_t raw;
    sym_status_t rc;

    if (elf == NULL) {
        return err->status;
    }

    rc = sym_elf_section_raw(elf, m->given, &raw, err);
    rc = rc == SYM_OK ? send_all(m, raw, err)
         : rc == SYM_NOT_FOUND
             ? sym_fail(err, SYM_UNSUPPORTED, "the file has no such section")
             : rc;
    sym_elf_close(elf);
    return rc;
}


/* like debuginfod(8), treats a file with lines as a debug file */
sym_status_t
making_proof(making_t *m, sym_str_t bytes, sym_error_t *err)
{
    sym_elf_t *elf = open_elf(bytes, err);
    sym_str_t raw;
    sym_status_t rc;

    if (elf == NULL) {
        return err->status;
    }

    rc = sym_elf_section_raw(elf, SYM_STR(".debug_line"), &raw, err);
    if (rc == SYM_NOT_FOUND) {
        rc = sym_elf_section_raw(elf, SYM_STR(".zdebug_line"), &raw, err);
    }

    rc = rc == SYM_OK ? send_all(m, SYM_STR("1"), err)
         : rc == SYM_NOT_FOUND
             ? sym_fail(err, SYM_UNSUPPORTED, "it has no debug information")
             : rc;
    sym_elf_close(elf);
    return rc;
}


static sym_status_t
send_text(void *ctx, sym_str_t text, sym_error_t *err)
{
    return send_all(ctx, text, err);
}


sym_status_t
making_source(making_t *m, const sym_format_file_t *f, sym_error_t *err)
{
    return sym_source_bundle_find(f, m->given, send_text, m, err);
}


/* --- code --- */

static sym_status_t
read_code(making_t *m, const sym_elf_t *elf, sym_error_t *err)
{
    const sym_elf_info_t *info = sym_elf_info(elf);

    if (!info->has_code) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "it has no code: the calls are in the executable that "
                        "it belongs to");
    }

    m->n_loads = sym_elf_loads(elf, m->loads);
    return sym_callsites_begin(m->callsites, sym_cstr(info->arch), err);
}


sym_status_t
making_calls(making_t *m, sym_callsites_t *callsites, sym_str_t bytes,
             sym_error_t *err)
{
    sym_elf_t *elf = open_elf(bytes, err);
    sym_status_t rc = err->status;

    m->callsites = callsites;
    m->file = bytes;
    rc = elf != NULL ? read_code(m, elf, err) : rc;
    sym_elf_close(elf);
    return rc;
}


/* The bytes from addr up to end, or fewer if fewer are in the file. */
static sym_str_t
code_at(const making_t *m, uint32_t addr, uint64_t end)
{
    for (size_t i = 0; i < m->n_loads; i++) {
        const sym_load_t *l = &m->loads[i];
        const uint64_t distance = addr - l->addr;

        if (addr >= l->addr && distance < l->bytes && l->offset < m->file.len
            && distance < m->file.len - l->offset)
        {
            const uint64_t at = l->offset + distance;
            uint64_t len = end - addr;

            len = len < l->bytes - distance ? len : l->bytes - distance;
            len = len < m->file.len - at ? len : m->file.len - at;
            return sym_str(m->file.data + at, (size_t) len);
        }
    }

    return SYM_STR("");
}


static bool
next_call(void *ctx, uint32_t addr, uint64_t end, sym_code_call_t *call)
{
    making_t *m = ctx;
    sym_str_t code = code_at(m, addr, end);
    size_t at, size;

    if (!sym_callsites_next(m->callsites, (const uint8_t *) code.data, code.len,
                            &at, &size))
    {
        return false;
    }

    *call = (sym_code_call_t){ addr + (uint32_t) at, (uint32_t) size };
    return true;
}


static uint32_t
first_size(void *ctx, uint32_t addr, uint64_t end)
{
    making_t *m = ctx;
    sym_str_t code = code_at(m, addr, end);

    return (uint32_t) sym_callsites_first(
        m->callsites, (const uint8_t *) code.data, code.len);
}


/* --- symbols --- */

static sym_status_t
grow(extents_t *e, uint32_t number, sym_error_t *err)
{
    uint32_t size = e->size;
    sym_extent_view_t *at;

    while (size <= number) {
        size = size == 0 ? 64 : 2 * size;
    }

    if (size != e->size) {
        at = realloc(e->at, size * sizeof(*at));
        if (at == NULL) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }

        memset(at + e->size, 0, (size - e->size) * sizeof(*at));
        e->at = at;
        e->size = size;
    }

    e->n = number < e->n ? e->n : number + 1;
    return SYM_OK;
}


static sym_status_t
put_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
           sym_error_t *err)
{
    extents_t *e = ctx;
    uint8_t *copy;

    if (number >= SYM_EXTENTS_LIMIT) {
        return sym_fail(err, SYM_LIMIT, "no artifact has such an extent");
    }

    if (grow(e, number, err) != SYM_OK) {
        return err->status;
    }

    copy = malloc(len != 0 ? len : 1);
    if (copy == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    memcpy(copy, data, len);
    e->at[number] = (sym_extent_view_t){ copy, len };
    return SYM_OK;
}


static sym_status_t
get_extent(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const extents_t *e = ctx;

    if (number >= e->n || e->at[number].data == NULL) {
        return SYM_NOT_FOUND;
    }

    *data = e->at[number].data;
    *len = e->at[number].len;
    return SYM_OK;
}


/* The text of symbols contains the name by which they were requested. */
static void
set_key(making_t *m, const sym_module_info_t *info)
{
    sym_str_t name =
        m->make == SYM_MAKE_NAME && info->debug_file.len - 1 < sizeof(m->name)
            ? info->debug_file
            : m->given;

    if (name.len != 0) {
        memcpy(m->name, name.data, name.len);
    }

    m->key.name = sym_str(m->name, name.len);
    m->key.id = sym_str(m->id, sym_debug_id_canonical(info->debug_id, m->id));
    m->has_module = true;
}


sym_status_t
making_put(making_t *m, const sym_format_output_t *output,
           const sym_module_info_t *info, sym_error_t *err)
{
    sym_module_info_t canonical = *info;
    sym_writer_stats_t stats;
    extents_t *e = output->kind == SYM_KIND_CFI ? &m->rules : &m->symbols;

    if (!m->has_module || output->kind != SYM_KIND_CFI) {
        set_key(m, info);
    }

    if (m->make == SYM_MAKE_NAME || e->n != 0) {
        return SYM_OK;
    }

    canonical.debug_id = m->key.id;
    return output->finish(output->writer, &canonical, put_extent, e, &stats,
                          err);
}


static sym_str_t
show_name(void *ctx, sym_str_t name, uint8_t lang)
{
    const making_t *m = ctx;

    return sym_names_show(m->names, name, lang, SYM_DEMANGLE_FULL);
}


/* Rules that the text cannot express are omitted, as in other tools. */
static void
say_nothing(void *ctx, const char *what, sym_str_t value)
{
    (void) ctx;
    (void) what;
    (void) value;
}


static sym_status_t
dump(making_t *m, sym_kind_t kind, extents_t *e, sym_error_t *err)
{
    const bool is_pads = m->make == SYM_MAKE_PADS;
    const sym_kind_tools_t *tools = sym_kind_tools(kind);
    const sym_extent_source_t extents = { get_extent, e, e->n };
    const sym_code_t code = { next_call, first_size, m };
    const sym_dump_t how = { .key = &m->key,
                             .show_name = is_pads && m->given.len != 0
                                              ? NULL
                                              : show_name,
                             .remark = say_nothing,
                             .ctx = m };
    unsigned format = 0;

    if (e->n == 0) {
        return SYM_OK;
    }

    if (is_pads) {
        return sym_returnpads_export(&extents, &how, &code, &m->out, err);
    }

    while (strcmp(tools->formats[format], BREAKPAD) != 0) {
        format++;
    }

    return tools->dump(&extents, &how, format, &m->out, err);
}


sym_status_t
making_end(making_t *m, sym_error_t *err)
{
    if (!m->has_module
        || ((m->make == SYM_MAKE_SYM || m->make == SYM_MAKE_PADS)
            && m->symbols.n == 0)
        || (m->make == SYM_MAKE_RULES && m->rules.n == 0))
    {
        return sym_fail(err, SYM_UNSUPPORTED, "there are no symbols in it");
    }

    if (send_module(m, err) != SYM_OK) {
        return err->status;
    }

    if (m->make == SYM_MAKE_NAME) {
        sym_out_raw(&m->out, m->key.name);
        sym_out_raw(&m->out, SYM_STR("/"));
        sym_out_raw(&m->out, m->key.id);
        return send_end(m, err);
    }

    m->names = sym_names_create(NAMES_BYTES);
    if (m->names == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    if (dump(m, SYM_KIND_SYMCACHE, &m->symbols, err) == SYM_OK) {
        (void) dump(m, SYM_KIND_CFI, &m->rules, err);
    }

    return err->status == SYM_OK ? send_end(m, err) : err->status;
}
