/*
 * format.h - a file format: one row of functions for the loader.
 *
 * list.h names the rows, formats.h finds them.  A file goes through probe(),
 * objects() and convert(), in this order, in the converter's process; nothing
 * else in the project knows the formats.  docs/design/adding.md adds one.
 */
#ifndef SYM_FORMATS_FORMAT_H
#define SYM_FORMATS_FORMAT_H

#include "artifacts/kinds.h"
#include "artifacts/symcache/write/writer.h"
#include "base/thread_pool.h"
#include "formats/companion.h"
#include "object/module_key.h"

/* Objects of one file; a fat Mach-O file has 42 at most. */
#define SYM_FORMAT_OBJECTS_MAX 64

typedef struct {
    char id[SYM_ID_MAX]; /* canonical debug id */
    size_t id_len;       /* 0: no id, or unreadable */
    const char *arch;    /* static, in Breakpad's words; "" unknown */
} sym_format_object_t;

/* Resources that the converter provides to a format. */
typedef struct {
    uint64_t unpacked_max; /* most bytes that all parts of a file may expand
                              to */
    const sym_thread_pool_t *pool; /* or NULL */
    bool takes_empty; /* a file without symbols has a symcache without any */

    /* Both may be called on any thread of the pool.  SYM_NOT_FOUND: no such
     * file, or it cannot be read. */
    sym_status_t (*companion)(void *ctx, const sym_companion_t *wanted,
                              sym_companion_file_t *file);
    /* A note about the file for its user. */
    __attribute__((format(printf, 2, 3))) void (*note)(void *ctx,
                                                       const char *format, ...);

    /* May be NULL, and called on any thread.  Says that these bytes of the file
     * are unlikely to be read again, so that they can leave memory. */
    void (*release)(void *ctx, sym_str_t bytes);
    void *ctx;
} sym_format_services_t;

/* services: may be NULL. */
static inline void
sym_format_release(const sym_format_services_t *services, sym_str_t bytes)
{
    if (services != NULL && services->release != NULL) {
        services->release(services->ctx, bytes);
    }
}


/* An artifact that is complete and can be stored. */
typedef struct {
    sym_kind_t kind;
    bool has_more; /* another artifact of the same object follows */
    const sym_module_info_t *info; /* debug_id as in the file */
    void *writer;
    sym_status_t (*finish)(void *writer, const sym_module_info_t *info,
                           sym_extent_put_pt put, void *ctx,
                           sym_writer_stats_t *stats, sym_error_t *err);
    bool is_incomplete; /* a part is missing; a note has named it */
} sym_format_output_t;

/* The file that is converted. */
typedef struct {
    sym_str_t data; /* the complete file, or the first piece of a streamed
                       one */
    sym_str_t
        asked_id; /* the canonical debug id by which the file was asked for,
                           or "".  A file that does not hold an id has this one */
    sym_str_t reference; /* URL of its source map that came with a script, or
                            "" */
    const sym_format_services_t *services;
    unsigned kinds; /* wanted artifacts: see sym_format_wants() */

    /* The next piece, of a streamed format; empty: the end. */
    sym_status_t (*next)(void *ctx, sym_str_t *data, sym_error_t *err);

    /* Names the object to the loader and sends the artifact's extents. */
    sym_status_t (*put)(void *ctx, const sym_format_output_t *artifact,
                        sym_error_t *err);
    void *ctx;
} sym_format_file_t;

/* Whether an artifact of a kind is wanted of the file: 1 << kind each, or 0 for
 * all but unwind rules, which few requests need, and reports of crashes, which
 * are not stored. */
static inline bool
sym_format_wants(const sym_format_file_t *f, sym_kind_t kind)
{
    return f->kinds != 0 ? (f->kinds >> kind & 1) != 0
                         : kind != SYM_KIND_CFI && kind != SYM_KIND_CRASH;
}


typedef struct {
    const char *title; /* in "..., TITLE and TITLE files are read" */

    /* Whether the first bytes, 64 for a file found in a folder, belong to the
       format. */
    bool (*probe)(const uint8_t *data, size_t len);

    /* Whether a file found in a folder is loaded; one named on the command line
     * always is.  NULL: the file's ending decides. */
    bool (*is_wanted)(const uint8_t *head, size_t len);

    /* Called before the sandbox is entered, for libraries that open files; or
     * NULL. */
    void (*prepare)(void);

    /* It is about a crash, not about an object: read only if a report is
     * wanted. */
    bool is_report;

    /* convert() reads the file piece by piece; the file has one object. */
    bool is_streamed;

    /* Files contain no name: the module gets the file's name, and is found by
     * its ids. */
    bool is_nameless;

    /* Lists the objects of a file.  NULL: exactly one. */
    sym_status_t (*objects)(const sym_format_file_t *f,
                            sym_format_object_t objects[SYM_FORMAT_OBJECTS_MAX],
                            size_t *n, sym_error_t *err);

    /* Reads object number `which` and puts its artifacts.  SYM_UNSUPPORTED: the
     * file is sound, but has no symbols. */
    sym_status_t (*convert)(const sym_format_file_t *f, size_t which,
                            sym_error_t *err);
} sym_format_t;

#endif
