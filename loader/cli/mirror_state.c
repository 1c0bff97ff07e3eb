#include "cli/mirror_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/digits.h"
#include "common/say.h"
#include "common/write_all.h"

/* Digits, a newline, and a NUL. */
#define LINE_BYTES (2 * MIRROR_KEY_MAX + 2)

/* Ten times the packages of a large distribution: 33 MiB. */
#define KEYS_MAX ((size_t) 1 << 20)


bool
mirror_key_read(mirror_key_t *key, const char *digits, size_t n)
{
    *key = (mirror_key_t){ .len = (uint8_t) (n / 2) };
    return n != 0 && n % 2 == 0 && n <= 2 * sizeof(key->bytes)
           && sym_digits_read(digits, n / 2, key->bytes);
}


static int
compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(mirror_key_t));
}


/* Returns NULL, or what is wrong with the file. */
static const char *
read_lines(mirror_state_t *s, FILE *file)
{
    char line[LINE_BYTES];
    mirror_key_t key;

    while (fgets(line, sizeof(line), file) != NULL) {
        const size_t len = strlen(line);

        if (len == 0 || line[len - 1] != '\n') {
            return feof(file) ? NULL : "it was not written by this command";
        }

        if (!mirror_key_read(&key, line, len - 1)) {
            return "it was not written by this command";
        }

        if (s->n_keys == KEYS_MAX) {
            return "it has too many lines";
        }

        if (!SYM_ARRAY_ROOM(s->keys, s->n_keys + 1, s->size)) {
            return "out of memory";
        }
        s->keys[s->n_keys++] = key;
        s->end += len;
    }

    return ferror(file) ? strerror(errno) : NULL;
}


/* Returns NULL, or why the file cannot be used. */
static const char *
take_file(mirror_state_t *s)
{
    /* a process that is forked does not inherit such a lock */
    const struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    const int fd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    const char *why;

    s->file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (s->file == NULL) {
        why = strerror(errno);
        if (fd >= 0) {
            close(fd);
        }
        return why;
    }

    if (fcntl(fd, F_SETLK, &lock) != 0) {
        return errno == EAGAIN || errno == EACCES
                   ? "another process uses this file"
                   : strerror(errno);
    }

    why = read_lines(s, s->file);
    return why == NULL && ftruncate(fd, (off_t) s->end) != 0 ? strerror(errno)
                                                             : why;
}


bool
mirror_state_open(mirror_state_t *s, const char *path)
{
    const char *why;

    *s = (mirror_state_t){ .path = path };
    why = take_file(s);
    if (why != NULL) {
        complain_about(path, "%s", why);
        mirror_state_close(s);
    } else if (s->n_keys != 0) {
        qsort(s->keys, s->n_keys, sizeof(*s->keys), compare);
    }

    return why == NULL;
}


void
mirror_state_close(mirror_state_t *s)
{
    if (s->file != NULL) {
        (void) fclose(s->file);
    }
    free(s->keys);
    *s = (mirror_state_t){ .path = NULL };
}


bool
mirror_state_has(const mirror_state_t *s, const mirror_key_t *key)
{
    return s->n_keys != 0
           && bsearch(key, s->keys, s->n_keys, sizeof(*key), compare) != NULL;
}


bool
mirror_state_add(mirror_state_t *s, const mirror_key_t *key)
{
    char line[LINE_BYTES];
    size_t len;

    if (s->file == NULL) {
        return true;
    }

    len = sym_digits_write_lower(key->bytes, key->len, line);
    line[len++] = '\n';
    if (!write_all_at(fileno(s->file), line, len, s->end)
        || fdatasync(fileno(s->file)) != 0)
    {
        complain_about(s->path, "cannot write it: %s", strerror(errno));
        return false;
    }

    s->end += len;
    return true;
}
