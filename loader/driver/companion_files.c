#include "driver/companion_files.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/elf/elf.h"

typedef struct {
    const sym_companion_t *want;
    sym_str_t name, dir; /* the want's */
    struct stat self;    /* identifies the file, which is not its own
                            companion */
    char folder[PATH_MAX], root[PATH_MAX];
    const char *file_name; /* name of the file in its folder */

    uint32_t left; /* number of candidates to skip */
    int fd;        /* the chosen file; -1: none yet */
    converter_given_t *given;
} search_t;


/* --- opening --- */

/* Opens a file below folder, for any form of the path. */
static int
open_beneath(const char *folder, const char *path)
{
    struct open_how how = {
        .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd;

    if (dir < 0) {
        return -1;
    }

    fd = (int) syscall(SYS_openat2, dir, path, &how, sizeof(how));
    close(dir);
    return fd;
}


/* Whether the file may be passed to a converter; sets its length. */
static bool
is_usable(const search_t *s, int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)
        || (st.st_dev == s->self.st_dev && st.st_ino == s->self.st_ino))
    {
        return false;
    }

    s->given->length = (uint64_t) st.st_size;
    return true;
}


/* Tries one file, unless one has been chosen; truncated paths are ignored. */
__attribute__((format(printf, 3, 4))) static void
try(search_t *s, const char *folder, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    int len, fd;

    if (s->fd >= 0) {
        return;
    }

    va_start(args, format);
    len = vsnprintf(path, sizeof(path), format, args);
    va_end(args);

    if (len <= 0 || (size_t) len >= sizeof(path)) {
        return;
    }

    fd = open_beneath(folder, path);
    if (fd < 0) {
        return;
    }

    if (is_usable(s, fd) && s->left-- == 0) {
        s->fd = fd;
        return;
    }

    close(fd);
}


/* --- paths --- */

static sym_str_t
base_name(sym_str_t path)
{
    return sym_str_after_last(path, SYM_STR("/"));
}


/* Returns the part of a path after a folder that is its prefix; empty: it is
 * not. */
static sym_str_t
behind(sym_str_t path, const char *folder)
{
    size_t len = strlen(folder);

    while (len > 0 && folder[len - 1] == '/') {
        len--;
    }

    return path.len > len + 1 && memcmp(path.data, folder, len) == 0
                   && path.data[len] == '/'
               ? sym_str(path.data + len + 1, path.len - len - 1)
               : sym_str("", 0);
}


static bool
is_absolute(sym_str_t path)
{
    return path.len != 0 && path.data[0] == '/';
}


static bool
has_folder(const char *above, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    int len = snprintf(path, sizeof(path), "%s/%s", above, name);

    return len > 0 && (size_t) len < sizeof(path) && lstat(path, &st) == 0
           && S_ISDIR(st.st_mode);
}


static void
find_root(search_t *s, const char *tree)
{
    char above[PATH_MAX];
    char *slash;

    memcpy(above, s->folder, sizeof(above));

    do {
        if (has_folder(above, ".build-id") || has_folder(above, ".dwz")) {
            memcpy(s->root, above, sizeof(s->root));
            return;
        }

        slash = strrchr(above, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
    } while (slash != NULL && above[0] != '\0');

    if (tree != NULL && behind(sym_cstr(s->folder), tree).len != 0) {
        (void) snprintf(s->root, sizeof(s->root), "%s", tree);
    } else {
        memcpy(s->root, s->folder, sizeof(s->root));
    }
}


static bool
begin(search_t *s, const char *file, const char *tree)
{
    const char *slash = strrchr(file, '/');
    size_t len = slash == NULL ? 0 : (size_t) (slash - file);

    if (slash == NULL || file[0] != '/' || len >= sizeof(s->folder)
        || stat(file, &s->self) != 0)
    {
        return false;
    }

    memcpy(s->folder, file, len);
    s->folder[len] = '\0';
    if (len == 0) {
        (void) snprintf(s->folder, sizeof(s->folder), "/");
    }

    s->file_name = slash + 1;
    find_root(s, tree);
    return true;
}


/* --- candidates, best first --- */

/* A UUID with dashes. */
#define SYM_UUID_TEXT_MAX 36

static void
write_uuid(const uint8_t uuid[SYM_UUID_BYTES], char *lower, char *upper)
{
    for (size_t i = 0; i < SYM_UUID_BYTES; i++) {
        const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";

        lower += sprintf(lower, "%s%02x", dash, uuid[i]);
        upper += sprintf(upper, "%s%02X", dash, uuid[i]);
    }
}


#define TEXT(s) (int) (s).len, (s).data

static void
try_build_id(search_t *s)
{
    char hex[2 * SYM_BUILD_ID_MAX];
    size_t len;

    if (s->want->id_len < 2 || s->fd >= 0) {
        return;
    }

    len = sym_elf_code_id(sym_str((const char *) s->want->id, s->want->id_len),
                          hex);
    try(s, s->root, ".build-id/%.2s/%.*s.debug", hex, (int) len - 2, hex + 2);
    s->given->is_by_id = s->fd >= 0;
}


/* Paths as in GDB's manual, "Separate Debug Files". */
static void
try_debug(search_t *s)
{
    try_build_id(s);

    if (s->name.len != 0 && memchr(s->name.data, '/', s->name.len) == NULL) {
        try(s, s->folder, "%.*s", TEXT(s->name));
        try(s, s->folder, ".debug/%.*s", TEXT(s->name));
    }
}


/* Returns the part of a path from its last folder .dwz on; empty: it has
 * none. */
static sym_str_t
dwz_part(sym_str_t path)
{
    static const char mark[] = "/.dwz/";
    const size_t len = sizeof(mark) - 1;

    for (size_t i = path.len; i-- > 0;) {
        if (path.len - i > len && memcmp(path.data + i, mark, len) == 0) {
            return sym_str(path.data + i + 1, path.len - i - 1);
        }
    }

    return sym_str("", 0);
}


/* dwz writes the path that the file has on the build machine; here the tree may
 * be in another folder. */
static void
try_alt(search_t *s)
{
    sym_str_t base = base_name(s->name), below = behind(s->name, s->root);
    sym_str_t inside = behind(sym_cstr(s->folder), s->root);

    if (base.len == 0) {
        return;
    }

    if (is_absolute(s->name)) {
        try(s, s->root, "%.*s", TEXT(below));
        try(s, s->root, "%.*s", TEXT(dwz_part(s->name)));
    } else {
        try(s, s->root, "%.*s%s%.*s", TEXT(inside), inside.len != 0 ? "/" : "",
            TEXT(s->name));
    }

    try_build_id(s);
    try(s, s->folder, "%.*s", TEXT(base));
    try(s, s->folder, ".dwz/%.*s", TEXT(base));
    try(s, s->root, ".dwz/%.*s", TEXT(base));
}


static void
try_dwo(search_t *s)
{
    if (is_absolute(s->name)) {
        try(s, s->root, "%.*s", TEXT(behind(s->name, s->root)));
    } else {
        char path[PATH_MAX];
        int len = snprintf(path, sizeof(path), "%.*s/%.*s", TEXT(s->dir),
                           TEXT(s->name));

        if (len > 0 && (size_t) len < sizeof(path)) {
            try(s, s->root, "%.*s", TEXT(behind(sym_cstr(path), s->root)));
        }
        try(s, s->folder, "%.*s", TEXT(s->name));
    }

    try(s, s->folder, "%.*s", TEXT(base_name(s->name)));
}


static void
try_package(search_t *s)
{
    static const char debug[] = ".debug";
    size_t len = strlen(s->file_name), end = sizeof(debug) - 1;

    try(s, s->folder, "%s.dwp", s->file_name);
    if (len > end && strcmp(s->file_name + len - end, debug) == 0) {
        try(s, s->folder, "%.*s.dwp", (int) (len - end), s->file_name);
    }
}


/* Apple's archives contain dSYMs/NAME.dSYM and BCSymbolMaps, and
 * NAME.dSYM/Contents/Resources has the map of UUIDs next to the folder DWARF.
 * Others keep the files next to the debug file, in lower case. */
static void
try_map(search_t *s, const char *above, const char *uuid, const char *suffix)
{
    try(s, above, "%s.%s", uuid, suffix);
    try(s, above, "BCSymbolMaps/%s.%s", uuid, suffix);
}


/* Number of folders above the debug file that are searched: those of a bundle
 * and of an archive. */
#define MAP_FOLDERS_MAX 8

static void
try_maps(search_t *s, const char *suffix)
{
    char lower[SYM_UUID_TEXT_MAX + 1], upper[SYM_UUID_TEXT_MAX + 1];
    char above[PATH_MAX];

    if (s->want->id_len != SYM_UUID_BYTES) {
        return;
    }

    write_uuid(s->want->id, lower, upper);
    memcpy(above, s->folder, sizeof(above));

    for (int i = 0; i < MAP_FOLDERS_MAX && above[0] == '/'; i++) {
        char *slash = strrchr(above, '/');

        try_map(s, above, upper, suffix);
        try_map(s, above, lower, suffix);
        *slash = '\0';
    }
}


/* The second name is for a tree with the layout "unified", the third is the
 * name in Unity's build. */
static void
try_line_map(search_t *s)
{
    try(s, s->folder, "%s.il2cpp.json", s->file_name);
    try(s, s->folder, "il2cpp");
    try(s, s->folder, "LineNumberMappings.json");
}


int
companions_open(const char *file, const char *tree, const sym_companion_t *want,
                converter_given_t *given)
{
    search_t *s = calloc(1, sizeof(*s));
    int fd = -1;

    *given = (converter_given_t){ 0 };
    if (s == NULL) {
        return -1;
    }

    s->want = want;
    s->name = sym_str(want->name, want->name_len);
    s->dir = sym_str(want->dir, want->dir_len);
    s->left = want->attempt;
    s->given = given;
    s->fd = -1;

    if (begin(s, file, tree)) {
        switch (want->kind) {
        case SYM_COMPANION_DEBUG:
            try_debug(s);
            break;
        case SYM_COMPANION_ALT:
            try_alt(s);
            break;
        case SYM_COMPANION_DWO:
            try_dwo(s);
            break;
        case SYM_COMPANION_DWP:
            try_package(s);
            break;
        case SYM_COMPANION_UUID_MAP:
            try_maps(s, "plist");
            break;
        case SYM_COMPANION_SYMBOL_MAP:
            try_maps(s, "bcsymbolmap");
            break;
        case SYM_COMPANION_LINE_MAP:
            try_line_map(s);
            break;
        default:
            break; /* a kind of a newer converter */
        }
        fd = s->fd;
    }

    free(s);
    return fd;
}


/* --- files of a package --- */

static bool
has_id_path(sym_str_t path, const sym_companion_t *want)
{
    char hex[2 * SYM_BUILD_ID_MAX], name[2 * SYM_BUILD_ID_MAX + 32];
    size_t len;
    int n;

    if (want->id_len < 2 || want->id_len > SYM_BUILD_ID_MAX) {
        return false;
    }

    len = sym_elf_code_id(sym_str((const char *) want->id, want->id_len), hex);
    n = snprintf(name, sizeof(name), ".build-id/%.2s/%.*s.debug", hex,
                 (int) len - 2, hex + 2);
    return sym_str_ends_nocase(path, sym_str(name, (size_t) n));
}


/* The name that a debug file contains is a path on the build machine, or
 * relative to the installed file, so only its last part is compared. */
bool
companions_fit(sym_str_t path, const sym_companion_t *want, bool *is_by_id)
{
    const sym_str_t name = base_name(sym_str(want->name, want->name_len));
    bool has_paths =
        want->kind == SYM_COMPANION_DEBUG || want->kind == SYM_COMPANION_ALT;

    *is_by_id = has_paths && has_id_path(path, want);
    return *is_by_id
           || ((has_paths || want->kind == SYM_COMPANION_DWO) && name.len != 0
               && sym_str_eq(base_name(path), name));
}
