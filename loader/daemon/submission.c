#include "daemon/submission.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

submission_t *
submission_first(const conversions_t *all)
{
    return (submission_t *) all->first;
}


submission_t *
submission_next(const submission_t *c)
{
    return (submission_t *) c->conversion.next;
}


static sym_status_t
check_descriptor(int fd, const sym_rpc_message_t *m, sym_error_t *err)
{
    struct stat st;

    if (fd < 0) {
        return sym_fail_sys(err, SYM_IO, "no descriptor is free for its file",
                            EMFILE);
    }

    if (fstat(fd, &st) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot stat the descriptor", errno);
    }

    /* other kinds of files could keep a converter waiting */
    if (!S_ISREG(st.st_mode)) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the descriptor is not a regular file");
    }

    if (m->offset > (uint64_t) st.st_size
        || m->length > (uint64_t) st.st_size - m->offset)
    {
        return sym_fail(err, SYM_TRUNCATED,
                        "the file is shorter than the message says");
    }

    if (lseek(fd, (off_t) m->offset, SEEK_SET) < 0) {
        return sym_fail_sys(err, SYM_IO, "cannot seek to the first byte",
                            errno);
    }

    (void) posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return SYM_OK;
}


sym_status_t
submission_check_descriptor(int fd, const sym_rpc_message_t *m,
                            sym_error_t *err)
{
    if (check_descriptor(fd, m, err) != SYM_OK && fd >= 0) {
        close(fd);
    }

    return err->status;
}


submission_t *
submission_create(const sym_rpc_message_t *m, int fd, sym_error_t *err)
{
    submission_t *c;

    if (submission_check_descriptor(fd, m, err) != SYM_OK) {
        return NULL;
    }

    c = calloc(1, sizeof(*c));

    if (c == NULL) {
        sym_fail(err, SYM_NOMEM, NULL);
        close(fd);
        return NULL;
    }

    c->conversion.fd = fd;
    c->conversion.length = m->length;
    c->conversion.is_forced =
        m->type == SYM_RPC_DEPOSIT && (m->flags & SYM_RPC_FORCE) != 0;
    /* calloc() terminates the source, because it is also used as a path */
    c->conversion.path = c->text;
    c->conversion.source = sym_str(c->text, m->source.len);
    if (m->source.len != 0) {
        memcpy(c->text, m->source.data, m->source.len);
    }

    c->conversion.reference = sym_str(c->reference, m->reference.len);
    if (m->reference.len != 0) {
        memcpy(c->reference, m->reference.data, m->reference.len);
    }

    c->offset = m->offset;
    c->ttl = m->ttl;
    c->ticket = m->ticket;
    c->can_ask = (m->flags & SYM_RPC_ASK_ME) != 0;
    return c;
}


void
submission_note(submission_t *c, const char *text)
{
    const sym_rpc_message_t m = { .type = SYM_RPC_NOTE,
                                  .ticket = c->ticket,
                                  .text = sym_cstr(text) };

    if (c->client != NULL && c->can_ask) {
        client_send(c->client, &m);
    }
}
