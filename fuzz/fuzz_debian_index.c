/*
 * An index of any bytes: read at once and in pieces, whose size is the first
 * byte, with the same entries.  A checked path never leads out of its root.
 */
#include "check.h"
#include "formats/packed/debian_index.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    uint64_t sum, n, n_valid;
} said_t;

/* FNV-1a */
static void
add(said_t *said, const char *text)
{
    for (; *text != '\0'; text++) {
        said->sum = (said->sum ^ (uint8_t) *text) * 0x100000001b3;
    }
    said->sum = said->sum * 0x100000001b3 + 1;
}


static void
see(said_t *said, const sym_debian_entry_t *e)
{
    sym_debian_content_t content;

    add(said, e->name);
    add(said, e->path);
    add(said, e->size);
    add(said, e->sha256);
    said->n++;

    if (sym_debian_entry_check(e, &content) == NULL) {
        said->n_valid++;
        check(e->path[0] != '/' && strstr(e->path, "/../") == NULL);
        check(strncmp(e->path, "../", 3) != 0 && strcmp(e->path, "..") != 0);
        check(strpbrk(e->path, "\r\n ") == NULL);
    }
}


static said_t
read_all(sym_str_t in, size_t piece)
{
    sym_debian_index_t index = { .len = 0 };
    said_t said = { .sum = 0 };

    while (in.len != 0) {
        sym_str_t bytes = sym_str(in.data, in.len < piece ? in.len : piece);

        in = sym_str(in.data + bytes.len, in.len - bytes.len);
        while (sym_debian_index_next(&index, &bytes)) {
            see(&said, &index.entry);
        }
        check(bytes.len == 0);
    }

    if (sym_debian_index_end(&index)) {
        see(&said, &index.entry);
    }
    check(!sym_debian_index_end(&index));
    return said;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    said_t whole, pieces;
    sym_str_t in;

    if (size < 2) {
        return 0;
    }

    in = sym_str((const char *) data + 1, size - 1);
    whole = read_all(in, in.len);
    pieces = read_all(in, 1 + (size_t) data[0]);
    check(whole.sum == pieces.sum && whole.n == pieces.n
          && whole.n_valid == pieces.n_valid && whole.n <= in.len);
    return 0;
}
