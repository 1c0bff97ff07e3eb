#include "formats/packed/package_xml.h"

#include <expat.h>
#include <string.h>

#include "formats/packed/expat.h"

#define SECTION "index in XML"

/* Limit on the nesting of elements; packages need four levels. */
#define DEPTH_MAX 32

/* expat keeps the start of a tag until it has all of it. */
#define TAG_MAX ((uint64_t) 1 << 20)

/* Nesting level of packages, and of what is said about one. */
#define ENTRY_DEPTH 2
#define FIELD_DEPTH 3

typedef struct {
    XML_Parser parser;
    sym_package_sink_pt sink;
    void *ctx;
    unsigned depth;
    bool is_entry;
    sym_package_entry_t entry;
    char *to; /* the field that gets the current text, or NULL */
    size_t to_size;
    char text[SYM_PACKAGE_PATH];
    size_t len;
    const char *problem;
} reader_t;


static void
stop(reader_t *r, const char *problem)
{
    if (r->problem == NULL) {
        r->problem = problem;
        (void) XML_StopParser(r->parser, XML_FALSE);
    }
}


static bool
is_attribute(const XML_Char **attributes, const char *name, const char *value)
{
    const char *is = sym_expat_attribute(attributes, name);

    return is != NULL && strcmp(is, value) == 0;
}


static void
start_list(reader_t *r, const char *name)
{
    if (strcmp(name, "metadata") == 0) {
        r->entry.from = SYM_PACKAGE_RPM;
    } else if (strcmp(name, "repomd") == 0) {
        r->entry.from = SYM_PACKAGE_RPM_LIST;
    } else {
        stop(r, "it is not a list of packages");
    }
}


static void
start_entry(reader_t *r, const char *name, const XML_Char **attributes)
{
    const sym_package_from_t from = r->entry.from;

    r->entry = (sym_package_entry_t){ .from = from };
    r->is_entry = from == SYM_PACKAGE_RPM
                      ? strcmp(name, "package") == 0
                      : strcmp(name, "data") == 0
                            && is_attribute(attributes, "type", "primary");
    if (from == SYM_PACKAGE_RPM_LIST) {
        sym_package_keep(r->entry.name, sizeof(r->entry.name),
                         SYM_STR("primary"));
    }
}


static void
keep_attribute(char *to, size_t size, const char *value)
{
    sym_package_keep(to, size, value != NULL ? sym_cstr(value) : SYM_STR(""));
}


static void
take_text(reader_t *r, char *to, size_t size)
{
    r->to = to;
    r->to_size = size;
    r->len = 0;
}


/* An element may have a base of its own, which may be on another server: such a
 * package gets no path. */
static void
start_field(reader_t *r, const char *name, const XML_Char **attributes)
{
    sym_package_entry_t *e = &r->entry;
    const bool is_list = e->from == SYM_PACKAGE_RPM_LIST;

    if (strcmp(name, "location") == 0) {
        keep_attribute(e->path, sizeof(e->path),
                       sym_expat_attribute(attributes, "xml:base") == NULL
                           ? sym_expat_attribute(attributes, "href")
                           : NULL);
    } else if (strcmp(name, "size") == 0 && !is_list) {
        keep_attribute(e->size, sizeof(e->size),
                       sym_expat_attribute(attributes, "package"));
    } else if (strcmp(name, "size") == 0) {
        take_text(r, e->size, sizeof(e->size));
    } else if (strcmp(name, "checksum") == 0
               && is_attribute(attributes, "type", "sha256"))
    {
        take_text(r, e->digest, sizeof(e->digest));
    } else if (strcmp(name, "name") == 0 && !is_list) {
        take_text(r, e->name, sizeof(e->name));
    }
}


static void XMLCALL
on_start(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
    reader_t *r = ctx;

    if (++r->depth > DEPTH_MAX) {
        stop(r, "it is nested too deeply");
    } else if (r->depth == 1) {
        start_list(r, name);
    } else if (r->depth == ENTRY_DEPTH) {
        start_entry(r, name, attributes);
    } else if (r->depth == FIELD_DEPTH && r->is_entry) {
        start_field(r, name, attributes);
    }
}


static void XMLCALL
on_text(void *ctx, const XML_Char *text, int len)
{
    reader_t *r = ctx;

    if (r->to == NULL || r->depth != FIELD_DEPTH) {
        return;
    }

    if ((size_t) len > sizeof(r->text) - r->len) {
        len = (int) (sizeof(r->text) - r->len); /* too long for any field */
    }

    memcpy(r->text + r->len, text, (size_t) len);
    r->len += (size_t) len;
}


static void XMLCALL
on_end(void *ctx, const XML_Char *name)
{
    reader_t *r = ctx;

    (void) name;
    if (r->depth == FIELD_DEPTH && r->to != NULL) {
        sym_package_keep(r->to, r->to_size, sym_str(r->text, r->len));
        r->to = NULL;
    } else if (r->depth == ENTRY_DEPTH && r->is_entry) {
        r->is_entry = false;
        r->sink(r->ctx, &r->entry);
    }

    r->depth--;
}


/* Entities could expand far beyond the size of the file; these lists have
 * none. */
static void XMLCALL
on_doctype(void *ctx, const XML_Char *name, const XML_Char *system_id,
           const XML_Char *public_id, int has_internal_subset)
{
    (void) name;
    (void) system_id;
    (void) public_id;
    (void) has_internal_subset;
    stop(ctx, "it declares a document type");
}


static sym_status_t
fail(const reader_t *r, sym_error_t *err)
{
    if (XML_GetErrorCode(r->parser) == XML_ERROR_NO_MEMORY) {
        return sym_fail(err, SYM_NOMEM, "no memory for an " SECTION);
    }

    if (err->status == SYM_OK) {
        err->section = SECTION;
        err->line = sym_expat_line(r->parser);
        err->offset = (uint64_t) XML_GetCurrentByteIndex(r->parser);
    }
    return sym_fail(err, SYM_MALFORMED,
                    r->problem != NULL ? r->problem
                                       : "it is not well-formed XML");
}


static sym_status_t
parse(reader_t *r, sym_pieces_more_pt more, void *from, sym_error_t *err)
{
    uint64_t fed = 0;
    const char *data;
    size_t len;

    do {
        sym_status_t rc = more(from, &data, &len, err);

        if (rc != SYM_OK) {
            return rc;
        }

        if (XML_Parse(r->parser, data, (int) len, len == 0) != XML_STATUS_OK) {
            return fail(r, err);
        }

        fed += len;
        if (len != 0
            && fed - (uint64_t) XML_GetCurrentByteIndex(r->parser) > TAG_MAX) {
            r->problem = "it has a tag that is too long";
            return fail(r, err);
        }
    } while (len != 0);

    return SYM_OK;
}


sym_status_t
sym_package_xml_read(sym_pieces_more_pt more, void *from,
                     sym_package_sink_pt sink, void *ctx, sym_error_t *err)
{
    reader_t r = { .sink = sink, .ctx = ctx };
    sym_status_t rc;

    r.parser = XML_ParserCreate(NULL);
    if (r.parser == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for an " SECTION);
    }

    sym_expat_salt(r.parser);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    rc = parse(&r, more, from, err);
    XML_ParserFree(r.parser);
    return rc;
}
