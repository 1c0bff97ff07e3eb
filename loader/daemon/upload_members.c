#include "daemon/upload_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "common/write_all.h"
#include "driver/companion_files.h"

/* Maximum number of files in an upload; the converter's own limit is higher. */
#define MEMBERS_MAX 20000

/* Maximum length of all names in an upload. */
#define NAMES_MAX ((size_t) 8 << 20)

/* So many unpacked files have a descriptor: they are placed without a copy.
 * Others are ranges of one file, because the daemon has few descriptors. */
#define OWN_MAX 16

/* Makes a name printable: names come from clients, and are written to logs. */
static char *
copy_text(const char *text, size_t len)
{
    char *copy = strndup(text, len);

    for (char *p = copy; p != NULL && *p != '\0'; p++) {
        if ((unsigned char) *p < ' ' || *p == 0x7f) {
            *p = '?';
        }
    }

    return copy;
}


/* Makes room for the unpacked bytes of a file. */
static sym_status_t
begin_bytes(upload_t *u, upload_file_t *m, sym_error_t *err)
{
    int *fd = &m->fd;

    if (u->n_own == OWN_MAX) {
        m->is_spooled = true;
        m->at = u->spooled;
        fd = &u->spool;
    } else {
        u->n_own++;
    }

    if (*fd < 0) {
        *fd = placer_temporary(u->folder->fd);
    }

    return *fd >= 0 ? SYM_OK
                    : sym_fail_sys(err, SYM_IO,
                                   "cannot make a file in the folder", errno);
}


sym_status_t
upload_member(submission_t *c, const converter_member_t *m, sym_error_t *err)
{
    upload_t *u = c->upload;
    upload_file_t *to;

    if ((c->conversion.upload_flags & CONVERTER_MAP) != 0) {
        u->map = m->map;
        return SYM_OK;
    }

    if (u->n_members >= MEMBERS_MAX
        || (m->is_packed == 0
            && (m->offset > u->length || m->length > u->length - m->offset)))
    {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    if (!SYM_ARRAY_ROOM(u->members, u->n_members + 1, u->members_size)) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    u->names += m->name_len + m->field_len;
    if (u->names > NAMES_MAX) {
        return sym_fail(err, SYM_LIMIT,
                        "the names of the files have more than 8 MiB");
    }

    to = &u->members[u->n_members];
    *to = (upload_file_t){ .fd = -1,
                           .name = copy_text(m->name, m->name_len),
                           .field = copy_text(m->field, m->field_len),
                           .at = m->offset,
                           .length = m->is_packed != 0 ? 0 : m->length,
                           .is_field = m->is_field != 0,
                           .is_archive = m->is_archive != 0,
                           .n_skipped = m->n_skipped };
    u->n_members++;
    if (to->name == NULL || to->field == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    return m->is_packed != 0 && !to->is_field ? begin_bytes(u, to, err)
                                              : SYM_OK;
}


/* Values of fields are short. */
static sym_status_t
field_bytes(upload_file_t *m, const uint8_t *data, size_t len, sym_error_t *err)
{
    char *value = copy_text((const char *) data, len);

    if (value == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    free(m->name);
    m->name = value;
    return SYM_OK;
}


sym_status_t
upload_bytes(submission_t *c, const uint8_t *data, size_t len, sym_error_t *err)
{
    upload_t *u = c->upload;
    upload_file_t *m = &u->members[u->n_members - 1];
    uint64_t at;
    int fd;

    if (m->is_field) {
        return field_bytes(m, data, len, err);
    }

    fd = upload_file_fd(u, m, &at);
    if (!write_all_at(fd, (const char *) data, len, at + m->length)) {
        return sym_fail_sys(err, SYM_IO, "cannot write to the folder", errno);
    }

    m->length += len;
    u->spooled += m->is_spooled ? len : 0;
    return SYM_OK;
}


int
upload_companion(upload_t *u, const sym_companion_t *want,
                 converter_given_t *given)
{
    uint32_t left = want->attempt;

    *given = (converter_given_t){ 0 };
    if (want->kind >= SYM_COMPANION_UUID_MAP) {
        u->lacks_map = true;
        return -1;
    }

    for (size_t i = 0; i < u->n_members; i++) {
        const upload_file_t *m = &u->members[i];
        bool is_by_id;

        if (!m->is_field && !m->is_archive && i != u->current && !m->is_closed
            && companions_fit(sym_cstr(m->name), want, &is_by_id)
            && left-- == 0)
        {
            given->length = m->length;
            given->is_by_id = is_by_id;
            return fcntl(upload_file_fd(u, m, &given->offset), F_DUPFD_CLOEXEC,
                         0);
        }
    }

    given->is_by_id = true;
    if (u->part_bytes != 0 && want->kind == SYM_COMPANION_ALT) {
        u->lacks_map = true; /* it may be in the bucket */
        return -1;
    }

    return left == 0 ? upload_open_part(u, want, &given->length) : -1;
}
