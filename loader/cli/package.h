/*
 * package.h - the files of a package, for `symloader load`.
 *
 * A converter takes the package apart (converter/members.h).  Its files are
 * written to one temporary file without a name, in $TMPDIR or /var/tmp, because
 * debug files can be larger than memory; nothing is left if the process is
 * killed.  A package lives until all jobs that use it have ended: its files are
 * companions of each other.
 */
#ifndef SYMLOADER_CLI_PACKAGE_H
#define SYMLOADER_CLI_PACKAGE_H

#include "cli/operands.h"
#include "driver/conversion.h"

typedef struct {
    char *path; /* path in the package */
    uint64_t at, length;
} package_file_t;

typedef struct {
    unsigned n_users;
    char *path;   /* path of the package, as named by the user */
    char *source; /* absolute path */
    bool is_in_tree;
    bool is_listed; /* all files are known, or it could not be read */
    int spool;
    uint64_t spooled;
    package_file_t *files;
    size_t n_files, files_size, n_begun;
    uint64_t n_skipped; /* files of other kinds */
} package_t;

/* Opens a temporary file without a name; -1: errno has the reason. */
int package_spool(void);

/* Has one user.  NULL: *err has the reason. */
package_t *package_create(const walk_file_t *file, sym_error_t *err);
void package_release(package_t *p);

/* Callbacks of its conversion. */
sym_status_t package_member(package_t *p, const converter_member_t *m,
                            sym_error_t *err);
sym_status_t package_bytes(package_t *p, const uint8_t *data, size_t len,
                           sym_error_t *err);

/* Skips files of dwz, which are companions of others and have no code. */
void package_pass_dwz(package_t *p);

/* Opens a file at its first byte.  -1: *err has the reason. */
int package_open(const package_t *p, const package_file_t *file,
                 sym_error_t *err);

/* Opens a companion of one of its files; -1: it has none. */
int package_companion(const package_t *p, const sym_companion_t *want,
                      converter_given_t *given);

#endif
