#include "formats/pdb/msf.h"

#include <stdlib.h>

#include "formats/pdb/le.h"

#define MAGIC "Microsoft C/C++ MSF 7.00\r\n\x1a\x44S\0\0"
#define MAGIC_BYTES 32
#define MAGIC_2 "Microsoft C/C++ program database 2.00\r\n\x1aJG"

/* Offsets in the superblock (LLVM: MsfFile.rst, "The Superblock"). */
#define PAGE_SIZE_AT 32
#define DIRECTORY_BYTES_AT 44

/* List of the pages that contain the directory's list of pages. */
#define DIRECTORY_MAP_AT 52

#define PAGE_SIZE_MIN 512
#define PAGE_SIZE_MAX 65536

/* The size of a deleted stream. */
#define DELETED UINT32_MAX

static const char section[] = "MSF directory";


static bool
begins(const uint8_t *data, size_t len, const char *magic, size_t n)
{
    return len >= n && memcmp(data, magic, n) == 0;
}


bool
sym_msf_is(const uint8_t *data, size_t len)
{
    return begins(data, len, MAGIC, MAGIC_BYTES - 1)
           || begins(data, len, MAGIC_2, sizeof(MAGIC_2) - 1);
}


static sym_status_t
refuse(sym_error_t *err, sym_status_t status, uint64_t offset, const char *what)
{
    if (err->status == SYM_OK) {
        err->section = section;
        err->offset = offset;
    }

    return sym_fail(err, status, what);
}


static uint64_t
pages_of(const sym_msf_t *msf, uint64_t bytes)
{
    return (bytes + msf->page_size - 1) / msf->page_size;
}


typedef struct {
    uint64_t at, len; /* offset in the file, perhaps beyond its end; length */
} run_t;

/* Length of the adjacent pages that begin with the first listed one; the last
 * page may be cut. */
static run_t
run_of(const sym_msf_t *msf, const uint8_t *pages, uint64_t bytes)
{
    const uint32_t first = sym_le32(pages);
    uint64_t n = 1, last = pages_of(msf, bytes), len;

    while (n < last && sym_le32(pages + n * 4) == first + n) {
        n++;
    }

    len = n * msf->page_size;
    return (run_t){ (uint64_t) first * msf->page_size,
                    len < bytes ? len : bytes };
}


static bool
is_inside(const sym_msf_t *msf, run_t run)
{
    return run.at <= msf->file.len && run.len <= msf->file.len - run.at;
}


static sym_str_t
bytes_of_run(const sym_msf_t *msf, run_t run)
{
    return sym_str(msf->file.data + run.at, (size_t) run.len);
}


/* Gets the bytes of the listed pages. */
static sym_status_t
gather(const sym_msf_t *msf, const uint8_t *pages, uint32_t bytes,
       sym_buffer_t *copy, sym_str_t *out, sym_error_t *err)
{
    uint32_t done = 0;

    *out = SYM_STR("");
    copy->len = 0;

    while (done < bytes) {
        run_t run = run_of(msf, pages + (uint64_t) done / msf->page_size * 4,
                           bytes - done);

        if (!is_inside(msf, run)) {
            return refuse(err, SYM_TRUNCATED, 0,
                          "a page of a stream lies past the end of the file");
        }

        if (run.len == bytes) {
            *out = bytes_of_run(msf, run);
            return SYM_OK;
        }

        if (!sym_buffer_room(copy, bytes - done)) {
            return sym_fail(err, SYM_NOMEM, "no memory for a stream");
        }

        sym_buffer_put(copy, msf->file.data + run.at, (size_t) run.len);
        done += (uint32_t) run.len;
    }

    *out = sym_str((const char *) copy->data, bytes);
    return SYM_OK;
}


/* Finds each stream's list of pages. */
static sym_status_t
read_directory(sym_msf_t *msf, sym_str_t directory, sym_error_t *err)
{
    const uint8_t *at = (const uint8_t *) directory.data;
    uint64_t left = directory.len / 4, pages = 0;
    uint32_t n = left == 0 ? 0 : sym_le32(at);

    if (left == 0 || n > left - 1) {
        return refuse(err, SYM_TRUNCATED, 0,
                      "more streams than the directory has room for");
    }

    msf->streams = calloc((size_t) n + 1, sizeof(*msf->streams));
    if (msf->streams == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for a list of streams");
    }

    left -= 1 + (uint64_t) n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t size = sym_le32(at + 4 + (uint64_t) i * 4);

        if (size == DELETED) {
            continue;
        }

        msf->streams[i].size = size;
        msf->streams[i].pages = at + 4 + ((uint64_t) n + pages) * 4;
        pages += pages_of(msf, size);
        if (pages > left) {
            return refuse(err, SYM_TRUNCATED, 4 + (uint64_t) i * 4,
                          "more pages than the directory has room for");
        }
    }

    msf->n_streams = n;
    return pages <= pages_of(msf, msf->file.len)
               ? SYM_OK
               : refuse(err, SYM_MALFORMED, 0,
                        "the streams have more pages than the file");
}


static bool
is_page_size(uint32_t size)
{
    return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX
           && (size & (size - 1)) == 0;
}


/* The directory has two levels (LLVM: MsfFile.rst, "The Stream Directory").
 * The superblock lists pages, and these contain the list of the directory's
 * pages. */
static sym_status_t
open_directory(sym_msf_t *msf, sym_error_t *err)
{
    const uint8_t *data = (const uint8_t *) msf->file.data;
    const uint32_t bytes = sym_le32(data + DIRECTORY_BYTES_AT);
    const uint64_t list = pages_of(msf, bytes) * 4;
    sym_buffer_t copy = { 0 };
    sym_str_t pages, directory;
    sym_status_t rc;

    if (bytes > msf->file.len
        || pages_of(msf, list) * 4 > msf->file.len - DIRECTORY_MAP_AT)
    {
        return refuse(err, SYM_TRUNCATED, DIRECTORY_BYTES_AT,
                      "the directory is larger than the file");
    }

    rc = gather(msf, data + DIRECTORY_MAP_AT, (uint32_t) list, &copy, &pages,
                err);
    rc = rc != SYM_OK ? rc
                      : gather(msf, (const uint8_t *) pages.data, bytes,
                               &msf->copy, &directory, err);
    rc = rc != SYM_OK ? rc : read_directory(msf, directory, err);
    sym_buffer_free(&copy);
    return rc;
}


sym_status_t
sym_msf_open(sym_msf_t *msf, sym_str_t file, sym_error_t *err)
{
    const uint8_t *data = (const uint8_t *) file.data;

    *msf = (sym_msf_t){ .file = file };

    if (begins(data, file.len, MAGIC_2, sizeof(MAGIC_2) - 1)) {
        return refuse(err, SYM_UNSUPPORTED, 0,
                      "a PDB of Visual C++ 6 or older (program database 2.00)");
    }

    if (!begins(data, file.len, MAGIC, MAGIC_BYTES - 1)
        || file.len < DIRECTORY_MAP_AT + 4)
    {
        return refuse(err, SYM_TRUNCATED, 0, "not an MSF 7 header");
    }

    msf->page_size = sym_le32(data + PAGE_SIZE_AT);
    return is_page_size(msf->page_size)
               ? open_directory(msf, err)
               : refuse(err, SYM_MALFORMED, PAGE_SIZE_AT,
                        "page size is not a power of two, or too small or "
                        "large");
}


void
sym_msf_close(sym_msf_t *msf)
{
    sym_buffer_free(&msf->copy);
    free(msf->streams);
    *msf = (sym_msf_t){ 0 };
}


uint32_t
sym_msf_size(const sym_msf_t *msf, uint32_t stream)
{
    return stream < msf->n_streams ? msf->streams[stream].size : 0;
}


sym_str_t
sym_msf_run(const sym_msf_t *msf, uint32_t stream, uint32_t offset)
{
    const uint32_t size = sym_msf_size(msf, stream);
    const uint32_t skip = offset % msf->page_size;
    run_t run;

    if (offset >= size) {
        return SYM_STR("");
    }

    run = run_of(msf,
                 msf->streams[stream].pages
                     + (uint64_t) (offset / msf->page_size) * 4,
                 (uint64_t) size - offset + skip);
    if (!is_inside(msf, run)) {
        return SYM_STR("");
    }

    run.at += skip;
    run.len -= skip;
    return bytes_of_run(msf, run);
}


sym_status_t
sym_msf_read(const sym_msf_t *msf, uint32_t stream, sym_buffer_t *copy,
             sym_str_t *bytes, sym_error_t *err)
{
    const uint32_t size = sym_msf_size(msf, stream);

    if (size == 0) {
        *bytes = SYM_STR("");
        return SYM_OK;
    }

    return gather(msf, msf->streams[stream].pages, size, copy, bytes, err);
}
