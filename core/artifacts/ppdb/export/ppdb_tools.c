/*
 * ppdb_tools.c - kind `ppdb` in commands: the lines of all methods, and the
 * line at an offset of one method.
 */
#include "artifacts/export/tools.h"
#include "artifacts/ppdb/read/il.h"
#include "base/hex.h"
#include "base/language.h"

/* A token of the table of methods (ECMA-335, II.22.26). */
#define TOKEN_METHOD 0x06000000u


static void
put_path(sym_out_t *out, sym_str_t folder, sym_str_t name, bool is_json)
{
    void (*put)(sym_out_t * out, sym_str_t text) =
        is_json ? sym_out_escaped : sym_out_visible;

    put(out, folder);
    put(out, name);
}


static void
put_question(sym_out_t *out, uint32_t method, uint32_t offset)
{
    sym_out_printf(out, "{\"method\":\"0x%x\",\"il_offset\":\"0x%x\"", method,
                   offset);
}


static void
put_place(sym_out_t *out, const sym_il_frame_t *frame)
{
    sym_out_raw(out, SYM_STR(",\"file\":\""));
    put_path(out, frame->folder, frame->file, true);
    sym_out_printf(out, "\",\"line\":%u,\"lang\":\"%s\"", frame->line,
                   sym_language_name(frame->lang));
}


/* --- dump --- */

static void
put_point(sym_out_t *out, uint32_t method, const sym_ppdb_point_t *point,
          const sym_ppdb_document_t *d, bool is_json)
{
    const sym_il_frame_t frame = { d->folder, d->name, point->line, d->lang };

    if (is_json) {
        put_question(out, TOKEN_METHOD | method, point->offset);
        put_place(out, &frame);
        sym_out_raw(out, SYM_STR("}\n"));
        return;
    }

    sym_out_printf(out, "0x%x+0x%x ", TOKEN_METHOD | method, point->offset);
    put_path(out, d->folder, d->name, false);
    sym_out_printf(out, ":%u\n", point->line);
}


static sym_status_t
put_method(sym_out_t *out, const sym_ppdb_t *p, uint32_t method, bool is_json)
{
    sym_ppdb_piece_t piece;
    sym_status_t rc = SYM_OK;

    for (uint32_t number = 0; rc == SYM_OK; number++) {
        rc = sym_ppdb_piece(p, method, number, &piece);

        for (uint32_t i = 0; rc == SYM_OK && i < piece.n; i++) {
            sym_ppdb_point_t point = sym_ppdb_point(&piece, i);
            sym_ppdb_document_t document;

            rc = sym_ppdb_document(p, point.document, &document);

            if (rc == SYM_OK) {
                put_point(out, method, &point, &document, is_json);
            }
        }
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static const char *const formats[] = { "text", "json", NULL };

static sym_status_t
dump(const sym_extent_source_t *extents, const sym_dump_t *how, unsigned format,
     sym_out_t *out, sym_error_t *err)
{
    sym_ppdb_t p;
    sym_status_t rc = sym_ppdb_open(&p, extents->get, extents->ctx, err);

    (void) how;

    if (rc != SYM_OK) {
        return rc;
    }

    for (uint32_t method = 1;
         rc == SYM_OK && method <= p.n_methods && !out->failed; method++)
    {
        rc = put_method(out, &p, method, format == 1);
    }

    return rc == SYM_OK ? rc : sym_fail(err, rc, "the lines are damaged");
}


/* --- lookup --- */

/* Reads a hexadecimal number, with or without 0x. */
static bool
read_number(sym_str_t text, uint32_t *number)
{
    uint64_t value;

    if (text.len > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x') {
        text = sym_str(text.data + 2, text.len - 2);
    }

    if (!sym_hex_read(text, &value) || value > UINT32_MAX) {
        return false;
    }

    *number = (uint32_t) value;
    return true;
}


static bool
read_question(sym_str_t text, uint32_t *method, uint32_t *offset)
{
    const char *plus = memchr(text.data, '+', text.len);
    size_t len = plus != NULL ? (size_t) (plus - text.data) : text.len;

    return len != text.len && read_number(sym_str(text.data, len), method)
           && read_number(sym_str(plus + 1, text.len - len - 1), offset);
}


static bool
is_question(sym_str_t text)
{
    uint32_t method, offset;

    return read_question(text, &method, &offset);
}


static void
put_answer(sym_out_t *out, const sym_il_frame_t *frame)
{
    put_path(out, frame->folder, frame->file, false);
    sym_out_printf(out, ":%u\n", frame->line);
}


static sym_status_t
lookup(const sym_extent_source_t *extents, sym_str_t text, bool is_json,
       sym_out_t *out, sym_error_t *err)
{
    uint32_t method, offset;
    sym_il_frame_t frame;
    sym_ppdb_t p;
    sym_status_t rc;

    if (!read_question(text, &method, &offset)) {
        sym_out_raw(out, is_json ? SYM_STR("{}\n") : SYM_STR("??:0\n"));
        return SYM_NOT_FOUND;
    }

    rc = sym_ppdb_open(&p, extents->get, extents->ctx, err);
    rc = rc == SYM_OK ? sym_il_answer(&p, method, offset, &frame) : rc;

    if (is_json) {
        put_question(out, method, offset);
        if (rc == SYM_OK) {
            put_place(out, &frame);
        }
        sym_out_raw(out, SYM_STR("}\n"));
    } else if (rc == SYM_OK) {
        put_answer(out, &frame);
    } else {
        sym_out_raw(out, SYM_STR("??:0\n"));
    }

    return rc == SYM_OK || rc == SYM_NOT_FOUND
               ? rc
               : sym_fail(err, rc, "damaged: lines of the method");
}


const sym_kind_tools_t sym_ppdb_tools = {
    .kind = SYM_KIND_PPDB,
    .formats = formats,
    .dump = dump,
    .question = "METHOD+OFFSET, like 6000012+1a",
    .is_question = is_question,
    .lookup = lookup,
};
