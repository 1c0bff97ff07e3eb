#include "cli/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The temporary name; "": none.  It is static because the signal handler needs
 * it. */
static char growing[PATH_MAX];


/* The default action ends the process when the handler returns. */
static void
remove_growing(int signal_number)
{
    unlink(growing);
    (void) raise(signal_number);
}


static void
catch_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction act = { .sa_handler = remove_growing,
                             .sa_flags = (int) SA_RESETHAND };
    struct sigaction before;

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (sigaction(signals[i], NULL, &before) == 0
            && before.sa_handler == SIG_DFL) {
            sigaction(signals[i], &act, NULL);
        }
    }
}


/* Sets the mode that open() would use. */
static void
set_permissions(int fd)
{
    mode_t mask = umask(0);

    umask(mask);
    (void) fchmod(fd, 0666 & ~mask);
}


static int
open_growing(const char *path)
{
    int n = snprintf(growing, sizeof(growing), "%s.XXXXXX", path), fd;

    if (n < 0 || (size_t) n >= sizeof(growing)) {
        growing[0] = '\0';
        errno = ENAMETOOLONG;
        return -1;
    }

    catch_signals();
    fd = mkostemp(growing, O_CLOEXEC);

    if (fd < 0) {
        growing[0] = '\0';
    } else {
        set_permissions(fd);
    }

    return fd;
}


int
outfile_open(const char *path, sym_error_t *err)
{
    struct stat st;
    int fd;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
        fd = open_growing(path);
    }

    if (fd < 0) {
        sym_fail_sys(err, SYM_IO, "cannot write the file", errno);
    }

    return fd;
}


sym_status_t
outfile_keep(int fd, const char *path, sym_error_t *err)
{
    bool is_growing = growing[0] != '\0';

    /* close() may be the first call to report a full disk */
    if ((is_growing && fsync(fd) != 0)
        || (is_growing && rename(growing, path) != 0))
    {
        sym_fail_sys(err, SYM_IO, "cannot write the file", errno);
        outfile_drop(fd);
        return SYM_IO;
    }

    growing[0] = '\0';
    close(fd);
    return SYM_OK;
}


void
outfile_drop(int fd)
{
    if (growing[0] != '\0') {
        unlink(growing);
        growing[0] = '\0';
    }

    close(fd);
}
