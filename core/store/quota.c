#include "store/env.h"
#include "store/write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define TEMP_SHIFT 3 /* temporary files get this part of the quota */

/* Size of a commit.  It limits the memory for LMDB's dirty pages, and the free
 * space that a small store needs in addition to its modules. */
#define BATCH_MAX ((uint64_t) 32 << 20)
#define BATCH_SHIFT 5 /* of the file */

/* Free space in the file in addition to two batches: for fragmentation, and for
 * freed pages that a reader still uses. */
#define SPARE_SHIFT 4

/* Negatives may take a 16th of the modules' share, and at most about 100,000
 * records, because walks read all of them. */
#define NEGATIVES_SHIFT 4
#define NEGATIVES_MAX ((uint64_t) 64 << 20)

/* The clock takes 4 bytes for each module, and a module takes at least a page.
 * The clock grows in steps of this size. */
#define CLOCK_STEP ((uint64_t) 256 << 10)

#define FILE_MIN ((uint64_t) 8 << 20)

static uint64_t
clock_bytes(uint64_t quota)
{
    return (quota / STORE_PAGE * 4 / CLOCK_STEP + 1) * CLOCK_STEP;
}


sym_status_t
sym_quota_too_small(sym_error_t *err)
{
    return sym_fail(err, SYM_LIMIT,
                    "a quota below 16 MiB makes no sense for a store");
}


sym_status_t
sym_budget(const char *path, uint64_t quota, uint64_t lock_bytes,
           sym_budget_t *b, sym_error_t *err)
{
    char file[PATH_MAX];
    struct stat st;
    uint64_t others;

    if (quota < SYM_QUOTA_MIN) {
        return sym_quota_too_small(err);
    }

    sym_env_file(file, path, LOCK_FILE);
    if (stat(file, &st) == 0) {
        lock_bytes = (uint64_t) st.st_size > lock_bytes ? (uint64_t) st.st_size
                                                        : lock_bytes;
    } else if (errno != ENOENT) { /* readers do not create the clock on a
                                     read-only disk */
        return sym_fail_sys(err, SYM_IO, "cannot stat lock.mdb", errno);
    }

    /* one page for writer.lock */
    others = lock_bytes + clock_bytes(quota) + STORE_PAGE;
    b->temp_bytes = quota >> TEMP_SHIFT;
    if (quota - b->temp_bytes < others + FILE_MIN) {
        return sym_fail(err, SYM_LIMIT,
                        "the quota is too small for a store with so many "
                        "places for readers");
    }

    b->file_bytes =
        (quota - b->temp_bytes - others) / STORE_PAGE * (uint64_t) STORE_PAGE;
    b->batch_bytes = b->file_bytes >> BATCH_SHIFT;
    b->batch_bytes = b->batch_bytes < BATCH_MAX ? b->batch_bytes : BATCH_MAX;
    b->live_pages =
        (b->file_bytes - (b->file_bytes >> SPARE_SHIFT) - 2 * b->batch_bytes)
        / STORE_PAGE;
    b->negative_bytes = b->live_pages * STORE_PAGE >> NEGATIVES_SHIFT;
    b->negative_bytes =
        b->negative_bytes < NEGATIVES_MAX ? b->negative_bytes : NEGATIVES_MAX;
    return SYM_OK;
}


void
sym_reserve_file(int fd, uint64_t bytes)
{
    /* not every file system supports it, and a store must open on a full disk,
     * too */
    (void) posix_fallocate(fd, 0, (off_t) bytes);
}
