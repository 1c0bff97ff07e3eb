#include "cli/package.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "common/write_all.h"
#include "driver/companion_files.h"
#include "formats/packed/package.h"

int
package_spool(void)
{
    const char *folder = getenv("TMPDIR");

    return open(folder != NULL && folder[0] != '\0' ? folder : "/var/tmp",
                O_RDWR | O_CLOEXEC | O_TMPFILE | O_EXCL, 0600);
}


package_t *
package_create(const walk_file_t *file, sym_error_t *err)
{
    package_t *p = calloc(1, sizeof(*p));

    if (p == NULL) {
        sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    p->n_users = 1;
    p->is_in_tree = file->is_in_tree;
    p->path = strdup(file->path);
    p->source = realpath(file->path, NULL);
    p->spool = package_spool();

    if (p->spool < 0) {
        sym_fail_sys(err, SYM_IO,
                     "cannot make a temporary file in $TMPDIR or /var/tmp",
                     errno);
    } else if (p->path == NULL || p->source == NULL) {
        sym_fail_sys(err, SYM_IO, "cannot find the package", errno);
    }

    if (err->status != SYM_OK) {
        package_release(p);
        return NULL;
    }

    return p;
}


void
package_release(package_t *p)
{
    if (--p->n_users != 0) {
        return;
    }

    for (size_t i = 0; i < p->n_files; i++) {
        free(p->files[i].path);
    }

    if (p->spool >= 0) {
        close(p->spool);
    }

    free(p->files);
    free(p->source);
    free(p->path);
    free(p);
}


/* Names are shown on terminals. */
static char *
copy_name(const converter_member_t *m)
{
    char *copy = strndup(m->name, m->name_len);

    for (char *p = copy; p != NULL && *p != '\0'; p++) {
        if ((unsigned char) *p < ' ' || *p == 0x7f) {
            *p = '?';
        }
    }

    return copy;
}


sym_status_t
package_member(package_t *p, const converter_member_t *m, sym_error_t *err)
{
    package_file_t *file;

    if (m->is_archive != 0) {
        p->n_skipped += m->n_skipped;
        return SYM_OK;
    }

    if (m->is_packed == 0 || m->is_field != 0) {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    if (!SYM_ARRAY_ROOM(p->files, p->n_files + 1, p->files_size)) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    file = &p->files[p->n_files++];
    *file = (package_file_t){ .path = copy_name(m), .at = p->spooled };
    return file->path != NULL ? SYM_OK : sym_fail(err, SYM_NOMEM, NULL);
}


sym_status_t
package_bytes(package_t *p, const uint8_t *data, size_t len, sym_error_t *err)
{
    if (p->n_files == 0) {
        return sym_fail(err, SYM_MALFORMED, "the converter broke the protocol");
    }

    if (!write_all_at(p->spool, data, len, p->spooled)) {
        return sym_fail_sys(err, SYM_IO,
                            "cannot write to a file in $TMPDIR or /var/tmp",
                            errno);
    }

    p->spooled += len;
    p->files[p->n_files - 1].length += len;
    return SYM_OK;
}


void
package_pass_dwz(package_t *p)
{
    while (p->n_begun < p->n_files
           && sym_package_is_dwz(sym_cstr(p->files[p->n_begun].path)))
    {
        p->n_begun++;
    }
}


int
package_open(const package_t *p, const package_file_t *file, sym_error_t *err)
{
    char path[64];
    int fd;

    /* a copy of the descriptor would share its position with other jobs */
    (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", p->spool);
    fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || lseek(fd, (off_t) file->at, SEEK_SET) < 0) {
        sym_fail_sys(err, SYM_IO, "cannot open a file of the package", errno);
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }

    return fd;
}


int
package_companion(const package_t *p, const sym_companion_t *want,
                  converter_given_t *given)
{
    uint32_t left = want->attempt;
    sym_error_t ignored = { 0 };

    *given = (converter_given_t){ 0 };

    for (size_t i = 0; i < p->n_files; i++) {
        const package_file_t *file = &p->files[i];
        bool is_by_id;

        if (companions_fit(sym_cstr(file->path), want, &is_by_id)
            && left-- == 0) {
            *given = (converter_given_t){ .offset = file->at,
                                          .length = file->length,
                                          .is_by_id = is_by_id };
            return package_open(p, file, &ignored);
        }
    }

    return -1;
}
