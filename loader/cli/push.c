/*
 * push.c - `symloader push-symbols`: sends the symbols of an executable to a
 * server with Elastic's interface (docs/use/uploads.md).
 *
 * Ranges and return pads are written to temporary files first, because a request
 * says how many parts there are.  A part is cut before a string table, where our
 * writer begins with an absolute address, so each can be read alone.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "artifacts/export/tools.h"
#include "base/cursor.h"
#include "base/protobuf.h"
#include "cli/commands.h"
#include "cli/compile.h"
#include "cli/fileid.h"
#include "cli/post.h"
#include "json/load.h"
#include "symbolicate/cache/names.h"

#define FORMAT "symbfile"
#define HEAD SYM_STR("symbfile\0\1")
#define TABLE 4 /* type of a string table */

#define PARTS_MAX 300
#define HEADERS_MAX 1024
#define ANSWER_MAX ((size_t) 1 << 20)
#define URL_MAX 4096

typedef struct {
    const options_t *options;
    const char *key;
    char file_id[SYM_FILE_ID_BASE64 + 1];
    sym_names_t *names;
} push_t;

/* A file in parts.  Part i has the bytes from ends[i] up to ends[i + 1]. */
typedef struct {
    const char *kind; /* "ranges" */
    int fd;
    uint64_t length;
    unsigned n;
    uint64_t ends[PARTS_MAX + 1];
} parts_t;


/* --- parts --- */

/* Reads the length and the type of each message of a file that we have
 * written. */
static bool
find_parts(parts_t *p, const uint8_t *data, uint64_t part_bytes)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(data, (size_t) p->length, FORMAT, &err);

    (void) sym_bytes(&c, HEAD.len);
    p->n = 0;
    p->ends[0] = HEAD.len;

    while (sym_left(&c) != 0) {
        const uint64_t at = (uint64_t) (c.pos - c.start);
        const uint64_t len = sym_pb_varint(&c), type = sym_pb_varint(&c);

        if (type == TABLE && at - p->ends[p->n] >= part_bytes) {
            if (p->n + 2 > PARTS_MAX) {
                return false;
            }
            p->ends[++p->n] = at;
        }
        (void) sym_bytes(&c, len);
    }

    p->ends[++p->n] = p->length;
    return sym_ok(&c);
}


static bool
cut(parts_t *p, uint64_t part_bytes)
{
    void *map =
        mmap(NULL, (size_t) p->length, PROT_READ, MAP_PRIVATE, p->fd, 0);
    bool is_cut;

    if (map == MAP_FAILED) {
        complain_about(p->kind, "cannot map a temporary file: %s",
                       strerror(errno));
        return false;
    }

    is_cut = find_parts(p, map, part_bytes);
    munmap(map, (size_t) p->length);
    if (!is_cut) {
        complain_about(p->kind, "more than %u parts: raise --part-size",
                       PARTS_MAX);
    }

    return is_cut;
}


/* --- requests --- */

/* Prints the error in the answer. */
static void
complain(const char *url, const post_answer_t *answer)
{
    const char *code = NULL, *text = NULL, *uuid = NULL;
    sym_error_t err = { 0 };
    sym_json_t json;

    if (sym_json_load(&json, answer->body, ANSWER_MAX, 0,
                      "the answer is not JSON", &err)
            == SYM_OK
        && json_unpack(json.root, "{s:s, s:{s:s, s:s}}", "uuid", &uuid, "error",
                       "Code", &code, "Text", &text)
               == 0)
    {
        complain_about(url, "status %u, error %s: %s (%s)", answer->status,
                       code, text, uuid);
    } else {
        post_complain(url, answer);
    }

    sym_json_drop(&json);
}


/* Sends a part until the server has answered.  A part that is sent twice counts
 * once. */
static bool
send_part(const push_t *p, const char *url, const parts_t *parts, unsigned i)
{
    const post_file_t file = { HEAD, parts->fd, parts->ends[i],
                               parts->ends[i + 1] - parts->ends[i] };
    post_answer_t answer;
    const char *why = NULL;
    char headers[HEADERS_MAX];
    unsigned tries = 0;
    bool is_done;

    (void) snprintf(headers, sizeof(headers),
                    "Authorization: APIKey %s\r\nFileID: %s\r\n"
                    "FilePart: %u\r\nFileParts: %u\r\n",
                    p->key, p->file_id, i, parts->n);

    do {
        why = post_file(url, headers, &file, &answer);
    } while (post_again(&answer, tries++));

    is_done = why == NULL && answer.status == 200;
    if (why != NULL) {
        complain_about(url, "%s", why);
    } else if (!is_done) {
        complain(url, &answer);
    }

    free(answer.data);
    return is_done;
}


static bool
send_parts(const push_t *p, parts_t *parts)
{
    const char *server = p->options->server;
    size_t len = strlen(server);
    char url[URL_MAX], size[OUTPUT_SIZE_TEXT];
    int n;

    len -= len != 0 && server[len - 1] == '/';
    n = snprintf(url, sizeof(url), "%.*s/api/symbols-%s", (int) len, server,
                 parts->kind);
    if (n < 0 || (size_t) n >= sizeof(url)) {
        complain_about(server, "the URL is too long");
        return false;
    }

    if (!cut(parts, p->options->part_size)) {
        return false;
    }

    for (unsigned i = 0; i < parts->n; i++) {
        if (!send_part(p, url, parts, i)) {
            return false;
        }
    }

    say("%s %s: %u part%s, %s", p->file_id, parts->kind, parts->n,
        parts->n == 1 ? "" : "s", output_size(parts->length, size));
    return true;
}


/* --- files --- */

static sym_str_t
show_name(void *ctx, sym_str_t name, uint8_t lang)
{
    const push_t *p = ctx;

    return sym_names_show(p->names, name, lang, SYM_DEMANGLE_FULL);
}


static bool
write_ranges(push_t *p, temporary_symcache_t *symbols, int fd)
{
    const sym_kind_tools_t *tools = sym_kind_tools(SYM_KIND_SYMCACHE);
    const sym_dump_t how = { .key = temporary_symcache_key(symbols),
                             .show_name = show_name,
                             .ctx = p };
    output_t *out = output_create_stream(fd);
    sym_extent_source_t extents;
    sym_error_t err = { 0 };
    unsigned format = 0;
    char text[512];

    while (strcmp(tools->formats[format], FORMAT) != 0) {
        format++;
    }

    if (out != NULL
        && temporary_symcache_extents(symbols, &extents, &err) == SYM_OK)
    {
        (void) tools->dump(&extents, &how, format, &out->json, &err);
    }

    if (err.status != SYM_OK) {
        complain_about(p->options->operands[0], "%s",
                       sym_error_text(&err, text, sizeof(text)));
    }

    return out != NULL && output_end(out, EXIT_FINE) == EXIT_FINE
           && err.status == SYM_OK;
}


static bool
push_ranges(push_t *p)
{
    const options_t *o = p->options;
    const char *path = o->debug != NULL ? o->debug : o->operands[0];
    temporary_symcache_t *symbols = compile_file(o, path, o->arch);
    FILE *file = symbols != NULL ? tmpfile() : NULL;
    parts_t parts = { .kind = "ranges" };
    bool is_sent = false;
    off_t length;

    if (file != NULL && write_ranges(p, symbols, fileno(file))) {
        parts.fd = fileno(file);
        length = lseek(parts.fd, 0, SEEK_END);
        parts.length = (uint64_t) length;
        is_sent = length > 0 && send_parts(p, &parts);
    } else if (symbols != NULL && file == NULL) {
        complain_about(path, "cannot make a temporary file: %s",
                       strerror(errno));
    }

    if (file != NULL) {
        fclose(file);
    }
    temporary_symcache_free(symbols);
    return is_sent;
}


/* The code is in the executable; that of a debug file is better than none. */
static temporary_symcache_t *
make_pads(const options_t *o)
{
    const compile_how_t how = { .kind = SYM_KIND_SYMCACHE,
                                .makes_pads = true,
                                .debug = o->debug,
                                .hides_notes = true,
                                .hides_failure = o->debug != NULL };
    const compile_how_t other = { .kind = SYM_KIND_SYMCACHE,
                                  .makes_pads = true,
                                  .hides_notes = true };
    temporary_symcache_t *pads = compile_as(o, o->operands[0], o->arch, &how);

    return pads != NULL || o->debug == NULL
               ? pads
               : compile_as(o, o->debug, o->arch, &other);
}


static bool
push_pads(push_t *p)
{
    temporary_symcache_t *pads = make_pads(p->options);
    parts_t parts = { .kind = "returnpads" };
    bool is_sent = false;

    if (pads != NULL) {
        parts.fd = temporary_file_get(pads, &parts.length);
        is_sent = parts.length != 0 && send_parts(p, &parts);
    }

    temporary_symcache_free(pads);
    return is_sent;
}


/* --- the command --- */

static bool
read_key(push_t *p)
{
    if (post_key(&p->key) && p->key == NULL) {
        complain_about(POST_KEY,
                       "this variable must have the server's API key");
    }

    return p->key != NULL;
}


static bool
read_id(push_t *p)
{
    uint8_t id[SYM_FILE_ID_BYTES];
    const char *why = fileid_read(p->options->operands[0], id);

    if (why != NULL) {
        complain_about(p->options->operands[0], "%s", why);
        return false;
    }

    sym_file_id_base64(id, p->file_id);
    p->file_id[SYM_FILE_ID_BASE64] = '\0';
    return true;
}


int
push_run(const options_t *options)
{
    push_t p = { .options = options };
    bool has_ranges, has_pads;

    if (options->server == NULL) {
        complain_about("push-symbols", "it needs --server URL");
        return EXIT_USAGE;
    }

    if (!read_key(&p)) {
        return EXIT_USAGE;
    }

    if (!read_id(&p)) {
        return EXIT_PARTLY;
    }

    p.names = sym_names_create(NAMES_BYTES);
    if (p.names == NULL) {
        complain_about("push-symbols", "out of memory");
        return EXIT_STORE;
    }

    /* the pads may be there although the ranges are not, and the other way
     * round */
    has_ranges = push_ranges(&p);
    has_pads = push_pads(&p);
    sym_names_free(p.names);
    return has_ranges && has_pads ? EXIT_FINE : EXIT_PARTLY;
}
