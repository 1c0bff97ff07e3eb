/*
 * format.h - a file format: one row of functions for the loader.
 *
 * list.h names the rows, formats.h finds them.  The converter process calls
 * probe(), objects() and convert() for a file, in this order.  No other code
 * depends on a single format.  docs/design/adding.md adds one.
 */
#ifndef SYM_FORMATS_FORMAT_H
#define SYM_FORMATS_FORMAT_H

#include "artifacts/kinds.h"
#include "artifacts/symcache/write/writer.h"
#include "base/thread_pool.h"
#include "formats/companion.h"
#include "object/module_key.h"

/* Limit on the objects of a file.  A fat Mach-O file has at most 42. */
#define SYM_FORMAT_OBJECTS_MAX 64

typedef struct {
    char id[SYM_ID_MAX]; /* canonical debug id */
    size_t id_len;       /* 0: no id, or an unreadable one */
    const char *arch;    /* static, Breakpad's name; "" unknown */
} sym_format_object_t;

/* Resources that the converter provides to a format. */
typedef struct {
    uint64_t unpacked_max; /* limit on the unpacked bytes of all parts of a
                              file */
    const sym_thread_pool_t *pool; /* or NULL */
    bool takes_empty; /* a file without symbols gives an empty symcache */
    bool takes_parts; /* a file with ids that is part of others, or has no
                         symbols, gives an artifact without extents */

    /* Both functions may be called on any thread of the pool.  SYM_NOT_FOUND:
     * there is no such file, or it cannot be read. */
    sym_status_t (*companion)(void *ctx, const sym_companion_t *wanted,
                              sym_companion_file_t *file);
    /* Passes a note about the file to its user. */
    __attribute__((format(printf, 2, 3))) void (*note)(void *ctx,
                                                       const char *format, ...);

    /* Releases bytes of the file from memory, because they are unlikely to be
     * read again.  May be NULL.  May be called on any thread. */
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
    bool has_more;                 /* another artifact of this object follows */
    const sym_module_info_t *info; /* debug_id as in the file */
    void *writer;
    sym_status_t (*finish)(void *writer, const sym_module_info_t *info,
                           sym_extent_put_pt put, void *ctx,
                           sym_writer_stats_t *stats, sym_error_t *err);
    bool is_incomplete;  /* a part is missing, and a note names it */
    bool is_nameless;    /* this object is, if the format is not */
    sym_str_t digest;    /* digest of the object's URL, or "" */
    uint32_t lacks;      /* kinds that the file is known not to give, 1 << kind;
                            only artifact files contain this */
    sym_writer_t *names; /* the symcache whose names may still be demangled, or
                            NULL */
} sym_format_output_t;

/* The file that is converted. */
typedef struct {
    sym_str_t data; /* the complete file, or the first piece of a streamed
                       one */
    sym_str_t
        asked_id; /* the canonical debug id of the request, or "".  It is the
                     file's id if the file does not contain one */
    sym_str_t reference; /* URL of a source map that came with a script, or
                            "" */
    const sym_format_services_t *services;
    unsigned kinds; /* requested artifacts: see sym_format_wants() */

    /* Gets the next piece of a streamed file; an empty piece is the end. */
    sym_status_t (*next)(void *ctx, sym_str_t *data, sym_error_t *err);

    /* Passes the object's name and id, and the artifact's extents, to the
     * loader. */
    sym_status_t (*put)(void *ctx, const sym_format_output_t *artifact,
                        sym_error_t *err);
    void *ctx;
} sym_format_file_t;

/* Whether an artifact of this kind is requested.  `kinds` has a bit for each, 1
 * << kind. 0 requests all kinds except unwind rules, which few requests need,
 * and crash reports, which are not stored. */
static inline bool
sym_format_wants(const sym_format_file_t *f, sym_kind_t kind)
{
    return f->kinds != 0 ? (f->kinds >> kind & 1) != 0
                         : kind != SYM_KIND_CFI && kind != SYM_KIND_CRASH;
}


typedef struct {
    const char *title; /* part of the text "..., TITLE and TITLE files are
                          read" */

    /* Whether the first bytes belong to the format.  For a file found in a
       folder these are 64 bytes. */
    bool (*probe)(const uint8_t *data, size_t len);

    /* Whether a file found in a folder is loaded; a file named on the command
     * line always is.  NULL: the file's extension decides. */
    bool (*is_wanted)(const uint8_t *head, size_t len);

    /* Called before the process enters its sandbox, for libraries that open
     * files; or NULL. */
    void (*prepare)(void);

    /* The file describes a crash, not an object.  It is read only if a report
     * is requested. */
    bool is_report;

    /* convert() reads the file piece by piece; the file has one object. */
    bool is_streamed;

    /* Files contain no name.  The module is named after the file, and found by
     * its ids. */
    bool is_nameless;

    /* Lists the objects of a file.  NULL: files have exactly one. */
    sym_status_t (*objects)(const sym_format_file_t *f,
                            sym_format_object_t objects[SYM_FORMAT_OBJECTS_MAX],
                            size_t *n, sym_error_t *err);

    /* Reads object number `which` and puts its artifacts.  SYM_UNSUPPORTED: the
     * file is valid, but has no symbols. */
    sym_status_t (*convert)(const sym_format_file_t *f, size_t which,
                            sym_error_t *err);
} sym_format_t;

#endif
