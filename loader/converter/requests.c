#include "converter/requests.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A question and its answer must not be parted by another one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool
put(char *to, uint32_t *to_len, size_t max, sym_str_t from)
{
    if (from.len > max) {
        return false;
    }

    if (from.len != 0) {
        memcpy(to, from.data, from.len);
    }

    *to_len = (uint32_t) from.len;
    return true;
}


bool
ask_for(converter_companion_t *want, converter_companion_kind_t kind,
        sym_str_t name, sym_str_t dir, sym_str_t id)
{
    memset(want, 0, sizeof(*want));
    want->kind = (uint32_t) kind;

    return put(want->name, &want->name_len, sizeof(want->name), name)
           && put(want->dir, &want->dir_len, sizeof(want->dir), dir)
           && put((char *) want->id, &want->id_len, sizeof(want->id), id);
}


static bool
read_all(int fd, uint8_t *to, size_t len, uint64_t offset)
{
    while (len > 0) {
        ssize_t n = pread(fd, to, len, (off_t) offset);

        if (n < 0 && errno == EINTR) {
            continue;
        }

        if (n <= 0) {
            return false;
        }

        to += n;
        len -= (size_t) n;
        offset += (uint64_t) n;
    }

    return true;
}


static sym_status_t
read_file(int fd, const converter_given_t *given, ask_file_t *file)
{
    if (given->length == 0 || given->length > SIZE_MAX) {
        return SYM_NOT_FOUND;
    }

    file->data = malloc((size_t) given->length);
    if (file->data == NULL) {
        return SYM_NOMEM;
    }

    file->len = (size_t) given->length;
    if (!read_all(fd, file->data, file->len, given->offset)) {
        free(file->data);
        file->data = NULL;
        return SYM_NOT_FOUND;
    }

    return SYM_OK;
}


sym_status_t
ask_file(const converter_companion_t *want, ask_file_t *file)
{
    converter_given_t given = { 0 };
    sym_status_t rc;
    int fd = -1;

    (void) pthread_mutex_lock(&lock);
    if (converter_send(CONVERTER_FD, CONVERTER_WANT, 0, want, sizeof(*want))) {
        fd = converter_receive_given(CONVERTER_FD, &given);
    }
    (void) pthread_mutex_unlock(&lock);

    *file = (ask_file_t){ .is_by_id = given.is_by_id != 0 };
    if (fd < 0) {
        return SYM_NOT_FOUND;
    }

    rc = read_file(fd, &given, file);
    close(fd);
    return rc;
}


void
ask_note(const char *format, ...)
{
    converter_note_t note = { { 0 } };
    va_list args;

    va_start(args, format);
    (void) vsnprintf(note.text, sizeof(note.text), format, args);
    va_end(args);

    /* a loader that is gone is met again soon enough */
    (void) converter_send(CONVERTER_FD, CONVERTER_NOTE, 0, &note, sizeof(note));
}
