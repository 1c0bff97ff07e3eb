/*
 * Any bytes as a module to request from a source, and as the path of a script's
 * URL.  A path must never leave its folder, and must be what S3 signs; refused
 * modules have no path.  The first byte selects the
 * spelling of ids and the buffer size of a pointer; a line feed separates name
 * and id.
 */
#include <stdlib.h>

#include "check.h"
#include "base/uri.h"
#include "sources/paths/plan.h"
#include "sources/paths/symstore_pointer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No part is empty or leads upward.  Returns their number. */
static size_t
count_parts(sym_str_t path)
{
    size_t n = 0;

    for (size_t at = 0; at <= path.len; n++) {
        const char *start = path.data + at;
        const char *slash = memchr(start, '/', path.len - at);
        size_t len = slash != NULL ? (size_t) (slash - start) : path.len - at;
        sym_str_t part = sym_str(start, len);

        check(part.len != 0 && !sym_str_eq(part, SYM_STR("."))
              && !sym_str_eq(part, SYM_STR("..")));
        at += len + 1;
    }

    return n;
}


static void
check_signed(sym_str_t path)
{
    char sent[SYM_SOURCE_ENCODED_MAX + 1] = "/";
    sym_error_t err = { 0 };
    sym_arena_t arena;
    sym_str_t canonical;

    memcpy(sent + 1, path.data, path.len);
    sym_arena_init(&arena, 0);
    check(sym_uri_path_s3(&arena, sym_str(sent, path.len + 1), &canonical, &err)
          == SYM_OK);
    check(sym_str_eq(canonical, sym_str(sent, path.len + 1)));
    sym_arena_drop(&arena);
}


static void
check_place(const sym_source_place_t *place, sym_layout_t layout)
{
    char sent[SYM_SOURCE_ENCODED_MAX];
    sym_str_t encoded = sym_source_encode(place->path, sent);

    check(place->path.len < SYM_SOURCE_PATH_MAX);
    check_signed(encoded);
    if (layout == SYM_LAYOUT_BREAKPAD) {
        check(count_parts(place->path) == 3 && count_parts(encoded) == 3);
    }
}


static void
ask_all(const sym_object_ref_t *ref, sym_source_ids_t ids)
{
    for (unsigned i = 0; i <= SYM_LAYOUT_SLASHSYMBOLS; i++) {
        sym_source_rules_t rules = { .layout = (sym_layout_t) i, .ids = ids };
        sym_source_plan_t plan;
        sym_arena_t arena;

        rules.files = sym_layout_files(rules.layout);
        sym_arena_init(&arena, 0);
        check(sym_source_plan(&arena, ref, &rules, ~0U, SYM_DEBUG_FILES_FIRST,
                              &plan)
              == SYM_OK);
        for (unsigned n = 0; n < plan.n; n++) {
            check_place(&plan.at[n], rules.layout);
        }
        sym_arena_drop(&arena);
    }
}


/* The same bytes as the path of a script's URL. */
static void
ask_site(sym_str_t path)
{
    const sym_source_rules_t rules = { .layout = SYM_LAYOUT_SITE,
                                       .files = ~0U };
    sym_object_ref_t ref = { .role = SYM_TEXT_SCRIPT };
    sym_source_plan_t plan;
    sym_arena_t arena;
    char *url = malloc(path.len + 2), sent[SYM_SOURCE_ENCODED_MAX];

    check(url != NULL);
    url[0] = '~';
    url[1] = '/';
    memcpy(url + 2, path.data, path.len);
    ref.url = sym_str(url, path.len + 2);
    sym_arena_init(&arena, 0);
    check(
        sym_source_plan(&arena, &ref, &rules, ~0U, SYM_DEBUG_FILES_FIRST, &plan)
            == SYM_OK
        && plan.n <= 1);

    if (plan.n == 1) {
        sym_str_t encoded = sym_source_encode(plan.at[0].path, sent);

        check(plan.at[0].file == SYM_SOURCE_SCRIPT
              && plan.at[0].path.len < SYM_SOURCE_PATH_MAX);
        check(count_parts(encoded) == count_parts(plan.at[0].path));
        check_signed(encoded);
    }

    sym_arena_drop(&arena);
    free(url);
}


/* A pointer's path ends in its original path, and leads to no other machine. */
static void
read_pointer(sym_str_t text, size_t size)
{
    char *out = malloc(size);
    sym_pointer_t what;

    check(out != NULL);
    what = sym_symstore_pointer(text, out, size);

    if (what == SYM_POINTER_PATH || what == SYM_POINTER_ELSEWHERE) {
        size_t len = strnlen(out, size);

        check(len > 0 && len < size && len + sizeof("PATH:") - 1 <= text.len);
        check(memchr(out, '\\', len) == NULL && memchr(out, '\n', len) == NULL);
        check(what == SYM_POINTER_ELSEWHERE || strncmp(out, "//", 2) != 0);
    }

    free(out);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_object_ref_t ref;
    size_t room = SYM_SOURCE_PATH_MAX, name_len;
    sym_str_t id = SYM_STR("");
    const char *end;
    char *text;

    if (size == 0) {
        return 0;
    }

    /* a block of its own: a sanitizer sees every byte past it */
    text = malloc(size == 1 ? 1 : size - 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data + 1, --size);

    end = memchr(text, '\n', size);
    name_len = end != NULL ? (size_t) (end - text) : size;
    if (end != NULL) {
        id = sym_str(end + 1, size - name_len - 1);
    }

    sym_object_ref_mozilla(&ref, sym_str(text, name_len), id);
    if ((data[0] & 2) != 0) {
        room = (size_t) (data[0] >> 2) + 1;
    }

    ask_all(&ref,
            (data[0] & 1) != 0 ? SYM_SOURCE_IDS_UPPER : SYM_SOURCE_IDS_AS_IS);
    ask_site(sym_str(text, size));
    read_pointer(sym_str(text, size), room);
    free(text);
    return 0;
}
