#include "converter/requests.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/converter_protocol.h"

/* A request and its reply must not be separated by another request. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
read_file(int fd, const converter_given_t *given, sym_companion_file_t *file)
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
request_companion(void *ctx, const sym_companion_t *want,
                  sym_companion_file_t *file)
{
    converter_given_t given = { 0 };
    sym_status_t rc;
    int fd = -1;

    (void) ctx;
    (void) pthread_mutex_lock(&lock);
    if (converter_send(CONVERTER_FD, CONVERTER_WANT, 0, want, sizeof(*want))) {
        fd = converter_receive_given(CONVERTER_FD, &given);
    }
    (void) pthread_mutex_unlock(&lock);

    *file = (sym_companion_file_t){ .is_by_id = given.is_by_id != 0 };
    if (fd < 0) {
        return SYM_NOT_FOUND;
    }

    rc = read_file(fd, &given, file);
    close(fd);
    return rc;
}


void
request_note(void *ctx, const char *format, ...)
{
    converter_note_t note = { { 0 } };
    va_list args;

    (void) ctx;
    va_start(args, format);
    (void) vsnprintf(note.text, sizeof(note.text), format, args);
    va_end(args);

    /* if the loader has ended, the next call fails, too */
    (void) converter_send(CONVERTER_FD, CONVERTER_NOTE, 0, &note, sizeof(note));
}
