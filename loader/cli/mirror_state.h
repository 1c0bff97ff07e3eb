/*
 * mirror_state.h - what `symloader mirror` has done, in a file.
 *
 * Each line has the hexadecimal digits of a key: a package's SHA-256, or a build
 * id.  A line is on disk before the next item begins.  One that was cut when the
 * machine failed does not count.
 */
#ifndef SYMLOADER_CLI_MIRROR_STATE_H
#define SYMLOADER_CLI_MIRROR_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MIRROR_KEY_MAX 32

typedef struct {
    uint8_t len;
    uint8_t bytes[MIRROR_KEY_MAX];
} mirror_key_t;

/* Zeros: nothing is done, and nothing is kept. */
typedef struct {
    const char *path;
    FILE *file;
    uint64_t end;       /* of the last complete line */
    mirror_key_t *keys; /* those that were there, sorted */
    size_t n_keys, size;
} mirror_state_t;

/* Opens or makes the file, which only one process may use.  False: the error was
 * printed to stderr. */
bool mirror_state_open(mirror_state_t *state, const char *path);
void mirror_state_close(mirror_state_t *state);

bool mirror_state_has(const mirror_state_t *state, const mirror_key_t *key);

/* False: the error was printed to stderr. */
bool mirror_state_add(mirror_state_t *state, const mirror_key_t *key);

/* Reads the digits of a key; false: there are none, or too many. */
bool mirror_key_read(mirror_key_t *key, const char *digits, size_t n);

#endif
