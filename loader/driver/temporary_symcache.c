#include "driver/temporary_symcache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/store_upload.h"

/* Extent k is at offset k times this size; unused parts take no space. */
#define SLOT_BYTES 65536

_Static_assert(SYM_EXTENT_MAX <= SLOT_BYTES, "an extent fits its slot");

struct temporary_symcache_s {
    store_upload_t upload; /* its key */

    int fd;
    bool is_file; /* extents follow each other without gaps */
    uint64_t bytes, limit;
    uint32_t n; /* highest extent number + 1 */
    uint32_t *lens;
    uint32_t lens_size;
    const uint8_t *map; /* NULL: not mapped */
};


/* Creates a file without a name; -1: errno has the reason. */
static int
unnamed_file(const char *folder)
{
    char name[4096];
    int fd, n;

    if (folder == NULL || folder[0] == '\0') {
        folder = "/tmp";
    }

    n = snprintf(name, sizeof(name), "%s/symloader-XXXXXX", folder);

    if (n < 0 || (size_t) n >= sizeof(name)) {
        errno = ENAMETOOLONG;
        return -1;
    }

    fd = mkostemp(name, O_CLOEXEC);

    if (fd >= 0) {
        unlink(name);
    }

    return fd;
}


static temporary_symcache_t *
create(const char *folder, sym_error_t *err)
{
    temporary_symcache_t *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    s->fd = unnamed_file(folder);

    if (s->fd < 0) {
        sym_fail_sys(err, SYM_IO, "cannot make a temporary file", errno);
        temporary_symcache_free(s);
        return NULL;
    }

    return s;
}


temporary_symcache_t *
temporary_symcache_create(sym_error_t *err)
{
    return create(getenv("TMPDIR"), err);
}


temporary_symcache_t *
temporary_file_create(const char *folder, uint64_t limit, sym_error_t *err)
{
    temporary_symcache_t *s = create(folder, err);

    if (s != NULL) {
        s->is_file = true;
        s->limit = limit;
    }

    return s;
}


void
temporary_symcache_free(temporary_symcache_t *s)
{
    if (s == NULL) {
        return;
    }

    if (s->map != NULL) {
        munmap((void *) s->map, (size_t) s->n * SLOT_BYTES);
    }

    if (s->fd >= 0) {
        close(s->fd);
    }

    free(s->lens);
    free(s);
}


void
temporary_symcache_set_key(temporary_symcache_t *s, const sym_module_key_t *key)
{
    store_upload_set_key(&s->upload, key, NULL);
}


const sym_module_key_t *
temporary_symcache_key(const temporary_symcache_t *s)
{
    return &s->upload.key;
}


/* --- filling --- */

static sym_status_t
note_length(temporary_symcache_t *s, uint32_t number, size_t len,
            sym_error_t *err)
{
    if (number >= s->lens_size) {
        uint32_t size = number < 64 ? 128 : 2 * number;
        uint32_t *grown = realloc(s->lens, size * sizeof(*grown));

        if (grown == NULL) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }

        memset(grown + s->lens_size, 0, (size - s->lens_size) * sizeof(*grown));
        s->lens = grown;
        s->lens_size = size;
    }

    s->lens[number] = (uint32_t) len;
    s->n = number < s->n ? s->n : number + 1;
    return SYM_OK;
}


sym_status_t
temporary_symcache_put(temporary_symcache_t *s, uint32_t number,
                       const uint8_t *data, size_t len, sym_error_t *err)
{
    off_t at = (off_t) number * (s->is_file ? SYM_EXTENT_MAX : SLOT_BYTES);
    size_t done = 0;

    if (number >= SYM_EXTENTS_LIMIT || len > SYM_EXTENT_MAX) {
        return sym_fail(err, SYM_LIMIT, "no symcache has such an extent");
    }

    s->bytes += len;
    if (s->is_file && s->bytes > s->limit) {
        return sym_fail(err, SYM_LIMIT, "the file is too large");
    }

    while (done < len) {
        ssize_t n = pwrite(s->fd, data + done, len - done, at + (off_t) done);

        if (n >= 0) {
            done += (size_t) n;

        } else if (errno != EINTR) {
            return sym_fail_sys(err, SYM_IO, "cannot write a temporary file",
                                errno);
        }
    }

    return note_length(s, number, len, err);
}


/* Only the last extent is shorter than the others. */
int
temporary_file_get(const temporary_symcache_t *s, uint64_t *length)
{
    *length = s->n == 0
                  ? 0
                  : (uint64_t) (s->n - 1) * SYM_EXTENT_MAX + s->lens[s->n - 1];
    *length = *length == s->bytes ? *length : 0;
    return s->fd;
}


/* --- from a store --- */

temporary_symcache_t *
temporary_symcache_copy(const module_t *m, const sym_module_key_t *key,
                        sym_error_t *err)
{
    temporary_symcache_t *s = temporary_symcache_create(err);

    if (s == NULL) {
        return NULL;
    }

    temporary_symcache_set_key(s, key);

    for (uint32_t i = 0; i < m->record.extents && err->status == SYM_OK; i++) {
        const uint8_t *data = NULL;
        size_t len = 0;
        sym_status_t rc = sym_snapshot_extent_checked(
            m->snapshot, m->record.module_id, i, &data, &len);

        if (rc != SYM_OK) {
            sym_fail(err, SYM_DAMAGED, "the module's symbols are damaged");
        } else {
            temporary_symcache_put(s, i, data, len, err);
        }
    }

    if (err->status != SYM_OK) {
        temporary_symcache_free(s);
        return NULL;
    }

    return s;
}


/* --- reading --- */

static sym_status_t
get_extent(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const temporary_symcache_t *s = ctx;

    if (number >= s->n) {
        return SYM_NOT_FOUND;
    }

    *data = s->map + (size_t) number * SLOT_BYTES;
    *len = s->lens[number];
    return SYM_OK;
}


static sym_status_t
map_extents(temporary_symcache_t *s, sym_error_t *err)
{
    size_t bytes = (size_t) s->n * SLOT_BYTES;
    void *map;

    /* a mapping beyond the end of the file would fault */
    if (s->n == 0 || ftruncate(s->fd, (off_t) bytes) != 0) {
        return sym_fail_sys(err, SYM_IO, "no symcache came of it", errno);
    }

    map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, s->fd, 0);

    if (map == MAP_FAILED) {
        return sym_fail_sys(err, SYM_IO, "cannot map a temporary file", errno);
    }

    s->map = map;
    return SYM_OK;
}


sym_status_t
temporary_symcache_extents(temporary_symcache_t *s,
                           sym_extent_source_t *extents, sym_error_t *err)
{
    *extents = (sym_extent_source_t){ get_extent, s, s->n };
    return map_extents(s, err);
}
