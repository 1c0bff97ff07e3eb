#include "daemon/upload_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

const upload_folder_t *
upload_folder(const uploads_t *all, sym_str_t source)
{
    for (unsigned i = 0; i < all->n_folders; i++) {
        if (sym_str_eq(all->folders[i].source, source)) {
            return &all->folders[i];
        }
    }

    return NULL;
}


#define SWEEP_MS ((int64_t) 3600 * 1000)

void
upload_folders_sweep(uploads_t *all, int64_t now_ms)
{
    if (all->placer == NULL || now_ms < all->sweep_at_ms) {
        return;
    }

    all->sweep_at_ms = now_ms + SWEEP_MS;
    for (unsigned i = 0; i < all->n_folders; i++) {
        upload_folder_t *f = &all->folders[i];

        if (!f->is_sweeping) {
            f->is_sweeping = true;
            f->sweep = (placer_job_t){ .kind = PLACER_SWEEP, .folder = f->fd };
            placer_add(all->placer, &f->sweep);
        }
    }
}


void
upload_folders_swept(placer_job_t *job)
{
    upload_folder_t *f =
        (upload_folder_t *) ((char *) job - offsetof(upload_folder_t, sweep));

    f->is_sweeping = false;
}


static bool
open_folder(uploads_t *all, const char *option, const char **path,
            sym_error_t *err)
{
    const char *equals = strchr(option, '=');
    upload_folder_t *f = &all->folders[all->n_folders];
    int fd;

    *path = equals + 1;
    f->source = sym_str(option, (size_t) (equals - option));
    f->fd = open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->fd < 0) {
        (void) sym_fail_sys(err, SYM_IO, "cannot open the folder", errno);
        return false;
    }

    all->n_folders++;
    fd = placer_temporary(f->fd);
    if (fd < 0) {
        (void) sym_fail_sys(err, SYM_IO, "cannot make a file in the folder",
                            errno);
        return false;
    }

    close(fd);
    return true;
}


bool
uploads_open(uploads_t *all, const char *const *options, unsigned n,
             const char **path, sym_error_t *err)
{
    for (unsigned i = 0; i < n; i++) {
        if (!open_folder(all, options[i], path, err)) {
            return false;
        }
    }

    if (n != 0) {
        all->placer = placer_create();
        if (all->placer == NULL) {
            (void) sym_fail_sys(err, SYM_IO, "cannot start a thread", errno);
            return false;
        }
    }

    return true;
}
