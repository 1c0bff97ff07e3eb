#include "cli/pointer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/probe.h"
#include "sources/paths/symstore_pointer.h"

/* The path in the text is relative to the pointer's folder, or absolute. */
static bool
find(const char *pointer, const char *path, char target[PATH_MAX])
{
    const char *slash = strrchr(pointer, '/');
    int folder =
        path[0] == '/' || slash == NULL ? 0 : (int) (slash + 1 - pointer);
    char joined[PATH_MAX];
    int len = snprintf(joined, sizeof(joined), "%.*s%s", folder, pointer, path);

    return len > 0 && (size_t) len < sizeof(joined)
           && realpath(joined, target) != NULL;
}


static bool
is_beneath(const char *path, const char *root)
{
    size_t len = strlen(root);

    return strncmp(path, root, len) == 0
           && (path[len] == '/' || (len > 0 && root[len - 1] == '/'));
}


static bool
is_regular(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}


const char *
pointer_follow(const char *path, const char *root, char target[PATH_MAX])
{
    char text[SYM_SYMSTORE_POINTER_MAX], to[SYM_SYMSTORE_POINTER_MAX];
    size_t len = probe_read(path, text, sizeof(text));

    if (len == sizeof(text)) {
        return "it is too long for a pointer";
    }

    switch (sym_symstore_pointer(sym_str(text, len), to, sizeof(to))) {
    case SYM_POINTER_MESSAGE:
        return "it has a message in the place of a path";
    case SYM_POINTER_ELSEWHERE:
        return "it points to another machine or drive";
    case SYM_POINTER_PATH:
        break;
    default:
        return "it is not a pointer: no line \"PATH:...\"";
    }

    if (!find(path, to, target)) {
        return "what it points to does not exist";
    }

    if (!is_beneath(target, root)) {
        return "it points out of the tree";
    }

    return is_regular(target) ? NULL : "what it points to is not a file";
}
