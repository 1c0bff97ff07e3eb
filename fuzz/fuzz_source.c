/*
 * Any bytes as a module to ask a source for, and as the key of an object.  A
 * path never leaves its folder, is what S3 signs, and leads back to its module;
 * what is refused leaves nothing.  The first byte says how ids are written and
 * how small the buffer is; a line feed stands between name and id.
 */
#include <stdlib.h>

#include "check.h"
#include "base/uri.h"
#include "object/object_id.h"
#include "sources/paths/layout.h"
#include "sources/paths/symstore_pointer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The parts of a path are three, none is empty or leads upward. */
static void
check_parts(sym_str_t path)
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
    check(n == 3);
}


static void
check_signed(sym_str_t path)
{
    char sent[SYM_SOURCE_PATH_MAX + 1] = "/";
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


/* Of a .sym file the name is known, too. */
static void
check_back(sym_str_t key, const sym_source_module_t *module,
           sym_str_t want_name)
{
    char want[SYM_ID_MAX];
    sym_source_found_t found;
    sym_code_id_t code_id;
    bool is_found = sym_source_module_of(key, &found);

    check(is_found && sym_str_eq(found.name, want_name));

    if (found.id_len == 0) {
        check(sym_code_id_read_pe(module->code_id, &code_id)
              && sym_code_id_eq(&found.code_id, &code_id));
        return;
    }

    check(found.id_len == sym_debug_id_canonical(module->id, want));
    check(memcmp(found.id, want, found.id_len) == 0);
}


/* size bytes at most, and a sanitizer behind them. */
static void
ask(const sym_source_module_t *module, const sym_source_rules_t *rules,
    sym_source_file_t file, size_t size)
{
    bool is_breakpad = rules->layout == SYM_LAYOUT_BREAKPAD;
    sym_status_t status;
    char *path_room = malloc(size), *key_room = malloc(size);
    sym_error_t err = { 0 };
    sym_str_t path, key;

    check(path_room != NULL && key_room != NULL);

    status = sym_source_path(rules, file, module, path_room, size, &path, &err);

    if (status == SYM_OK) {
        /* a key is never longer than its path */
        check(sym_source_key(rules, file, module, key_room, size, &key, &err)
              == SYM_OK);
        check_signed(path);
        if (is_breakpad) {
            check_parts(path);
            check_parts(key);
            check_back(key, module, module->name);
        } else if (file >= SYM_SOURCE_PDB && file <= SYM_SOURCE_PE_PACKED
                   && rules->layout != SYM_LAYOUT_SLASHSYMBOLS)
        {
            check_back(key, module, SYM_STR(""));
        }
    } else if (status == SYM_NOT_FOUND) {
        check(path.len == 0 && err.what == NULL);
    } else {
        check(path.len == 0 && err.what != NULL);
        check(err.status == SYM_MALFORMED || size < SYM_SOURCE_PATH_MAX
              || module->id.len > SYM_SOURCE_ID_MAX);
    }

    free(path_room);
    free(key_room);
}


static void
ask_all(const sym_source_module_t *module, sym_source_ids_t ids, size_t size)
{
    for (unsigned i = 0; i <= SYM_LAYOUT_SLASHSYMBOLS; i++) {
        sym_source_rules_t rules = { .layout = (sym_layout_t) i, .ids = ids };

        rules.files = sym_layout_files(rules.layout);
        for (unsigned file = 0; file < SYM_SOURCE_FILES; file++) {
            ask(module, &rules, (sym_source_file_t) file, size);
        }
    }
}


/* A module that a key names is one that can be asked for. */
static void
read_key(sym_str_t key)
{
    char out[SYM_SOURCE_PATH_MAX];
    sym_source_found_t found;
    bool is_found = sym_source_module_of(key, &found);
    sym_error_t err = { 0 };
    sym_str_t path;
    const sym_source_rules_t rules = { .layout = SYM_LAYOUT_BREAKPAD,
                                       .files = 1u << SYM_SOURCE_BREAKPAD };
    const sym_source_module_t module = { .name = found.name,
                                         .id = { found.id, found.id_len } };

    check(is_found == (found.id_len != 0 || found.code_id.len != 0));
    check(is_found || found.name.len == 0);
    check(found.name.len == 0
          || sym_source_path(&rules, SYM_SOURCE_BREAKPAD, &module, out,
                             sizeof(out), &path, &err)
                 == SYM_OK);
}


/* A pointer's path ends in its place, and leads to no other machine. */
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
    sym_source_module_t module = { 0 };
    sym_code_id_t code_id;
    size_t room = SYM_SOURCE_PATH_MAX, name_len;
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
    module.name = sym_str(text, name_len);
    module.id = sym_str(text + name_len, 0);
    if (end != NULL) {
        module.id = sym_str(end + 1, size - name_len - 1);
    }

    (void) sym_mozilla_code_id(module.name, module.id, &code_id);
    module.code_id = sym_str(code_id.text, code_id.len);

    if ((data[0] & 2) != 0) {
        room = (size_t) (data[0] >> 2) + 1;
    }

    ask_all(&module,
            (data[0] & 1) != 0 ? SYM_SOURCE_IDS_UPPER : SYM_SOURCE_IDS_AS_IS,
            room);
    read_key(sym_str(text, size));
    read_pointer(sym_str(text, size), room);
    free(text);
    return 0;
}
