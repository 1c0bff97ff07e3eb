/*
 * convert.c - mappings of ProGuard and R8 as a row of the formats.
 *
 * Lines that are not of the format are skipped, as by all other readers.
 */
#include <stdlib.h>

#include "artifacts/jvm/write/jvm_writer.h"
#include "base/buffer.h"
#include "base/sha1.h"
#include "formats/format.h"
#include "formats/proguard/metadata.h"
#include "formats/proguard/reader.h"

/* Version 5 UUID of "guardsquare.com" in the DNS name space: the name space of
 * the UUIDs that Sentry assigns to mappings. */
static const char name_space[] =
    "\x4f\x44\xf3\x0f\x24\xbe\x53\xd0\xba\xb6\xf4\x7c\x71\x20\xad\x6c";

typedef struct {
    sym_jvm_writer_t *writer;
    sym_error_t *err;
    bool has_class, has_member;
    enum { OF_NONE, OF_CLASS, OF_METHOD } subject; /* of metadata */
    bool is_open; /* the last method, until the next record is known */
    sym_proguard_record_t method;
    sym_jvm_pair_t *pairs;
    size_t pairs_cap;
} mapping_t;

/* --- detection of mappings --- */

/* Characters of a class name: letters, digits, and other bytes that the JVM
   accepts. */
static bool
is_name_byte(char c)
{
    return (uint8_t) c > ' '
           && strchr("\"#%&'()*,:;<=>?@[\\]^`{|}~", c) == NULL;
}


/* A shorter beginning is a complete file (formats/format.h). */
#define HEAD_BYTES 64

/* "a.B -> ", or the beginning of it if the text ends there. */
static bool
begins_class(sym_str_t s, bool is_cut)
{
    size_t n = 0;

    while (n < s.len && is_name_byte(s.data[n])) {
        n++;
    }

    s = sym_str(s.data + n, s.len - n);
    return n != 0
           && (is_cut && s.len < 4 ? sym_str_starts(SYM_STR(" -> "), s) && n > 3
                                   : sym_str_starts(s, SYM_STR(" -> ")));
}


/* Whether the comment occurs only in mappings. */
static bool
is_known_comment(sym_str_t s)
{
    static const char *const comments[] = {
        "# compiler: R8",         "# compiler_version:",
        "# pg_map_id:",           "# min_api:",
        "# common_typos_disable", "# {\"id\":\"com.android.tools.r8."
    };

    for (size_t i = 0; i < sizeof(comments) / sizeof(comments[0]); i++) {
        if (sym_str_starts(s, sym_cstr(comments[i]))) {
            return true;
        }
    }

    return false;
}


static bool
probe(const uint8_t *data, size_t len)
{
    sym_str_t rest = sym_str((const char *) data, len);

    while (rest.len > 0) {
        const char *newline = memchr(rest.data, '\n', rest.len);
        size_t n = newline != NULL ? (size_t) (newline - rest.data) : rest.len;
        sym_str_t line = sym_str(rest.data, n);

        if (is_known_comment(line)) {
            return true;
        }

        if (n != 0 && line.data[0] != '#' && line.data[0] != '\r') {
            return begins_class(line, newline == NULL && len >= HEAD_BYTES);
        }

        n += newline != NULL;
        rest = sym_str(rest.data + n, rest.len - n);
    }

    return false;
}


static bool
is_wanted(const uint8_t *head, size_t len)
{
    return probe(head, len);
}


/* --- records --- */

/* Decides whether the last method can be found by its parameters.  It cannot
 * if the next line has the same range, because the method was then inlined
 * there. */
static sym_status_t
end_method(mapping_t *m, const sym_proguard_record_t *next)
{
    const sym_proguard_record_t *method = &m->method;
    bool is_mapped = method->start.is_set || method->first.is_set;
    bool is_inlined = next != NULL && next->type == SYM_PROGUARD_METHOD
                      && is_mapped && (next->start.is_set || next->first.is_set)
                      && method->start.is_set == next->start.is_set
                      && method->start.value == next->start.value
                      && method->end.value == next->end.value;

    if (!m->is_open) {
        return SYM_OK;
    }

    m->is_open = false;
    return is_inlined ? SYM_OK : sym_jvm_find_by_parameters(m->writer);
}


static void
order(uint32_t *a, uint32_t *b)
{
    uint32_t low = *a < *b ? *a : *b;

    *b = *a < *b ? *b : *a;
    *a = low;
}


static sym_status_t
add_method(mapping_t *m, const sym_proguard_record_t *r)
{
    sym_jvm_given_t given = { .name = r->name,
                              .original = r->original,
                              .parameters = r->parameters,
                              .owner = r->owner,
                              .has_range = r->start.is_set,
                              .start = (uint32_t) r->start.value,
                              .end = (uint32_t) r->end.value,
                              .n_lines = r->first.is_set + r->last.is_set,
                              .first = (uint32_t) r->first.value,
                              .last = (uint32_t) r->last.value };

    order(&given.start, &given.end);

    if (given.n_lines == 2) {
        order(&given.first, &given.last);
    } else if (given.n_lines == 0 && given.has_range) {
        given.n_lines = 2;
        given.first = given.start;
        given.last = given.end;
    }

    m->method = *r;
    m->is_open = true;
    return sym_jvm_add_member(m->writer, &given);
}


static sym_status_t
add_positions(mapping_t *m, sym_str_t positions)
{
    size_t n = 0;
    uint32_t from, to;

    while (sym_r8_next_position(&positions, &from, &to)) {
        if (!SYM_ARRAY_ROOM(m->pairs, n + 1, m->pairs_cap)) {
            return sym_fail(m->err, SYM_NOMEM, NULL);
        }
        m->pairs[n++] = (sym_jvm_pair_t){ from, to };
    }

    return n != 0 ? sym_jvm_set_positions(m->writer, m->pairs, n) : SYM_OK;
}


static sym_status_t
add_to_method(mapping_t *m, const sym_r8_t *r8)
{
    sym_str_t thrown;
    uint32_t removed;

    switch (r8->type) {
    case SYM_R8_SYNTHESIZED:
        sym_jvm_set_synthesized(m->writer);
        return SYM_OK;
    case SYM_R8_OUTLINE:
        sym_jvm_set_outline(m->writer);
        return SYM_OK;
    case SYM_R8_OUTLINE_CALLSITE:
        return add_positions(m, r8->positions);
    case SYM_R8_REWRITE_FRAME:
        return sym_r8_rule(r8, &thrown, &removed)
                   ? sym_jvm_add_rule(m->writer, thrown, removed)
                   : SYM_OK;
    default:
        return SYM_OK;
    }
}


static sym_status_t
add_metadata(mapping_t *m, sym_str_t json)
{
    sym_r8_t r8;

    if (m->subject == OF_NONE) {
        return SYM_OK;
    }

    sym_r8_read(json, &r8);

    if (m->subject == OF_METHOD) {
        return add_to_method(m, &r8);
    }

    if (r8.type == SYM_R8_SYNTHESIZED) {
        sym_jvm_set_class_synthesized(m->writer);
    }

    return r8.type == SYM_R8_SOURCE_FILE ? sym_jvm_set_file(m->writer, r8.file)
                                         : SYM_OK;
}


static sym_status_t
add_record(mapping_t *m, const sym_proguard_record_t *r)
{
    if (r->type == SYM_PROGUARD_INVALID) {
        return SYM_OK;
    }

    if (r->type == SYM_PROGUARD_METADATA) {
        return add_metadata(m, r->text);
    }

    if (end_method(m, r) != SYM_OK) {
        return m->err->status;
    }

    m->subject = OF_NONE;

    if (r->type == SYM_PROGUARD_CLASS) {
        m->has_class = true;
        m->subject = OF_CLASS;
        return sym_jvm_begin_class(m->writer, r->name, r->original);
    }

    m->has_member |= m->has_class && r->type != SYM_PROGUARD_COMMENT;

    if (r->type == SYM_PROGUARD_METHOD && m->has_class) {
        m->subject = OF_METHOD;
        return add_method(m, r);
    }

    return SYM_OK;
}


static sym_status_t
add_records(mapping_t *m, sym_str_t text)
{
    sym_proguard_record_t record;
    sym_status_t rc = SYM_OK;

    while (rc == SYM_OK && sym_proguard_next(&text, &record)) {
        rc = add_record(m, &record);
    }

    rc = rc == SYM_OK ? end_method(m, NULL) : rc;

    if (rc == SYM_OK && !m->has_member) {
        rc = sym_fail(m->err, SYM_MALFORMED,
                      "the mapping has no class with members");
    }

    return rc;
}


/* --- the file --- */

/* A finish() of a sym_format_output_t. */
static sym_status_t
finish(void *writer, const sym_module_info_t *info, sym_extent_put_pt put,
       void *ctx, sym_writer_stats_t *stats, sym_error_t *err)
{
    const sym_format_file_t *f = writer;
    mapping_t m = { .err = err };

    (void) info; /* the store's record contains it */
    m.writer = sym_jvm_writer_create(put, ctx, err);

    if (m.writer != NULL && add_records(&m, f->data) == SYM_OK) {
        (void) sym_jvm_finish(m.writer, stats);
    }

    sym_jvm_writer_free(m.writer);
    free(m.pairs);
    return err->status;
}


/* The id that Sentry's tools give a mapping. */
static size_t
derive_id(sym_str_t data, char text[SYM_ID_TEXT_MAX])
{
    sym_debug_id_t id = { .form = SYM_DEBUG_ID_UUID };
    uint8_t digest[SYM_SHA1_BYTES];

    /* RFC 9562, section 5.5 */
    sym_sha1(sym_str(name_space, sizeof(name_space) - 1), data, digest);
    memcpy(id.signature, digest, sizeof(id.signature));
    id.signature[6] = (uint8_t) ((id.signature[6] & 0x0f) | 0x50);
    id.signature[8] = (uint8_t) ((id.signature[8] & 0x3f) | 0x80);
    return sym_debug_id_write_breakpad(&id, text);
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    char text[SYM_ID_TEXT_MAX];
    const sym_module_info_t info = {
        .debug_id = f->asked_id.len != 0
                        ? f->asked_id
                        : sym_str(text, derive_id(f->data, text)),
        .source_bytes = f->data.len,
    };
    /* finish() does not change it */
    const sym_format_output_t output = { .kind = SYM_KIND_JVM,
                                         .info = &info,
                                         .writer = (void *) (uintptr_t) f,
                                         .finish = finish };

    (void) which; /* the file has one object */
    return f->put(f->ctx, &output, err);
}


const sym_format_t sym_format_proguard = {
    .title = "ProGuard mapping",
    .probe = probe,
    .is_wanted = is_wanted,
    .is_nameless = true,
    .convert = convert,
};
