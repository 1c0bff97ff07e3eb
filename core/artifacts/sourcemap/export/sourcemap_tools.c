/*
 * sourcemap_tools.c - kind `sourcemap` in commands: all tokens, and the
 * original position for a position in the script.
 *
 * Lines and columns count from 1, as in stack traces.
 */
#include "artifacts/export/tools.h"
#include "artifacts/sourcemap/read/sourcemap.h"


typedef struct {
    sym_sourcemap_token_t token;
    sym_str_t source, name, function; /* "": none */
} mapped_t;


static sym_status_t
name_at(const sym_sourcemap_t *s, uint32_t number, sym_str_t *name)
{
    *name = SYM_STR("");
    return number == SYM_SOURCEMAP_NONE ? SYM_OK
                                        : sym_sourcemap_name(s, number, name);
}


static sym_status_t
name_token(const sym_sourcemap_t *s, mapped_t *m)
{
    sym_sourcemap_source_t source = { .name = SYM_STR("") };
    sym_status_t rc = SYM_OK;

    if (m->token.source != SYM_SOURCEMAP_NONE) {
        rc = sym_sourcemap_source(s, m->token.source, &source);
    }

    m->source = source.name;
    rc = rc == SYM_OK ? name_at(s, m->token.name, &m->name) : rc;
    return rc == SYM_OK ? name_at(s, m->token.scope, &m->function) : rc;
}


/* --- output --- */

static void
put_position(sym_out_t *out, uint32_t line, uint32_t column)
{
    sym_out_dec(out, (uint64_t) line + 1);
    sym_out_raw(out, SYM_STR(":"));
    sym_out_dec(out, (uint64_t) column + 1);
}


static void
put_place(sym_out_t *out, const mapped_t *m)
{
    sym_out_visible(out, m->source);
    sym_out_raw(out, SYM_STR(":"));
    put_position(out, m->token.source_line, m->token.source_column);

    if (m->name.len != 0) {
        sym_out_raw(out, SYM_STR(" "));
        sym_out_visible(out, m->name);
    }

    if (m->function.len != 0) {
        sym_out_raw(out, SYM_STR(" ("));
        sym_out_visible(out, m->function);
        sym_out_raw(out, SYM_STR(")"));
    }
}


/* Writes the members of the JSON object, from its opening brace on. */
static void
put_json(sym_out_t *out, const mapped_t *m)
{
    const sym_sourcemap_token_t *t = &m->token;
    bool first = true;

    sym_out_raw(out, SYM_STR("{"));
    sym_out_key_dec(out, "line", (uint64_t) t->line + 1, &first);
    sym_out_key_dec(out, "column", (uint64_t) t->column + 1, &first);

    if (t->source != SYM_SOURCEMAP_NONE) {
        sym_out_key_string(out, "source", m->source, &first);
        sym_out_key_dec(out, "source_line", (uint64_t) t->source_line + 1,
                        &first);
        sym_out_key_dec(out, "source_column", (uint64_t) t->source_column + 1,
                        &first);
    }

    if (m->name.len != 0) {
        sym_out_key_string(out, "name", m->name, &first);
    }

    if (m->function.len != 0) {
        sym_out_key_string(out, "function", m->function, &first);
    }
}


static void
put_token(sym_out_t *out, const mapped_t *m, bool is_json)
{
    if (is_json) {
        put_json(out, m);
        sym_out_raw(out, SYM_STR("}\n"));
        return;
    }

    put_position(out, m->token.line, m->token.column);
    if (m->token.source != SYM_SOURCEMAP_NONE) {
        sym_out_raw(out, SYM_STR(" "));
        put_place(out, m);
    }
    sym_out_raw(out, SYM_STR("\n"));
}


/* --- dump --- */

static const char *const formats[] = { "text", "json", NULL };

static sym_status_t
dump(const sym_extent_source_t *extents, const sym_dump_t *how, unsigned format,
     sym_out_t *out, sym_error_t *err)
{
    sym_sourcemap_t s;
    sym_status_t rc = sym_sourcemap_open(&s, extents->get, extents->ctx, err);

    (void) how;

    if (rc != SYM_OK) {
        return rc;
    }

    for (uint32_t i = 0; rc == SYM_OK && i < s.n_tokens && !out->failed; i++) {
        mapped_t m;

        rc = sym_sourcemap_token(&s, i, &m.token);
        rc = rc == SYM_OK ? name_token(&s, &m) : rc;

        if (rc == SYM_OK) {
            put_token(out, &m, format == 1);
        }
    }

    return rc == SYM_OK ? rc : sym_fail(err, rc, "the source map is damaged");
}


/* --- lookup --- */

/* Reads a number from 1 to 2^32, up to the end or a colon.  Returns the number
   less 1. */
static bool
read_number(sym_str_t *text, uint32_t *number)
{
    uint64_t value = 0;
    size_t i;

    for (i = 0; i < text->len && text->data[i] != ':'; i++) {
        if (text->data[i] < '0' || text->data[i] > '9' || value > UINT32_MAX) {
            return false;
        }
        value = 10 * value + (uint64_t) (text->data[i] - '0');
    }

    if (i == 0 || value == 0 || value > UINT32_MAX) {
        return false;
    }

    *text = sym_str(text->data + i, text->len - i);
    *number = (uint32_t) value - 1;
    return true;
}


static bool
read_question(sym_str_t text, uint32_t *line, uint32_t *column)
{
    if (!read_number(&text, line) || text.len == 0) {
        return false;
    }

    text = sym_str(text.data + 1, text.len - 1);
    return read_number(&text, column) && text.len == 0;
}


static bool
is_question(sym_str_t text)
{
    uint32_t line, column;

    return read_question(text, &line, &column);
}


static sym_status_t
lookup(const sym_extent_source_t *extents, sym_str_t text, bool is_json,
       sym_out_t *out, sym_error_t *err)
{
    uint32_t line, column;
    sym_sourcemap_t s;
    sym_status_t rc;
    mapped_t m;

    if (!read_question(text, &line, &column)) {
        sym_out_raw(out, is_json ? SYM_STR("{}\n") : SYM_STR("??:0\n"));
        return SYM_NOT_FOUND;
    }

    rc = sym_sourcemap_open(&s, extents->get, extents->ctx, err);
    rc = rc == SYM_OK ? sym_sourcemap_lookup(&s, line, column, &m.token) : rc;
    rc = rc == SYM_OK ? name_token(&s, &m) : rc;

    if (is_json) {
        m.token.line = line;
        m.token.column = column;
        if (rc != SYM_OK) {
            m.token.source = SYM_SOURCEMAP_NONE;
            m.name = m.function = SYM_STR("");
        }
        put_json(out, &m);
        sym_out_raw(out, SYM_STR("}\n"));
    } else if (rc == SYM_OK) {
        put_place(out, &m);
        sym_out_raw(out, SYM_STR("\n"));
    } else {
        sym_out_raw(out, SYM_STR("??:0\n"));
    }

    return rc == SYM_OK || rc == SYM_NOT_FOUND
               ? rc
               : sym_fail(err, rc, "damaged: the source map");
}


const sym_kind_tools_t sym_sourcemap_tools = {
    .kind = SYM_KIND_SOURCEMAP,
    .formats = formats,
    .dump = dump,
    .question = "LINE:COLUMN, like 1:1042",
    .is_question = is_question,
    .lookup = lookup,
};
