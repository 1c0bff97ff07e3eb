#include "source/layout.h"

#include "aws/uri.h"

#define SYM_SUFFIX SYM_STR(".sym")
#define PDB_SUFFIX SYM_STR(".pdb")

/* A path under way; what does not fit is not written, and remembered. */
typedef struct {
    char *data;
    size_t len, size;
    bool is_encoded;
    bool is_full;
} path_t;

/* One row a layout. */
typedef struct {
    sym_str_t name; /* in the configuration */
    void (*write)(path_t *path, const sym_source_module_t *module,
                  sym_source_ids_t ids);
    /* the parts of a key, last first */
    bool (*matches)(sym_str_t file, sym_str_t folder);
} layout_t;


/* --- writing --- */

static void
put(path_t *path, sym_str_t bytes)
{
    if (path->is_full || bytes.len > path->size - path->len) {
        path->is_full = true;
        return;
    }

    memcpy(path->data + path->len, bytes.data, bytes.len);
    path->len += bytes.len;
}


/* A part between slashes, or a piece of one. */
static void
put_part(path_t *path, sym_str_t part)
{
    char encoded[3];

    if (!path->is_encoded) {
        put(path, part);
        return;
    }

    for (size_t i = 0; i < part.len; i++) {
        put(path, sym_str(encoded, sym_uri_encode_byte(part.data[i], encoded)));
    }
}


static void
put_id(path_t *path, sym_str_t id, sym_source_ids_t ids)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.data[i];

        if (ids == SYM_SOURCE_IDS_UPPER && c >= 'a') { /* of an id: a to f */
            c = (char) (c - ('a' - 'A'));
        }
        put(path, sym_str(&c, 1));
    }
}


/* --- breakpad --- */

static bool
ends(sym_str_t s, sym_str_t suffix)
{
    return s.len >= suffix.len
           && memcmp(s.data + s.len - suffix.len, suffix.data, suffix.len) == 0;
}


/* tecken.md, 5: ".pdb" goes as it is written here, ".PDB" stays. */
static sym_str_t
stem_of(sym_str_t name)
{
    return ends(name, PDB_SUFFIX)
               ? sym_str(name.data, name.len - PDB_SUFFIX.len)
               : name;
}


static void
breakpad_write(path_t *path, const sym_source_module_t *module,
               sym_source_ids_t ids)
{
    put_part(path, module->name);
    put(path, SYM_STR("/"));
    put_id(path, module->id, ids);
    put(path, SYM_STR("/"));
    put_part(path, stem_of(module->name));
    put(path, SYM_SUFFIX);
}


static bool
breakpad_matches(sym_str_t file, sym_str_t folder)
{
    return ends(file, SYM_SUFFIX)
           && sym_str_eq(sym_str(file.data, file.len - SYM_SUFFIX.len),
                         stem_of(folder));
}


/* --- all of them --- */

static const layout_t layouts[] = {
    [SYM_LAYOUT_BREAKPAD] = { { "breakpad", 8 },
                              breakpad_write,
                              breakpad_matches },
};

#define N_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

bool
sym_layout_find(sym_str_t name, sym_layout_t *layout)
{
    for (size_t i = 0; i < N_LAYOUTS; i++) {
        if (sym_str_eq(name, layouts[i].name)) {
            *layout = (sym_layout_t) i;
            return true;
        }
    }

    return false;
}


bool
sym_source_name_ok(sym_str_t name)
{
    if (!sym_module_name_ok(name) || sym_str_eq(name, SYM_STR("."))
        || sym_str_eq(name, SYM_STR("..")))
    {
        return false;
    }

    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = (uint8_t) name.data[i];

        if (c < 0x20 || c == 0x7f || c == '\\') {
            return false;
        }
    }

    return true;
}


static sym_status_t
write_path(const layout_t *layout, sym_source_ids_t ids,
           const sym_source_module_t *module, path_t *path, sym_error_t *err)
{
    char canonical[SYM_ID_MAX];

    if (!sym_source_name_ok(module->name)) {
        return sym_fail(err, SYM_MALFORMED,
                        "a debug file name that no source may be asked for");
    }
    if (sym_debug_id_canonical(module->id, canonical) == 0) {
        return sym_fail(err, SYM_MALFORMED, "not a debug id");
    }
    if (module->id.len > SYM_SOURCE_ID_MAX) {
        return sym_fail(err, SYM_LIMIT, "the debug id is too long");
    }

    layout->write(path, module, ids);
    return path->is_full
               ? sym_fail(err, SYM_LIMIT, "the path at the source is too long")
               : SYM_OK;
}


static sym_status_t
path_of(sym_layout_t layout, sym_source_ids_t ids,
        const sym_source_module_t *module, path_t path, sym_str_t *out,
        sym_error_t *err)
{
    sym_status_t status = write_path(&layouts[layout], ids, module, &path, err);

    *out = sym_str(path.data, status == SYM_OK ? path.len : 0);
    return status;
}


sym_status_t
sym_source_path(sym_layout_t layout, sym_source_ids_t ids,
                const sym_source_module_t *module, char *out, size_t size,
                sym_str_t *path, sym_error_t *err)
{
    return path_of(layout, ids, module,
                   (path_t){ .data = out, .size = size, .is_encoded = true },
                   path, err);
}


sym_status_t
sym_source_key(sym_layout_t layout, sym_source_ids_t ids,
               const sym_source_module_t *module, char *out, size_t size,
               sym_str_t *path, sym_error_t *err)
{
    return path_of(layout, ids, module, (path_t){ .data = out, .size = size },
                   path, err);
}


/* --- and back --- */

/* Takes the last part off a key; empty at its end. */
static sym_str_t
take_last(sym_str_t *key)
{
    const char *slash = memrchr(key->data, '/', key->len);
    size_t at = slash != NULL ? (size_t) (slash - key->data) + 1 : 0;
    sym_str_t part = sym_str(key->data + at, key->len - at);

    key->len = at > 0 ? at - 1 : 0;
    return part;
}


size_t
sym_source_module_of(sym_layout_t layout, sym_str_t key, sym_str_t *name,
                     char id[SYM_ID_MAX])
{
    sym_str_t file, folder, id_sent;
    size_t len;

    *name = sym_str("", 0);
    if (key.len == 0) {
        return 0;
    }

    file = take_last(&key);
    id_sent = take_last(&key);
    folder = take_last(&key);

    if (!sym_source_name_ok(folder) || !layouts[layout].matches(file, folder)) {
        return 0;
    }

    len = sym_debug_id_canonical(id_sent, id);
    *name = sym_str(folder.data, len > 0 ? folder.len : 0);
    return len;
}
