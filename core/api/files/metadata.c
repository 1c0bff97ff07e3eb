/*
 * metadata.c - debuginfod's /metadata?key=file|glob&value=V: build ids by the
 * name of a file.
 *
 * The answer lists ELF files from which a request got symbols and whose records
 * are in the store, one row for each source and build id.  Sources themselves
 * cannot be searched by name.  Names in the store have no folders, so folders of
 * the value are not compared.  Records are sorted by name: a search reads those
 * that begin with the value's text before its first wildcard, in slices.
 */
#include "api/files/metadata.h"

#include "artifacts/symcache/format.h"
#include "base/form.h"
#include "base/steps.h"
#include "object/module_key.h"
#include "sources/paths/glob.h"
#include "symbolicate/resolver.h"

/* debuginfod's clients have no longer paths. */
#define VALUE_MAX 4096

/* Limits of one search; beyond them the answer is incomplete. */
#define ROWS_MAX 500
#define RECORDS_MAX 100000

#define UUID_DIGITS ((size_t) 2 * SYM_UUID_BYTES)

/* A record takes as long as so many frames of an answer. */
#define FRAMES_PER_RECORD 4

typedef struct {
    sym_request_t base; /* first */
    sym_str_t name;     /* last component of the value */
    bool is_glob;
    size_t prefix; /* length of the text before the first wildcard */
    sym_out_t *out;

    uint32_t source; /* index of the source that is being read */
    sym_store_mark_t mark;
    uint64_t left; /* number of records that may still be read */
    unsigned rows;
    bool is_after; /* the last name is after all that can match */
    bool is_cut;   /* records are damaged */
} metadata_t;


/* --- the query --- */

static bool
is_wild(char c)
{
    return c == '*' || c == '?' || c == '[';
}


static size_t
prefix_of(sym_str_t pattern)
{
    size_t len = 0;

    while (len < pattern.len && !is_wild(pattern.data[len])) {
        len++;
    }

    return len;
}


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    metadata_t *m = (metadata_t *) r;
    char key[5], value[VALUE_MAX], *copy;
    size_t n_key = sym_form_value(r->body, SYM_STR("key"), key, sizeof(key));
    size_t len =
        sym_form_value(r->body, SYM_STR("value"), value, sizeof(value));
    sym_str_t name = sym_object_file_name(sym_str(value, len));

    (void) budget;

    m->is_glob = sym_str_eq(sym_str(key, n_key), SYM_STR("glob"));
    if (!m->is_glob && !sym_str_eq(sym_str(key, n_key), SYM_STR("file"))) {
        return sym_request_refuse(r, SYM_MALFORMED,
                                  "the key must be \"file\" or \"glob\"");
    }

    if (len == 0) {
        return sym_request_refuse(r, SYM_MALFORMED, "the value is missing");
    }

    if (m->is_glob && !sym_glob_is_pattern(name)) {
        return sym_request_refuse(r, SYM_MALFORMED, "invalid pattern");
    }

    copy = sym_arena_alloc(r->arena, name.len + 1);
    if (copy == NULL) {
        return SYM_NOMEM;
    }

    memcpy(copy, name.data, name.len);
    m->name = sym_str(copy, name.len);
    m->prefix = m->is_glob ? prefix_of(m->name) : name.len;
    m->left = RECORDS_MAX;
    return SYM_OK;
}


/* --- the search --- */

static bool
is_match(const metadata_t *m, sym_str_t name)
{
    uint64_t steps = UINT64_MAX;

    return m->is_glob ? sym_glob_matches_case(m->name, name, &steps)
                      : sym_str_eq(m->name, name);
}


/*
 * Records do not have the type of an object.  The debug id of an ELF file is the
 * beginning of its build id in another byte order; no other code id is longer
 * than a UUID.
 */
static bool
has_build_id(const sym_object_key_t *object)
{
    const sym_code_id_t *id = &object->code_id;
    char text[SYM_ID_TEXT_MAX];
    sym_str_t debug_id =
        sym_str(text, sym_debug_id_write_breakpad(&object->debug_id, text));
    sym_code_id_t begin;

    return id->len > UUID_DIGITS
           || (id->len != 0 && sym_code_id_read_debug_id(debug_id, &begin)
               && memcmp(id->text, begin.text, id->len) == 0);
}


/* Breakpad's texts have build ids, too. */
static bool
is_elf_file(const sym_object_record_t *record)
{
    return record->state == SYM_MODULE_READY
           && record->kind == SYM_KIND_SYMCACHE && has_build_id(&record->object)
           && !sym_str_ends_nocase(record->path, SYM_STR(".sym"));
}


static void
write_row(metadata_t *m, const sym_object_record_t *record)
{
    const sym_code_id_t *id = &record->object.code_id;
    bool is_first = true;

    sym_out_raw(m->out, m->rows++ == 0 ? SYM_STR("{") : SYM_STR(", {"));
    sym_out_key_string(m->out, "type",
                       record->quality >= SYM_QUALITY_LINES
                           ? SYM_STR("debuginfo")
                           : SYM_STR("executable"),
                       &is_first);
    sym_out_key_string(m->out, "buildid", sym_str(id->text, id->len),
                       &is_first);
    sym_out_key_string(m->out, "file", record->object.name, &is_first);
    sym_out_raw(m->out, SYM_STR("}"));
}


/* SYM_AGAIN ends the search at this source, or this slice. */
static sym_status_t
show(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    metadata_t *m = ctx;
    sym_str_t name = record->object.name;

    (void) scope;

    if (name.len < m->prefix || memcmp(name.data, m->name.data, m->prefix) != 0)
    {
        m->is_after = true;
        return SYM_AGAIN;
    }

    if (is_elf_file(record) && is_match(m, name)) {
        write_row(m, record);
    }

    return m->rows == ROWS_MAX || m->out->is_full ? SYM_AGAIN : SYM_OK;
}


/* The mark before the first name with the prefix. */
static void
mark_start(metadata_t *m, sym_str_t scope)
{
    char *p = m->mark.key;

    (void) sym_str_append(&p, scope);
    *p++ = '\0';
    (void) sym_str_append(&p, sym_str(m->name.data, m->prefix));
    m->mark.len = (size_t) (p - m->mark.key);
}


static sym_status_t
search(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    metadata_t *m = (metadata_t *) r;
    const sym_scopes_t *scopes = r->options->scopes;
    bool is_name = m->name.len - 1 < SYM_NAME_MAX; /* no file has another */
    uint32_t n = scopes != NULL && is_name ? scopes->n : 0;
    sym_status_t rc = SYM_OK;

    m->out = out;
    while (m->source < n && m->rows < ROWS_MAX && m->left != 0) {
        uint64_t slice = 1 + *budget / FRAMES_PER_RECORD, left;
        sym_str_t scope = scopes->names[m->source];

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }

        if (m->mark.len == 0) {
            mark_start(m, scope);
        }

        /* modules that were loaded by hand have no file to download */
        slice = slice < m->left ? slice : m->left;
        left = slice;
        m->is_after = false;
        rc = scope.len == 0 ? SYM_OK
                            : sym_resolver_objects(r->resolver, scope, &m->mark,
                                                   &left, show, m);
        m->left -= slice - left;
        sym_budget_charge(budget,
                          1 + (uint32_t) (slice - left) * FRAMES_PER_RECORD);

        m->is_cut = m->is_cut || (rc != SYM_OK && rc != SYM_AGAIN);
        if (rc != SYM_AGAIN || m->is_after) {
            m->source++;
            m->mark.len = 0;
        }
    }

    sym_out_raw(out, m->source == n && !m->is_cut
                         ? SYM_STR("], \"complete\": true}\n")
                         : SYM_STR("], \"complete\": false}\n"));
    r->step = NULL;
    return SYM_OK;
}


static sym_status_t
begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    metadata_t *m = (metadata_t *) r;

    (void) budget;

    m->source = 0;
    m->mark.len = 0;
    m->left = RECORDS_MAX;
    m->rows = 0;
    sym_out_raw(out, SYM_STR("{\"results\": ["));
    r->step = search;
    return SYM_OK;
}


const sym_request_ops_t sym_files_metadata_ops = {
    .size = sizeof(metadata_t),
    .parse = parse,
    .begin = begin,
};
