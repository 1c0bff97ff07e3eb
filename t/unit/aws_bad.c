/*
 * Answers and files that give no AWS keys: t/bad/aws/CASE/input must fail with
 * exactly the text in .../error.  Cases named json_ are answers, the others
 * shared files, of which the profile "default" is asked for.
 */
#include <dirent.h>
#include <stdlib.h>

#include "aws/credentials.h"
#include "tap.h"

#define CASES "t/bad/aws"

static sym_str_t
slurp(const char *folder, const char *name)
{
    char path[512];
    char *data = NULL;
    size_t len = 0, got;
    FILE *file;

    (void) snprintf(path, sizeof(path), CASES "/%s/%s", folder, name);
    file = fopen(path, "rb");
    if (file == NULL) {
        return sym_str(NULL, 0);
    }

    do {
        char *grown = realloc(data, len + 65536);

        if (grown == NULL) {
            break;
        }
        data = grown;
        got = fread(data + len, 1, 65536, file);
        len += got;
    } while (got != 0);

    (void) fclose(file);
    return sym_str(data, len);
}


static void
test_case(const char *folder)
{
    sym_str_t in = slurp(folder, "input"), want = slurp(folder, "error");
    sym_aws_credentials_t keys;
    sym_error_t err = { 0 };
    sym_arena_t arena;
    char text[256];

    if (!ok(in.data != NULL && want.data != NULL, "%s: input and error",
            folder)) {
        return;
    }

    while (want.len > 0 && want.data[want.len - 1] == '\n') {
        want.len--;
    }

    sym_arena_init(&arena, 0);
    if (strncmp(folder, "json_", 5) == 0) {
        (void) sym_aws_credentials_json(&arena, in, &keys, &err);
    } else {
        (void) sym_aws_credentials_ini(&arena, in, SYM_STR("default"), &keys,
                                       &err);
    }

    (void) sym_error_text(&err, text, sizeof(text));
    if (!ok(sym_str_eq(sym_cstr(text), want), "%s", folder)) {
        printf("#   got '%s', want '%.*s'\n", text, (int) want.len, want.data);
    }
    ok(keys.access_key.len == 0 && keys.secret_key.len == 0, "... no keys");

    sym_arena_drop(&arena);
    free((void *) (uintptr_t) in.data);
    free((void *) (uintptr_t) want.data);
}


static int
visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}


int
main(void)
{
    struct dirent **entries;
    int n = scandir(CASES, &entries, visible, alphasort);

    ok(n >= 40, "there are cases in " CASES);

    for (int i = 0; i < n; i++) {
        test_case(entries[i]->d_name);
        free(entries[i]);
    }

    if (n >= 0) {
        free(entries);
    }

    return done_testing();
}
