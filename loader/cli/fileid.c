/*
 * fileid.c - `symloader fileid`: the ids by which profilers know executables.
 *
 * The bytes are only hashed, so no sandbox is needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/fileid.h"
#include "object/file_id.h"

/* False: errno has the reason; 0: the file became shorter. */
static bool
read_part(int fd, char *to, size_t len, uint64_t at)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pread(fd, to + done, len - done, (off_t) (at + done));

        if (n > 0) {
            done += (size_t) n;
        } else if (n == 0 || errno != EINTR) {
            errno = n == 0 ? 0 : errno;
            return false;
        }
    }

    return true;
}


/* Returns NULL, or why there is no id. */
static const char *
read_id(int fd, uint8_t id[SYM_FILE_ID_BYTES])
{
    char head[SYM_FILE_ID_PART], tail[SYM_FILE_ID_PART];
    struct stat st;
    uint64_t size;
    size_t part;

    if (fstat(fd, &st) != 0) {
        return strerror(errno);
    }

    if (!S_ISREG(st.st_mode)) {
        return "not a regular file";
    }

    size = (uint64_t) st.st_size;
    part = size < SYM_FILE_ID_PART ? (size_t) size : SYM_FILE_ID_PART;

    if (!read_part(fd, head, part, 0)
        || !read_part(fd, tail, part, size - part)) {
        return errno != 0 ? strerror(errno) : "it became shorter";
    }

    return sym_file_id_of(sym_str(head, part), sym_str(tail, part), size, id)
               ? NULL
               : "libcrypto cannot compute SHA-256";
}


const char *
fileid_read(const char *path, uint8_t id[SYM_FILE_ID_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *error = fd < 0 ? strerror(errno) : read_id(fd, id);

    if (fd >= 0) {
        close(fd);
    }

    return error;
}


static bool
print_id(output_t *out, const char *path)
{
    char hex[SYM_FILE_ID_HEX], base64[SYM_FILE_ID_BASE64];
    uint8_t id[SYM_FILE_ID_BYTES];
    const char *error = fileid_read(path, id);

    if (error != NULL) {
        complain_about(path, "%s", error);
        return false;
    }

    sym_file_id_hex(id, hex);
    sym_file_id_base64(id, base64);
    output_printf(out, "%.*s %.*s ", SYM_FILE_ID_HEX, hex, SYM_FILE_ID_BASE64,
                  base64);
    output_text(out, sym_cstr(path));
    output_printf(out, "\n");
    return true;
}


int
fileid_run(const options_t *options)
{
    output_t *out = output_create_stream(STDOUT_FILENO);
    int code = EXIT_FINE;

    if (out == NULL) {
        return EXIT_OUTPUT;
    }

    for (int i = 0; i < options->n_operands; i++) {
        if (!print_id(out, options->operands[i])) {
            code = EXIT_PARTLY;
        }
    }

    return output_end(out, code);
}
