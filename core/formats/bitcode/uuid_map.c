/*
 * uuid_map.c - a property list (XML): <plist version="1.0"><dict> with a <key>
 * before each value.
 */
#include "formats/bitcode/uuid_map.h"

#include <expat.h>

#include "formats/packed/expat.h"

#define KEY "DBGOriginalUUID"

/* Room for a key, or for a UUID with dashes and an age.  It is larger than
   needed, so that longer texts are noticed. */
#define TEXT_MAX 64

/* Limit on the nesting of elements. */
#define DEPTH_MAX 32

/* Nesting level of keys and values. */
#define LIST_DEPTH 1
#define DICT_DEPTH 2
#define ITEM_DEPTH 3

typedef struct {
    XML_Parser parser;
    unsigned depth;
    bool is_list, is_dict; /* the current position is in a list, in a dict */
    bool had_dict;         /* a dict was read; others are ignored */
    bool is_key;           /* the current item is a key */
    bool is_next;          /* the next item is the value */
    bool is_found;
    char text[TEXT_MAX]; /* text of the current item */
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
is_version_1(const XML_Char **attributes)
{
    const char *version = sym_expat_attribute(attributes, "version");

    return version != NULL && strcmp(version, "1.0") == 0;
}


static void XMLCALL
on_start(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
    reader_t *r = ctx;

    if (++r->depth > DEPTH_MAX) {
        stop(r, "the property list is nested too deeply");
        return;
    }

    if (r->depth == LIST_DEPTH) {
        r->is_list = strcmp(name, "plist") == 0 && is_version_1(attributes);
    } else if (r->depth == DICT_DEPTH) {
        r->is_dict = r->is_list && !r->had_dict && strcmp(name, "dict") == 0;
        r->had_dict |= r->is_dict;
    } else if (r->depth == ITEM_DEPTH && !r->is_found) {
        r->is_key = strcmp(name, "key") == 0;
        r->len = 0;
    }
}


static void XMLCALL
on_text(void *ctx, const XML_Char *text, int len)
{
    reader_t *r = ctx;

    if (!r->is_dict || r->depth != ITEM_DEPTH || r->is_found) {
        return;
    }

    if ((size_t) len > sizeof(r->text) - r->len) {
        len = (int) (sizeof(r->text) - r->len); /* too long to match any key */
    }

    memcpy(r->text + r->len, text, (size_t) len);
    r->len += (size_t) len;
}


static void XMLCALL
on_end(void *ctx, const XML_Char *name)
{
    reader_t *r = ctx;

    (void) name;
    if (r->depth == ITEM_DEPTH && r->is_dict && !r->is_found) {
        r->is_found = r->is_next;
        r->is_next =
            r->is_key && sym_str_eq(sym_str(r->text, r->len), SYM_STR(KEY));
    } else if (r->depth == DICT_DEPTH) {
        r->is_dict = false;
    }

    r->depth--;
}


/* Entities could expand far beyond the size of the file; Apple's lists have
 * none. */
static void XMLCALL
on_entity(void *ctx, const XML_Char *name, int is_parameter,
          const XML_Char *value, int value_len, const XML_Char *base,
          const XML_Char *system_id, const XML_Char *public_id,
          const XML_Char *notation)
{
    (void) name;
    (void) is_parameter;
    (void) value;
    (void) value_len;
    (void) base;
    (void) system_id;
    (void) public_id;
    (void) notation;
    stop(ctx, "the property list declares an entity");
}


static sym_status_t
parse(reader_t *r, sym_str_t plist, sym_error_t *err)
{
    enum XML_Error code;

    sym_expat_salt(r->parser);
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetEntityDeclHandler(r->parser, on_entity);

    if (XML_Parse(r->parser, plist.data, (int) plist.len, XML_TRUE)
        == XML_STATUS_OK)
    {
        return SYM_OK;
    }

    code = XML_GetErrorCode(r->parser);
    if (code == XML_ERROR_NO_MEMORY) {
        return sym_fail(err, SYM_NOMEM, "no memory for a property list");
    }

    err->line = sym_expat_line(r->parser);
    return sym_fail(err, SYM_MALFORMED,
                    r->problem != NULL ? r->problem
                                       : "the property list is not XML");
}


sym_status_t
sym_uuid_map_read(sym_str_t plist, uint8_t uuid[SYM_UUID_BYTES],
                  sym_error_t *err)
{
    reader_t r = { 0 };
    sym_debug_id_t id;
    sym_status_t rc;

    if (plist.len > SYM_UUID_MAP_BYTES_MAX) {
        return sym_fail(err, SYM_LIMIT, "the property list is too large");
    }

    r.parser = XML_ParserCreate(NULL);
    if (r.parser == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for a property list");
    }

    rc = parse(&r, plist, err);
    XML_ParserFree(r.parser);

    if (rc != SYM_OK) {
        return rc;
    }

    if (!r.is_found) {
        return sym_fail(err, SYM_MALFORMED, "the property list has no " KEY);
    }

    if (!sym_debug_id_read_sentry(sym_str(r.text, r.len), &id)
        || id.form != SYM_DEBUG_ID_UUID || id.age != 0)
    {
        return sym_fail(err, SYM_MALFORMED, KEY " is not a UUID");
    }

    memcpy(uuid, id.signature, SYM_UUID_BYTES);
    return SYM_OK;
}
